"""Dynamic SQL whose text is known, and the variables that a statement returns into."""

import re
from collections.abc import Sequence

from whence.capture.sql.cursors import keep_row
from whence.capture.sql.lineage import RESULT, Budget
from whence.capture.sql.moves import Moved
from whence.capture.sql.parsing import parse
from whence.capture.sql.procedures import pieces
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import Relation
from whence.capture.sql.statements import NoStatementError, moved
from whence.capture.sql.variables import set_variable

_NAMES = r":?[@\w]+(?:\.\w+)?(?:\s*,\s*:?[@\w]+(?:\.\w+)?)*"
_RETURNS = re.compile(
    rf"(\bRETURN(?:ING)?\s(?:(?!\bRETURN(?:ING)?\b).)*?)\s+(?P<bulk>BULK\s+COLLECT\s+)?INTO\s+(?:STRICT\s+)?"
    rf"(?P<names>{_NAMES})\s*$",
    re.IGNORECASE | re.DOTALL,
)
_RUNS_INTO = re.compile(
    rf"['\")\w$]\s*(?P<bulk>BULK\s+COLLECT\s+)?\bINTO\s+(?:STRICT\s+)?(?P<names>{_NAMES})(?:\s+USING\b[^']*)?\s*$",
    re.IGNORECASE | re.DOTALL,
)


_SELECTS_INTO = re.compile(r"\s+INTO\s+(?P<names>@\w+(?:\s*,\s*@\w+)*)", re.IGNORECASE)


def without_returned(text: str) -> tuple[str, list[str]]:
    """A statement without its `INTO a, b`, and those variables: behind RETURNING, and MySQL's `INTO @a`."""
    if text[:6].upper() == "SELECT" and (signed := _SELECTS_INTO.search(text)):
        return f"{text[: signed.start()]} {text[signed.end() :]}", _names(signed)
    found = _RETURNS.search(text) if "return" in text.lower() else None
    return (text[: found.end(1)], _names(found)) if found is not None else (text, [])


def run_into(text: str) -> list[str]:
    """The variables of `EXECUTE IMMEDIATE … INTO a, b`."""
    found = _RUNS_INTO.search(text)
    return _names(found) if found is not None else []


def _names(found: re.Match[str]) -> list[str]:
    return [one.strip().lstrip(":").lower() for one in found["names"].split(",")]


def keep_result(reading: Reading, done: Moved, names: Sequence[str]) -> None:
    """The rows that a statement returns go to variables; they are no result of the script."""
    results = [move for move in done.moves if move.target == RESULT]
    done.moves = [move for move in done.moves if move.target != RESULT]
    for move in results[-1:]:
        if len(names) == 1 and len(move.columns) == 1:
            set_variable(reading, names[0].split("."), move.columns[0])
            reading.loops[names[0].partition(".")[0]] = move.rows
        elif any("." in name for name in names):
            for name, output in zip(names, move.columns, strict=False):
                set_variable(reading, name.split("."), output)
        else:
            keep_row(reading, Relation(move.columns, move.rows), tuple(names))


def run_text(reading: Reading, text: str, budget: Budget) -> Moved:
    """All statements of a text as one."""
    result = Moved("execute")
    for piece in pieces(text, reading.dialect):
        parsed = parse(piece.text, reading.dialect, budget)
        result.unread = result.unread or parsed.error is not None
        for node in parsed.nodes:
            try:
                done = moved(reading, node)
            except NoStatementError:
                result.unread = True
                continue
            for move in done.moves:
                result.into(move, done.reads)
            result.reads |= done.reads
            result.writes += [table for table in done.writes if table not in result.writes]
    result.writes = [table for table in result.writes if table != RESULT]
    return result
