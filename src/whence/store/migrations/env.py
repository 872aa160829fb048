"""Alembic's entry: runs the steps on the connection that `migrate` gives."""

from alembic import context

from whence.store import summary  # noqa: F401  # its tables are declared when it is imported
from whence.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
