"""What somebody may not see is in no answer of the catalog and of the Marquez API: not in a byte, not in a total."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI

from fixtures.logs_of_events import fill
from fixtures.random_estates import SPACES, Estate, forbidden
from fixtures.stores_of_events import apply
from security.conftest import House
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end, read_records, start_position
from whence.model.access import Grant, Hiding, Role
from whence.model.names import DatasetName, JobName
from whence.store.connection.engine import open_store
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant, add_hidings


def write(estate: Estate, house: House, base: Path) -> None:
    log = base / "log"
    fill(SegmentLog(log), [payload for _, payload in estate.events.values()])
    engine = open_store(house.settings.store_url)
    apply(engine, list(read_records(log, start_position(log), committed_end(log))), committed_end(log))
    engine.dispose()


def urls(estate: Estate, versions: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Every route that reads, of everything: (template of the route, URL)."""
    found: list[tuple[str, str]] = []

    def ask(template: str, query: str = "", **parts: str) -> None:
        path = re.sub(r"{(\w+)}", lambda one: quote(parts[one[1]], safe=""), template)
        found.append((template, f"{path}?{query}" if query else path))

    for space in SPACES:
        for template in ("namespaces/{namespace}", "namespaces/{namespace}/datasets", "namespaces/{namespace}/jobs"):
            ask(f"/api/v1/{template}", namespace=space)
        ask("/api/v1/events/{namespace}", namespace=space)
        ask("/api/v1/sources/{source}", source=space)
        for template in ("datasets", "jobs", "events"):
            ask(f"/api/v2/{template}", f"namespace={space}")
    for one in estate.datasets:
        parts = {"namespace": one.namespace, "dataset": one.name}
        ask("/api/v1/namespaces/{namespace}/datasets/{dataset}", **parts)
        ask("/api/v1/namespaces/{namespace}/datasets/{dataset}/versions", **parts)
        for version in versions.get(str(one), []):
            ask("/api/v1/namespaces/{namespace}/datasets/{dataset}/versions/{version}", version=version, **parts)
        ask("/api/v2/datasets/{namespace}/{name}", namespace=one.namespace, name=one.name)
        ask("/api/v1/lineage", f"nodeId={quote(str(one))}")
        ask("/api/v1/column-lineage", f"nodeId={quote(str(one))}&withDownstream=true")
        ask("/api/v2/nodes/{node}/facts", node=str(one))
        ask("/api/v2/facts", f"node={quote(str(one))}")
        ask("/api/v2/nodes/{node}/facts", node=str(estate.fields(one)[0]))
        ask("/api/v1/search", f"q={one.name}")
        for word in (one.name, f"tagcol0{one.name}", f"col0{one.name}", one.name[:-1] + "x"):
            ask("/api/v2/search", f"q={word}")
            ask("/api/v2/search", f"q={word}&namespace={quote(one.namespace)}&kind=field")
    for name, run in estate.runs.items():
        parts = {"namespace": name.namespace, "job": name.name}
        for tail in ("", "/versions", "/runs"):
            ask("/api/v1/namespaces/{namespace}/jobs/{job}" + tail, **parts)
        for version in versions.get(str(name), []):
            ask("/api/v1/namespaces/{namespace}/jobs/{job}/versions/{version}", version=version, **parts)
        ask("/api/v2/jobs/{namespace}/{name}", namespace=name.namespace, name=name.name)
        ask("/api/v2/jobs/{namespace}/{name}/runs", namespace=name.namespace, name=name.name)
        ask("/api/v1/jobs/runs/{run}", run=run.run_id)
        for kind in ("run", "job"):
            ask("/api/v1/jobs/runs/{run}/facets", f"type={kind}", run=run.run_id)
        ask("/api/v1/runlineage/upstream", f"runId={run.run_id}")
        ask("/api/v2/runs/{run}", run=run.run_id)
        ask("/api/v1/lineage", f"nodeId={quote(str(name))}")
        ask("/api/v2/nodes/{node}/facts", node=str(name))
        ask("/api/v2/facts", f"node={quote(str(name))}")
    for key in estate.events:
        ask("/api/v2/events/{key}", key=key)
    for template in ("namespaces", "sources", "jobs", "tags", "events/lineage", "events"):
        ask(f"/api/v1/{template}")
    for template in ("namespaces", "datasets", "jobs", "events"):
        ask(f"/api/v2/{template}")
        ask(f"/api/v2/{template}", "limit=1")
    for template in ("lineage-events", "jobs", "datasets", "sources"):
        ask(f"/api/v1/stats/{template}", "period=DAY")
    for template in ("jobs", "datasets"):
        ask(f"/api/v2beta/search/{template}", "q=q")
    return found


