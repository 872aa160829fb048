"""Requests that Marquez 0.51 and Whence once answered differently (a differential run of 2026-11-23): one a case."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid3, uuid4

import pytest

from api.process import Answer, Api, Serving
from fixtures.stores_of_events import applying
from marquez.conftest import prepare
from marquez.shop import bodies
from whence.store.connection.engine import open_store

SPACE = "/api/v1/namespaces/differ"
TABLE = {"type": "DB_TABLE", "physicalName": "p", "sourceName": "wh"}
JOB = {"type": "BATCH"}
KNOWN, OTHERS = "01941f29-7c00-7abc-8def-0000000000aa", "01941f29-7c00-7abc-8def-0000000000bb"


@dataclass(frozen=True, slots=True)
class Case:
    """A request, the status that Marquez answers, and members of the answer."""

    method: str
    path: str
    body: Any
    status: int
    members: dict[str, Any]


def case(id_: str, request: str, status: int, body: Any = None, **members: Any) -> Any:
    method, _, path = request.partition(" ")
    path = path if path.startswith("/api") else f"{SPACE}/{path}"
    return pytest.param(Case(method, path, body, status, members), id=id_)


CASES = [
    case(
        "a stream has its schemaLocation",
        "PUT datasets/stream",
        200,
        {"type": "STREAM", "physicalName": "s", "sourceName": "wh", "schemaLocation": "http://s"},
        type="STREAM",
        schemaLocation="http://s",
    ),
    case("tags of a second PUT are added", "PUT datasets/tagged", 200, TABLE | {"tags": ["b"]}, tags=["a", "b"]),
    case("a field to tag must exist", "POST datasets/tagged/fields/no/tags/x", 404),
    case("so must one to take a tag off", "DELETE datasets/tagged/fields/no/tags/x", 404),
    case("an input must exist", "PUT jobs/phantom", 404, JOB | {"inputs": [{"namespace": "differ", "name": "no"}]}),
    case("so must an output", "PUT jobs/phantom", 404, JOB | {"outputs": [{"namespace": "differ", "name": "no"}]}),
    case("and no phantom is left", "GET datasets/no", 404),
    case("a source must exist", "PUT datasets/sourceless", 404, TABLE | {"sourceName": "nowhere"}),
    case("a run's id is new", "POST jobs/job/runs", 400, {"id": KNOWN}),
    case("the run of a job must exist", "PUT jobs/job", 404, JOB | {"runId": str(uuid4())}),
    case("the run of a job must be its own", "PUT jobs/job", 404, JOB | {"runId": OTHERS}),
    case("its own run will do", "PUT jobs/job", 200, JOB | {"runId": KNOWN}, name="job"),
    case("a deleted namespace is hidden", "GET /api/v1/namespaces/gone", 200, name="gone", isHidden=True),
    case("and has nothing", "GET /api/v1/namespaces/gone/datasets", 200, totalCount=0),
    case("datasets of no namespace", "GET /api/v1/namespaces/nowhere/datasets", 404),
    case("jobs of no namespace", "GET /api/v1/namespaces/nowhere/jobs", 404),
    case("a search is for something", "GET /api/v1/search", 400),
    case("a search is not for nothing", "GET /api/v1/search?q=", 400),
    case("a search of the beta is for something", "GET /api/v2beta/search/jobs", 400),
]


def ask(api: Api, method: str, path: str, body: Any = None) -> Answer:
    sent = None if body is None else json.dumps(body).encode()
    return api.ask(method, path, sent, {"content-type": "application/json"} if sent else None)


@pytest.fixture(scope="module")
def differing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Things that the requests are about."""
    base: Path = tmp_path_factory.mktemp("differing")
    prepare(base, bodies())
    serving = Serving(base)
    api = serving()
    engine = open_store(api.store_url)
    with applying(engine, api.data / "log"):
        for method, path, body in (
            ("PUT", "/api/v1/sources/wh", {"type": "X", "connectionUrl": "x://h"}),
            ("PUT", f"{SPACE}/datasets/tagged", TABLE | {"tags": ["a"], "fields": [{"name": "id"}]}),
            ("PUT", f"{SPACE}/jobs/job", JOB),
            ("PUT", f"{SPACE}/jobs/other", JOB),
            ("POST", f"{SPACE}/jobs/job/runs", {"id": KNOWN}),
            ("POST", f"{SPACE}/jobs/other/runs", {"id": OTHERS}),
            ("PUT", "/api/v1/namespaces/gone", {"ownerName": "ann"}),
            ("DELETE", "/api/v1/namespaces/gone", None),
        ):
            assert ask(api, method, path, body).status in (200, 201), (method, path)
        yield api
    serving.end()
    engine.dispose()


