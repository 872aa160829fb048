"""A stream, a rebuild, SQLite and PostgreSQL: one log, one state. The log has duplicates, late events and refused
bodies.
"""

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from bench.events import Noise, arrivals
from whence.derive.pipeline import run_stream
from whence.derive.rebuild import rebuild
from whence.errors import EventError, StoreBusyError
from whence.log import Kind
from whence.log.record import Draft
from whence.log.segments.write import SegmentSettings, SegmentWriter
from whence.openlineage.accept import accept
from whence.store.dump import dump
from whence.store.engine import open_store, read_progress, sqlite_url
from whence.store.ledger import Ledger, read_ledger
from whence.store.lock import deriving
from whence.store.migrate import migrate

NOISE = Noise(duplicates=0.1, late=0.1, malformed=0.05)
RECORDS = 400


def draft(body: bytes) -> Draft:
    try:
        taken = accept(body)
    except EventError as error:
        return Draft(
            kind=Kind.QUARANTINED,
            key=bytes(16),
            received_at=0,
            payload=body,
            pointer=error.pointer,
            reason=error.reason,
        )
    return Draft(kind=Kind.EVENT, key=bytes.fromhex(taken.key), received_at=0, payload=taken.payload)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ledger]:
    """A log of several segments, and what its ledger must say."""
    directory = tmp_path_factory.mktemp("log")
    writer = SegmentWriter(directory, SegmentSettings(segment_bytes=1 << 20, recent_keys=50))
    drafts = [draft(one.body) for one in islice(arrivals(seed=3, jobs=20, days=30, noise=NOISE), RECORDS)]
    for start in range(0, RECORDS, 40):
        writer.append(drafts[start : start + 40])
    writer.close()
    kinds = Counter(one.kind for one in drafts)
    events = len({one.key for one in drafts if one.kind is Kind.EVENT})
    return directory, Ledger(events, kinds[Kind.EVENT] - events, kinds[Kind.QUARANTINED])


@pytest.fixture(scope="module")
def rebuilt(spark: SparkSession, log: tuple[Path, Ledger], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The dump of a rebuild into SQLite."""
    url = sqlite_url(tmp_path_factory.mktemp("rebuilt") / "store.db")
    rebuild(spark, log[0], url)
    return list(dump(open_store(url)))


def test_a_stream_equals_a_rebuild(
    spark: SparkSession, log: tuple[Path, Ledger], rebuilt: list[str], store_url: str, tmp_path: Path
) -> None:
    directory, expected = log
    engine = open_store(store_url)
    migrate(engine)
    query = run_stream(spark, directory, engine, tmp_path / "checkpoint")
    query.processAllAvailable()
    query.stop()
    assert list(dump(engine)) == rebuilt
    assert read_ledger(engine) == expected
    assert expected.duplicate > 10
    assert expected.quarantined > 5
    rebuild(spark, directory, store_url)
    assert list(dump(engine)) == rebuilt
    assert read_ledger(engine) == expected
    engine.dispose()


def test_a_stream_goes_on_where_the_store_is(
    spark: SparkSession, log: tuple[Path, Ledger], rebuilt: list[str], tmp_path: Path
) -> None:
    engine = open_store(sqlite_url(tmp_path / "store.db"))
    migrate(engine)
    for attempt in range(2):
        query = run_stream(spark, log[0], engine, tmp_path / f"checkpoint{attempt}")
        query.processAllAvailable()
        query.stop()
        assert read_progress(engine) > 0
    assert list(dump(engine)) == rebuilt
    assert read_ledger(engine) == log[1]
    engine.dispose()


def test_a_rebuild_is_refused_while_a_pipeline_runs(
    spark: SparkSession, log: tuple[Path, Ledger], store_url: str
) -> None:
    engine = open_store(store_url)
    migrate(engine)
    with deriving(engine), pytest.raises(StoreBusyError):
        rebuild(spark, log[0], store_url)
    engine.dispose()
