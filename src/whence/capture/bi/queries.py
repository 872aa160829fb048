"""The query that a chart runs: its fields, filters and order over a FROM clause, read by the SQL reader.

A field whose expression cannot be read is left without a source and announced; the others are read without it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from whence.capture.bi.connections import Connection
from whence.capture.bi.reports import Doubt, Lineage, join_lineages, sort_edges
from whence.capture.sql import RESULT, Catalog, Column, ScriptLineage, StatementLineage, Table, read_script
from whence.capture.sql import Edge as SqlEdge
from whence.capture.sql.events.events import describe_unknown, edge_between, shorten
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, Node
from whence_client.events.columns import NO_SOURCE, NOT_CAPTURED

_STAR = "*"
_NOTHING = Catalog({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query. `outputs` has the expression of each field; `dimensions` are the fields that group the others.

    `unread` has the reason of each field whose expression is not known, `gaps` what else is not.
    """

    source: str
    outputs: Mapping[str, str]
    dimensions: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()


def read_query(query: Query, connection: Connection, target: DatasetName) -> Lineage:
    """The lineage of a query whose result is `target`."""
    names = tuple(query.outputs)
    whole = _read(_text(query, names), connection)
    if _is_read(whole):
        return _with_unread(_lineage(whole, names, connection, target), query)
    parts = [_one_field(query, name, connection, target) for name in names]
    parts += [_one_condition(query, text, connection, target) for text in (*query.conditions, *query.orders)]
    if not _is_read(_read(f"SELECT 1 AS w0 FROM {query.source}\n", connection)):
        parts = [_unread_source(query, whole)]
    return _with_unread(replace(join_lineages(tuple(parts)), fields=names), query)


def _text(query: Query, names: tuple[str, ...]) -> str:
    selected = ",\n".join(f"{query.outputs[name]}\n AS w{number}" for number, name in enumerate(names))
    conditions = "\n AND ".join(f"({one}\n)" for one in query.conditions)
    groups = ",\n".join(query.outputs[one] for one in query.dimensions if one in query.outputs)
    is_grouped = bool(groups) and len(query.dimensions) < len(names)
    return "\n".join(
        (
            f"SELECT {selected or '1 AS w0'}",
            f"FROM {query.source}\n",
            f"WHERE {conditions}" if conditions else "",
            f"GROUP BY {groups}\n" if is_grouped else "",
            f"ORDER BY {', '.join(query.orders)}" if query.orders else "",
        )
    )


def _read(text: str, connection: Connection) -> ScriptLineage:
    return read_script(text, connection.dialect, connection.columns or _NOTHING)


def _is_read(script: ScriptLineage) -> bool:
    return len(script.statements) == 1 and script.statements[0].status == "parsed"


def _one_field(query: Query, name: str, connection: Connection, target: DatasetName) -> Lineage:
    alone = Query(source=query.source, outputs={name: query.outputs[name]})
    script = _read(_text(alone, (name,)), connection)
    if _is_read(script) or _has_partly_read(script):
        return _lineage(script, (name,), connection, target)
    gap = f"{name}: its expression cannot be read: {_error(script)}"
    return Lineage(fields=(name,), unexplained={name: NOT_CAPTURED}, gaps=(gap,))


def _one_condition(query: Query, text: str, connection: Connection, target: DatasetName) -> Lineage:
    script = _read(f"SELECT 1 AS w0 FROM {query.source}\n WHERE ({text}\n)", connection)
    if _is_read(script):
        return replace(_lineage(script, ("",), connection, target), fields=(), unexplained={})
    return Lineage(gaps=(f"a filter or an order cannot be read: {_error(script)}",))


def _unread_source(query: Query, script: ScriptLineage) -> Lineage:
    names = tuple(query.outputs)
    gap = f"the query that it reads cannot be read: {_error(script)}"
    return Lineage(fields=names, unexplained=dict.fromkeys(names, NOT_CAPTURED), gaps=(gap,))


def _has_partly_read(script: ScriptLineage) -> bool:
    return len(script.statements) == 1 and script.statements[0].status == "partial"


def _error(script: ScriptLineage) -> str:
    errors = [one.error for one in script.statements if one.error]
    return shorten(errors[0]) if errors else "it is no single query"


def _lineage(script: ScriptLineage, names: tuple[str, ...], connection: Connection, target: DatasetName) -> Lineage:
    edges: set[Edge] = set()
    doubts: set[Doubt] = set()
    for found, edge in _edges(script, names, connection, target):
        edges.add(edge)
        if found.confidence < 1 and isinstance(edge.source, FieldName):
            doubts.add(Doubt(edge=edge, confidence=found.confidence, reason=found.reason))
    edges.update(_whole_edges(script, connection, target))
    known = {edge.target.field for edge in edges if isinstance(edge.target, FieldName) and edge.type == "DIRECT"}
    unknowns = tuple(describe_unknown(one) for statement in script for one in statement.unknowns)
    reason = NOT_CAPTURED if unknowns else NO_SOURCE
    return Lineage(
        edges=sort_edges(edges),
        fields=names,
        doubts=tuple(sorted(doubts, key=lambda one: str(one.edge))),
        unexplained={name: reason for name in names if name not in known},
        gaps=unknowns,
    )


def _edges(
    script: ScriptLineage, names: tuple[str, ...], connection: Connection, target: DatasetName
) -> Iterator[tuple[SqlEdge, Edge]]:
    for edge in _result_edges(script.statements):
        source, end = _source(edge.source, connection), _target(edge.target, names, target)
        if source is not None and end is not None:
            yield edge, edge_between(source, end, edge)


def _result_edges(statements: Iterable[StatementLineage]) -> Iterator[SqlEdge]:
    for statement in statements:
        yield from (
            one
            for one in statement.edges
            if (one.target.table if isinstance(one.target, Column) else one.target) == RESULT
        )


def _source(end: Column | Table, connection: Connection) -> Node | None:
    table = end.table if isinstance(end, Column) else end
    dataset = connection.naming.dataset(table)
    return FieldName(dataset, end.name) if dataset and isinstance(end, Column) and end.name != _STAR else dataset


def _target(end: Column | Table, names: tuple[str, ...], target: DatasetName) -> Node | None:
    if not isinstance(end, Column):
        return target
    number = end.name[1:]
    known = end.name[:1].lower() == "w" and number.isdigit() and int(number) < len(names)
    return FieldName(target, names[int(number)]) if known else None


def _whole_edges(script: ScriptLineage, connection: Connection, target: DatasetName) -> Iterator[Edge]:
    for table in {table for statement in script for table in statement.reads}:
        if dataset := connection.naming.dataset(table):
            yield Edge(source=dataset, target=target, type="DIRECT")


def _with_unread(lineage: Lineage, query: Query) -> Lineage:
    gaps = tuple(f"{name}: {reason}" for name, reason in query.unread.items())
    return replace(
        lineage,
        fields=tuple(dict.fromkeys((*lineage.fields, *query.unread))),
        unexplained={**lineage.unexplained, **dict.fromkeys(query.unread, NOT_CAPTURED)},
        gaps=tuple(dict.fromkeys((*lineage.gaps, *gaps, *query.gaps))),
    )
