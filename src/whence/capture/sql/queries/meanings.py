"""The port through which the reader reports what queries mean. Fingerprints implement it; lineage needs none.

The reader resolves names; who implements the port turns expressions and clauses into formulas (`fingerprint/`). A scope
without a port costs one comparison with None.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.provenance.relations import Output, Relation
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.queries.scopes import Scope, Source


class QueryMeaning(Protocol):
    """What one query means, while it is read: one for each scope."""

    def value(self, node: tree.Node) -> Formula:
        """The formula of an expression, as the scope resolves names now."""

    def data_type(self, node: tree.Node) -> Formula | None:
        """The type of the column that an expression makes. None if it is not known what it depends on."""

    def expect(self, node: tree.Node) -> None:
        """The next source is that of FROM; the joins of `node` decide whether its rows may be missing."""

    def add_source(self, source: "Source") -> None:
        """An item of FROM: its columns get formulas over a new instance of its rows."""

    def describe_source(self, source: "Source", node: tree.Node) -> None:
        """Give a source that is no query, such as a table function, its rows."""

    def open_join(self, join: tree.Node) -> None:
        """The next source is the right side of a join."""

    def close_join(self, join: tree.Node) -> None:
        """The right side is complete; its condition may still refer to sources behind it."""

    def merge_column(self, left: Output, right: Output, side: str) -> Formula:
        """USING or NATURAL: the value of the one column for both."""

    def mark(self) -> int:
        """The number of sources so far: where the joins of a nested item begin."""

    def join_sources(self, start: int, joins: Sequence[tree.Node]) -> None:
        """Apply the joins to the sources since `start`, all of which are there."""

    def add_filter(self, clause: str, condition: tree.Node) -> None: ...

    def add_grouping(self, node: tree.Node, outputs: list[Output]) -> None: ...

    def add_distinct_on(self, node: tree.Node, outputs: list[Output]) -> None: ...

    def add_sorting(self, node: tree.Node, outputs: list[Output]) -> None: ...

    def give_up(self, reason: str) -> None:
        """The reader passes over something here that decides on values or rows."""

    def finish(self, node: tree.Node, relation: Relation) -> Relation:
        """The complete query: its columns with their formulas over its rows."""

    def sources(self, relation: Relation) -> Relation:
        """The sources alone, as a relation."""


class Meanings(Protocol):
    """What the queries of one statement mean."""

    def query(self, scope: "Scope") -> QueryMeaning: ...

    def values(self, scope: "Scope", rows: list[list[tree.Node]], relation: Relation) -> Relation: ...

    def combine(self, operation: tree.Node, left: Relation, right: Relation, relation: Relation) -> Relation:
        """A set operation."""

    def pivot(self, scope: "Scope", node: tree.Node, before: Relation, after: Relation) -> Relation:
        """PIVOT or UNPIVOT of a relation."""

    def placeholder(self, name: str, relation: Relation, first: Sequence[Relation]) -> Relation:
        """A recursive query inside of itself."""

    def recursive(self, name: str, node: tree.Node, branches: list[Relation], relation: Relation) -> Relation: ...
