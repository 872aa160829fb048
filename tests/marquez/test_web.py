"""The requests of Marquez's web UI as it writes them (`web/src/store/requests` of MarquezProject/marquez), and what its
screens then read of the answers (`web/src/types`).
"""

from typing import Any
from urllib.parse import quote

import pytest

from api.process import Api
from marquez.shop import DB, LOAD, ORDERS, REVENUE, RUNS, SUM


def members(text: str) -> set[str]:
    """Names, as in a list in words."""
    return set(text.split())


DATASET = members(
    "id type name physicalName createdAt updatedAt namespace sourceName fields tags lastModifiedAt description"
)
JOB = members("id type name createdAt updatedAt inputs outputs namespace location description latestRun")
RUN = members(
    "id createdAt updatedAt nominalStartTime nominalEndTime state startedAt endedAt durationMs args facets jobVersion"
)
VERSION = DATASET - {"updatedAt", "lastModifiedAt"} | {"version", "createdByRun", "facets", "lifecycleState"}
EVENT = {"eventType", "eventTime", "producer", "run", "job", "inputs", "outputs"}
STATE_COUNTS = members("startInterval endInterval fail start complete abort")
SPACE = quote(DB, safe="")

LISTS = {
    "/namespaces": ("namespaces", {"name", "createdAt", "updatedAt", "ownerName", "description", "isHidden"}),
    f"/namespaces/{SPACE}/datasets?limit=20&offset=0": ("datasets", DATASET | {"facets", "deleted", "columnLineage"}),
    f"/namespaces/{SPACE}/datasets/{REVENUE.name}/versions?limit=100&offset=0": ("versions", VERSION),
    "/namespaces/shop/jobs?limit=25&offset=0": ("jobs", JOB | {"tags"}),
    "/jobs?limit=25&offset=0&lastRunStates=COMPLETED": ("jobs", JOB | {"tags"}),
    f"/namespaces/shop/jobs/{LOAD.name}/runs?limit=100&offset=0": ("runs", RUN),
    "/events/lineage?limit=10&before=&after=&offset=0&sortDirection=desc": ("events", EVENT),
    "/events/lineage?limit=100&before=2026-11-30T00:00:00.000Z&after=2026-11-01T00:00:00.000Z&sortDirection=desc": (
        "events",
        EVENT,
    ),
    "/search/?q=nightly&sort=NAME&limit=100": ("results", {"name", "namespace", "nodeId", "type", "updatedAt"}),
    "/search/?q=orders&sort=UPDATE_AT&limit=100&filter=DATASET": ("results", {"nodeId", "type"}),
    "/tags": ("tags", {"name", "description"}),
}
LINEAGE = f"/lineage/?nodeId=job:shop:{LOAD.name}&depth=5"


def got(api: Api, target: str) -> Any:
    """What the UI gets."""
    answer = api.ask("GET", f"/api/v1{target}")
    assert answer.status == 200, answer.json
    return answer.json


@pytest.mark.parametrize("target", LISTS)
def test_lists(shop: Api, target: str) -> None:
    named, read = LISTS[target]
    found = got(shop, target)[named]
    assert found
    assert all(one.keys() >= read for one in found)


@pytest.mark.parametrize("asset", ["jobs", "datasets", "sources", "lineage-events"])
@pytest.mark.parametrize(("period", "intervals"), [("DAY", 24), ("WEEK", 7)])
def test_statistics(shop: Api, asset: str, period: str, intervals: int) -> None:
    found = got(shop, f"/stats/{asset}?period={period}&timezone=Europe/Vienna")
    read = STATE_COUNTS if asset == "lineage-events" else {"startInterval", "endInterval", "count"}
    assert [one.keys() >= read for one in found] == [True] * intervals


def test_the_graph(shop: Api) -> None:
    graph = got(shop, LINEAGE)["graph"]
    nodes = {one["id"]: one for one in graph}
    assert {f"job:shop:{LOAD.name}", f"job:shop:{SUM.name}", f"dataset:{DB}:{ORDERS.name}"} <= nodes.keys()
    for one in graph:
        assert one["data"].keys() >= ((JOB | {"simpleName", "parentJobName"}) if one["type"] == "JOB" else DATASET)
        assert {edge["origin"] for edge in one["inEdges"]} | {
            edge["destination"] for edge in one["outEdges"]
        } <= nodes.keys()
    assert got(shop, f"/lineage/?nodeId=dataset:{DB}:{ORDERS.name}&depth=2")["graph"] == got(shop, LINEAGE)["graph"]


def test_columns(shop: Api) -> None:
    found = got(shop, f"/column-lineage?nodeId=dataset:{SPACE}:{REVENUE.name}&depth=2&withDownstream=true")["graph"]
    assert {one["type"] for one in found} == {"DATASET_FIELD"}
    read = members("namespace dataset field fieldType inputFields transformationType")
    assert all(one["data"].keys() >= read for one in found)


def test_one_thing(shop: Api) -> None:
    assert got(shop, f"/namespaces/{SPACE}/datasets/{ORDERS.name}").keys() >= DATASET | {"facets", "deleted"}
    assert got(shop, f"/namespaces/shop/jobs/{LOAD.name}").keys() >= JOB | {"latestRuns"}
    for kind in ("run", "job"):
        assert got(shop, f"/jobs/runs/{RUNS[0]}/facets?type={kind}").keys() == {"runId", "facets"}


def test_what_is_empty_is_null_where_screens_ask_whether_it_is_there(shop: Api) -> None:
    """The home page is blank if a job without runs has an empty list, and every dataset has a link to its columns."""
    jobs = {one["name"]: one for one in got(shop, "/namespaces/shop/jobs")["jobs"]}
    assert [one["latestRuns"] for one in jobs.values() if one["latestRun"] is None] == [None]
    assert jobs[LOAD.name]["latestRuns"]
    assert got(shop, f"/namespaces/{SPACE}/datasets/{REVENUE.name}")["columnLineage"]
    assert got(shop, f"/namespaces/{SPACE}/datasets/{ORDERS.name}")["columnLineage"] is None


def test_search_says_what_its_list_shows(shop: Api) -> None:
    found = shop.ask("GET", "/api/v2beta/search/jobs?q=NIGHTLY.sum").json
    assert found["highlights"] == [{"name": ["<em>nightly.sum</em>"]}]
    assert {"eventType": "COMPLETE", "name": SUM.name}.items() <= found["hits"][0].items()
    assert found["hits"][0].keys() >= {"facets", "runFacets", "run_id"}
    orders = shop.ask("GET", "/api/v2beta/search/datasets?q=order").json
    assert orders["highlights"] == [{"name": ["shop.public.<em>order</em>s"]}]
    assert orders["hits"][0]["facets"]["schema"]["fields"]
