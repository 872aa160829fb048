"""The migrations end in the tables that the code declares."""

from functools import partial
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, text

import whence.store.migrations.migrate
from whence.errors import StoreSchemaError
from whence.store.connection.engine import open_store, read_progress, reading, writing
from whence.store.connection.revision import needed_revision, read_revision
from whence.store.migrations.migrate import migrate
from whence.store.schema.tables import metadata
from whence.store.snapshots.catalog import snapshot
from whence.store.snapshots.graph import existing_store, open_graph

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


def set_revision(engine: Engine, revision: str) -> None:
    with writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})


def test_the_needed_revision_is_that_of_the_newest_migration(store: Engine) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(whence.store.migrations.migrate.__file__).parent))
    assert ScriptDirectory.from_config(config).get_heads() == [needed_revision()]
    with reading(store) as connection:
        assert read_revision(connection) == needed_revision()


@pytest.mark.parametrize(
    ("revision", "advice"),
    [("0000", "of an earlier release .* `whence up` upgrades it"), ("9999", "of a later release .* use that,")],
)
def test_a_store_of_another_release_says_what_to_do(store: Engine, revision: str, advice: str) -> None:
    set_revision(store, revision)
    other = open_store(url := store.url.render_as_string(hide_password=False))
    for use in (partial(read_progress, other), partial(existing_store, url), partial(_open_graph, url)):
        with pytest.raises(StoreSchemaError, match=advice):
            use()
    with pytest.raises(StoreSchemaError, match=advice), snapshot(other):
        pass
    existing_store(url, any_schema=True).dispose()
    assert read_progress(other, any_schema=True) == {}
    set_revision(store, needed_revision())
    assert read_progress(other) == {}, "once it is upgraded, what has it open goes on"
    other.dispose()


def test_a_later_store_is_not_migrated(store: Engine) -> None:
    set_revision(store, "9999")
    with pytest.raises(StoreSchemaError, match="later release"):
        migrate(store)


def _open_graph(url: str) -> None:
    with open_graph(url):
        pass
