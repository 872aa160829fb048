"""Cursors: the query of a declaration, and the variables that receive its rows.

`DECLARE c CURSOR FOR …` (T-SQL, MySQL, Snowflake, PostgreSQL), `CURSOR c IS …` (Oracle), `OPEN c FOR …`, `FETCH c INTO
a, b`, `WHERE CURRENT OF c`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from whence.capture.sql.lineage import Budget
from whence.capture.sql.provenance.flows import NOTHING, Flow
from whence.capture.sql.provenance.relations import EMPTY, STAR, Output, Relation
from whence.capture.sql.queries.queries import query
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.statements.moves import Effects
from whence.capture.sql.syntax.parsing import parse

_I = re.IGNORECASE | re.DOTALL
_OPTIONS = (
    r"(?:\s+(?:INSENSITIVE|SCROLL|NO|BINARY|ASENSITIVE|LOCAL|GLOBAL|FORWARD_ONLY|STATIC|KEYSET|DYNAMIC|FAST_FORWARD|"
    r"READ_ONLY|SCROLL_LOCKS|OPTIMISTIC|TYPE_WARNING|WITH|WITHOUT|HOLD|RETURN|TO|CALLER|CLIENT|ONLY))*"
)
_PARAMETERS = r"(?:\s*\((?P<parameters>[^()]*(?:\([^()]*\)[^()]*)*)\))?"
_QUERY = r"(?P<query>\(?\s*(?:SELECT|WITH|VALUES|SEL)\b.*)$"
_DECLARED = (
    re.compile(
        rf"(?:DECLARE\s+|LET\s+|SET\s+)?(?P<name>@?\w+)\s*=?{_OPTIONS}\s+CURSOR{_OPTIONS}{_PARAMETERS}{_OPTIONS}\s+"
        rf"(?:FOR|IS)\s+{_QUERY}",
        _I,
    ),
    re.compile(
        rf"(?:DECLARE\s+)?CURSOR\s+(?P<name>\w+){_PARAMETERS}\s*(?:RETURN\s+[\w.%]+\s+)?(?:IS|AS)\s+{_QUERY}", _I
    ),
    re.compile(rf"OPEN\s+(?P<name>@?\w+)(?P<parameters>)\s+(?:NO\s+SCROLL\s+)?FOR\s+{_QUERY}", _I),
)
_ASSIGNED = re.compile(rf"SET\s+(?P<name>@\w+)\s*=\s*CURSOR(?P<parameters>){_OPTIONS}\s+FOR\s+{_QUERY}", _I)
_FETCHED = re.compile(
    r"FETCH\s+(?:(?:NEXT|PRIOR|FIRST|LAST|FORWARD|(?:ABSOLUTE|RELATIVE)\s+\S+)\s+)?(?:(?:FROM|IN)\s+)?(?:GLOBAL\s+)?"
    r"(?P<name>@?\w+)\s+(?:BULK\s+COLLECT\s+)?INTO\s+(?P<variables>.+?)(?:\s+LIMIT\s+\S+)?\s*$",
    _I,
)
_CURRENT = re.compile(r"\s+WHERE\s+CURRENT\s+OF\s+(?P<name>@?\w+)", re.IGNORECASE)
_LOCKS = re.compile(r"\s+FOR\s+(?:UPDATE|READ\s+ONLY)(?:\s+OF\s+[\w.,\s]+)?(?:\s+(?:NOWAIT|SKIP\s+LOCKED))?\s*$", _I)


@dataclass(frozen=True, slots=True)
class Cursor:
    """A cursor declaration: its name in lower case, its query, and the names of its parameters."""

    name: str
    query: str
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fetch:
    """`FETCH cursor INTO variables`; all names in lower case."""

    cursor: str
    variables: tuple[str, ...]


def parse_cursor(text: str) -> Cursor | None:
    """The cursor that a statement declares or opens with a query; None for other statements."""
    if "cursor" not in text[:400].lower() and text[:4].lower() != "open":
        return None
    match = next(
        (candidate for candidate in (pattern.match(text) for pattern in (_ASSIGNED, *_DECLARED)) if candidate), None
    )
    if match is None:
        return None
    parameter_texts = (match["parameters"] or "").split(",")
    parameters = tuple(part.split()[0].lower() for part in parameter_texts if part.strip())
    return Cursor(match["name"].lower(), _LOCKS.sub("", match["query"]), parameters)


def parse_fetch(text: str) -> Fetch | None:
    """The FETCH of a statement; None for other statements, or if it stores nothing."""
    match = _FETCHED.match(text) if text[:5].lower() == "fetch" else None
    if match is None:
        return None
    variables = tuple(part.strip().lstrip(":").lower() for part in match["variables"].split(","))
    return Fetch(match["name"].lower(), variables)


def read_cursor(reading: Reading, cursors: dict[str, Relation], text: str) -> Effects | None:
    """Read a statement that declares a cursor, opens one for a query, or fetches a row; None for others."""
    declared = parse_cursor(text)
    if declared is not None:
        parsed = parse(declared.query, reading.dialect, Budget())
        if parsed.error is not None:
            return None
        for name in declared.parameters:
            reading.variables.setdefault(name, Output(name, NOTHING))
        relation = query(parsed.nodes[0], Scope(reading)) if parsed.nodes else EMPTY
        cursors[declared.name] = relation
        return Effects("declare", reads=set(relation.reads))
    fetched = parse_fetch(text)
    if fetched is None:
        return None
    known = cursors.get(fetched.cursor)
    store_row(reading, known or EMPTY, fetched.variables)
    return Effects("fetch", opaque=True, unread=known is None)


def current_cursor(text: str) -> str | None:
    """The cursor whose current row a statement changes, or None."""
    match = _CURRENT.search(text)
    return match["name"].lower() if match is not None else None


def store_row(reading: Reading, relation: Relation, variables: tuple[str, ...]) -> None:
    """Store a row of a cursor in variables by position. One variable for several columns is a record."""
    is_record = len(variables) == 1 and (len(relation.outputs) != 1 or relation.outputs[0].name == STAR)
    for position, name in enumerate(variables):
        if is_record:
            reading.variables[name] = record_of(name, relation)
        elif position < len(relation.outputs):
            reading.variables[name] = Output(name, relation.outputs[position].flow, relation.outputs[position].fields)
        reading.loops[name] = relation.rows


def record_of(name: str, relation: Relation) -> Output:
    """A record: its fields are known by name."""
    fields: Mapping[str, Output] = {output.name: output for output in relation.outputs}
    return Output(name, NOTHING, fields)


def current_row_flow(cursors: Mapping[str, Relation], text: str) -> Flow:
    """The influences on the row that WHERE CURRENT OF refers to."""
    name = current_cursor(text)
    return cursors[name].rows if name is not None and name in cursors else NOTHING
