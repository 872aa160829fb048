"""The pipeline into an encrypted store: executors get the data key from the driver; a stream equals a rebuild."""

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from sqlalchemy import Engine, select

from fixtures.confidential_events import BODIES, SECRETS, legible
from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from whence.derive.lineage_tables.job import publish
from whence.derive.pipeline import run_stream
from whence.derive.rebuild import rebuild
from whence.errors import EncryptionError
from whence.log import Log
from whence.log.address import open_log
from whence.store.connection.data_key import provide_key
from whence.store.connection.engine import open_store, reading, sqlite_url
from whence.store.encryption.encryption_state import EncryptionState, read_encryption_state
from whence.store.encryption.keyring import data_key
from whence.store.encryption.master_key import KEY_FILE, create_master
from whence.store.lifecycle.dump import dump

EXPRESSION = "zebra_price * 4711"


def checks(body: bytes) -> bytes:
    """The event, with checks that it made on its input."""
    event = json.loads(body)
    event["eventType"] = "COMPLETE"
    made = {"_producer": "p", "_schemaURL": "s", "assertions": [{"assertion": "unique", "success": True}]}
    event["inputs"][0]["inputFacets"]["dataQualityAssertions"] = made
    return json.dumps(event).encode()


def state_of(engine: Engine) -> EncryptionState:
    with reading(engine) as connection:
        return read_encryption_state(connection)


@pytest.fixture
def filled(tmp_path: Path) -> Log:
    """A log with the events."""
    log = open_log(str(tmp_path / "log"))
    fill(log, map(checks, BODIES))
    return log


@pytest.fixture
def plain(spark: SparkSession, filled: Log, tmp_path: Path) -> list[str]:
    """The dump of a store without encryption."""
    url = sqlite_url(tmp_path / "plain.db")
    rebuild(spark, filled, url)
    engine = open_store(url)
    found = list(dump(engine))
    assert all(secret.encode() in legible(engine) for secret in SECRETS)
    engine.dispose()
    return found


def key_id(url: str) -> str | None:
    engine = open_store(url)
    with reading(engine) as connection:
        found = connection.execute(select(data_key.c.id)).scalar()
    engine.dispose()
    return found


def test_a_stream_equals_a_rebuild(
    spark: SparkSession,
    filled: Log,
    plain: list[str],
    store_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The session's executors were started without this setting, as those of a cluster are.
    create_master(tmp_path / "master.key")
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "master.key"))
    engine = open_migrated(store_url)
    provide_key(engine)
    query = run_stream(spark, filled, engine, tmp_path / "checkpoint")
    query.catch_up()
    query.stop()
    assert list(dump(engine)) == plain
    assert [secret for secret in SECRETS if secret.encode() in legible(engine)] == []
    streamed = key_id(store_url)
    rebuild(spark, filled, store_url)
    assert list(dump(engine)) == plain  # the same process opens texts of the new key
    assert [secret for secret in SECRETS if secret.encode() in legible(engine)] == []
    assert streamed
    assert key_id(store_url) not in (None, streamed)
    publish(spark, engine, str(tmp_path / "tables"))
    tables = {name: DeltaTable(tmp_path / "tables" / name).to_pyarrow_table() for name in ("edge", "assertion")}
    assert any(EXPRESSION in text for text in tables["edge"].column("description").to_pylist())
    assert set(tables["assertion"].column("assertion").to_pylist()) == {"unique"}
    monkeypatch.delenv(KEY_FILE)
    with pytest.raises(EncryptionError, match="build one without encryption in another place"):
        rebuild(spark, filled, store_url)
    engine.dispose()


def test_a_rebuild_encrypts_what_was_not(
    spark: SparkSession, filled: Log, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rebuild(spark, filled, store_url)
    engine = open_store(store_url)
    before = list(dump(engine))
    assert state_of(engine).plain
    engine.dispose()
    create_master(tmp_path / "master.key")
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "master.key"))
    rebuild(spark, filled, store_url)
    assert list(dump(engine)) == before
    assert state_of(engine).plain == 0
    engine.dispose()
    assert [secret for secret in SECRETS if secret.encode() in legible(engine)] == []
    create_master(tmp_path / "after-a-loss.key")
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "after-a-loss.key"))
    rebuild(spark, filled, store_url)
    engine.dispose()
    assert list(dump(engine)) == before
    engine.dispose()
