"""Giving back to the file system what deleted rows took."""

from sqlalchemy import Engine, text

from whence.store.tables import metadata


def size(engine: Engine) -> int:
    """Bytes of the store's files."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            pages, bytes_ = (
                connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in ("page_count", "page_size")
            )
            return int(pages * bytes_)
        tables = [f'"{table.name}"' for table in metadata.sorted_tables]
        query = text(
            "select sum(pg_total_relation_size(cast(one as regclass))) from unnest(cast(:names as text[])) one"
        )
        return int(connection.execute(query, {"names": tables}).scalar_one())


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
