"""Runs and versions of a real MLflow 3.17.2, recorded by `python -m nightly.mlflow.record`, and their events.

`events.txt` was checked by hand against the jobs in tests/nightly/mlflow/jobs.
"""

import json
import random
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.captured_lineage import store_events
from whence.capture.mlflow.records import Record, RunRecord, VersionRecord
from whence.capture.mlflow.source import capture
from whence.openlineage.accept import accept
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming
from whence_client.outbox.encoding import encode_event

HERE = Path(__file__).parent
SECRET = "hush-4711"
NAMING = Naming("mlflow", "mlflow://tracking:5000")

Event = dict[str, Any]


def read_records() -> list[Record]:
    recorded = json.loads((HERE / "mlflow-3.17.2.json").read_text())
    kinds = {"run": RunRecord, "version": VersionRecord}
    return [kinds[one.pop("kind")](**{**one, **_tuples(one)}) for one in recorded]


def _tuples(one: Event) -> Event:
    return {name: tuple(value) for name, value in one.items() if name == "aliases"}


def events_of(records: list[Record]) -> list[Event]:
    return list(chain.from_iterable(capture.translate(one, NAMING) for one in records))


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return events_of(read_records())


def test_the_events_are_those_that_were_checked_by_hand(events: list[Event]) -> None:
    assert "".join(f"{line}\n" for one in events for line in lines_of(one)) == (HERE / "events.txt").read_text("utf-8")


def lines_of(event: Event) -> Iterator[str]:
    """An event for a person: what happened, then the datasets, then the facets of the run that a person looks for."""
    if "dataset" in event:
        yield f"{event['eventTime']} DATASET"
        yield from _dataset_lines("=", event["dataset"])
        return
    facets = event["run"]["facets"]
    run = facets.get("whence_mlflowRun", {})
    yield f"{event['eventTime']} {event['eventType']} {event['job']['name']} {run.get('runName', '')}".rstrip()
    if parent := facets.get("parent"):
        yield f"  in {parent['job']['namespace']} {parent['job']['name']}, root {parent['root']['job']['name']}"
    for one in facets.get("executionParameters", {}).get("parameters", ()):
        yield f"  with {one['name']}={one['value']}"
    for one in facets.get("whence_metrics", {}).get("metrics", ()):
        yield f"  metric {one['key']}={one['value']}"
    for sign, key in (("<", "inputs"), (">", "outputs")):
        for dataset in event[key]:
            yield from _dataset_lines(sign, dataset)


def _dataset_lines(sign: str, dataset: Event) -> Iterator[str]:
    facets = dataset["facets"]
    fields = " ".join(one["name"] for one in facets.get("schema", {}).get("fields", ()))
    logged = dataset.get("inputFacets", {}).get("whence_mlflowInput", {})
    about = " ".join(filter(None, [facets.get("datasetType", {}).get("datasetType"), logged.get("context")]))
    yield f"  {sign} {dataset['namespace']} {dataset['name']} {about} [{fields}]"
    for one in facets.get("tags", {}).get("tags", ()):
        yield f"      tag {one['key']}={one['value']}"
    for key, sources in (("columnLineage", "dataset"), ("lineage", "inputs")):
        lineage = facets.get(key, {})
        for source in lineage.get(sources, ()):
            yield f"      {_flow(source)}"
        for field, members in lineage.get("fields", {}).items():
            for source in members["inputFields" if key == "columnLineage" else "inputs"]:
                yield f"      {field}: {_flow(source)}"


def _flow(source: Event) -> str:
    (how,) = source["transformations"]
    return f"{how['type']} {how['subtype']} {source['name']} {source.get('field', '')}".rstrip()


def test_every_event_is_valid_in_strict_mode(events: list[Event]) -> None:
    for one in events:
        require_valid(one)
        assert accept(encode_event(one)).warnings == ()


def test_no_secret_leaves_the_process(events: list[Event]) -> None:
    assert SECRET in json.dumps(events), "the fixture has secrets, or this test proves nothing"
    assert not [one for one in events if SECRET.encode() in encode_event(one)]


def test_states_are_those_of_mlflow(events: list[Event]) -> None:
    ends = {
        one["run"]["facets"]["whence_mlflowRun"]["runName"]: one["eventType"]
        for one in events
        if "run" in one and one["eventType"] != "START"
    }
    assert ends["train"] == ends["deleted"] == "COMPLETE"
    assert (ends["fails"], ends["killed"]) == ("FAIL", "ABORT")
    assert "goes on" not in ends
    starts = [one["run"]["runId"] for one in events if one.get("eventType") == "START"]
    assert len(starts) == len(set(starts)) == len([one for one in read_records() if isinstance(one, RunRecord)])


def test_twice_and_shuffled_is_the_same_store(events: list[Event], sqlite_store: Engine) -> None:
    once = store_events(sqlite_store, events)
    twice = events_of(read_records()) + events
    random.Random(19).shuffle(twice)
    assert store_events(sqlite_store, twice) == once
