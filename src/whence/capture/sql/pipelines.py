"""Objects that move data by themselves, read by their words: Snowflake's streams, change flows of Databricks."""

import re

from whence.capture.sql.catalog import Known
from whence.capture.sql.lineage import Budget, Table
from whence.capture.sql.moves import Move, Moved, whole
from whence.capture.sql.names import column_of, parts_of
from whence.capture.sql.parsing import parse
from whence.capture.sql.queries import query
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import STAR, Output
from whence.capture.sql.scopes import Scope

_I = re.IGNORECASE | re.DOTALL
_NAME = r"((?:[\w$]+|\"[^\"]+\"|`[^`]+`)(?:\.(?:[\w$]+|\"[^\"]+\"|`[^`]+`))*)"
_STREAM = re.compile(
    rf"^CREATE\s+(?:OR\s+REPLACE\s+)?STREAM\s+(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}\s+(?:.*?\s)?ON\s+"
    rf"(?:EXTERNAL\s+|DYNAMIC\s+|EVENT\s+)?(?:TABLE|VIEW|STAGE)\s+{_NAME}",
    _I,
)
_DICTIONARY = re.compile(
    rf"^CREATE\s+(?:OR\s+REPLACE\s+)?DICTIONARY\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>{_NAME})\s*(?:ON\s+CLUSTER\s+\S+\s*)?"
    r"\((?P<columns>[^()]*(?:\([^()]*\)[^()]*)*)\).*?\bSOURCE\s*\((?P<source>.*)$",
    _I,
)
_SETTING = re.compile(r"\b(DB|TABLE|QUERY|PATH|URL)\s+'((?:[^']|'')*)'", _I)
_CHANGES = re.compile(
    rf"^(?:CREATE\s+FLOW\s+\S+\s+AS\s+)?(?:AUTO\s+CDC|APPLY\s+CHANGES)(?:\s+ONCE)?\s+INTO\s+{_NAME}\s+FROM\s+"
    rf"(?:STREAM\s*\(\s*{_NAME}\s*\)|(?:STREAM\s+)?{_NAME})(?P<rest>.*)$",
    _I,
)
_COLUMNS = re.compile(r"\bCOLUMNS\s+(?:\*\s*EXCEPT\s*\((?P<left_out>[^)]*)\)|\(?(?P<listed>[^)]*)\)?)", _I)


def read_pipeline(reading: Reading, text: str) -> Moved | None:
    """What a stream or a change flow moves; None if the text is none of them."""
    if reading.dialect.name == "snowflake":
        return _stream(reading, text)
    if reading.dialect.name == "clickhouse":
        return _dictionary(reading, text)
    return _changes(reading, text) if reading.dialect.name == "databricks" else None


def _stream(reading: Reading, text: str) -> Moved | None:
    """A stream has the columns of its table."""
    found = _STREAM.match(text)
    if found is None:
        return None
    target, source = _table(reading, found[1]), _table(reading, found[2])
    reading.session.own[target] = Known(reading.session.columns(source)[0])
    result = Moved("create")
    result.into(whole(reading, target, source), [source])
    return result


def _dictionary(reading: Reading, text: str) -> Moved | None:
    """ClickHouse's dictionary has the columns of its source by name."""
    found = _DICTIONARY.match(text)
    if found is None:
        return None
    said = {name.lower(): value.replace("''", "'") for name, value in _SETTING.findall(found["source"])}
    columns = [column_of(reading.dialect, one.split()[0]) for one in found["columns"].split(",") if one.strip()]
    result = Moved("create")
    if "query" in said:
        nodes = parse(said["query"], reading.dialect, Budget()).nodes
    elif "table" in said:
        name = f"{said['db']}.{said['table']}" if said.get("db") else said["table"]
        nodes = parse(f"SELECT * FROM {name}", reading.dialect, Budget()).nodes
    else:
        path = said.get("path") or said.get("url") or "dictionary source"
        return Moved("create", reads={Table((path,))}, writes=[_table(reading, found["name"])])
    for node in nodes:
        relation = query(node, Scope(reading))
        outputs = [relation.find(name) or relation.guess(name) for name in columns]
        move = Move(_table(reading, found["name"]), [one for one in outputs if one is not None], relation.rows)
        result.into(move, relation.reads)
    return result


def _changes(reading: Reading, text: str) -> Moved | None:
    """AUTO CDC and APPLY CHANGES: the source's columns by name, all or those listed."""
    found = _CHANGES.match(text)
    if found is None:
        return None
    target, source = _table(reading, found[1]), _table(reading, found[2] or found[3])
    outputs = query(parse(f"SELECT * FROM {found[2] or found[3]}", reading.dialect, Budget()).nodes[0], Scope(reading))
    result = Moved("apply")
    result.into(Move(target, _columns(reading, outputs.outputs, found["rest"])), [source])
    return result


def _columns(reading: Reading, outputs: list[Output], rest: str) -> list[Output]:
    found = _COLUMNS.search(rest)
    if found is None:
        return outputs
    names = [column_of(reading.dialect, one.strip()) for one in (found["left_out"] or found["listed"] or "").split(",")]
    if found["left_out"] is not None:
        return [
            Output(STAR, one.flow, hidden=one.hidden | set(names)) if one.name == STAR else one
            for one in outputs
            if one.name not in names
        ]
    return [one for one in outputs if one.name == STAR or one.name in names]


def _table(reading: Reading, name: str) -> Table:
    return reading.session.resolve(Table(parts_of(reading.dialect, name)))
