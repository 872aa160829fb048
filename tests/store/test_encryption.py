"""Encryption at rest: of SQL and code nothing is legible in the store's bytes, and every answer is as without it."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, delete, select, update
from typer.testing import CliRunner

from fixtures.confidential_events import BODIES, SECRETS, body, legible
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.cli.commands.app import app
from whence.errors import EncryptionError
from whence.model.events import RunEvent
from whence.model.graph import Direction, Grain, Hop
from whence.model.ids import node_id
from whence.model.names import JobName
from whence.openlineage.read import read_event
from whence.store.adjacency.build import build_csr
from whence.store.adjacency.overlay import StoreAdjacency
from whence.store.connection.data_key import check_key, provide_key, store_address
from whence.store.connection.engine import open_store, reading, sqlite_url, writing
from whence.store.encryption.encryption_state import EncryptionState, read_encryption_state
from whence.store.encryption.key_rotation import rewrap
from whence.store.encryption.keyring import data_key, is_sensitive
from whence.store.encryption.master_key import KEY, KEY_FILE, configured_master, create_master, read_master
from whence.store.lifecycle.copy import copy_in, copy_out, upgrade_copy
from whence.store.lifecycle.dump import dump
from whence.store.schema.tables import facet_body, facet_template, run_facets
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph


def state_of(engine: Engine) -> EncryptionState:
    with reading(engine) as connection:
        return read_encryption_state(connection)


@pytest.fixture
def key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A master key, configured."""
    file = tmp_path / "master.key"
    create_master(file)
    monkeypatch.setenv(KEY_FILE, str(file))
    return file


@pytest.fixture
def sealed(store_url: str, key_file: Path) -> Iterator[Engine]:
    """An encrypted store with the events."""
    engine = filled(store_url)
    yield engine
    engine.dispose()


def filled(url: str) -> Engine:
    """A store with the events; encrypted, if a key is configured."""
    engine = open_migrated(url)
    provide_key(engine)
    apply_bodies(engine, BODIES)
    return engine


Reopen = Callable[[Engine], Engine]


@pytest.fixture
def reopened() -> Iterator[Reopen]:
    """Opens a store again, as another process does: with what the settings say now."""
    engines: list[Engine] = []

    def reopen(engine: Engine) -> Engine:
        engines.append(open_store(engine.url.render_as_string(hide_password=False)))
        return engines[-1]

    yield reopen
    for one in engines:
        one.dispose()


def test_without_a_key_everything_is_legible(store_url: str) -> None:
    engine = filled(store_url)
    found = legible(engine)
    assert all(secret.encode() in found for secret in SECRETS)
    assert state_of(engine).plain == 7
    assert store_address(engine).keys == ()
    engine.dispose()


def test_with_a_key_no_statement_and_no_code_is(sealed: Engine) -> None:
    found = legible(sealed)
    assert [secret for secret in SECRETS if secret.encode() in found] == []
    assert b"prices of animals" in found
    assert b"ada" in found


def test_the_dump_is_that_of_a_store_without_encryption(sealed: Engine, reopened: Reopen, tmp_path: Path) -> None:
    plain = open_migrated(sqlite_url(tmp_path / "plain.db"))
    apply_bodies(plain, BODIES)
    assert state_of(plain).key == ""
    assert list(dump(reopened(sealed))) == list(dump(plain))
    plain.dispose()


def test_order_and_repetition_change_no_byte(sealed: Engine) -> None:
    before = stored(sealed)
    apply_bodies(sealed, list(reversed(BODIES)), first=20)
    assert stored(sealed) == before


def stored(engine: Engine) -> list[tuple[Any, ...]]:
    with reading(engine) as connection:
        rows = [row for table in (facet_body, facet_template, run_facets) for row in connection.execute(select(table))]
    return sorted(map(tuple, rows), key=repr)


