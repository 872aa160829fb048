"""SQLite's write-ahead log becomes short again while the store is open, whoever reads it."""

from pathlib import Path

from sqlalchemy import Engine, insert, select

from whence.store.connection.engine import open_store, reading, sqlite_url, writing
from whence.store.connection.wal_checkpoint import LEAST_BYTES, Checkpoints
from whence.store.migrations.migrate import migrate
from whence.store.schema.tables import producer


def grow(engine: Engine, number: int) -> None:
    rows = [{"id": number * 100 + index, "uri": f"{number}/{index}" + "x" * 40_000} for index in range(100)]
    with writing(engine) as connection:
        connection.execute(insert(producer), rows)


def test_it_is_shortened_once_nothing_is_written(tmp_path: Path) -> None:
    engine, wal = open_store(sqlite_url(tmp_path / "store.db")), tmp_path / "store.db-wal"
    migrate(engine)
    checkpoints = Checkpoints(engine)
    grow(engine, 1)
    assert wal.stat().st_size > LEAST_BYTES
    assert not checkpoints.shorten_if_quiet(), "something was written since the last look: there was none"
    grow(engine, 2)
    assert not checkpoints.shorten_if_quiet(), "something was written since the last look"
    with reading(engine) as connection:
        connection.execute(select(producer.c.id).limit(1)).all()
        assert not checkpoints.shorten_if_quiet(), "somebody reads"
        assert wal.stat().st_size > LEAST_BYTES
    assert checkpoints.shorten_if_quiet()
    assert wal.stat().st_size == 0
    assert not checkpoints.shorten_if_quiet(), "it is short"
    with reading(engine) as connection:
        assert len(connection.execute(select(producer.c.id)).all()) == 200
        assert connection.connection.execute("PRAGMA busy_timeout").fetchone() == (60_000,)
    engine.dispose()


def test_a_store_without_such_a_log_is_left_alone(store: Engine) -> None:
    assert not Checkpoints(store).shorten_if_quiet()
