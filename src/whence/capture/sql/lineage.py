"""What is read out of SQL text: the public types (issue 5). Subtypes are those of OpenLineage's columnLineage 1-2-0."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Status = Literal["parsed", "partial", "opaque", "failed"]
"""`parsed` all of it · `partial` some of it, `unknowns` or `error` say what is missing · `opaque` a statement that
moves no data that could be read from its text · `failed` not SQL of this dialect, or a budget was spent before
anything was read."""

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
    "column_not_found",  # no relation in reach has it, and the columns of all of them are known
    "column_ambiguous",  # it fits several relations; an edge to each, of low confidence
    "star_not_expanded",  # a star over a table whose columns are not known
    "positions_differ",  # two lists that must be of one length are not
    "dynamic_sql",  # text that is put together when the statement runs
    "budget_spent",  # time or size; what was read until then is there
]


@dataclass(frozen=True, slots=True)
class Span:
    """Where a statement stands in its script: characters [start, end), line and column of the start, both from 1."""

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
    """A column; nested fields are dotted. `*` is all columns of a table whose columns are not known."""

    table: Table
    name: str

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


@dataclass(frozen=True, slots=True)
class Edge:
    """One influence. A set of edges has one for each (source, target, type, subtype).

    A target that is a `Table` means: which rows there are, or their order. `masking`: the source's values cannot be
    read from the target's (hashes, counts). `confidence` is in (0, 1], `reason` says why it is not 1.
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
    """What could not be known, and where it is written: never guessed in silence."""

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
    """All statements of a script, in order, and the edges that are left when temporary tables are folded away."""

    statements: tuple[StatementLineage, ...]
    collapsed: tuple[Edge, ...]

    def __iter__(self) -> Iterator[StatementLineage]:
        return iter(self.statements)


@dataclass(frozen=True, slots=True)
class Budget:
    """What one statement may cost before it ends in a partial answer (issue 5, acceptance 6)."""

    seconds: float = 2.0
    """Of CPU time: a busy machine reads as much as an idle one."""
    tokens: int = 400_000
    depth: int = 200
    """How deep brackets, CASE and operators may nest; the parser is recursive."""
    edges: int = 250_000
