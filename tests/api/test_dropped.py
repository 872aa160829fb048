"""A script of openlineage-spark's that creates, renames, truncates and drops, in prod and staging: what is answered."""

import json
import random
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

from api.asked import Client, asking
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies

Json = dict[str, Any]
SPACES = ("prod", "staging")


def table(space: str, name: str, change: str = "", before: str = "", columns: str = "id") -> Json:
    """A table as the listener names it: a path, with the name in the metastore as a symlink."""
    facet: Json = {"lifecycleStateChange": change}
    if before:
        facet["previousIdentifier"] = {"namespace": "file", "name": f"/{space}/{before}"}
    names = [{"namespace": f"file:/{space}", "name": f"default.{name}", "type": "TABLE"}]
    facets: Json = {
        "symlinks": {"identifiers": names},
        "schema": {"fields": [{"name": one} for one in columns.split()]},
    }
    return {"namespace": "file", "name": f"/{space}/{name}", "facets": facets | ({FACET: facet} if change else {})}


FACET = "lifecycleStateChange"


def from_source(space: str, output: Json) -> Json:
    """The output with its column from that of the source."""
    source = {"namespace": "file", "name": f"/{space}/src", "field": "id"}
    lineage = {"fields": {"id": {"inputFields": [{**source, "transformations": [{"type": "DIRECT"}]}]}}}
    return {**output, "facets": output["facets"] | {"columnLineage": lineage}}


def script(space: str) -> list[Json]:
    """Each statement is a run, one a minute: START and COMPLETE."""

    def ran(minute: int, job: str, output: Json, *inputs: Json, states: str = "START COMPLETE") -> list[Json]:
        head = {
            "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark",
            "run": {"runId": str(UUID(int=minute + (space == "prod") * 1_000))},
            "job": {"namespace": space, "name": f"user_script.{job}"},
            "inputs": list(inputs),
            "outputs": [output],
        }
        times = {state: f"2026-01-01T00:{minute:02}:{10 * turn:02}Z" for turn, state in enumerate(states.split())}
        return [head | {"eventType": state, "eventTime": time} for state, time in times.items()]

    src = table(space, "src")
    return [
        *ran(1, "execute_create_data_source_table_command.src", table(space, "src", "CREATE")),
        *ran(2, "ctas.t", from_source(space, table(space, "t", "CREATE")), src),
        *ran(3, "ctas.part", from_source(space, table(space, "part", "CREATE")), src),
        *ran(4, "execute_alter_table_rename_command", table(space, "t_new", "RENAME", "t"), states="COMPLETE"),
        *ran(5, "drop_table", table(space, "part", "DROP")),
        *ran(6, "execute_truncate_table_command.t_new", table(space, "t_new", "TRUNCATE")),
        *ran(7, "drop_table_2", table(space, "t_new", "DROP"), states="START FAIL"),
    ]


def created_twice(space: str, number: int, *, apart: bool) -> list[Json]:
    """A table that is created by a command, and by the insert within it; `apart`: by an insert after it."""
    application = {"run": {"runId": str(UUID(int=9_000 + number))}, "job": {"namespace": space, "name": "user_script"}}
    output, columns = table(space, f"both_{number}", "CREATE"), table(space, f"both_{number}", "OVERWRITE")
    events = []
    for turn, (job, one) in enumerate((("ctas", output), ("insert", columns))):
        head = {
            "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark",
            "run": {"runId": str(UUID(int=7_000 + 10 * number + turn)), "facets": {"parent": application}},
            "job": {"namespace": space, "name": f"user_script.{job}.both_{number}"},
            "inputs": [table(space, "src")],
            "outputs": [from_source(space, one)],
        }
        begins, ends = ((10, 40), (50, 55) if apart else (20, 30))[turn]
        events += [
            head | {"eventType": "START", "eventTime": f"2026-01-01T01:00:{begins}Z"},
            head | {"eventType": "COMPLETE", "eventTime": f"2026-01-01T01:00:{ends}Z"},
        ]
    return events


def test_a_table_that_is_created_by_a_command_and_an_insert_within_it_is_shown_once(
    store_url: str, tmp_path: Path
) -> None:
    engine = open_migrated(store_url)
    events = [
        event
        for number, space in enumerate((*SPACES, "dev"))
        for event in created_twice(space, number, apart=space == "dev")
    ]
    random.Random(3).shuffle(events)
    apply_bodies(engine, [json.dumps(one).encode() for one in events])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        for number, space in enumerate((*SPACES, "dev")):
            for node in (f"dataset:file:/{space}/both_{number}", f"datasetField:file:/{space}/both_{number}:id"):
                answer = client.get("/api/v2/lineage/upstream", node=node).json["data"]
                jobs = [f"job:{space}:user_script.{job}.both_{number}" for job in ("ctas", "insert")]
                reached = {
                    edge["owner"]: {run["job"] for proof in edge["evidence"] for run in proof["runs"]}
                    for edge in answer["edges"]
                }
                apart = {jobs[0]: {jobs[0]}, jobs[1]: {jobs[1]}}
                assert reached == (apart if space == "dev" else {jobs[0]: set(jobs)})
                assert len(answer["edges"]) == len(reached)
                places = [one["edge"] for one in answer["nodes"] if one["edge"] is not None]
                assert all(place < len(answer["edges"]) for place in places)


def reached(client: Client, direction: str, node: str, **asked: Any) -> set[str]:
    answer = client.get(f"/api/v2/lineage/{direction}", node=node, limit=1_000, **asked)
    assert answer.status == 200, answer.body
    return {one["node"] for one in answer.json["data"]["nodes"]}


def test_drops_renames_and_definitions_are_answered_as_such(store_url: str, tmp_path: Path) -> None:
    engine = open_migrated(store_url)
    events = [event for space in SPACES for event in script(space)]
    apply_bodies(engine, [json.dumps(one).encode() for one in reversed(events)])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        for space in SPACES:
            part, new, src = (f"dataset:file:/{space}/{name}" for name in ("part", "t_new", "src"))
            assert reached(client, "upstream", part) == {f"dataset:file:/{space}:default.part"}
            before = reached(client, "upstream", part, as_of="2026-01-01T00:04:00Z")
            assert before == {f"dataset:file:/{space}:default.{name}" for name in ("part", "src")}
            history = reached(client, "upstream", new)
            assert {one.rpartition(".")[2].rpartition("/")[2] for one in history} == {"t_new", "t", "src"}
            columns = reached(client, "upstream", f"datasetField:file:/{space}/t_new:id")
            assert any("src:id" in one for one in columns)
            impact = reached(client, "downstream", src)
            assert any(one.endswith("t_new") for one in impact)
            assert not any(one.startswith("dataset:") and one.endswith("part") for one in impact)
            for name, is_deleted in (("part", True), ("t", True), ("t_new", False), ("src", False)):
                for spoken in (("file", f"/{space}/{name}"), (f"file:/{space}", f"default.{name}")):
                    path = "/".join(quote(one, safe="") for one in spoken)
                    answer = client.get(f"/api/v2/datasets/{path}")
                    assert answer.json["data"]["deleted"] is is_deleted, spoken
            listed = client.get("/api/v2/datasets", limit=100)
            assert not any(f"/{space}/part" in json.dumps(one) for one in listed.json["data"])
