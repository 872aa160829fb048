"""The port through which a script's reader reports what its statements mean."""

from typing import Protocol

from whence.capture.sql.lineage import Span
from whence.capture.sql.queries.meanings import Meanings
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.statements.moves import Effects
from whence.capture.sql.syntax import tree


class Observer(Protocol):
    """Receives what the statements of a script mean, beside their lineage."""

    def meanings(self) -> Meanings:
        """The port for the queries of the next statement."""

    def record(self, node: tree.Node | None, text: str, effects: Effects, reading: Reading, span: Span) -> None:
        """One complete statement."""