def test_the_catalog_and_the_graph_read_the_text(sealed: Engine, reopened: Reopen) -> None:
    job, stranger = node_id(JobName("shop", "load1")), reopened(sealed)
    with reading(stranger) as connection:
        catalog = StoreCatalog(connection)
        facets = catalog.facets([job])[job]
        assert json.loads(facets["sql"].payload)["query"] == f"insert into b select {SECRETS[0]} + 5 from a"
        assert SECRETS[1] in json.loads(facets["sourceCode"].payload)["sourceCode"]
        event = read_event(json.loads(BODIES[0]))
        assert isinstance(event, RunEvent)
        run = node_id(event.run.name)
        errors = [facet for facet in catalog.run_facets([run])[run] if facet.key == "errorMessage"]
        arrays = StoreAdjacency(connection, build_csr(connection))
        edges = arrays.rows(
            arrays.edges(np.arange(arrays.count), Direction.DOWNSTREAM, Grain.JOB, 1_000).key, Direction.DOWNSTREAM
        )
        ends, hop = {edge.near_id for edge in edges}, Hop(Direction.DOWNSTREAM, Grain.JOB)
        assert set(edges) == set(StoreGraph(connection).edges(sorted(ends), hop, 1_000))
    assert any(SECRETS[4] in edge.description for edge in edges)
    assert SECRETS[3] in json.loads(errors[0].payload)["message"]


def test_a_backup_is_encrypted_and_restored_into_either_kind(sealed: Engine, tmp_path: Path) -> None:
    file, restored = tmp_path / "copy.db", open_store(sqlite_url(tmp_path / "restored" / "store.db"))
    copy_out(sealed, file)
    assert not any(secret.encode() in file.read_bytes() for secret in SECRETS)
    (tmp_path / "scratch").mkdir()
    copy_in(upgrade_copy(file, tmp_path / "scratch"), restored)
    assert list(dump(restored)) == list(dump(sealed))
    restored.dispose()


def test_rotation_changes_nothing_but_the_wrap(
    sealed: Engine, reopened: Reopen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, dumped_before = stored(sealed), list(dump(sealed))
    new = tmp_path / "new.key"
    master = create_master(new)
    with writing(sealed) as connection:
        rewrap(connection, master)
    assert stored(sealed) == before
    assert list(dump(sealed)) == dumped_before  # a process that runs goes on
    with pytest.raises(EncryptionError, match="is not that of the store"):
        list(dump(reopened(sealed)))
    monkeypatch.setenv(KEY_FILE, str(new))
    assert list(dump(reopened(sealed))) == dumped_before
    assert state_of(sealed).master == master.id


def test_without_its_key_nothing_is_written(sealed: Engine, reopened: Reopen, monkeypatch: pytest.MonkeyPatch) -> None:
    before = stored(sealed)
    monkeypatch.delenv(KEY_FILE)
    stranger = reopened(sealed)
    for attempt in (provide_key, check_key, store_address, lambda one: apply_bodies(one, [body(7)], first=30)):
        with pytest.raises(EncryptionError, match=f"the store is encrypted; set {KEY_FILE}"):
            attempt(stranger)
    assert stored(sealed) == before


def test_with_another_key_nothing_is_written(
    sealed: Engine, reopened: Reopen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stored(sealed)
    create_master(tmp_path / "other.key")
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "other.key"))
    for attempt in (provide_key, check_key, lambda one: apply_bodies(one, [body(7)], first=30)):
        with pytest.raises(EncryptionError, match=r"is not that of the store; set .*`whence rebuild`"):
            attempt(reopened(sealed))
    assert stored(sealed) == before


def test_a_text_opens_only_where_it_was_written(sealed: Engine) -> None:
    with writing(sealed) as connection:
        sql = connection.execute(select(facet_body.c.payload).where(facet_body.c.name == "sql")).scalars().first()
        connection.execute(update(facet_body).where(facet_body.c.name == "sourceCode").values(payload=sql))
    with pytest.raises(EncryptionError, match="was changed or damaged"):
        list(dump(sealed))


