"""The state of reading one script."""

import time
from dataclasses import dataclass, field

from whence.capture.sql.dialects.dialects import Dialect
from whence.capture.sql.lineage import Budget, StatementLineage
from whence.capture.sql.names.catalog import Session
from whence.capture.sql.provenance.flows import Flow
from whence.capture.sql.provenance.relations import Output, Relation
from whence.capture.sql.queries.queries import query
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.scripts.observer import Observer
from whence.capture.sql.scripts.temporary_tables import TemporaryTableFolding
from whence.capture.sql.statements.statements import returned_rows
from whence.capture.sql.syntax import tree
from whence.capture.sql.syntax.splitter import Piece


@dataclass(slots=True)
class Script:
    """The state of reading one script."""

    text: str
    dialect: Dialect
    budget: Budget
    session: Session
    folding: TemporaryTableFolding = field(default_factory=TemporaryTableFolding)
    texts: dict[str, str] = field(default_factory=dict)
    """Variables that hold a literal text, for dynamic SQL."""
    variables: dict[str, Output] = field(default_factory=dict)
    """Variables and records, with their current values."""
    statements: list[StatementLineage] = field(default_factory=list)
    loops: dict[str, Flow] = field(default_factory=dict)
    """The influences on the rows of loops, by the name of their record."""
    cursors: dict[str, Relation] = field(default_factory=dict)
    """The queries of cursors, by their names."""
    procedural: bool = False
    observer: Observer | None = None


def open_reading(script: Script, piece: Piece) -> Reading:
    """The reading of one piece, with the session's tables and variables, and a deadline in thread time."""
    deadline = time.thread_time() + script.budget.seconds
    reading = Reading(script.dialect, script.session, deadline, query, _unsupported, piece.procedural, script.variables)
    reading.loops = script.loops
    reading.meanings = script.observer.meanings() if script.observer is not None else None
    reading.inner = lambda node, scope: returned_rows(reading, node, scope)
    return reading


def _unsupported(node: tree.Node, scope: Scope) -> Relation:
    raise NotImplementedError