@pytest.mark.parametrize("one", CASES)
def test_as_marquez_answers(differing: Api, one: Case) -> None:
    found = ask(differing, one.method, one.path, one.body)
    assert found.status == one.status, found
    assert found.json.items() >= one.members.items()


def test_runs_and_job_versions_have_the_inputs_that_are_declared(differing: Api) -> None:
    for name in ("in", "out"):
        assert ask(differing, "PUT", f"{SPACE}/datasets/{name}", TABLE).status == 200
    ends = {"inputs": [{"namespace": "differ", "name": "in"}], "outputs": [{"namespace": "differ", "name": "out"}]}
    assert ask(differing, "PUT", f"{SPACE}/jobs/copy", JOB | ends).status == 200
    run = ask(differing, "POST", f"{SPACE}/jobs/copy/runs", {}).json
    assert [one["datasetVersionId"]["name"] for one in run["inputDatasetVersions"]] == ["in"]
    assert ask(differing, "PUT", f"{SPACE}/datasets/out", TABLE | {"runId": run["id"]}).status == 200
    done = ask(differing, "POST", f"/api/v1/jobs/runs/{run['id']}/complete").json
    touched = [
        [one["datasetVersionId"]["name"] for one in done[f"{way}DatasetVersions"]] for way in ("input", "output")
    ]
    assert (done["state"], touched) == ("COMPLETED", [["in"], ["out"]])
    versions = ask(differing, "GET", f"{SPACE}/jobs/copy/versions").json["versions"]
    of_run = [one for one in versions if one["version"] == done["jobVersion"]["version"]]
    assert [(one["inputs"], one["outputs"]) for one in of_run] == [(ends["inputs"], ends["outputs"])]
    assert of_run[0]["latestRun"]["id"] == run["id"]


def test_a_parent_run_whose_id_is_no_uuid_is_linked(differing: Api) -> None:
    """As old providers of Airflow named DAG runs. The id is the one that Marquez makes of it."""
    dag, given = "the_dag", "scheduled__2022-03-14T01:40:10+00:00"
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-11-20T06:00:00Z",
        "producer": "https://test",
        "run": {
            "runId": str(uuid4()),
            "facets": {"parent": {"run": {"runId": given}, "job": {"namespace": "airflow", "name": dag}}},
        },
        "job": {"namespace": "airflow", "name": f"{dag}.task1"},
    }
    posted = differing.post(event)
    assert posted.status == 201
    expected = str(uuid3(NAMESPACE_URL, f"{dag}.{given}"))
    assert any(expected in one for one in posted.json["warnings"])
    assert differing.ask("GET", "/api/v2/progress?wait_for=head&timeout=30").json["reached"]
    job = differing.ask("GET", f"/api/v1/namespaces/airflow/jobs/{dag}.task1").json
    assert (job["parentJobName"], job["simpleName"]) == (dag, "task1")
    assert differing.ask("GET", f"/api/v1/namespaces/airflow/jobs/{dag}").status == 200
    assert UUID(differing.ask("GET", f"/api/v1/jobs/runs/{expected}").json["id"]) == UUID(expected)
