"""Bringing a store's tables up to date (Alembic)."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Engine

from whence.errors import StoreError
from whence.store.engine import writing


def migrate(engine: Engine) -> None:
    """Make or upgrade all tables, in one transaction. Harmless where they are up to date.

    Raises StoreError if they are those of a newer release.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with writing(engine) as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StoreError(f"the store is of a newer release of Whence than this one ({error}): upgrade") from error
