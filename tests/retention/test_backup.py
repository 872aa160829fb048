"""A backup is whole or it is none; what is restored from it is what was backed up."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sqlalchemy import Engine, text

from conftest import STORES
from fixtures.both_logs import records_of
from retention.worlds import DAY, FIRST_DAY, bodies, derive, log_of
from services.postgres import new_database
from whence.derive.archive.copy import archive_log, drop_archived
from whence.derive.rebuild import rebuild
from whence.errors import BackupError, StoreError
from whence.govern.backup import Place, back_up, check_backup, restore_backup
from whence.log.segments.files import list_segments
from whence.log.segments.log import SegmentLog
from whence.store.connection.engine import open_store, read_progress, sqlite_url, writing
from whence.store.ingest.retention_summary import RetentionHorizon
from whence.store.lifecycle.dump import dump
from whence.store.lifecycle.purge import enforce_horizon
from whence.store.migrations.migrate import migrate
from whence.store.status.ledger import read_all_receipts

SOME = bodies(300, 5)


@pytest.fixture
def log(tmp_path: Path) -> SegmentLog:
    return log_of(tmp_path / "log", SOME[:200])


@pytest.fixture
def filled(spark: SparkSession, log: SegmentLog, store: Engine) -> Engine:
    derive(spark, log, store)
    return store


def place_at(directory: Path) -> Place:
    """An empty place."""
    return Place(
        engine=open_store(sqlite_url(directory / "store.db")),
        log=SegmentLog(directory / "log"),
        archive=directory / "archive",
    )


def everything(engine: Engine) -> Any:
    return list(dump(engine)), read_all_receipts(engine), read_progress(engine)


@pytest.fixture(params=STORES)
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A place for another store, of each kind in turn."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            url = sqlite_url(tmp_path / "elsewhere" / "store.db")
        else:
            url = stack.enter_context(new_database(request.getfixturevalue("postgres_server")))
        engine = open_store(url)
        yield engine
        engine.dispose()


def test_a_store_and_its_log_come_back(
    filled: Engine, log: SegmentLog, elsewhere: Engine, spark: SparkSession, tmp_path: Path
) -> None:
    enforce_horizon(filled, RetentionHorizon(runs=FIRST_DAY + 5 * DAY, keep=1, history=FIRST_DAY))
    archive = tmp_path / "archive"
    archive_log(spark, log, str(archive))
    drop_archived(log, str(archive), read_progress(filled))
    manifest = back_up(Place(engine=filled, log=log, archive=archive), tmp_path / "backup")
    new = SegmentLog(tmp_path / "new")
    assert (
        restore_backup(tmp_path / "backup", Place(engine=elsewhere, log=new, archive=tmp_path / "archive2")) == manifest
    )
    assert everything(elsewhere) == everything(filled)
    assert records_of(new) == records_of(log)
    for one in (log, new):
        log_of(one.directory, SOME[200:])
    derive(spark, log, filled)
    derive(spark, new, elsewhere)
    state = everything(filled)
    assert everything(elsewhere) == state
    elsewhere.dispose()
    rebuild(spark, new, elsewhere.url.render_as_string(hide_password=False), str(tmp_path / "archive2"))
    assert everything(elsewhere) == state


def test_a_backup_is_made_while_everything_runs(
    spark: SparkSession, log: SegmentLog, store: Engine, tmp_path: Path
) -> None:
    """The log is ahead of the store, and both move on while the backup is made; what is behind catches up."""
    derive(spark, log, store)
    expected = read_progress(store)
    log_of(log.directory, SOME[200:250])
    writer = subprocess.Popen([sys.executable, "-c", APPENDING, str(log.directory)], stdout=subprocess.PIPE)
    assert writer.stdout
    assert writer.stdout.readline() == b"appending\n"
    manifest = back_up(Place(engine=store, log=log), tmp_path / "backup")
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    assert manifest.reached == expected
    copied = SegmentLog(tmp_path / "backup" / "log")
    held, there = records_of(copied), records_of(log)
    assert 250 <= len(held) <= len(there)
    assert held == there[: len(held)]


APPENDING = """
import sys
from pathlib import Path
from whence.log import Kind
from whence.log.record import Draft
from whence.log.segments.log import SegmentLog
writer = SegmentLog(Path(sys.argv[1])).open_writer()
number = 0
while True:
    number += 1
    key = number.to_bytes(16, "big")
    writer.append([Draft(kind=Kind.EVENT, key=key, received_at=0, payload=bytes(2000), owner=key.hex())])
    if number == 10:
        print("appending", flush=True)
