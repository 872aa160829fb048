"""The state of reading one statement: what it may use, and what it has found so far."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whence.capture.sql.dialects.dialects import Dialect
from whence.capture.sql.lineage import Table, UnknownReason
from whence.capture.sql.names.catalog import Session
from whence.capture.sql.provenance.flows import Flow, Home, merge_flows
from whence.capture.sql.provenance.relations import Output, Relation
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.queries.meanings import Meanings
    from whence.capture.sql.queries.scopes import Scope

_CLOCK_INTERVAL = 8


class BudgetSpentError(Exception):
    """Reading one statement took too long. The results so far are kept."""


@dataclass(slots=True)
class Reading:
    """The state of reading one statement."""

    dialect: Dialect
    session: Session
    deadline: float
    query: Callable[[tree.Node, "Scope"], Relation]
    inner: Callable[[tree.Node, "Scope"], Relation]
    """Reads a statement inside of WITH, and returns its rows as a relation."""
    procedural: bool = False
    variables: dict[str, Output] = field(default_factory=dict)
    """Variables of the script, with their current values."""
    loops: dict[str, Flow] = field(default_factory=dict)
    """The influences on the rows of each loop, by the name of its record."""
    used_loops: Flow = field(default_factory=dict)
    """The influences of the loops whose records the statement uses."""
    ctes: dict[str, Relation] = field(default_factory=dict)
    """The common table expressions that a statement inside of WITH can use."""
    nested: bool = False
    """The statement is inside of WITH: the query around it uses its returned rows."""
    nested_effects: list[object] = field(default_factory=list)
    """The effects of statements inside of WITH (`Effects`)."""
    inner_reads: set[Table] = field(default_factory=set)
    """Tables that queries inside of expressions read."""
    homes: dict[Table, Home] = field(default_factory=dict)
    unknowns: dict[tuple[UnknownReason, str], None] = field(default_factory=dict)
    ticks: int = 0
    meanings: "Meanings | None" = None
    """Receives what the queries mean. None: only lineage is read."""

    def home(self, table: Table) -> Home:
        home = self.homes.get(table)
        if home is None:
            home = self.homes[table] = Home(table)
        return home

    def report(self, reason: UnknownReason, name: str) -> None:
        self.unknowns[reason, name] = None

    def variable(self, name: str) -> Output | None:
        """The value of a variable. The statement inherits the influences on the rows of its loop or cursor."""
        variable = self.variables.get(name)
        if variable is not None and name in self.loops:
            self.used_loops = merge_flows(self.used_loops, self.loops[name])
        return variable

    def check_budget(self) -> None:
        """Check the time, called for each query and join. Raises BudgetSpentError. The clock is a system call, so only
        some calls read it.
        """
        self.ticks += 1
        if not self.ticks % _CLOCK_INTERVAL and time.thread_time() > self.deadline:
            raise BudgetSpentError
