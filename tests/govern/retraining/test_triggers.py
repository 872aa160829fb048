"""Triggers of retraining: from columns upstream of a model to signed webhooks, once for each cause."""

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from govern.notifications.notices import MINUTE, NOW
from govern.notifications.services import SECRET, Webhook, serving
from whence.api.notifications import outbox as outboxes
from whence.api.notifications.messages import MessageSender
from whence.api.notifications.outbox import Outbox
from whence.api.notifications.start import read_outbox_state
from whence.govern.notifications.receivers_file import read_receivers
from whence.govern.retraining.model_scope import ModelLineage, columns_upstream
from whence.log.segments.log import SegmentLog
from whence.model.events import RunState
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.write import dataset, facet, run_event

HOUR = 60 * MINUTE
RAW, FEATURES, MODEL, OTHER = (DatasetName("hr", "raw"), *(DatasetName("ml", n) for n in ("features", "churn", "spam")))
FILE = """\
version: 1
receivers:
  - {{name: all, webhook: {{url: "{url}/all", secret: {{env: TEST_WEBHOOK_SECRET}}}}}}
  - {{name: ml, namespaces: [ml], webhook: {{url: "{url}/ml", secret: {{env: TEST_WEBHOOK_SECRET}}}}}}
  - {{name: hr, namespaces: [hr], webhook: {{url: "{url}/hr", secret: {{env: TEST_WEBHOOK_SECRET}}}}}}
route: {{receiver: all, routes: [{{match: {{tier: nobody}}, receiver: ml}}]}}
retrain:
  - {{receiver: [all, ml, hr], models: [churn*]}}
"""


def sources(**columns: str) -> dict[str, Any]:
    """Column lineage: `column=dataset.column`."""
    by_name = {"raw": RAW, "features": FEATURES}
    fields = {
        column: {
            "inputFields": [
                {
                    "namespace": by_name[source.partition(".")[0]].namespace,
                    "name": source.partition(".")[0],
                    "field": source.partition(".")[2],
                    "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}],
                }
            ]
        }
        for column, source in columns.items()
    }
    return {"columnLineage": facet("ColumnLineageDatasetFacet", fields=fields)}


def schema(**types: str) -> dict[str, Any]:
    fields = [{"name": name, "type": type_} for name, type_ in types.items()]
    return {"schema": facet("SchemaDatasetFacet", fields=fields)}


def run(job: str, ago: int, output: DatasetName, facets: Mapping[str, Any], *inputs: Any) -> bytes:
    name = RunName(f"01890000-0000-7000-8000-{NOW // HOUR - ago:012}", JobName("cron", job))
    made = run_event(
        NOW - ago * HOUR, RunState.COMPLETE, name, inputs=inputs, outputs=[dataset(output, facets=dict(facets))]
    )
    return json.dumps(made).encode()


def estate(ago: int) -> list[bytes]:
    """A model of `age` alone; another job and model read `city`."""
    model = {"datasetType": facet("DatasetTypeDatasetFacet", datasetType="MODEL")}
    return [
        run("load", ago, RAW, schema(age="int", city="text", note="text")),
        run("build", ago, FEATURES, schema(a="int", c="text") | sources(a="raw.age", c="raw.city"), dataset(RAW)),
        run("train", ago, MODEL, model | sources(x="features.a"), dataset(FEATURES)),
        run("spam", ago, OTHER, model | sources(y="features.c"), dataset(FEATURES)),
    ]


class Clock:
    """The time of the notices."""

    monotonic = staticmethod(lambda: 1_000.0)
    time = staticmethod(lambda: NOW / 1e6)
    time_ns = staticmethod(lambda: NOW * 1_000)


