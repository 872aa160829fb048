"""Runs that lack an event, and schemas that changed."""

import json
import time
from pathlib import Path

from api.asked import asking
from api.dashboards.pages import paged
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset_event, facet, run_event

HOUR = 3_600_000_000


def test_runs_that_lack_their_end_or_their_start(store_url: str, tmp_path: Path) -> None:
    now = time.time_ns() // 1_000
    ids = [RunName(f"0000000{n}-0000-4000-8000-000000000001", JobName("j", f"job{n}")) for n in range(5)]
    events = [
        run_event(now - 30 * HOUR, RunState.START, ids[0]),
        run_event(now - 26 * HOUR, RunState.RUNNING, ids[1]),
        run_event(now - HOUR, RunState.START, ids[2]),
        run_event(now - 30 * HOUR, RunState.START, ids[3]),
        run_event(now - 29 * HOUR, RunState.FAIL, ids[3]),
        run_event(now - HOUR, RunState.COMPLETE, ids[4]),
    ]
    engine = open_migrated(store_url)
    apply_bodies(engine, [json.dumps(one).encode() for one in events])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        found = {
            lacks: [
                (one["job"], one["state"])
                for page in paged(client, "/api/v2/unfinished-runs", lacks=lacks, limit=1)
                for one in page["data"]
            ]
            for lacks in ("end", "start")
        }
    assert found == {
        "end": [("job:j:job1", "RUNNING"), ("job:j:job0", "START")],
        "start": [("job:j:job4", "COMPLETE"), ("job:j:job1", "RUNNING")],
    }


def test_schema_changes_are_the_latest_first(store_url: str, tmp_path: Path) -> None:
    table, now = DatasetName("db://a", "t"), time.time_ns() // 1_000

    def schema_event(at: int, **columns: str) -> bytes:
        fields = [{"name": name, "type": type_} for name, type_ in columns.items()]
        schema = {"schema": facet("SchemaDatasetFacet", fields=fields)}
        return json.dumps(dataset_event(at, table, facets=schema)).encode()

    engine = open_migrated(store_url)
    apply_bodies(
        engine,
        [
            schema_event(now - 30 * 24 * HOUR, a="int"),
            schema_event(now - 2 * HOUR, a="int", b="text"),
            schema_event(now - HOUR, a="long"),
        ],
    )
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        pages = list(paged(client, "/api/v2/schema-changes", limit=1))
    changes = [one for page in pages for one in page["data"]]
    assert [(one["added"], one["removed"], one["retyped"]) for one in changes] == [
        ([], ["b"], [{"column": "a", "before": "int", "after": "long"}]),
        (["b"], [], []),
    ]
    assert {one["dataset"] for one in changes} == {str(table)}
