"""Names of any characters round-trip through paths, queries, node ids and cursors, and never make an answer fail."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from api.process import Api, Serving
from marquez.conftest import prepare
from whence.model.names import DatasetName, FieldName, JobName
from whence.openlineage.names.naming import normalise
from whence.openlineage.write import dataset, facet, job_event

HOSTILE = [
    "a/b/../c",
    "a:b:c",
    "2024_topic",
    "a#0190b3a1-0000-7000-8000-000000000001",
    "%2F%25 %",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "'; DROP TABLE dataset; --",
    "\x01\x1b[31m\n\t",
    "‮evil‬",
    "x" * 4_000,
    "日本語 ☃ 𝔘",
    "?q=1&r=2#frag",
    " lead and trail ",
    "{braces}[0]",
    "%",
    "_",
    "\\",
]
SPACES = ["kafka://h:9092", "arn:aws:glue:eu:1", "s3://b", "n s/é:%"]


def named() -> list[tuple[DatasetName, JobName]]:
    return [(normalise(space, text), JobName(space, text)) for space in SPACES for text in HOSTILE]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    base: Path = tmp_path_factory.mktemp("hostile")
    events = [
        job_event(
            5,
            job,
            outputs=[
                dataset(of, facets={"schema": facet("SchemaDatasetFacet", fields=[{"name": text, "type": text}])})
            ],
        )
        for (of, job), text in zip(named(), HOSTILE * len(SPACES), strict=True)
    ]
    prepare(base, [json.dumps(one).encode() for one in events])
    serving = Serving(base)
    yield serving()
    serving.end()


def q(text: str) -> str:
    return quote(text, safe="")


@pytest.mark.parametrize(("of", "job"), named(), ids=lambda name: ascii(str(name))[:40])
def test_a_name_leads_to_the_thing(hostile: Api, of: DatasetName, job: JobName) -> None:
    for version, path in (
        ("v1", f"namespaces/{q(of.namespace)}/datasets/{q(of.name)}"),
        ("v2", f"datasets/{q(of.namespace)}/{q(of.name)}"),
    ):
        found = hostile.ask("GET", f"/api/{version}/{path}")
        assert found.status == 200
        document = found.json.get("data", found.json)
        assert (document["namespace"], document["name"]) == (of.namespace, of.name)
    found = hostile.ask("GET", f"/api/v1/namespaces/{q(job.namespace)}/jobs/{q(job.name)}").json
    assert (found["namespace"], found["name"]) == (job.namespace, job.name)
    assert {"namespace": of.namespace, "name": of.name} in found["outputs"]
    for node in (of, job):
        graph = hostile.ask("GET", f"/api/v1/lineage?nodeId={q(str(node))}&depth=1").json["graph"]
        assert {one["id"] for one in graph} >= {str(of), str(job)}
    raw = f"dataset:{of.namespace}:{of.name}"
    assert str(of) in {one["id"] for one in hostile.ask("GET", f"/api/v1/lineage?nodeId={q(raw)}").json["graph"]}


def test_fields_lead_to_themselves(hostile: Api) -> None:
    for (of, _), text in zip(named(), HOSTILE * len(SPACES), strict=True):
        field = FieldName(of, text)
        graph = hostile.ask("GET", f"/api/v1/column-lineage?nodeId={q(str(field))}").json["graph"]
        assert [one["id"] for one in graph] == [str(field)]
        assert graph[0]["data"]["fieldType"] == text


def test_lists_and_cursors_hold_them_all(hostile: Api) -> None:
    expected = sorted({str(of) for of, _ in named()})
    found: list[str] = []
    cursor = ""
    while True:
        page = hostile.ask("GET", f"/api/v2/datasets?limit=7&cursor={cursor}").json
        found += [one["node"] for one in page["data"]]
        if (following := page["page"]["next"]) is None:
            break
        cursor = q(following)
    assert sorted(found) == expected
    assert len(found) == len(set(found))
    for text in HOSTILE:
        results = hostile.ask("GET", f"/api/v1/search?q={q(text)}&limit=100").json
        assert results["totalCount"] == len(results["results"])
        assert {JobName(space, text) for space in SPACES} <= {
            JobName(one["namespace"], one["name"]) for one in results["results"] if one["type"] == "JOB"
        }


@pytest.mark.parametrize("text", ["%00", "a%00b", "%FF%FE", "%ED%A0%80"])
def test_what_is_no_name_is_refused_or_not_found(hostile: Api, text: str) -> None:
    for path in (
        f"/api/v1/namespaces/{text}",
        f"/api/v1/namespaces/n/datasets/{text}",
        f"/api/v1/lineage?nodeId={text}",
        f"/api/v1/lineage?nodeId=dataset:{text}:x",
        f"/api/v2/nodes/{text}/facts",
        f"/api/v2/datasets?cursor={text}",
    ):
        assert hostile.ask("GET", path).status in (400, 404, 422)
    assert hostile.ask("GET", f"/api/v1/search?q={text}").status in (200, 422)


@pytest.mark.parametrize("key", ["[" * 2_900, '["\\ud800", "a", 1]', '["a", "b", 9223372036854775808]', "7"])
def test_a_cursor_that_no_answer_gave_is_refused(hostile: Api, key: str) -> None:
    cursor = base64.urlsafe_b64encode(key.encode()).decode()
    for path in ("datasets", "jobs", "events"):
        assert hostile.ask("GET", f"/api/v2/{path}?cursor={cursor}").status == 400
