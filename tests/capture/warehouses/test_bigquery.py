"""Polls of a project of BigQuery, with answers in the form of its documented API; the lineage is written by hand."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc import jwt
from joserfc.jwk import RSAKey
from sqlalchemy import Engine

from capture.warehouses.replay_bigquery import TOKEN, Replay, replaying
from capture.warehouses.test_polling import direct_edges, ends, poll
from fixtures.captured_lineage import dataset_edges, store_events
from fixtures.replies import Request, replying
from whence.capture.warehouses.bigquery.source import capture
from whence.capture.warehouses.source import WarehouseServer
from whence.errors import SourceError
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window

STAGES = ("prod", "staging")
DIRECT = {
    "acme.{}_raw.orders.customer -> acme.{}_mart.totals.who",
    "acme.{}_raw.orders.amount -> acme.{}_mart.totals.gross",
    "acme.{}_mart.totals.who -> acme.{}_mart.v_totals.who",
    "acme.{}_mart.totals.gross -> acme.{}_mart.v_totals.gross",
    "acme.{}_mart.v_totals.who -> acme.{}_mart.copies.w",
    "acme.{}_mart.v_totals.gross -> acme.{}_mart.copies.g",
    "acme.{}_raw.input ü.a b -> acme.{}_mart.weird; drop ü.c; drop",
}


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Iterator[Replay]:
    monkeypatch.setenv("WHENCE_BIGQUERY_TOKEN", TOKEN)
    with replaying() as made:
        yield made


@pytest.fixture
def server(replay: Replay) -> WarehouseServer:
    return connect(replay)


def connect(replay: Replay, **options: str) -> WarehouseServer:
    found = capture.configure({"project": "acme", "url": replay.url, **options})
    found.warehouse.api.source.pause = lambda seconds: None  # type: ignore[attr-defined]  # no Warehouse needs one
    return found


def test_columns_are_those_that_the_statements_say(server: WarehouseServer) -> None:
    events, _ = poll(server)
    expected = {edge.replace("{}", stage) for edge in DIRECT for stage in STAGES}
    scripts = {
        edge
        for stage, job in (("prod", "job_0010"), ("staging", "job_0022"))
        for edge in (
            f"acme.{stage}_raw.orders.amount -> acme.temp-{job}.scratch.amount",
            f"acme.temp-{job}.scratch.amount -> acme.{stage}_mart.kept.twice",
        )
    }
    assert direct_edges(events) == expected | scripts
    for event in events:
        require_valid(event)


def test_files_go_in_and_out_and_tables_are_copied(server: WarehouseServer, sqlite_store: Engine) -> None:
    found = dataset_edges(store_events(sqlite_store, poll(server)[0]))
    for stage in STAGES:
        assert f"{stage}/orders ü.csv -> acme.{stage}_raw.orders" in found
        assert f"acme.{stage}_mart.totals -> acme.{stage}_mart.totals_copy" in found
        assert f"acme.{stage}_mart.totals -> {stage}/totals-*.csv" in found
        # BigQuery says that the table behind a view was read, too.
        assert f"acme.{stage}_mart.totals -> acme.{stage}_mart.copies" not in found


def test_runs_have_users_ends_and_messages(server: WarehouseServer) -> None:
    runs = ends(poll(server)[0])
    states = [one["eventType"] for one in runs]
    assert (states.count("FAIL"), states.count("ABORT"), states.count("COMPLETE")) == (2, 2, 18)
    (message, _) = (one["run"]["facets"]["errorMessage"]["message"] for one in runs if one["eventType"] == "FAIL")
    assert "Unrecognized name: missing" in message
    users = {one["run"]["facets"]["whence_query"]["user"] for one in runs if not one["outputs"]}
    assert "looker@acme.example" in users


def test_a_poll_goes_on_where_the_last_one_ended(replay: Replay, server: WarehouseServer, sqlite_store: Engine) -> None:
    whole, _ = poll(server)
    jobs = replay.data["jobs"]
    replay.data["jobs"] = jobs[:9]
    first, cursor = poll(server)
    replay.data["jobs"] = jobs
    second, _ = poll(server, cursor)
    assert len(second) < len(whole)
    both = [*first, *second]
    random.Random(11).shuffle(both)
    assert store_events(sqlite_store, both) == store_events(sqlite_store, whole)


def test_a_window_has_what_ended_in_it(server: WarehouseServer) -> None:
    since = datetime(2026, 11, 1, tzinfo=UTC)
    window = Window(since=since, until=since + timedelta(minutes=3))
    assert {one["eventTime"][:16] for one in ends(poll(server, None, window)[0])} == {
        "2026-11-01T00:01",
        "2026-11-01T00:02",
    }


def test_a_dataset_that_is_refused_is_named(replay: Replay, server: WarehouseServer) -> None:
    replay.refused = {"prod_mart"}
    written = [one for one in ends(poll(server)[0]) if one["outputs"]]
    (error,) = written[0]["run"]["facets"]["extractionError"]["errors"]
    assert "INFORMATION_SCHEMA of a dataset cannot be read" in error["errorMessage"]
    assert "prod_mart" in error["errorMessage"]


def test_only_chosen_datasets_are_asked_for_columns(replay: Replay) -> None:
    poll(connect(replay, datasets="prod_mart, prod_raw"))
    asked = [one.body["query"] for one in replay.asked if one.method == "POST"]
    assert len(asked) == 4
    assert not [one for one in asked if "staging" in one]


def test_an_api_that_is_busy_is_asked_again(replay: Replay, server: WarehouseServer) -> None:
    whole, _ = poll(server)
    replay.failures = [503, 0, 429]
    assert poll(server)[0] == whole
    replay.failures = [401] * 10
    with pytest.raises(SourceError, match="HTTP 401"):
        poll(server)


def test_the_key_file_of_an_account_gives_a_token(
    replay: Replay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    grants: list[Request] = []

    def grant(request: Request) -> tuple[int, Any]:
        grants.append(request)
        return 200, {"access_token": TOKEN, "expires_in": 3600}

    monkeypatch.delenv("WHENCE_BIGQUERY_TOKEN")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))
    with replying(grant) as url:
        account = {"client_email": "whence@acme.example", "private_key": pem, "token_uri": f"{url}/token"}
        (tmp_path / "key.json").write_text(json.dumps(account))
        assert connect(replay).check().is_usable
    (asked,) = grants
    assertion = dict(one.split("=") for one in asked.content.decode().split("&"))["assertion"]
    claims = jwt.decode(assertion, RSAKey.import_key(pem), algorithms=["RS256"]).claims
    assert claims["iss"] == "whence@acme.example"
    (tmp_path / "key.json").write_text("{}")
    assert "no key of a service account" in connect(replay).check().problems[0]


def test_translations_need_no_server(server: WarehouseServer) -> None:
    records = [record for record, _ in server.records(None, Window())]
    naming = Naming("prod", server.instance)
    once = list(chain.from_iterable(server.translate(one, naming) for one in records))
    assert list(chain.from_iterable(server.translate(one, naming) for one in records)) == once
    with pytest.raises(ValueError, match="not configured"):
        capture.translate(records[0], naming)


def test_a_project_is_needed() -> None:
    with pytest.raises(ValueError, match="the option project"):
        capture.configure({})
