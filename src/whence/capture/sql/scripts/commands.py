"""Statements that the parser leaves as text, read by regular expressions, or through the literal that they run."""

import re

from whence.capture.sql.lineage import Budget, Table
from whence.capture.sql.names.names import parse_name_parts
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.scripts.pipelines import read_pipeline
from whence.capture.sql.scripts.search_path import set_search_path
from whence.capture.sql.statements.definitions import rename, swap
from whence.capture.sql.statements.moves import Effects, Move
from whence.capture.sql.syntax.parsing import parse

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


def read_by_text(reading: Reading, text: str) -> Effects | None:
    """Read the effects of a statement without a tree. Returns None if its words do not show them."""
    text = text.strip().rstrip(";")
    for read in (_read_unload, _read_rename, _read_session_setting, _read_other, read_pipeline):
        effects = read(reading, text)
        if effects is not None:
            return effects
    if re.match(r"(EXEC|EXECUTE|PREPARE)\b", text, re.IGNORECASE):
        call = re.match(rf"EXEC(?:UTE)?\s+(?:@\w+\s*=\s*)?{_NAME}", text, re.IGNORECASE)
        name = call.group(1).lower() if call else ""
        is_dynamic = (
            name in ("immediate", "sp_executesql", "sys.sp_executesql") or name.startswith("@") or "(" in text[:9]
        )
        return Effects("execute", opaque=True, unread=is_dynamic)
    return None


_PREPARES = re.compile(
    r"PREPARE\s+(\w+)\s*(?:\([^()]*\)\s*)?(?:AS|FROM)\s+"
    r"((?:SELECT|INSERT|UPDATE|DELETE|MERGE|WITH|CREATE|VALUES)\b.*)$",
    _I,
)


def remember_text(variables: dict[str, str], text: str) -> None:
    """Store the literal assigned to a variable, or the statement prepared under a name."""
    prepared = _PREPARES.match(text) if text[:7].upper() == "PREPARE" else None
    if prepared is not None:
        variables[prepared.group(1).lower()] = prepared.group(2)
        return
    if len(text) > 100_000 or "'" not in text or not _SETS.match(text):
        return
    assignment = _ASSIGNS.search(text)
    if assignment is not None:
        variables[assignment.group(1).lower()] = assignment.group(2).replace("''", "'")


def declared_variables(text: str) -> list[str]:
    """The variables of DECLARE, or the parameters of a procedure, in lower case."""
    declaration = _DECLARES.match(text)
    if declaration is not None:
        return [name.strip().lower() for name in declaration.group(1).split(",")]
    head = _PARAMETERS.match(text[:5_000])
    parameters = [_PARAMETER.match(part) for part in head.group(1).split(",")] if head is not None else []
    return [parameter.group(1).lower() for parameter in parameters if parameter is not None]


def table_variable(text: str) -> tuple[str, str] | None:
    """T-SQL: DECLARE @t TABLE (…): its name, and its columns as written. None for other texts."""
    declaration = _TABLE_VARIABLE.match(text)
    return (declaration.group(1).lower(), declaration.group(2)) if declaration is not None else None


def executed_text(text: str, variables: dict[str, str]) -> str | None:
    """The text that EXECUTE runs: a literal, or a variable that holds one. None if it is composed."""
    quoted = _OWN_QUOTES.match(text.strip())
    if quoted is not None:
        return next((group for group in (*quoted.groups()[1:5], quoted.group(7)) if group is not None), None)
    call = _RUNS.match(text.strip())
    if call is None or call.group("more") in ("|", "+", "&"):
        return None
    literal, dollars, variable = call.group(1), call.group(2), call.group(3)
    if literal is not None:
        return literal.replace("''", "'")
    if variable is not None:
        return variables.get(variable.lower())
    return next((content for content in (dollars, call.group(4), call.group(5)) if content is not None), None)


def _table(reading: Reading, name: str) -> Table:
    return reading.session.resolve(Table(parse_name_parts(reading.dialect, name)))


def _read_unload(reading: Reading, text: str) -> Effects | None:
    match = _UNLOAD.match(text)
    if match is None:
        return None
    inside = (match.group(1) or "").replace("''", "'").replace("\\'", "'") or match.group(2) or match.group(3)
    result = Effects("unload")
    target = Table((match.group(4),))
    for node in parse(inside, reading.dialect, Budget()).nodes:
        relation = reading.query(node, Scope(reading))
        result.add_move(Move(target, relation.outputs, relation.rows, adds=False), relation.reads)
    return result


def _read_rename(reading: Reading, text: str) -> Effects | None:
    result = Effects("alter")
    renames = _RENAMES.match(text)
    pairs = _TO.findall(renames.group(1)) if renames else []
    procedure = _SP_RENAME.match(text)
    if procedure is not None:
        pairs = [(procedure.group(1), procedure.group(2))]
    schema_move = _MOVE_SCHEMA.match(text)
    if schema_move is not None:
        pairs = [
            (
                schema_move.group(1),
                f"{schema_move.group(2)}.{parse_name_parts(reading.dialect, schema_move.group(1))[-1]}",
            )
        ]
    for old, new in pairs:
        source, target = _table(reading, old), Table(parse_name_parts(reading.dialect, new))
        if len(target.parts) < len(source.parts):
            target = Table((*source.parts[: -len(target.parts)], *target.parts))
        rename(reading, source, target, result)
    return result if pairs else None


def _read_session_setting(reading: Reading, text: str) -> Effects | None:
    match = _SEARCH.match(text)
    if match is not None:
        set_search_path(reading, [name.strip().strip("'\"") for name in match.group(1).split(",")])
        return Effects("set", opaque=True)
    match = _SCHEMA.match(text)
    if match is not None:
        set_search_path(reading, [match.group(1)])
        return Effects("set", opaque=True)
    return None


def _read_other(reading: Reading, text: str) -> Effects | None:
    match = _INSERT_EXEC.match(text)
    if match is not None:
        return Effects("insert", writes=[_table(reading, match.group(1))], unread=True)
    match = _EXCHANGE.match(text)
    if match is not None:
        result = Effects("exchange")
        swap(reading, _table(reading, match.group(1)), _table(reading, match.group(2)), result)
        return result
    match = _OUTFILE.match(text)
    if match is not None:
        result = Effects("select")
        for node in parse(f"{match.group(1)} {match.group(3) or ''}", reading.dialect, Budget()).nodes:
            relation = reading.query(node, Scope(reading))
            target = Table((match.group(2),))
            result.add_move(Move(target, relation.outputs, relation.rows, adds=False), relation.reads)
        return result
    match = _BULK.match(text)
    if match is not None:
        return Effects("insert", reads={Table((match.group(2),))}, writes=[_table(reading, match.group(1))])
    match = _REFRESH.match(text)
    if match is not None:
        return Effects("refresh", writes=[_table(reading, match.group(1))])
    return None
