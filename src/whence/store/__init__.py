"""The tables, the merging of facts into them, and the queries over them: SQLite (embedded) and PostgreSQL
(production).
"""

# Registers every table in `tables.metadata`, whichever module is imported first.
import whence.store.graph.blast_radius
import whence.store.ingest.change_log
import whence.store.status.periodic_jobs  # noqa: F401
