"""Giving back to the file system what deleted rows took."""

from sqlalchemy import Connection, Engine, text

from whence.store.tables import metadata


def size(connection: Connection) -> int:
    """Bytes of the tables and their indexes, with what is free in them."""
    if connection.dialect.name == "sqlite":
        pages, page = (connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in ("page_count", "page_size"))
        return int(pages) * int(page)
    each = "SELECT sum(pg_total_relation_size(to_regclass(name))) FROM unnest(CAST(:names AS text[])) AS name"
    names = [f'"{table.name}"' for table in metadata.sorted_tables]
    return int(connection.execute(text(each), {"names": names}).scalar_one())


def shrink(engine: Engine) -> None:
    """Write the store anew without what is free in it. SQLite: writers wait meanwhile. PostgreSQL: table by table, who
    reads or writes one waits for it.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if engine.dialect.name == "sqlite":
            raw = connection.connection
            raw.execute("VACUUM")
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return
        for table in metadata.sorted_tables:
            connection.execute(text(f'VACUUM (FULL, ANALYZE) "{table.name}"'))
