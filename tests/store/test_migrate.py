"""The migrations end in the tables that the code declares."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine

from whence.store.engine import reading
from whence.store.migrate import migrate
from whence.store.tables import metadata

pytestmark = pytest.mark.filterwarnings(
    "ignore:Skipped unsupported reflection of expression-based index",
    "ignore:autogenerate skipping metadata-specified expression-based index",
)
"""Of SQLite's, SQLAlchemy reads none; PostgreSQL's are compared."""


def test_migrations_end_in_the_declared_tables(store: Engine) -> None:
    with reading(store) as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_migrating_again_changes_nothing(store: Engine) -> None:
    migrate(store)
    with reading(store) as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
