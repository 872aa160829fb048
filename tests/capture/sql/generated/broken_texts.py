"""SQL that is broken in some way: statements of the golden suite, TPC-H and TPC-DS, cut, spliced and sprinkled.

Whatever the text, the reader answers: within its budget, with every failure's place and reason (issue 5, acceptance 6).
"""

import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from time import process_time

from capture.sql.generated import tpcds, tpch
from capture.sql.golden_cases import golden_cases
from whence.capture.sql import Budget, ScriptLineage, read_script
from whence.capture.sql.dialects.dialects import DIALECTS

_NOISE = (
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "`",
        "$$",
        ";",
        ",",
        ".",
        "*",
        "--",
        "/*",
        "*/",
        "#",
        "\\",
        "@",
        ":",
        "::",
    ),
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "CASE",
        "END",
        "BEGIN",
        "ELSE",
        "WITH",
        "AS",
        "JOIN",
        "ON",
        "GROUP BY",
        "OVER (",
        "IN (",
    ),
    *("INSERT INTO", "MERGE", "UPDATE", "DELETE", "CREATE TABLE", "UNION ALL", "PIVOT", "LATERAL", "VALUES", "NULL"),
    *("{{ ref('", "{%", "\0", "\u00e9", "\u2028", "\U0001f600", "\ufeff", "\r\n", "0x", "1e999", "$1", "?", "<<", "=>"),
)
_LONGEST = 6_000
SLACK = 1.5
"""Seconds that a text may take beyond the budget of its statements: the parser does not look at the clock."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A text in a dialect that it may not be of."""

    dialect: str
    text: str


def broken_texts(seed: int, characters: int) -> Iterator[Broken]:
    """Texts until there are so many characters; the same for the same seed."""
    random = Random(seed)
    while characters > 0:
        one = _broken(random)
        characters -= len(one.text)
        yield one


def complaints(one: Broken, budget: Budget) -> Iterator[str]:
    """What is wrong with the reader's answer. Raises what the reader raises."""
    gc.disable()  # a collection of all that other tests left takes seconds, and is not the reader's time
    try:
        began = process_time()
        lineage = read_script(one.text, one.dialect, budget=budget)
        took = process_time() - began
    finally:
        gc.enable()
    if took > budget.seconds * max(1, len(lineage.statements)) + SLACK:
        yield f"took {took:.1f} s for {len(lineage.statements)} statements"
    yield from _placed(one.text, lineage)


def _placed(text: str, lineage: ScriptLineage) -> Iterator[str]:
    for statement in lineage:
        span = statement.span
        if not 0 <= span.start <= span.end <= len(text):
            yield f"{span} is outside of the text"
        if (span.line, span.column) != _position(text, span.start):
            yield f"{span} is in {_position(text, span.start)}"
        if statement.status == "failed" and not statement.error:
            yield f"failed without a reason at {span}"
        if statement.error and statement.error.startswith("could not be read"):
            yield statement.error
        for unknown in statement.unknowns:
            if not span.start <= unknown.span.start <= unknown.span.end <= span.end:
                yield f"{unknown} is outside of its statement"


def _position(text: str, place: int) -> tuple[int, int]:
    before = text[:place]
    return before.count("\n") + 1, place - (before.rfind("\n") + 1) + 1


@cache
def _corpus() -> Sequence[Broken]:
    of_tpc = [*tpch.queries(), *tpcds.queries().values()]
    return (*(Broken(case.dialect, case.sql) for case in golden_cases()), *(Broken("duckdb", text) for text in of_tpc))


def _broken(random: Random) -> Broken:
    first = random.choice(_corpus())
    text = first.text
    if random.random() < 0.3:
        text = f"{text}{random.choice((';', ' ', chr(10), ''))}{random.choice(_corpus()).text}"
    for _ in range(random.choice((1, 1, 2, 4))):
        text = random.choice(_BREAKS)(random, text[:_LONGEST])
    dialect = first.dialect if random.random() < 0.8 else random.choice(sorted(DIALECTS))
    return Broken(dialect, text)


def _place(random: Random, text: str) -> int:
    return random.randrange(len(text) + 1)


def _cut(random: Random, text: str) -> str:
    return text[: _place(random, text)]


def _beheaded(random: Random, text: str) -> str:
    return text[_place(random, text) :]


def _gap(random: Random, text: str) -> str:
    place = _place(random, text)
    return text[:place] + text[place + random.choice((1, 2, 5, 30)) :]


def _sprinkled(random: Random, text: str) -> str:
    place = _place(random, text)
    return f"{text[:place]} {random.choice(_NOISE)} {text[place:]}"


def _repeated(random: Random, text: str) -> str:
    place = _place(random, text)
    piece = text[place : place + random.choice((1, 3, 10, 40))]
    return text[:place] + piece * random.choice((2, 3, 20)) + text[place:]


def _nested(random: Random, text: str) -> str:
    deep, place = random.choice((3, 30, 250)), _place(random, text)
    opened = random.choice(("(", "[", "((", "CASE WHEN ", "NOT ", "- ", "f(", "(SELECT "))
    return text[:place] + opened * deep + text[place:]


def _shuffled(random: Random, text: str) -> str:
    words = text.split(" ")
    one, two = random.randrange(len(words)), random.randrange(len(words))
    words[one], words[two] = words[two], words[one]
    return " ".join(words)


_BREAKS = (_cut, _cut, _beheaded, _gap, _gap, _sprinkled, _sprinkled, _repeated, _nested, _shuffled)