@pytest.mark.parametrize("seed", range(2))
def test_nothing_hidden_is_in_any_answer(seed: int, house: Callable[..., House], tmp_path: Path) -> None:
    estate, made = Estate(seed), house()
    write(estate, made, tmp_path)
    dice, admin = random.Random(seed + 100), made.key("admin", Role.ADMIN)
    policies = [frozenset(dice.sample(SPACES, count)) for count in (1, 2)]
    with write_security(made.engine) as connection:
        hidden = [estate.fields(one)[0] for one in dice.sample(estate.datasets, 2)]
        for one in hidden:
            add_hidings(connection, "*", [Hiding("ns*", one.dataset.name, "col0*")])
    keys = []
    for number, spaces in enumerate(policies):
        keys.append(made.key(f"reader{number}"))
        with write_security(made.engine) as connection:
            for space in sorted(spaces):
                add_grant(connection, f"key:reader{number}", Grant(Role.READER, space))

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        everything = await versions_of(client, admin, estate)
        for spaces, key in zip(policies, keys, strict=True):
            own = await versions_of(client, key, estate)
            words = forbidden(estate, spaces, hidden) | {
                one for name, some in everything.items() if name.startswith("job:") for one in some
            }
            together = {name: [*some, *own.get(name, [])] for name, some in everything.items()}
            asked = urls(estate, together)
            for _, url in asked:
                answer = await client.get(url, headers=key)
                assert answer.status_code in (200, 404), (url, answer.text)
                text = answer.text + str(answer.headers)
                leaked = [one for one in words if one in text and one not in url]
                assert not leaked, (url, leaked, answer.text)
                if answer.status_code == 200 and "search" not in url:
                    assert not [one for one in words if one in text and "namespace=" not in url], (url, answer.text)
            for name, some in own.items():
                kind, space, thing = name.split(":")
                for version in some:
                    path = f"/api/v1/namespaces/{space}/{kind}s/{thing}/versions/{version}"
                    assert (await client.get(path, headers=key)).status_code == 200, path
            await check_totals(client, key, estate, spaces)
            await check_drawn(client, key, estate)
            templates = {template for template, _ in asked}
        routes = {path for path, one in app.openapi()["paths"].items() if "get" in one and is_of_catalog(one["get"])}
        assert templates == routes

    made.run(work)


def is_of_catalog(operation: dict[str, Any]) -> bool:
    has_tag = bool({"marquez", "catalog", "facts"} & set(operation.get("tags", ())))
    return has_tag or str(operation.get("operationId", "")).startswith("find_")


async def versions_of(client: httpx.AsyncClient, key: dict[str, str], estate: Estate) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in estate.names:
        kind = "datasets" if isinstance(name, DatasetName) else "jobs"
        path = f"/api/v1/namespaces/{name.namespace}/{kind}/{name.name}/versions"
        answer = await client.get(path, headers=key)
        found[str(name)] = [one["version"] for one in answer.json().get("versions", [])]
    return found


async def check_drawn(client: httpx.AsyncClient, key: dict[str, str], estate: Estate) -> None:
    """A hidden node of a graph is drawn by its token."""
    found = []
    for one in (*estate.datasets, *estate.jobs):
        found += (await client.get(f"/api/v1/lineage?nodeId={quote(str(one))}", headers=key)).json().get("graph", [])
    hidden = [one for one in found if ":hidden:" in one["id"]]
    assert hidden
    for one in hidden:
        assert one["id"].endswith(f":{one['data']['namespace']}:{one['data']['name']}")
        assert one["data"]["type"] == ("BATCH" if one["type"] == "JOB" else "DB_TABLE")


async def check_totals(client: httpx.AsyncClient, key: dict[str, str], estate: Estate, spaces: frozenset[str]) -> None:
    """Totals are of what may be seen; pages go through all of it, each once."""

    async def total(path: str) -> int:
        return int((await client.get(path, headers=key)).json()["totalCount"])

    datasets = {one for one in estate.datasets if one.namespace in spaces}
    jobs = {one for one in estate.jobs if one.namespace in spaces}
    seen_spaces = {one.namespace for one in datasets | jobs}
    for space in sorted(seen_spaces):
        assert await total(f"/api/v1/namespaces/{space}/datasets") == sum(one.namespace == space for one in datasets)
        assert await total(f"/api/v1/namespaces/{space}/jobs") == sum(one.namespace == space for one in jobs)
    for space in {*SPACES, "nowhere"} - seen_spaces:
        for kind in ("datasets", "jobs"):
            assert (await client.get(f"/api/v1/namespaces/{space}/{kind}", headers=key)).status_code == 404
    assert await total("/api/v1/jobs") == len(jobs)
    assert await total("/api/v1/namespaces") == len(seen_spaces)
    assert await total("/api/v1/search?q=q") == len(datasets) + len(jobs)
    seen = [about for about, _ in estate.events.values() if about.namespace in spaces]
    assert await total("/api/v1/events") == len(seen)
    assert await total("/api/v1/events/lineage") == sum(isinstance(about, JobName) for about in seen)
    for kind, expected in (("datasets", datasets), ("jobs", jobs)):
        found, cursor = [], ""
        while True:
            answer = (await client.get(f"/api/v2/{kind}?limit=2&cursor={cursor}", headers=key)).json()
            found += [one["node"] for one in answer["data"]]
            cursor = (answer["page"] or {}).get("next") or ""
            if not cursor:
                break
        assert found == sorted(map(str, expected))


def test_who_may_not_write_is_told_the_same_of_what_is_there_and_what_is_not(
    house: Callable[..., House], tmp_path: Path
) -> None:
    estate, made = Estate(7), house()
    write(estate, made, tmp_path)
    seen = estate.datasets[0]
    there = next(one for one in estate.datasets if one.namespace != seen.namespace)
    steward = made.key("steward", Role.STEWARD, seen.namespace)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        refusals: set[str] = set()
        for name in (there.name, "nothing"):
            body = {"type": "DB_TABLE", "physicalName": name, "sourceName": "s"}
            path = f"/api/v1/namespaces/{there.namespace}/datasets/{name}"
            refused = await client.put(path, json=body, headers=steward)
            assert refused.status_code == 403
            assert f"key:steward may not steward in {there.namespace}" in refused.text
            refusals.add(refused.text)
            node = f"dataset:{there.namespace}:{name}"
            for method, tail in (("PUT", "tags/pii"), ("DELETE", "owners/team-a")):
                answer = await client.request(method, f"/api/v2/nodes/{quote(node)}/{tail}", headers=steward)
                assert answer.status_code == 404
                assert "team" not in answer.text.replace(node, "")
        assert len(refusals) == 1

    made.run(work)
