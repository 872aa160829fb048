"""Bringing a store's tables up to date (Alembic)."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine

from whence.errors import StoreSchemaError
from whence.store.connection.engine import writing
from whence.store.connection.revision import needed_revision, read_revision


def migrate(engine: Engine) -> None:
    """Make or upgrade all tables, in one transaction. Harmless where they are up to date.

    Raises StoreSchemaError if they are those of a later release.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    with writing(engine) as connection:
        if (found := read_revision(connection)) > needed_revision():
            raise StoreSchemaError(found, needed_revision())
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
