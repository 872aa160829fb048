"""Nobody acts where they were not granted: what a writer's events say of others' things is evidence, not authority."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from pyspark.sql import SparkSession

from fixtures.both_logs import records_of
from oracle import comparable
from oracle import dump as oracle_dump
from security.conftest import House
from whence.derive.archive.copy import archive_log
from whence.derive.rebuild import rebuild
from whence.log import Kind
from whence.log.segments.log import SegmentLog
from whence.model.access import Grant, Role
from whence.model.catalog import RegistryKind
from whence.model.names import DatasetName
from whence.openlineage.authority.restrictions import NOT_APPLIED
from whence.store.connection.engine import open_store
from whence.store.lifecycle.dump import dump
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant, remove_grant
from whence.store.status.overview import read_overview

Json = dict[str, Any]

PROD, STAGING, DEV = (f"postgres://{name}:5432" for name in ("prod", "staging", "dev"))
ORDERS, REVENUE = ({"namespace": PROD, "name": f"shop.{name}"} for name in ("orders", "revenue"))
PII = {"key": "pii", "value": "true", "source": "DBT"}
CERTIFIED = {"key": "certified", "value": "true", "source": "USER"}

ATTACKS: Mapping[str, Json] = {
    "certification": {"tags": {"tags": [CERTIFIED]}},
    "tags": {"tags": {"tags": [PII | {"value": "no"}]}},
    "tier": {"whence_tier": {"tier": 1}},
    "contract": {"whence_contract": {"version": "9.9"}},
    "owners": {"ownership": {"owners": [{"name": "mallory"}]}},
    "description": {"documentation": {"description": "PWNED <script>"}},
    "no description": {"documentation": {"_deleted": True}},
    "no schema": {"schema": {"_deleted": True}},
    "drop": {
        "lifecycleStateChange": {"lifecycleStateChange": "DROP"},
        "whence_lifecycle": {"state": "DECOMMISSIONED"},
    },
    "alias": {"symlinks": {"identifiers": [{"namespace": DEV, "name": "mine", "type": "TABLE"}]}},
    "cut": {"whence_aliases": {"identifiers": [{"namespace": DEV, "name": "mine", "type": "whence:cut"}]}},
    "declared lineage": {"lineage": {"inputs": []}},
    "a facet of no kind that is known": {"acme_quality": {"score": 0}},
}
"""What a facet of somebody else's dataset may try."""


def run_event(number: int, job: tuple[str, str], *, hour: int = 1, **more: Any) -> Json:
    """A run event of its own run; `hour` says when."""
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-11-23T{hour:02}:00:00Z",
        "producer": "https://example.org/etl",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(UUID(int=number))},
        "job": {"namespace": job[0], "name": job[1]},
        "inputs": [],
        "outputs": [],
    } | more


def described(one: Json, facets: Json) -> Json:
    return {**one, "facets": facets}


def attacks() -> list[Json]:
    """Runs of Mallory's own job, later than all else, that write or read what is others'."""
    job = (DEV, "attack")
    found = [
        run_event(100 + number, job, hour=20, **{role: [described(ORDERS, facets)]})
        for number, (facets, role) in enumerate(
            (one, role) for one in ATTACKS.values() for role in ("inputs", "outputs")
        )
    ]
    mine = {"namespace": DEV, "name": "mine", "facets": {"symlinks": {"identifiers": [{**ORDERS, "type": "TABLE"}]}}}
    space = {"namespace": "whence.catalog", "name": f"namespace/{PROD}"}
    found += [
        run_event(200, job, hour=20, outputs=[mine]),
        run_event(201, job, hour=20, outputs=[described(space, ATTACKS["owners"])]),
        run_event(202, job, hour=20, producer="urn:whence:person:key%3Aroot", outputs=[REVENUE]),
        run_event(203, job, hour=20, outputs=[described(ORDERS, {"schema": {"fields": [{"name": "pwned"}]}})]),
    ]
    return found


