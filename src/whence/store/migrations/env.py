"""Alembic's entry: runs the steps on the connection that `migrate` gives."""

from alembic import context

from whence.store import dropped, keyring, summary, words  # noqa: F401  # their tables are declared when they are imported
from whence.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
