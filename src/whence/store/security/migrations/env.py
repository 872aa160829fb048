"""Alembic's entry: runs the migrations on the connection of `migrate_security`."""

from alembic import context

from whence.store.security.database import VERSION_TABLE
from whence.store.security.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, version_table=VERSION_TABLE)
context.run_migrations()