def honest() -> list[tuple[str, Json]]:
    """Who says what rightly: (key, event)."""
    space = {
        "namespace": "whence.catalog",
        "name": f"namespace/{PROD}",
        "facets": {"ownership": {"owners": [{"name": "shop"}]}},
    }
    vouched = {"tags": {"tags": [CERTIFIED | {"key": "canonical"}, PII]}, "whence_tier": {"tier": 2}}
    facets = {
        "documentation": {"description": "orders, net"},
        "ownership": {"owners": [{"name": "shop"}]},
        "tags": {"tags": [PII, CERTIFIED]},
        "whence_contract": {"version": "1"},
        "schema": {"fields": [{"name": "id"}]},
    }
    staged = {"namespace": STAGING, "name": "shop.orders", "facets": facets}
    head = {"eventTime": "2026-11-23T02:00:00Z", "producer": "https://example.org/catalog", "schemaURL": "s"}
    return [
        ("loader", run_event(1, (PROD, "load"), inputs=[staged], outputs=[described(ORDERS, facets)])),
        ("steward", run_event(2, (PROD, "vouch"), hour=2, outputs=[described(REVENUE, vouched)])),
        ("root", {**head, "dataset": space}),
        ("steward", {**head, "producer": "urn:whence:person:key%3Asteward", "dataset": described(REVENUE, {})}),
    ]


@pytest.fixture
def people(house: Callable[..., House]) -> tuple[House, Mapping[str, Mapping[str, str]]]:
    made = house()
    keys = {
        "root": made.key("root", Role.ADMIN),
        "steward": made.key("steward", Role.STEWARD, f"{PROD}*"),
        "loader": made.key("loader", Role.WRITER, PROD),
        "mallory": made.key("mallory", Role.WRITER, DEV),
    }
    return made, keys


def state(made: House) -> list[str]:
    engine = open_store(made.settings.store_url)
    try:
        return list(dump(engine))
    finally:
        engine.dispose()


def facts(lines: list[str], of: str) -> dict[str, Any]:
    """The facets of a node by name, as the dump has them."""
    found = (json.loads(line) for line in lines)
    return {one["name"]: one["payload"] for one in found if one.get("fact") == "facet" and one["subject"] == of}


def test_what_an_event_says_of_others_things_changes_nothing_but_lineage(
    people: tuple[House, Mapping[str, Mapping[str, str]]], spark: SparkSession, tmp_path: Path
) -> None:
    made, keys = people

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        del app
        for key, event in honest():
            assert (await client.post("/api/v1/lineage", json=event, headers=keys[key])).status_code == 201
        attempts = attacks()
        for event in attempts[::2]:
            answer = await client.post("/api/v1/lineage", json=event, headers=keys["mallory"])
            assert answer.status_code == 201
            warned = any(NOT_APPLIED in one for one in answer.json()["warnings"])
            assert warned == answer.json().get("restricted", False) == (event["run"]["runId"] != str(UUID(int=203)))
        batch = await client.post("/api/v1/lineage/batch", json=attempts[1::2], headers=keys["mallory"])
        assert batch.json()["status"] == "success"
        restricted = {one["index"] for one in batch.json()["restricted"]}
        assert restricted == {
            index for index, one in enumerate(attempts[1::2]) if one["run"]["runId"] != str(UUID(int=203))
        }
        lines = (await client.get("/metrics", headers=keys["root"])).text.splitlines()
        counts = [one for one in lines if one.startswith("whence_restricted_events_total")]
        assert sum(float(one.split()[-1]) for one in counts) == len(attempts), "not the schema, but the loader's tag"

    made.run(work)
    log, url = made.settings.log, made.settings.store_url
    assert isinstance(log, SegmentLog)
    rebuild(spark, log, url)
    first = state(made)
    payloads = [one.payload for one in records_of(log) if one.kind is Kind.EVENT]
    assert comparable(first) == comparable(oracle_dump(payloads))
    _assert_only_lineage(first, str(DatasetName(**ORDERS)), str(DatasetName(**REVENUE)))
    engine = open_store(url)
    counted = [one for one in read_overview(engine).producers if one.restricted]
    engine.dispose()
    assert sum(one.restricted for one in counted) == len(attacks())
    assert all(NOT_APPLIED in one.example for one in counted)

    with write_security(made.engine) as connection:
        add_grant(connection, "key:mallory", Grant(Role.ADMIN, "*"))
        remove_grant(connection, "key:steward", f"{PROD}*")
    rebuild(spark, log, url)
    assert state(made) == first, "grants of later do not count"
    archive_log(spark, log, archive := str(tmp_path / "archive"))
    rebuild(spark, SegmentLog(tmp_path / "new log"), url, archive)
    assert state(made) == first, "nor in the archive"


