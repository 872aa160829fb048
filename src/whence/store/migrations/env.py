"""Alembic's entry: runs the migrations on the connection of `migrate`."""

from alembic import context

from whence.store.encryption import keyring  # noqa: F401  # their tables are declared when they are imported
from whence.store.ingest import dropped_datasets as dropped  # noqa: F401  # their tables are declared when they are imported
from whence.store.ingest import retention_summary as summary  # noqa: F401  # their tables are declared when they are imported
from whence.store.ingest import search_index as words  # noqa: F401  # their tables are declared when they are imported
from whence.store.schema.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
