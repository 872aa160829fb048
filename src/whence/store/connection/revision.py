"""Whether the tables of a store are those of this release, with errors that say what to do if not."""

from functools import cache
from pathlib import Path
from weakref import WeakSet

from sqlalchemy import Connection, Engine, inspect, text

from whence.errors import StoreSchemaError

_current = WeakSet[Engine]()
"""The engines whose store was found to have the tables of this release."""


@cache
def needed_revision() -> str:
    """The newest migration of this release."""
    return max(
        path.name.partition("_")[0] for path in (Path(__file__).parents[1] / "migrations/versions").glob("[0-9]*.py")
    )


def refuse_other_schema(connection: Connection) -> None:
    """Raise StoreSchemaError if the store has no tables, or those of another release."""
    if connection.engine in _current:
        return
    found = read_revision(connection)
    if found != needed_revision():
        raise StoreSchemaError(found, needed_revision())
    _current.add(connection.engine)


def read_revision(connection: Connection) -> str:
    """The migration of the store's tables; empty without tables."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or ""
