"""Completed queries of Trino and Presto, as their event listeners for HTTP and Kafka write them."""

from collections.abc import Iterator
from typing import Any

from whence.capture.sql_log.query import Flow, Parts, Query, Reported
from whence.capture.sql_log.rows import Row, at
from whence.capture.sql_log.states import ABORTED, execution_of, state_of
from whence.capture.sql_log.times import moment
from whence.openlineage.json.wire import objects_in, text_of

_MAINTENANCE = "ALTER TABLE EXECUTE"
"""The kind of a statement that rewrites a table's files, and leaves its rows as they are: `optimize` and such."""


def trino_event(row: Row, place: str) -> Query | None:
    """Read a QueryCompletedEvent. Returns None for other events, and for the maintenance of a table."""
    if isinstance(inner := row.get("eventpayload"), dict):  # as the Kafka listener wraps it
        row = {key.lower(): value for key, value in inner.items()}
    metadata, context = row.get("metadata"), row.get("context")
    if not isinstance(metadata, dict) or "createtime" not in row or metadata.get("updateType") == _MAINTENANCE:
        return None
    failure = row.get("failureinfo")
    code = text_of(at(failure, "errorCode", "name"))
    message = text_of(at(failure, "failureMessage")) or code
    return Query(
        text=text_of(metadata.get("preparedQuery")) or text_of(metadata.get("query")),
        place=place,
        started=moment(row.get("createtime")),
        ended=moment(row.get("endtime")),
        state=state_of(code if code in ABORTED else text_of(metadata.get("queryState")), message),
        error=message,
        user=text_of(at(context, "user")),
        database=text_of(at(context, "catalog")),
        schema=text_of(at(context, "schema")),
        query_id=text_of(metadata.get("queryId")),
        execution=execution_of(text_of(metadata.get("queryId"))),
        application=text_of(at(context, "source")),
        reported=_reported(metadata, row.get("iometadata")),
    )


def _reported(metadata: dict[str, Any], found: Any) -> Reported:
    named = [one for _, one in objects_in(metadata.get("tables")) if one.get("directlyReferenced") is True]
    behind = () if named else [_table(one, "catalogName") for _, one in objects_in(at(found, "inputs"))]
    inputs = dict.fromkeys((*(_table(one, "catalog") for one in named), *behind))
    output = at(found, "output")
    if not isinstance(output, dict):
        return Reported(inputs=tuple(inputs), is_direct=bool(named))
    target = _table(output, "catalogName")
    return Reported(
        inputs=tuple(inputs),
        outputs=(target,),
        flows=tuple(_flows(output, target)),
        columns=tuple(one for one in _columns(text_of(metadata.get("updateType")), named, output, target) if one[1]),
        is_direct=bool(named),
    )


def _flows(output: dict[str, Any], target: Parts) -> Iterator[Flow]:
    for _, column in objects_in(output.get("columns")):
        for _, source in objects_in(column.get("sourceColumns")):
            yield Flow(
                _table(source, "catalog"), text_of(source.get("columnName")), target, text_of(column.get("columnName"))
            )


def _columns(
    kind: str, named: list[dict[str, Any]], output: dict[str, Any], target: Parts
) -> Iterator[tuple[Parts, tuple[str, ...]]]:
    """The columns that an INSERT writes, in their order, and those of `SELECT *` into them. What CREATE TABLE AS reads
    goes by name, in any order.
    """
    match kind:
        case "INSERT":
            columns = [one for _, one in objects_in(output.get("columns"))]
            yield target, tuple(text_of(one.get("columnName")) for one in columns)
            if len(named) == 1:
                yield _table(named[0], "catalog"), _copied(columns, _read(named[0]))
        case "CREATE TABLE" | "CREATE VIEW" | "CREATE MATERIALIZED VIEW":
            for one in named:
                yield _table(one, "catalog"), tuple(sorted(_read(one)))


def _read(table: dict[str, Any]) -> frozenset[str]:
    """The columns of a table that are read, without the engine's own."""
    names = (text_of(one.get("column")) for _, one in objects_in(table.get("columns")))
    return frozenset(name for name in names if not name.startswith("$"))


def _copied(columns: list[dict[str, Any]], read: frozenset[str]) -> tuple[str, ...]:
    """What is read of the only table, in the order of the columns that it becomes; none if it is not one for one."""
    sources = [[text_of(one.get("columnName")) for _, one in objects_in(each.get("sourceColumns"))] for each in columns]
    names = tuple(one[0] for one in sources if len(one) == 1)
    return names if len(names) == len(columns) == len(read) and frozenset(names) == read else ()


def _table(entry: dict[str, Any], catalog: str) -> Parts:
    return tuple(text_of(entry.get(key)) for key in (catalog, "schema", "table"))
