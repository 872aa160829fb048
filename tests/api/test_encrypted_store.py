"""The API over an encrypted store: as ever with its key; without it, events are taken all the same."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import Engine

from api.collector.test_collect import event
from api.process import Serving
from fixtures.confidential_events import BODIES, SECRETS
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.store.connection.data_key import provide_key
from whence.store.connection.engine import sqlite_url
from whence.store.encryption.master_key import KEY_FILE, create_master

JOB = f"/api/v1/namespaces/shop/jobs/{quote('load1')}"


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An encrypted store, where the first API looks for its own."""
    create_master(tmp_path / "master.key")
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "master.key"))
    engine = open_migrated(sqlite_url(tmp_path / "store0.db"))
    provide_key(engine)
    apply_bodies(engine, BODIES)
    yield engine
    engine.dispose()


def test_with_its_key_it_answers_as_ever(serving: Serving, sealed: Engine) -> None:
    api = serving()
    assert SECRETS[1] in str(api.ask("GET", JOB).json)
    walked = api.ask("GET", f"/api/v2/lineage/upstream?node={quote('datasetField:db:c:y')}")
    assert SECRETS[4] in str(walked.json)
    assert api.ask("GET", "/health/ready").json["checks"]["store"]["ok"]


@pytest.mark.parametrize("other", [False, True])
def test_without_it_it_says_so(
    serving: Serving, sealed: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: bool
) -> None:
    monkeypatch.delenv(KEY_FILE)
    reason = f"the store is encrypted; set {KEY_FILE}"
    if other:
        create_master(tmp_path / "other.key")
        monkeypatch.setenv(KEY_FILE, str(tmp_path / "other.key"))
        reason = "is not that of the store"
    api = serving()
    asked = api.ask("GET", JOB)
    assert (asked.status, reason in asked.json["reason"]) == (503, True)
    ready = api.ask("GET", "/health/ready")
    assert (ready.status, ready.json["checks"]["store"]["ok"]) == (503, False)
    assert reason in ready.json["checks"]["store"]["detail"]
    assert api.post(event()).status == 201
    assert api.ask("GET", "/api/v2/search?q=load").status == 200
