"""The tables, how to merge into them, and how to ask them: SQLite (embedded) and PostgreSQL (production)."""

# So that every table is in `tables.metadata`, whichever module is imported first.
import whence.store.blast
import whence.store.schedule  # noqa: F401
