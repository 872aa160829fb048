"""The public types of SQL lineage (issue 5). Subtypes are those of OpenLineage's columnLineage 1-2-0."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Status = Literal["parsed", "partial", "opaque", "failed"]
"""`parsed`: read completely · `partial`: read in part; `unknowns` or `error` name the missing part · `opaque`: a
statement whose text shows no data movement · `failed`: not SQL of this dialect, or a budget was spent before anything
was read.
"""

Type = Literal["DIRECT", "INDIRECT"]
Subtype = Literal[
    "IDENTITY",
    "TRANSFORMATION",
    "AGGREGATION",
    "FILTER",
    "JOIN",
    "GROUP_BY",
    "SORT",
    "WINDOW",
    "CONDITIONAL",
]
UnknownReason = Literal[
    "column_not_found",  # no visible relation has it, and the columns of all of them are known
    "column_ambiguous",  # several relations may have it; each gets an edge of low confidence
    "star_not_expanded",  # a star over a table with unknown columns
    "positions_differ",  # two lists that must have the same length differ
    "dynamic_sql",  # text that is composed when the statement runs
    "budget_spent",  # time or size; the result holds what was read before
]


@dataclass(frozen=True, slots=True)
class Span:
    """The position of a statement in its script: characters [start, end), line and column of the start, both from 1."""

    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table, view, file or stage: the parts of its name, normalised by the dialect's case rules."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.parts)


RESULT = Table(("result",))
"""The target of a bare SELECT."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; names of nested fields are dotted. `*` stands for all columns of a table with unknown columns."""

    table: Table
    name: str

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


@dataclass(frozen=True, slots=True)
class Edge:
    """One influence. A set of edges has one edge for each (source, target, type, subtype).

    A `Table` as target means the set of its rows, or their order. `masking`: the target does not reveal the source's
    values (hashes, counts). `confidence` is in (0, 1]; `reason` explains a confidence below 1.
    """

    source: Column | Table
    target: Column | Table
    type: Type
    subtype: Subtype
    masking: bool = False
    expression: str = ""
    confidence: float = 1.0
    reason: str = "schema"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something the reader could not resolve, and its position. The reader reports it instead of guessing."""

    reason: UnknownReason
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class StatementLineage:
    """What one statement reads, writes and moves. `kind` is its verb, lower case: select, insert, merge, create …"""

    kind: str
    span: Span
    status: Status
    reads: tuple[Table, ...] = ()
    writes: tuple[Table, ...] = ()
    edges: tuple[Edge, ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptLineage:
    """All statements of a script, in order, and the edges that remain when temporary tables are folded away."""

    statements: tuple[StatementLineage, ...]
    collapsed: tuple[Edge, ...]

    def __iter__(self) -> Iterator[StatementLineage]:
        return iter(self.statements)


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of reading one statement. Beyond them the answer is partial (issue 5, acceptance 6)."""

    seconds: float = 2.0
    """CPU time: a busy machine reads as much as an idle one."""
    tokens: int = 400_000
    depth: int = 200
    """The greatest nesting of brackets, CASE and operators; the parser is recursive."""
    edges: int = 250_000
