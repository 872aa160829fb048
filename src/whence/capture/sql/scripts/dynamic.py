"""Dynamic SQL with a known text, and the variables that receive a statement's result."""

import re
from collections.abc import Sequence

from whence.capture.sql.lineage import RESULT, Budget
from whence.capture.sql.provenance.relations import Relation
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.scripts.procedures import split_script
from whence.capture.sql.statements.cursors import store_row
from whence.capture.sql.statements.moves import Effects
from whence.capture.sql.statements.statements import NoStatementError, read_statement
from whence.capture.sql.statements.variables import set_variable
from whence.capture.sql.syntax.parsing import parse

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


def split_returning(text: str) -> tuple[str, list[str]]:
    """Split a statement from its `INTO a, b`, after RETURNING or MySQL's `INTO @a`. Returns the text and the
    variables.
    """
    if text[:6].upper() == "SELECT" and (into := _SELECTS_INTO.search(text)):
        return f"{text[: into.start()]} {text[into.end() :]}", _names(into)
    returning = _RETURNS.search(text) if "return" in text.lower() else None
    return (text[: returning.end(1)], _names(returning)) if returning is not None else (text, [])


def into_variables(text: str) -> list[str]:
    """The variables of `EXECUTE IMMEDIATE … INTO a, b`."""
    into = _RUNS_INTO.search(text)
    return _names(into) if into is not None else []


def _names(into: re.Match[str]) -> list[str]:
    return [part.strip().lstrip(":").lower() for part in into["names"].split(",")]


def store_result(reading: Reading, effects: Effects, names: Sequence[str]) -> None:
    """Move the rows that a statement returns into variables; they are no result of the script."""
    results = [move for move in effects.moves if move.target == RESULT]
    effects.moves = [move for move in effects.moves if move.target != RESULT]
    for move in results[-1:]:
        if len(names) == 1 and len(move.columns) == 1:
            set_variable(reading, names[0].split("."), move.columns[0])
            reading.loops[names[0].partition(".")[0]] = move.rows
        elif any("." in name for name in names):
            for name, output in zip(names, move.columns, strict=False):
                set_variable(reading, name.split("."), output)
        else:
            store_row(reading, Relation(move.columns, move.rows), tuple(names))


def run_text(reading: Reading, text: str, budget: Budget) -> Effects:
    """Read all statements of a text as one."""
    result = Effects("execute")
    for piece in split_script(text, reading.dialect):
        parsed = parse(piece.text, reading.dialect, budget)
        result.unread = result.unread or parsed.error is not None
        for node in parsed.nodes:
            try:
                effects = read_statement(reading, node)
            except NoStatementError:
                result.unread = True
                continue
            for move in effects.moves:
                result.add_move(move, effects.reads)
            result.reads |= effects.reads
            result.writes += [table for table in effects.writes if table not in result.writes]
    result.writes = [table for table in result.writes if table != RESULT]
    return result
