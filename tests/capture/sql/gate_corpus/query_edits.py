"""Edits of single statements on DuckDB (TPC-DS, TPC-H, made-up companies) or Spark SQL, with what executing showed.

`queries/<corpus>.txt` has the statements and their edits, `queries/<corpus>_truth.txt` what `query_truth.py` saw:

    ## name of a statement
    SELECT a FROM t
    == kind of the edit | what its author expects: harmless, harmful or order
    - text that occurs once
    + its replacement

White space of the text does not count. `-*` replaces every occurrence. The author's expectation is no truth: it shows
where the random databases are too weak, or the author wrong.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from capture.sql.gate_corpus.estates import ESTATES, find_estate
from capture.sql.generated import tpcds, tpch

FOLDER = Path(__file__).parent / "queries"
CORPORA = ("tpcds", "tpch", "spark", "refactorings", "assistants", "structures", "pull_requests", *ESTATES)
_COLUMNS = ("columns", "removed", "added", "type", "values")
_TOKEN = re.compile(r"\w+|[^\w\s]")
TPCH = "TPC-H "
"""The beginning of the name of a query of TPC-H."""
IN_DUCKDB = " in DuckDB"
"""The end of the name of a statement that DuckDB executes: Spark alone has no table that MERGE can write."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of one statement: both versions, and the author's expectation."""

    statement: str
    kind: str
    expected: str
    before: str
    after: str

    @property
    def name(self) -> str:
        return f"{self.statement}: {self.kind}"

    @property
    def is_on_duckdb(self) -> bool:
        """Whether DuckDB executes it."""
        return self.is_query or find_estate(self.statement) is not None or self.statement.endswith(IN_DUCKDB)

    @property
    def is_query(self) -> bool:
        """Whether it is a query of a benchmark, which writes no table."""
        return self.statement.startswith(("query ", TPCH))


@dataclass(frozen=True, slots=True)
class Truth:
    """What differs between the versions in any random database. `rows`: their number, or rows as wholes only.

    The entry of a statement itself has only `columns`, those before any edit.
    """

    columns: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    rows: bool = False
    broken: str = ""
    witness: str = ""

    @property
    def is_harmless(self) -> bool:
        return not (self.removed or self.type or self.values or self.rows or self.broken)

    def changed(self) -> frozenset[str]:
        return frozenset((*self.removed, *self.type, *self.values))


@cache
def edits(corpus: str) -> tuple[Edit, ...]:
    """The edits of one of `CORPORA`, in the order of the file."""
    found = tuple(_edits((FOLDER / f"{corpus}.txt").read_text("utf-8")))
    names = [edit.name for edit in found]
    if len(set(names)) != len(names):
        raise ValueError(f"two edits of one name: {sorted(name for name in names if names.count(name) > 1)}")
    return found


def _edits(text: str) -> Iterator[Edit]:
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        sql, *parts = re.split(r"^== ", body, flags=re.MULTILINE)
        before = _statement(title, sql)
        for part in parts:
            head, *lines = part.strip("\n").split("\n")
            kind, _, expected = head.rpartition(" | ")
            yield Edit(title, kind, expected, before, _replaced(before, lines))


def _statement(title: str, sql: str) -> str:
    if title.startswith(TPCH):
        return tpch.queries()[int(title.removeprefix(TPCH)) - 1]
    number = re.fullmatch(r"query (\w+)", title)
    return tpcds.with_few_rows(tpcds.queries()[number[1]]).rstrip(";") if number else sql.strip()


def _replaced(text: str, lines: list[str]) -> str:
    for old, new in zip(lines[::2], lines[1::2], strict=True):
        sign, _, wanted = old.partition(" ")
        places = _places(text, wanted)
        if not places or (len(places) > 1 and sign == "-"):
            raise ValueError(f"{wanted!r} occurs {len(places)} times in {text!r}")
        for start, end in reversed(places):
            text = text[:start] + new[2:] + text[end:]
    return text


def _places(text: str, wanted: str) -> list[tuple[int, int]]:
    """Where the tokens of a text are, with any white space between."""
    tokens, parts = _TOKEN.findall(wanted), list(_TOKEN.finditer(text))
    names = [part[0] for part in parts]
    found: list[tuple[int, int]] = []
    for place in range(len(parts) - len(tokens) + 1):
        after = found[-1][1] if found else 0
        if names[place : place + len(tokens)] == tokens and parts[place].start() >= after:
            found.append((parts[place].start(), parts[place + len(tokens) - 1].end()))
    return found


@cache
def truths(corpus: str) -> Mapping[str, Truth]:
    """What execution showed, by the name of the edit."""
    return dict(parse_truths((FOLDER / f"{corpus}_truth.txt").read_text("utf-8")))


def parse_truths(text: str) -> Iterator[tuple[str, Truth]]:
    for section in re.split(r"^== ", text, flags=re.MULTILINE)[1:]:
        name, _, body = section.partition("\n")
        parts = (line.partition(": ") for line in body.splitlines() if line)
        entries = {kind: value for kind, _, value in parts}
        columns = {kind: tuple(entries[kind].split(" | ")) for kind in _COLUMNS if kind in entries}
        yield (
            name,
            Truth(
                **columns, rows="rows" in entries, broken=entries.get("broken", ""), witness=entries.get("witness", "")
            ),
        )


def write_truths(found: Mapping[str, Truth]) -> str:
    """The inverse of `parse_truths`."""
    return "\n\n".join("\n".join((f"== {name}", *_lines(truth))) for name, truth in found.items()) + "\n"


def _lines(truth: Truth) -> Iterator[str]:
    for kind in _COLUMNS:
        if names := getattr(truth, kind):
            yield f"{kind}: {' | '.join(names)}"
    if truth.rows:
        yield "rows"
    for kind in ("broken", "witness"):
        if entries := getattr(truth, kind):
            yield f"{kind}: {entries}"
    if truth == Truth():
        yield "same"