def test_a_store_whose_key_is_gone_says_so(sealed: Engine, reopened: Reopen) -> None:
    with writing(sealed) as connection:
        connection.execute(delete(data_key))
    with pytest.raises(EncryptionError, match="whence rebuild"):
        list(dump(reopened(sealed)))


def test_a_key_that_comes_later_seals_what_comes_later(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = filled(store_url)
    create_master(tmp_path / "late.key")
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "late.key"))
    provide_key(engine)
    provide_key(engine)
    apply_bodies(engine, [body(8)], first=30)
    with reading(engine) as connection:
        rows = connection.execute(select(facet_body.c.payload).where(facet_body.c.name == "sql")).scalars().all()
    assert sorted(row[0] for row in rows) == ["{", "~"]
    assert state_of(engine).plain == 5  # of the job that nobody spoke of, and what was said again as it was
    assert [line for line in dump(engine) if "zebra_price * 4711 + 8" in line]
    engine.dispose()


def test_an_expression_may_look_like_sealed_text(store: Engine) -> None:
    expression = "~" + base64.urlsafe_b64encode(bytes(40)).decode()
    apply_bodies(store, [body(1).replace(SECRETS[4].encode(), expression.encode())])
    assert any(expression in line for line in dump(store))


@pytest.mark.parametrize(
    ("facet", "payload", "sealed"),
    [
        ("sql", '{"query":"select 1"}', True),
        ("sourceCode", '{"language":"python"}', True),
        ("dbt", '{"nodes":[{"compiled_code":"select 1"}]}', True),
        ("dbt", '{"nodes":[{"name":"query"}]}', False),
        ("documentation", '{"description":"x","query":"select 1"}', False),
        ("whence_sqlLineage", '{"reader":"1"}', False),
        ("columnLineage", '{"fields":{}}', True),
        ("sql", "", False),
    ],
)
def test_what_is_sealed(facet: str, payload: str, sealed: bool) -> None:
    assert is_sensitive(facet, payload) is sealed


def test_settings_say_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "master.key"
    made = create_master(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert configured_master({KEY_FILE: str(file)}) == read_master(file) == made
    assert configured_master({KEY: file.read_text("ascii")}) == made
    assert configured_master({}) is None
    for settings, why in (
        ({KEY: "short"}, "32 random bytes"),
        ({KEY_FILE: str(tmp_path / "none")}, "cannot be read: No such file"),
        ({KEY: "x", KEY_FILE: "y"}, "set one of them"),
    ):
        with pytest.raises(EncryptionError, match=why):
            configured_master(settings)
    with pytest.raises(EncryptionError, match="File exists"):
        create_master(file)
    assert base64.b64encode(made.secret).decode() not in repr(made)


def test_the_commands(tmp_path: Path) -> None:
    run, url = CliRunner(), sqlite_url(tmp_path / "store.db")
    old, new = tmp_path / "old.key", tmp_path / "new.key"
    for file in (old, new):
        assert run.invoke(app, ["encryption", "create-key", str(file)]).exit_code == 0
    filled(url).dispose()
    assert "7 facets with SQL or code are not encrypted" in run.invoke(app, _about(url, "status")).output
    refused = run.invoke(app, [*_about(url, "rotate"), "--to", str(new)])
    assert refused.exit_code == 4
    provide = open_store(url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_FILE, str(old))
        provide_key(provide)
        assert "the configured master key opens it" in run.invoke(app, _about(url, "status")).output
        assert run.invoke(app, [*_about(url, "rotate"), "--to", str(new)]).exit_code == 0
        wrong = run.invoke(app, [*_about(url, "status"), "--output", "json"])
        assert wrong.exit_code == 4
        assert "is not that of the store" in json.loads(wrong.output)["trouble"]
        patch.setenv(KEY_FILE, str(new))
        assert run.invoke(app, _about(url, "status")).exit_code == 0
    provide.dispose()


def _about(url: str, verb: str) -> list[str]:
    return ["encryption", verb, "--store", url]