def test_a_cause_upstream_of_a_model_is_sent_once_and_names_what_a_receiver_may_see(
    store: Engine, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outboxes, "time", Clock)
    monkeypatch.setenv("TEST_WEBHOOK_SECRET", SECRET)
    hook, place = Webhook(), iter(range(1_000, 100_000))

    async def append(bodies: Sequence[bytes]) -> None:
        apply_bodies(store, bodies, next(place))

    async def is_current() -> bool:
        return True

    def send() -> list[tuple[str, dict[str, Any]]]:
        before = len(hook.requests)
        found = read_receivers(FILE.format(url=url))
        outbox = Outbox(
            lambda: found,
            lambda now: read_outbox_state(store, now, found.retrain),
            append,
            is_current,
            lambda: nullcontext(lambda: None),
            send_message=MessageSender(store, SegmentLog(tmp_path / "log")).send,
        )
        asyncio.run(outbox.send())
        bodies = sorted((one.path, one.body) for one in hook.requests[before:])
        return [(path, body["data"]) for path, body in bodies if body["type"] == "model.retrain"]

    with serving(hook) as url:
        apply_bodies(store, estate(48))
        assert send() == []
        changed = schema(age="text", city="int", note="text")  # `city` is beside the way to churn
        apply_bodies(store, [run("load", 5, RAW, changed)], 100)
        whole, limited = send()
        assert (whole[0], limited[0]) == ("/all", "/ml")  # `hr` may not see the model
        assert {key: whole[1][key] for key in ("model", "cause", "dataset", "column", "distance", "text")} == {
            "model": str(MODEL),
            "cause": "schema",
            "dataset": str(RAW),
            "column": "age",
            "distance": 2,
            "text": "column age changed from int to text",
        }
        assert "hr" not in json.dumps(limited[1])
        assert "age" not in json.dumps(limited[1])
        assert send() == []  # another process, which knows only the store

        failed = {"assertion": "not_null", "success": False, "column": "a"}
        beside = {"assertion": "not_null", "success": False, "column": "c"}
        checks = {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=[failed, beside])}
        checked = dataset(FEATURES) | {"inputFacets": checks}
        apply_bodies(store, [run("check", 4, DatasetName("ml", "log"), {}, checked)], 200)
        assert [(path, one["cause"], one["column"], one["distance"]) for path, one in send()] == [
            ("/all", "drift", "a", 1),
            ("/ml", "drift", "a", 1),
        ]
        assert send() == []


def test_columns_upstream_are_those_of_a_search_of_all_ways() -> None:
    """On random lineage without gaps: a column is upstream if and only if some way of edges leads from it."""
    chance = random.Random(3)
    for _ in range(40):
        tables = [DatasetName("n", f"t{number}") for number in range(6)]
        columns = {one: frozenset(FieldName(one, f"c{number}") for number in range(3)) for one in tables}
        every = [column for some in columns.values() for column in sorted(some, key=str)]
        ends: list[Node] = [*every, *tables]
        sources: dict[Node, frozenset[FieldName]] = {}
        edges: set[tuple[FieldName, Node]] = set()
        for _ in range(14):
            source = chance.choice(every)
            target = chance.choice(ends)
            edges.add((source, target))
            sources[target] = sources.get(target, frozenset()) | {source}
        known = ModelLineage(sources=sources, columns=columns)
        reached: set[Node] = {tables[0], *columns[tables[0]]}
        while True:
            wider = {source for source, target in edges if target in reached}
            wider |= {
                source
                for source, target in edges
                if isinstance(target, DatasetName) and any(one in reached for one in columns[target])
            }
            if wider <= reached:
                break
            reached |= wider
        found, distances = columns_upstream(known, tables[0])
        assert found.keys() == distances.keys()
        wanted = {one for one in reached if isinstance(one, FieldName) and one.dataset != tables[0]}
        assert {FieldName(one, name) for one, some in found.items() for name in some or ()} == wanted


def test_where_a_job_reports_no_columns_whole_datasets_count() -> None:
    known = ModelLineage(
        columns={FEATURES: frozenset({FieldName(FEATURES, "a")})},
        unreported=frozenset({FEATURES}),
        inputs={MODEL: frozenset({FEATURES}), FEATURES: frozenset({RAW})},
    )
    assert columns_upstream(known, MODEL) == (
        {MODEL: None, FEATURES: None, RAW: None},
        {MODEL: 0, FEATURES: 1, RAW: 2},
    )