def _assert_only_lineage(lines: list[str], orders: str, revenue: str) -> None:
    shown = facts(lines, orders)
    assert shown["documentation"]["description"] == "orders, net"
    assert shown["ownership"]["owners"] == [{"name": "shop"}]
    assert shown["tags"]["tags"] == [PII], "a writer does not certify"
    assert [one["name"] for one in shown["schema"]["fields"]] == ["pwned"], "a schema that was observed counts"
    assert set(shown) == {"documentation", "ownership", "tags", "schema"}
    assert facts(lines, revenue)["whence_tier"] == {"tier": 2}
    assert len(facts(lines, revenue)["tags"]["tags"]) == 2
    space = facts(lines, str(RegistryKind.NAMESPACE.dataset_of(PROD)))
    assert space["ownership"]["owners"] == [{"name": "shop"}]
    text = "\n".join(lines)
    assert '"fact":"alias"' not in text
    assert '"derived":"alias_group"' not in text
    assert "mallory" not in text
    assert '"producer":"urn:whence:person:key%3Aroot"' not in text
    assert '"producer":"urn:whence:unverified:key%3Aroot"' in text
    assert '"producer":"urn:whence:person:key%3Asteward"' in text
    edges = {(one["source"], one["target"]) for one in map(json.loads, lines) if one.get("derived") == "edge"}
    assert (f"job:{DEV}:attack", orders) in edges
    assert (orders, f"job:{DEV}:attack") in edges


def test_doors_that_stay_shut(people: tuple[House, Mapping[str, Mapping[str, str]]]) -> None:
    made, keys = people
    head = {"eventTime": "2026-11-23T02:00:00Z", "producer": "p", "schemaURL": "s"}
    foreign = {**head, "dataset": described(ORDERS, ATTACKS["tier"])}
    space = {**head, "dataset": described({"namespace": "whence.catalog", "name": f"namespace/{DEV}"}, {})}
    nowhere = run_event(1, ("", "job"))

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        del app
        for event, status, pointer in (
            (foreign, 403, ""),
            (space, 403, "/dataset"),
            (nowhere, 422, "/job/namespace"),
        ):
            for who in ("mallory",) if event is foreign else ("mallory", "loader", "steward"):
                answer = await client.post("/api/v1/lineage", json=event, headers=keys[who])
                assert (answer.status_code, answer.json().get("pointer")) == (status, pointer)
        answer = await client.post("/api/v1/lineage/batch", json=[nowhere, foreign], headers=keys["mallory"])
        reasons = [one["reason"] for one in answer.json()["failed_events"]]
        assert len(reasons) == 2
        assert reasons[0].startswith("/job/namespace: ")
        assert (await client.post("/api/v1/lineage", json=nowhere, headers=keys["root"])).status_code == 422
        assert (await client.post("/api/v1/lineage", json=space, headers=keys["root"])).status_code == 201

    made.run(work)
    kinds = [one.kind for one in records_of(made.settings.log)]
    assert kinds.count(Kind.EVENT) == 1
