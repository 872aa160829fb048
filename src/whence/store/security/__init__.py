"""The security database: keys, sessions, grants and the audit log, beside the lineage store.

Nothing here is lineage: no event asserts any of it, and a rebuild neither creates nor deletes it. So it has tables and
steps of migration of its own, on SQLite (a file beside the store's) or PostgreSQL (in the store's database).
"""
