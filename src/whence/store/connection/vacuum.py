"""Returning the space of deleted rows to the file system."""

from sqlalchemy import Connection, Engine, text

from whence.store.schema.tables import metadata


def measure_store(connection: Connection) -> int:
    """The size of the tables and their indexes in bytes, including free space."""
    if connection.dialect.name == "sqlite":
        pages, page = (connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in ("page_count", "page_size"))
        return int(pages) * int(page)
    each = "SELECT sum(pg_total_relation_size(to_regclass(name))) FROM unnest(CAST(:names AS text[])) AS name"
    names = [f'"{table.name}"' for table in metadata.sorted_tables]
    return int(connection.execute(text(each), {"names": names}).scalar_one())


def shrink_store(engine: Engine) -> None:
    """Rewrite the store without free space. In SQLite writers wait meanwhile; in PostgreSQL readers and writers of one
    table at a time.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if engine.dialect.name == "sqlite":
            raw = connection.connection
            raw.execute("VACUUM")
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return
        for table in metadata.sorted_tables:
            connection.execute(text(f'VACUUM (FULL, ANALYZE) "{table.name}"'))
