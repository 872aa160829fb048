"""Statements that one engine compiled, for all engines of the process.

SQLAlchemy keeps what it compiled with an engine, and nearly every test has an engine of its own: compiling the same
statements anew was an eighth of the CPU time of the tests.
"""

from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.util import LRUCache

MOST = 5_000
"""Statements that are kept."""


class CompiledStatements(LRUCache[Any, Any]):
    """By statement and kind of dialect; SQLAlchemy's own key has the dialect of the engine."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_shared_key(key), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_shared_key(key), value)


def share_compiled_statements() -> None:
    """Let every engine that connects from now on use the same compiled statements."""
    shared = CompiledStatements(MOST)

    @event.listens_for(Engine, "engine_connect")
    def use_shared(connection: Connection) -> None:
        connection.execution_options(compiled_cache=shared)


def _shared_key(key: Any) -> tuple[Any, ...]:
    dialect, *rest = key
    return (type(dialect), *rest)
