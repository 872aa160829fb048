"""Procedures and scripting blocks: control flow is removed, and each statement that moves data is read by itself.

So both branches of an IF count, and a loop counts once: lineage of what a procedure can do, with lower confidence.
"""

import re
from collections.abc import Iterator

from whence.capture.sql.dialects.dialects import Dialect
from whence.capture.sql.dialects.functions import words
from whence.capture.sql.statements.variables import QUERY_ASSIGNMENT
from whence.capture.sql.syntax.data_words import has_data_verbs
from whence.capture.sql.syntax.splitter import Piece, scan_marks, skip_blanks, split_statements
from whence.capture.sql.syntax.tsql_statement_starts import split_tsql

VERBS = words(
    "SELECT INSERT UPDATE DELETE MERGE WITH CREATE DROP ALTER TRUNCATE COPY REPLACE EXECUTE EXEC UNLOAD LOAD "
    "EXPORT FROM RENAME USE UPSERT VALUES TABLE CACHE"
)
_ROUTINE = re.compile(
    r"(?:CREATE(?:\s+OR\s+(?:REPLACE|ALTER))?|ALTER|REPLACE)\s+(?:(?:DEFINER\s*=\s*\S+|SECURE|TEMP"
    r"(?:ORARY)?|EDITIONABLE|"
    r"NONEDITIONABLE|AGGREGATE|TABLE|CONSTRAINT|TRANSIENT)\s+)*(PROC"
    r"(?:EDURE)?|FUNCTION|TRIGGER|PACKAGE|TASK|EVENT|MACRO)\b",
    re.IGNORECASE,
)
_BLOCK = re.compile(
    r"(BEGIN|DECLARE|IF|WHILE|LOOP|FOR|REPEAT|CASE|ELSE|ELSEIF|ELSIF|END|DO|EXCEPTION|<<)", re.IGNORECASE
)
_TRANSACTION = re.compile(
    r"BEGIN(?:\s+(?:TRAN|TRANSACTION|WORK|DEFERRED|IMMEDIATE|EXCLUSIVE|CONCURRENT|ISOLATION|READ)\b.*)?\s*$",
    re.IGNORECASE | re.DOTALL,
)
_CONTROLS = (
    re.compile(r"BEGIN\s+(?:TRY|CATCH)\b|BEGIN\s+ATOMIC\b|BEGIN\s+NOT\s+ATOMIC\b|BEGIN\b(?!\s+TRAN)", re.IGNORECASE),
    re.compile(
        r"END\s+(?:TRY|CATCH|IF|LOOP|WHILE|FOR|CASE|REPEAT)\b[ \t]*\w*|END\b(?:[ \t]+\w+(?=\s*$))?", re.IGNORECASE
    ),
    re.compile(r"ELSE\b|EXCEPTION\b|LOOP\b|REPEAT\b|THEN\b|DO\b(?!\s*\$)", re.IGNORECASE),
    re.compile(
        r"DECLARE\s+(?:EXIT|CONTINUE|UNDO)\s+HANDLER\s+FOR\s+.*?(?=\b"
        r"(?:BEGIN|INSERT|UPDATE|DELETE|MERGE|SET|SELECT|CALL|ROLLBACK)\b)",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(r"FORALL\s+\w+\s+IN\s+.*?(?=\b(?:INSERT|UPDATE|DELETE|MERGE|EXECUTE)\b)", re.IGNORECASE | re.DOTALL),
    re.compile(r"<<\s*\w+\s*>>|\w+\s*:(?!=)\s*(?=BEGIN|LOOP|WHILE|REPEAT|FOR)", re.IGNORECASE),
)
_RETURNED = re.compile(r"RETURN\s+(?:QUERY\s+|\(\s*)?(?=(?:SELECT|WITH|VALUES)\b)", re.IGNORECASE)
"""RETURN of a query: its rows are the result."""
_LOCAL = re.compile(
    r"(?:PROCEDURE|FUNCTION)\s+[\w.\"]+\s*(?:\((?:[^()]|\([^()]*\))*\))?\s*(?:RETURN\s+[\w.%]+(?:\([^()]*\))?\s*)?"
    r"(?:(?:DETERMINISTIC|PIPELINED|PARALLEL_ENABLE|RESULT_CACHE)\s+)*(?:IS|AS)\b",
    re.IGNORECASE,
)
"""The head of a routine inside a package or another routine."""
_VARIABLE = re.compile(
    r"(?!(?:COMMIT|ROLLBACK|RAISE|CALL|OPEN|CLOSE|FETCH|EXIT|CONTINUE|GOTO|RETURN|SAVEPOINT|LEAVE|ITERATE|SIGNAL|"
    r"RESIGNAL|GET|PRAGMA|TYPE|CURSOR|PROCEDURE|FUNCTION|PRINT|PERFORM|LET|SET)\b)"
    r"\w+\s+(?:CONSTANT\s+)?[A-Za-z][\w.%]*(?:\s*\([^()]*\))?\s*(?:NOT\s+NULL\s*)?(?:(?::=|DEFAULT\b).*)?$",
    re.IGNORECASE | re.DOTALL,
)
"""A declaration before BEGIN."""
_SETS = re.compile(
    r"(?:LET\s+)?\w+(?:\.\w+)?(?:\s+(?:CONSTANT\s+)?[A-Za-z][\w.%]*(?:\s*\([^)]*\))?)?\s*:=", re.IGNORECASE
)
_CURSOR = re.compile(r"(?:\w+\s+(?:NO\s+)?(?:SCROLL\s+)?)?CURSOR\b|OPEN\s+\w+\s+FOR\b", re.IGNORECASE)
_CONDITIONS = re.compile(r"(IF|ELSIF|ELSEIF|WHEN|CASE|WHILE|FOR|UNTIL)\b", re.IGNORECASE)
_CURSOR_LOOP = re.compile(r"\s*(\w+)\s+IN\s+(?!REVERSE\b|\d)(\w+)\s*(?:\(.*\))?\s*$", re.IGNORECASE | re.DOTALL)
_QUERIES = re.compile(r"\(\s*(?:SELECT|WITH)\b", re.IGNORECASE)
_BODY_TEXT = re.compile(r"\bAS\s+(\$\w*\$|')|\bDO\s+(?:LANGUAGE\s+\w+\s+)?(\$\w*\$|')", re.IGNORECASE)
_ALERT = re.compile(
    r"CREATE\s+(?:OR\s+REPLACE\s+)?ALERT\s.*?\bIF\s*\((?P<condition>\s*EXISTS\s*\(.*\)\s*)\)\s*THEN\s+(?P<action>.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""Snowflake's ALERT: its condition, and its action."""
_LANGUAGE = re.compile(r"\bLANGUAGE\s+['\"]?(\w+)", re.IGNORECASE)
_RUNS = re.compile(r"/\*!\d*((?:(?!\*/).)*)\*/", re.DOTALL)
_WITH_FUNCTION = re.compile(
    r"\b(WITH)\s+(?:(?:FUNCTION|PROCEDURE)\b.*?\bEND(?:\s+\w+)?\s*;\s*)+(?P<more>(?=\w+\s*(?:\([^()]*\)\s*)?AS\s*\())?",
    re.IGNORECASE | re.DOTALL,
)
_DEEP = 8


def split_script(text: str, dialect: Dialect) -> list[Piece]:
    """Split a script into all its statements, including those in procedures and blocks."""
    text = _blank_hidden_parts(text, dialect)
    return list(_flatten(text, 0, dialect, procedural=False, depth=0))


def _blank_hidden_parts(text: str, dialect: Dialect) -> str:
    """Replace marks that hide SQL (MySQL's `/*!80000 … */`) and functions in WITH (Oracle) by spaces."""
    if dialect.name == "mysql" and "/*!" in text:
        return _RUNS.sub(lambda match: f"{' ' * (match.start(1) - match.start())}{match[1]}  ", text)
    if dialect.name in ("oracle", "trino") and (match := _WITH_FUNCTION.search(text)):
        inside = f"{match[1]}{' ' * (match.end() - match.end(1))}" if match["more"] is not None else " " * len(match[0])
        return text[: match.start()] + inside + text[match.end() :]
    return text


def _flatten(text: str, offset: int, dialect: Dialect, procedural: bool, depth: int) -> Iterator[Piece]:
    cutter = split_tsql if dialect.name == "tsql" else split_statements
    inside = procedural
    for piece in cutter(text, dialect):
        inside = inside or bool(_ROUTINE.match(piece.text)) or _begins_block(piece.text, dialect)
        start = offset + piece.start
        alert = _ALERT.match(piece.text) if not inside and dialect.name == "snowflake" else None
        if alert is not None:
            condition = f"SELECT 1 WHERE {alert['condition']}"
            yield Piece(condition, start + alert.start("condition"), procedural=True, condition=True)
            yield Piece(alert["action"], start + alert.start("action"))
            continue
        if not inside:
            yield Piece(piece.text, start)
            continue
        yield from _strip_control(piece.text, start, dialect, depth)
        if dialect.name == "tsql" or _has_body_text(piece.text):
            inside = procedural or (dialect.name == "tsql" and inside)


def _has_body_text(text: str) -> bool:
    return _BODY_TEXT.search(text) is not None


def _begins_block(text: str, dialect: Dialect) -> bool:
    """Whether a piece begins a block."""
    keyword = _BLOCK.match(text)
    if keyword is None or _TRANSACTION.match(text):
        return False
    word = keyword.group(1).upper()
    if word == "END" or (word == "DECLARE" and not dialect.declares):
        return False
    if word == "DO":
        return _has_body_text(text)
    return True


def _strip_control(text: str, start: int, dialect: Dialect, depth: int) -> Iterator[Piece]:
    """Yield the statements of a procedure's piece, without its head and control flow."""
    if depth > _DEEP:
        return
    body = _BODY_TEXT.search(text) if _ROUTINE.match(text) or text[:2].upper() == "DO" else None
    if body is not None:
        yield from _quoted_body(text, start, body, dialect, depth)
        return
    skip = _head_end(text, dialect) if _ROUTINE.match(text) else 0
    if skip:
        yield Piece(text[:skip], start, procedural=True, head=True)
    while True:
        skip = skip_blanks(text, skip, len(text), dialect)
        local = _LOCAL.match(text, skip)
        if local is not None:
            yield Piece(local.group(), start + skip, procedural=True, head=True)
            skip = local.end()
            continue
        more = _control_end(text, skip, dialect)
        if more is None:
            break
        condition, skip = more
        yield from condition_queries(text[condition[0] : condition[1]], start + condition[0], dialect)
    rest = text[skip:].strip()
    rest = rest[:-1] if rest.endswith(")") and rest.count(")") > rest.count("(") else rest
    if dialect.declares and _VARIABLE.match(rest):
        yield Piece(f"DECLARE {rest}", start + skip, procedural=True, head=True)
    word = re.match(r"\w+", rest)
    verb = word.group().upper() if word is not None else ""
    if returned := _RETURNED.match(rest):
        inside = rest[returned.end() :]
        inside = inside[:-1] if inside.endswith(")") and inside.count(")") > inside.count("(") else inside
        yield Piece(inside, start + skip + returned.end(), procedural=True)
        return
    if verb == "PERFORM" and has_data_verbs(rest[7:], dialect):
        yield Piece(f"SELECT {rest[7:]}", start + skip, procedural=True, condition=True)
        return
    controls = ("SET", "DECLARE", "LET", "PREPARE", "RETURN", "PERFORM", "FETCH")
    set_or_cursor = _SETS.match(rest) or _CURSOR.match(rest) or (QUERY_ASSIGNMENT.match(rest) and verb != "DECLARE")
    if verb in VERBS or verb in controls or set_or_cursor or has_data_verbs(rest, dialect):
        yield Piece(rest, start + skip, procedural=True)


def _quoted_body(text: str, start: int, body: re.Match[str], dialect: Dialect, depth: int) -> Iterator[Piece]:
    """Read a body in quotes, if its language is SQL."""
    yield Piece(text[: body.start()], start, procedural=True, head=True)
    language = _LANGUAGE.search(text)
    if language is not None and language.group(1).lower() not in ("sql", "plpgsql", "nzplsql", "plpgsql2"):
        return
    mark = body.group(1) or body.group(2)
    begin = body.end()
    end = text.find(mark, begin)
    while mark == "'" and text[end : end + 2] == "''":
        end = text.find(mark, end + 2)
    inside = text[begin : end if end >= 0 else len(text)]
    inside = inside.replace("''", "' ") if mark == "'" and "''" in inside else inside
    yield from _flatten(inside, start + begin, dialect, True, depth + 1)


def _head_end(text: str, dialect: Dialect) -> int:
    """The end of the head of CREATE PROCEDURE: at its BEGIN, its AS, or its first statement."""
    depth = 0
    returns = 0
    for mark in scan_marks(text, dialect, words=True):
        word = mark.text.upper()
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth or mark.start < 8:
            continue
        if word == "BEGIN":
            return mark.start
        if word in ("AS", "IS", "RETURN") and returns != mark.start:
            macro = re.match(r"\s*\(\s*(?!SELECT\b|SEL\b)", text[mark.end :], re.IGNORECASE)
            return mark.end + macro.end() if macro is not None and "MACRO" in text[: mark.end].upper() else mark.end
        if word in ("INSERT", "UPDATE", "DELETE", "MERGE", "SELECT") and "TRIGGER" not in text[: mark.start].upper():
            return mark.start
        if word == "EXECUTE" and "TRIGGER" in text[: mark.start].upper():
            return len(text)
    return len(text)


def _control_end(text: str, start: int, dialect: Dialect) -> tuple[tuple[int, int], int] | None:
    """The position after a control-flow keyword, with the range of its condition."""
    for control in _CONTROLS:
        keyword = control.match(text, start)
        if keyword is not None:
            return (start, start), keyword.end()
    keyword = _CONDITIONS.match(text, start)
    if keyword is None:
        return None
    ends = {
        "IF": "THEN",
        "ELSIF": "THEN",
        "ELSEIF": "THEN",
        "WHEN": "THEN",
        "CASE": "WHEN",
        "WHILE": "LOOP DO",
        "FOR": "LOOP DO",
        "UNTIL": "",
    }
    end_words = ends[keyword.group(1).upper()].split()
    depth = cases = 0
    for mark in scan_marks(text[keyword.end() :], dialect, words=True):
        word = mark.text.upper()
        depth += {"(": 1, ")": -1}.get(word, 0)
        cases += 1 if word == "CASE" else 0
        if depth == 0 and cases and word == "END":
            cases -= 1
        elif (
            depth == 0
            and not cases
            and (
                word in end_words
                or (dialect.name == "tsql" and mark.start and word in VERBS | {"BEGIN", "SET", "PRINT"})
            )
        ):
            begin = keyword.end()
            stop = mark.start if dialect.name == "tsql" and word not in end_words else mark.end
            return (begin, begin + mark.start), begin + stop
    return (keyword.end(), len(text)), len(text)


def condition_queries(text: str, start: int, dialect: Dialect) -> Iterator[Piece]:
    """Yield the query of `FOR r IN (SELECT …)`, or the queries in other conditions."""
    loop = re.match(r"\s*(\w+)\s+(?:CURSOR\s+FOR|IN|AS)\s*\(?\s*(?=SELECT|WITH)", text, re.IGNORECASE)
    if loop is None:
        if cursor := _CURSOR_LOOP.match(text):
            yield Piece(f"FETCH {cursor[2]} INTO {cursor[1]}", start, procedural=True)
        elif _QUERIES.search(text):
            yield Piece(f"SELECT 1 WHERE {text.strip()}", start, procedural=True, condition=True)
        return
    inside = text[loop.end() :].strip()
    inside = inside[:-1] if inside.endswith(")") and inside.count(")") > inside.count("(") else inside
    yield Piece(inside, start + loop.end(), procedural=True, record=loop.group(1).lower())
