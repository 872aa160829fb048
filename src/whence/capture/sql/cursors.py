"""Cursors: the query that one is declared for, and the variables that its rows are fetched into.

`DECLARE c CURSOR FOR …` (T-SQL, MySQL, Snowflake, PostgreSQL), `CURSOR c IS …` (Oracle), `OPEN c FOR …`,
`FETCH c INTO a, b`, `WHERE CURRENT OF c`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from whence.capture.sql.flows import NOTHING, Flow
from whence.capture.sql.lineage import Budget
from whence.capture.sql.moves import Moved
from whence.capture.sql.parsing import parse
from whence.capture.sql.queries import query
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import EMPTY, STAR, Output, Relation
from whence.capture.sql.scopes import Scope

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
    """A cursor as written: its name in lower case, its query, and the names of its parameters."""

    name: str
    query: str
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fetch:
    """`FETCH cursor INTO variables`; all names in lower case."""

    cursor: str
    variables: tuple[str, ...]


def cursor_in(text: str) -> Cursor | None:
    """The cursor that a statement declares or opens with a query; None if it does neither."""
    if "cursor" not in text[:400].lower() and text[:4].lower() != "open":
        return None
    found = next((one for one in (pattern.match(text) for pattern in (_ASSIGNED, *_DECLARED)) if one), None)
    if found is None:
        return None
    written = (found["parameters"] or "").split(",")
    parameters = tuple(part.split()[0].lower() for part in written if part.strip())
    return Cursor(found["name"].lower(), _LOCKS.sub("", found["query"]), parameters)


def fetch_in(text: str) -> Fetch | None:
    """The FETCH that a statement is; None if it is none, or keeps nothing."""
    found = _FETCHED.match(text) if text[:5].lower() == "fetch" else None
    if found is None:
        return None
    variables = tuple(one.strip().lstrip(":").lower() for one in found["variables"].split(","))
    return Fetch(found["name"].lower(), variables)


def read_cursor(reading: Reading, cursors: dict[str, Relation], text: str) -> Moved | None:
    """A statement that declares a cursor, opens one for a query, or fetches a row; None if it is none of them."""
    declared = cursor_in(text)
    if declared is not None:
        parsed = parse(declared.query, reading.dialect, Budget())
        if parsed.error is not None:
            return None
        for name in declared.parameters:
            reading.variables.setdefault(name, Output(name, NOTHING))
        relation = query(parsed.nodes[0], Scope(reading)) if parsed.nodes else EMPTY
        cursors[declared.name] = relation
        return Moved("declare", reads=set(relation.reads))
    fetched = fetch_in(text)
    if fetched is None:
        return None
    known = cursors.get(fetched.cursor)
    keep_row(reading, known or EMPTY, fetched.variables)
    return Moved("fetch", opaque=True, unread=known is None)


def current_of(text: str) -> str | None:
    """The cursor whose row a statement changes."""
    found = _CURRENT.search(text)
    return found["name"].lower() if found is not None else None


def keep_row(reading: Reading, relation: Relation, variables: tuple[str, ...]) -> None:
    """A row of a cursor into variables by position; one variable for several columns is a record."""
    record = len(variables) == 1 and (len(relation.outputs) != 1 or relation.outputs[0].name == STAR)
    for place, name in enumerate(variables):
        if record:
            reading.variables[name] = record_of(name, relation)
        elif place < len(relation.outputs):
            reading.variables[name] = Output(name, relation.outputs[place].flow, relation.outputs[place].fields)
        reading.loops[name] = relation.rows


def record_of(name: str, relation: Relation) -> Output:
    """A record: the fields are known by name, all of them are what it is made of as a whole."""
    fields: Mapping[str, Output] = {one.name: one for one in relation.outputs}
    return Output(name, NOTHING, fields)


def rows_of(cursors: Mapping[str, Relation], text: str) -> Flow:
    """What chose the row that WHERE CURRENT OF means."""
    name = current_of(text)
    return cursors[name].rows if name is not None and name in cursors else NOTHING
