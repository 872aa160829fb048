"""Objects that move data by themselves, read by regular expressions: Snowflake's streams, change flows of
Databricks.
"""

import re

from whence.capture.sql.lineage import Budget, Table
from whence.capture.sql.names.catalog import DeclaredTable
from whence.capture.sql.names.names import parse_column_name, parse_name_parts
from whence.capture.sql.provenance.relations import STAR, Output
from whence.capture.sql.queries.queries import query
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.statements.moves import Effects, Move, copy_all_columns
from whence.capture.sql.syntax.parsing import parse

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


def read_pipeline(reading: Reading, text: str) -> Effects | None:
    """Read the effects of a stream, a dictionary or a change flow. Returns None for other texts."""
    if reading.dialect.name == "snowflake":
        return _stream(reading, text)
    if reading.dialect.name == "clickhouse":
        return _dictionary(reading, text)
    return _changes(reading, text) if reading.dialect.name == "databricks" else None


def _stream(reading: Reading, text: str) -> Effects | None:
    """A stream has the columns of its table."""
    match = _STREAM.match(text)
    if match is None:
        return None
    target, source = _table(reading, match[1]), _table(reading, match[2])
    reading.session.declared[target] = DeclaredTable(reading.session.columns(source)[0])
    result = Effects("create")
    result.add_move(copy_all_columns(reading, target, source), [source])
    return result


def _dictionary(reading: Reading, text: str) -> Effects | None:
    """ClickHouse's dictionary has the columns of its source by name."""
    match = _DICTIONARY.match(text)
    if match is None:
        return None
    settings = {name.lower(): value.replace("''", "'") for name, value in _SETTING.findall(match["source"])}
    columns = [
        parse_column_name(reading.dialect, part.split()[0]) for part in match["columns"].split(",") if part.strip()
    ]
    result = Effects("create")
    if "query" in settings:
        nodes = parse(settings["query"], reading.dialect, Budget()).nodes
    elif "table" in settings:
        name = f"{settings['db']}.{settings['table']}" if settings.get("db") else settings["table"]
        nodes = parse(f"SELECT * FROM {name}", reading.dialect, Budget()).nodes
    else:
        path = settings.get("path") or settings.get("url") or "dictionary source"
        return Effects("create", reads={Table((path,))}, writes=[_table(reading, match["name"])])
    for node in nodes:
        relation = query(node, Scope(reading))
        outputs = [relation.find(name) or relation.guess(name) for name in columns]
        move = Move(_table(reading, match["name"]), [output for output in outputs if output is not None], relation.rows)
        result.add_move(move, relation.reads)
    return result


def _changes(reading: Reading, text: str) -> Effects | None:
    """AUTO CDC and APPLY CHANGES: the source's columns by name, all or the listed ones."""
    match = _CHANGES.match(text)
    if match is None:
        return None
    target, source = _table(reading, match[1]), _table(reading, match[2] or match[3])
    outputs = query(parse(f"SELECT * FROM {match[2] or match[3]}", reading.dialect, Budget()).nodes[0], Scope(reading))
    result = Effects("apply")
    result.add_move(Move(target, _columns(reading, outputs.outputs, match["rest"])), [source])
    return result


def _columns(reading: Reading, outputs: list[Output], rest: str) -> list[Output]:
    match = _COLUMNS.search(rest)
    if match is None:
        return outputs
    names = [
        parse_column_name(reading.dialect, part.strip())
        for part in (match["left_out"] or match["listed"] or "").split(",")
    ]
    if match["left_out"] is not None:
        return [
            Output(STAR, output.flow, hidden=output.hidden | set(names)) if output.name == STAR else output
            for output in outputs
            if output.name not in names
        ]
    return [output for output in outputs if output.name == STAR or output.name in names]


def _table(reading: Reading, name: str) -> Table:
    return reading.session.resolve(Table(parse_name_parts(reading.dialect, name)))
