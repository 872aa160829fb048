"""What the parser leaves as text: read by its words, or by the literal that it runs."""

import re

from whence.capture.sql.definitions import rename, swap
from whence.capture.sql.lineage import Budget, Table
from whence.capture.sql.moves import Move, Moved
from whence.capture.sql.names import parts_of
from whence.capture.sql.parsing import parse
from whence.capture.sql.paths import search
from whence.capture.sql.pipelines import read_pipeline
from whence.capture.sql.reading import Reading
from whence.capture.sql.scopes import Scope

_I = re.IGNORECASE | re.DOTALL
_NAME = r"((?:[\w$#@]+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\])(?:\.(?:[\w$#@]+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\])?)*)"
_TEXT = r"N?'((?:[^']|'')*)'"
_UNLOAD = re.compile(
    r"^UNLOAD\s*\(\s*(?:'((?:[^'\\]|''|\\.)*)'|\$\$(.*?)\$\$|((?:SELECT|WITH|TABLE)\b.*))\s*\)\s*TO\s*'([^']*)'", _I
)
_RENAMES = re.compile(r"^RENAME\s+(?:TABLES?\s+)?(.*)$", _I)
_TO = re.compile(rf"{_NAME}\s+TO\s+{_NAME}", _I)
_SP_RENAME = re.compile(rf"^EXEC(?:UTE)?\s+(?:sys\.)?sp_rename\s+{_TEXT}\s*,\s*{_TEXT}\s*(?:,\s*N?'OBJECT'\s*)?$", _I)
_SEARCH = re.compile(r"^SET\s+(?:SESSION\s+|LOCAL\s+)?search_path\s*(?:TO|=)\s*(.*)$", _I)
_SCHEMA = re.compile(r"^(?:ALTER\s+SESSION\s+SET\s+CURRENT_SCHEMA\s*=\s*|SET\s+SCHEMA\s+|DATABASE\s+)(\w+)\s*$", _I)
_MOVE_SCHEMA = re.compile(rf"^ALTER\s+(?:TABLE|VIEW)\s+(?:IF\s+EXISTS\s+)?{_NAME}\s+SET\s+SCHEMA\s+(\w+)", _I)
_INSERT_EXEC = re.compile(rf"^INSERT\s+(?:INTO\s+)?{_NAME}\s*(?:\([^)]*\))?\s*EXEC(?:UTE)?\b", _I)
_EXCHANGE = re.compile(rf"^EXCHANGE\s+TABLES\s+{_NAME}\s+AND\s+{_NAME}", _I)
_REFRESH = re.compile(rf"^REFRESH\s+MATERIALIZED\s+VIEW\s+(?:CONCURRENTLY\s+)?{_NAME}", _I)
_OUTFILE = re.compile(rf"^(SELECT\b.*?)\s+INTO\s+(?:OUT|DUMP)FILE\s+{_TEXT}(?:.*?(\sFROM\s.*))?", _I)
_BULK = re.compile(rf"^BULK\s+INSERT\s+{_NAME}\s+FROM\s+{_TEXT}", _I)
_RUNS = re.compile(
    rf"^(?:EXECUTE\s+IMMEDIATE|EXEC(?:UTE)?\s+(?:sys\.)?sp_executesql(?:\s+@(?:stmt|statement)\s*=)?|EXEC(?:UTE)?|"
    rf"PREPARE\s+\w+\s+FROM|PERFORM)\s*\(?\s*(?:{_TEXT}|\$\$(.*?)\$\$|:?(@?\w+)|r?\"\"\"(.*?)\"\"\"|r?\"(.*?)\")"
    r"\s*(?P<more>.?)",
    _I,
)
_OWN_QUOTES = re.compile(r"^(EXECUTE\s+IMMEDIATE\s+)[qQ]'(?:\[(.*?)\]|\{(.*?)\}|\((.*?)\)|<(.*?)>|(\S)(.*?)\6)'", _I)
"""Oracle's `q'[…]'`."""
_TABLE_VARIABLE = re.compile(r"^DECLARE\s+(@\w+)\s+(?:AS\s+)?TABLE\s*(\(.*)$", _I)
_DECLARES = re.compile(r"^DECLARE\s+((?:\w+\s*,\s*)*\w+)\s+(?!CURSOR|INSENSITIVE|SCROLL)\w+", _I)
_PARAMETERS = re.compile(
    r"^(?:(?:CREATE|ALTER|REPLACE)\b[^(]*?\b)?(?:PROC|MACRO|PROCEDURE|FUNCTION)\s+[^\s(]+\s*\(([^)]*(?:\(\d[^)]*"
    r"\)[^)]*)*)\)",
    _I,
)
_PARAMETER = re.compile(r"^\s*(?:(?:IN|OUT|INOUT)\s+)?(\w+)\s+\w", re.IGNORECASE)
_SETS = re.compile(r"(?:DECLARE|SET|LET)\b|@?\w+\s*:=", re.IGNORECASE)
_ASSIGNS = re.compile(
    r"(?:^|[\s,])(?:(?:DECLARE|SET|LET)\s+)?(@?\w+)(?:\s+[A-Za-z]\w*(?:\([^)]*\))?)?\s*(?:\bDEFAULT|:=|=)\s*"
    + _TEXT
    + r"\s*$",
    _I,
)


