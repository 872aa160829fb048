"""Bringing a store's tables up to date (Alembic)."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine

from whence.store.engine import writing


def migrate(engine: Engine) -> None:
    """Make or upgrade all tables, in one transaction. Harmless where they are up to date."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with writing(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