"""


def test_damage_is_found_before_anything_is_restored(filled: Engine, log: SegmentLog, tmp_path: Path) -> None:
    backup, target = tmp_path / "backup", tmp_path / "target"
    back_up(Place(engine=filled, log=log), backup)
    for path in [path for path in sorted(backup.rglob("*")) if path.is_file()]:
        whole = path.read_bytes()
        half = len(whole) // 2
        # That the manifest is another one cannot be told from a byte; that it is cut can.
        flipped = [] if path.name == "manifest.json" else [whole[:half] + b"?" + whole[half + 1 :], whole[:-1]]
        for damaged in (b"", whole[:half], *flipped):
            path.write_bytes(damaged)
            with pytest.raises(BackupError, match=path.name):
                restore_backup(backup, place_at(target))
        path.unlink()
        with pytest.raises(BackupError, match=path.name):
            check_backup(backup)
        path.write_bytes(whole)
    assert not target.exists()
    check_backup(backup)


def test_nothing_is_overwritten(filled: Engine, log: SegmentLog, tmp_path: Path) -> None:
    back_up(Place(engine=filled, log=log), tmp_path / "backup")
    with pytest.raises(BackupError, match="already exists"):
        back_up(Place(engine=filled, log=log), tmp_path / "backup")
    with pytest.raises(BackupError, match="not empty"):
        restore_backup(tmp_path / "backup", Place(engine=filled, log=SegmentLog(tmp_path / "new")))
    with pytest.raises(BackupError, match=r"log.* is not empty"):
        restore_backup(tmp_path / "backup", replace(place_at(tmp_path / "other"), log=log))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("left", ["-wal", "-shm", "-journal"])
def test_what_sqlite_left_of_a_store_is_in_the_way(filled: Engine, log: SegmentLog, tmp_path: Path, left: str) -> None:
    back_up(Place(engine=filled, log=log), tmp_path / "backup")
    place = place_at(tmp_path / "other")
    file = Path(f"{place.engine.url.database}{left}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"of another store")
    with pytest.raises(BackupError, match=f"{file.name} is not empty"):
        restore_backup(tmp_path / "backup", place)
    assert file.read_bytes() == b"of another store"


def test_a_backup_of_a_newer_release_leaves_the_place_empty(filled: Engine, log: SegmentLog, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    with writing(filled) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    if filled.dialect.name == "sqlite":  # PostgreSQL's is copied into tables of this release
        back_up(Place(engine=filled, log=log), backup)
        with pytest.raises(BackupError, match="later release"):
            restore_backup(backup, place_at(tmp_path / "other"))
        assert not list_segments(tmp_path / "other" / "log")
    with pytest.raises(StoreError, match="later release"):
        migrate(filled)


def test_a_backup_that_was_killed_is_none(filled: Engine, log: SegmentLog, tmp_path: Path) -> None:
    """Killed at each file that it makes durable, the last but for the rename among them."""
    url = filled.url.render_as_string(hide_password=False)
    left = 0
    while True:
        target = tmp_path / f"backup{left}"
        done = subprocess.run(
            [sys.executable, "-c", KILLED, url, str(log.directory), str(target), str(left)], check=False
        )
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        assert not target.exists()
        for partial in tmp_path.glob(f"{target.name}.partial-*"):
            assert (partial / "manifest.json").exists() is (left >= 3)
        left += 1
    assert left >= 4
    check_backup(target)


KILLED = """
import os, signal, sys
from pathlib import Path
from whence.govern import backup
from whence.log.segments.log import SegmentLog
from whence.store.connection.engine import open_store
url, log, target, left = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
real, calls = backup.sync_file, 0
def sync_file(path):
    global calls
    if calls == left and path != target.parent:
        os.kill(os.getpid(), signal.SIGKILL)
    calls += 1
    real(path)
backup.sync_file = sync_file
backup.back_up(backup.Place(engine=open_store(url), log=SegmentLog(log)), target)
"""