def by_text(reading: Reading, text: str) -> Moved | None:
    """What a statement does of which there is no tree; None if its words do not say."""
    text = text.strip().rstrip(";")
    for read in (_unload, _rename, _path, _other, read_pipeline):
        found = read(reading, text)
        if found is not None:
            return found
    if re.match(r"(EXEC|EXECUTE|PREPARE)\b", text, re.IGNORECASE):
        calls = re.match(rf"EXEC(?:UTE)?\s+(?:@\w+\s*=\s*)?{_NAME}", text, re.IGNORECASE)
        name = calls.group(1).lower() if calls else ""
        dynamic = name in ("immediate", "sp_executesql", "sys.sp_executesql") or name.startswith("@") or "(" in text[:9]
        return Moved("execute", opaque=True, unread=dynamic)
    return None


_PREPARES = re.compile(
    r"PREPARE\s+(\w+)\s*(?:\([^()]*\)\s*)?(?:AS|FROM)\s+"
    r"((?:SELECT|INSERT|UPDATE|DELETE|MERGE|WITH|CREATE|VALUES)\b.*)$",
    _I,
)


def remember(variables: dict[str, str], text: str) -> None:
    """A variable that a literal is assigned to; a statement that is prepared under a name."""
    prepared = _PREPARES.match(text) if text[:7].upper() == "PREPARE" else None
    if prepared is not None:
        variables[prepared.group(1).lower()] = prepared.group(2)
        return
    if len(text) > 100_000 or "'" not in text or not _SETS.match(text):
        return
    found = _ASSIGNS.search(text)
    if found is not None:
        variables[found.group(1).lower()] = found.group(2).replace("''", "'")


def declared(text: str) -> list[str]:
    """The variables that DECLARE, or the head of a procedure, names; in lower case."""
    found = _DECLARES.match(text)
    if found is not None:
        return [name.strip().lower() for name in found.group(1).split(",")]
    head = _PARAMETERS.match(text[:5_000])
    parameters = [_PARAMETER.match(part) for part in head.group(1).split(",")] if head is not None else []
    return [one.group(1).lower() for one in parameters if one is not None]


def table_variable(text: str) -> tuple[str, str] | None:
    """T-SQL: DECLARE @t TABLE (…): its name, and its columns as written."""
    found = _TABLE_VARIABLE.match(text)
    return (found.group(1).lower(), found.group(2)) if found is not None else None


def literal_of(text: str, variables: dict[str, str]) -> str | None:
    """The text that EXECUTE runs: a literal, or a variable that holds one. None if it is put together."""
    own = _OWN_QUOTES.match(text.strip())
    if own is not None:
        return next((one for one in (*own.groups()[1:5], own.group(7)) if one is not None), None)
    found = _RUNS.match(text.strip())
    if found is None or found.group("more") in ("|", "+", "&"):
        return None
    literal, dollars, variable = found.group(1), found.group(2), found.group(3)
    if literal is not None:
        return literal.replace("''", "'")
    if variable is not None:
        return variables.get(variable.lower())
    return next((one for one in (dollars, found.group(4), found.group(5)) if one is not None), None)


def _table(reading: Reading, name: str) -> Table:
    return reading.session.resolve(Table(parts_of(reading.dialect, name)))


def _unload(reading: Reading, text: str) -> Moved | None:
    found = _UNLOAD.match(text)
    if found is None:
        return None
    inside = (found.group(1) or "").replace("''", "'").replace("\\'", "'") or found.group(2) or found.group(3)
    result = Moved("unload")
    target = Table((found.group(4),))
    for node in parse(inside, reading.dialect, Budget()).nodes:
        relation = reading.query(node, Scope(reading))
        result.into(Move(target, relation.outputs, relation.rows, adds=False), relation.reads)
    return result


def _rename(reading: Reading, text: str) -> Moved | None:
    result = Moved("alter")
    found = _RENAMES.match(text)
    pairs = _TO.findall(found.group(1)) if found else []
    procedure = _SP_RENAME.match(text)
    if procedure is not None:
        pairs = [(procedure.group(1), procedure.group(2))]
    moves = _MOVE_SCHEMA.match(text)
    if moves is not None:
        pairs = [(moves.group(1), f"{moves.group(2)}.{parts_of(reading.dialect, moves.group(1))[-1]}")]
    for old, new in pairs:
        source, target = _table(reading, old), Table(parts_of(reading.dialect, new))
        if len(target.parts) < len(source.parts):
            target = Table((*source.parts[: -len(target.parts)], *target.parts))
        rename(reading, source, target, result)
    return result if pairs else None


def _path(reading: Reading, text: str) -> Moved | None:
    found = _SEARCH.match(text)
    if found is not None:
        search(reading, [name.strip().strip("'\"") for name in found.group(1).split(",")])
        return Moved("set", opaque=True)
    found = _SCHEMA.match(text)
    if found is not None:
        search(reading, [found.group(1)])
        return Moved("set", opaque=True)
    return None


def _other(reading: Reading, text: str) -> Moved | None:
    found = _INSERT_EXEC.match(text)
    if found is not None:
        return Moved("insert", writes=[_table(reading, found.group(1))], unread=True)
    found = _EXCHANGE.match(text)
    if found is not None:
        result = Moved("exchange")
        swap(reading, _table(reading, found.group(1)), _table(reading, found.group(2)), result)
        return result
    found = _OUTFILE.match(text)
    if found is not None:
        result = Moved("select")
        for node in parse(f"{found.group(1)} {found.group(3) or ''}", reading.dialect, Budget()).nodes:
            relation = reading.query(node, Scope(reading))
            target = Table((found.group(2),))
            result.into(Move(target, relation.outputs, relation.rows, adds=False), relation.reads)
        return result
    found = _BULK.match(text)
    if found is not None:
        return Moved("insert", reads={Table((found.group(2),))}, writes=[_table(reading, found.group(1))])
    found = _REFRESH.match(text)
    if found is not None:
        return Moved("refresh", writes=[_table(reading, found.group(1))])
    return None
