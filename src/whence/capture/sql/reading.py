"""One statement while it is read: what it may use, and what it has found out."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whence.capture.sql import tree
from whence.capture.sql.catalog import Session
from whence.capture.sql.dialects import Dialect
from whence.capture.sql.flows import Flow, Home, joined
from whence.capture.sql.lineage import Table, UnknownReason
from whence.capture.sql.relations import Output, Relation

if TYPE_CHECKING:
    from whence.capture.sql.scopes import Scope

_LOOKS = 8


class BudgetSpentError(Exception):
    """Reading one statement took too long; what was read so far is kept."""


@dataclass(slots=True)
class Reading:
    """One statement while it is read: what it may use, and what it has found out."""

    dialect: Dialect
    session: Session
    deadline: float
    query: Callable[[tree.Node, "Scope"], Relation]
    inner: Callable[[tree.Node, "Scope"], Relation]
    """Reads a statement inside of WITH, and gives what it returns."""
    procedural: bool = False
    variables: dict[str, Output] = field(default_factory=dict)
    """Variables of the script, with what they were set to."""
    loops: dict[str, Flow] = field(default_factory=dict)
    """What chose the rows of each loop, by the name of its record."""
    looped: Flow = field(default_factory=dict)
    """That of the loops whose records are used."""
    ctes: dict[str, Relation] = field(default_factory=dict)
    """What a statement inside of WITH sees of it."""
    nested: bool = False
    """A statement inside of WITH is read: the query around it has what it returns."""
    also: list[object] = field(default_factory=list)
    """What statements inside of WITH do (`Moved`)."""
    inner_reads: set[Table] = field(default_factory=set)
    """Tables that queries inside of expressions read."""
    homes: dict[Table, Home] = field(default_factory=dict)
    unknowns: dict[tuple[UnknownReason, str], None] = field(default_factory=dict)
    ticks: int = 0

    def home(self, table: Table) -> Home:
        found = self.homes.get(table)
        if found is None:
            found = self.homes[table] = Home(table)
        return found

    def report(self, reason: UnknownReason, name: str) -> None:
        self.unknowns[reason, name] = None

    def variable(self, name: str) -> Output | None:
        """What a variable was set to. Whatever chose the rows of its loop or cursor runs the statement."""
        found = self.variables.get(name)
        if found is not None and name in self.loops:
            self.looped = joined(self.looped, self.loops[name])
        return found

    def tick(self) -> None:
        """Once for each query and join. Raises BudgetSpentError. The clock is a system call: not each looks at it."""
        self.ticks += 1
        if not self.ticks % _LOOKS and time.thread_time() > self.deadline:
            raise BudgetSpentError
