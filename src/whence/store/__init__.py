"""The tables, how to merge into them, and how to ask them: SQLite (embedded) and PostgreSQL (production)."""
