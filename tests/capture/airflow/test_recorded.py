"""The answers of a real Airflow 3.3.2, recorded by `python -m nightly.orchestrators.record_airflow`, and their events.

`events.txt` was checked by hand against the DAGs in tests/nightly/orchestrators/airflow_dags.
"""

import json
import random
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from capture.airflow.replay import read_recorded, replaying
from fixtures.captured_lineage import store_events
from whence.capture.airflow.source import capture
from whence.openlineage.accept import accept
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window
from whence_client.outbox.encoding import encode_event

HERE = Path(__file__).parent
SECRET = "hush-4711"
INSTANCE = "airflow://airflow:8080"
NAMING = Naming("prod.airflow", INSTANCE)
_ENDED = ("COMPLETE", "FAIL", "ABORT")

Event = dict[str, Any]


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return read_events()


def read_events() -> list[Event]:
    with replaying() as replay:
        source = capture.configure({"url": replay.url, "namespace": INSTANCE})
        records = [record for record, _ in source.records(None, Window())]
    return list(chain.from_iterable(capture.translate(one, NAMING) for one in records))


def test_the_events_are_those_that_were_checked_by_hand(events: list[Event]) -> None:
    assert "".join(f"{line}\n" for one in events for line in lines_of(one)) == (HERE / "events.txt").read_text("utf-8")


def lines_of(event: Event) -> Iterator[str]:
    """An event for a person: what happened, then what is known of the run, the job and the datasets."""
    facets, job = event["run"]["facets"], event["job"]["facets"]
    task, run = facets.get("whence_airflowTask", {}), facets.get("whence_airflowDagRun", {})
    number = f"{task['tryNumber']}/{task['mapIndex']}" if task else run["runType"]
    yield f"{event['eventTime']} {event['eventType']} {event['job']['name']} {number} {{{(task or run)['state']}}}"
    if parent := facets.get("parent"):
        yield f"  in {parent['job']['name']}, root {parent['root']['job']['name']}"
    if nominal := facets.get("nominalTime"):
        yield f"  for {nominal['nominalStartTime']} to {nominal['nominalEndTime']}"
    for one in facets.get("executionParameters", {}).get("parameters", ()):
        yield f"  with {one['name']}={one['value']}"
    if error := facets.get("errorMessage"):
        yield f"  error {error['message']} {'with' if error.get('stackTrace') else 'without'} stack"
    owners = ",".join(one["name"] for one in job.get("ownership", {}).get("owners", ()))
    tags = ",".join(one["key"] for one in job.get("tags", {}).get("tags", ()))
    yield f"  {job['jobType']['jobType']} of {owners} [{tags}] {job.get('documentation', {}).get('description', '')}"
    for sign, key, about in (("<", "inputs", "inputFacets"), (">", "outputs", "outputFacets")):
        for dataset in event[key]:
            extra = dataset[about]["whence_airflowAsset"].get("extra", "")
            yield f"  {sign} {dataset['namespace']} {dataset['name']} {extra}".rstrip()


def test_run_ids_are_those_of_the_provider(events: list[Event]) -> None:
    ours = {(one["job"]["name"], one["run"]["runId"]) for one in events}
    theirs = {(one["job"], one["id"]) for one in read_recorded()["provider"]}
    assert len(theirs) > 10
    (before,) = theirs - ours
    assert before[0] == "prod.bericht_ü"  # the DAG run until it was cleared; Airflow keeps the tries of it only


def test_states_are_those_of_the_provider(events: list[Event]) -> None:
    ours = {one["run"]["runId"]: one["eventType"] for one in events if one["eventType"] in _ENDED}
    theirs = {one["id"]: one["state"] for one in read_recorded()["provider"] if one["state"] in _ENDED}
    assert len(ours.keys() & theirs.keys()) > 10
    assert {key: ours[key] for key in theirs if key in ours} == {key: theirs[key] for key in theirs if key in ours}


def test_a_cleared_run_is_another_run_and_its_tries_belong_to_that_before(events: list[Event]) -> None:
    (dag,) = {one["run"]["runId"] for one in events if one["job"]["name"] == "prod.bericht_ü"}
    tries = [one["run"]["facets"] for one in events if one["job"]["name"] == "prod.bericht_ü.write"]
    numbers = {one["whence_airflowTask"]["tryNumber"]: one["parent"]["run"]["runId"] for one in tries}
    assert numbers[2] == dag
    assert numbers[1] in {one["id"] for one in read_recorded()["provider"]} - {dag}


def test_every_event_is_valid_in_strict_mode(events: list[Event]) -> None:
    for one in events:
        require_valid(one)
        assert accept(encode_event(one)).warnings == ()


def test_no_secret_leaves_the_process(events: list[Event]) -> None:
    assert SECRET in json.dumps(events), "the fixture has secrets, or this test proves nothing"
    assert not [one for one in events if SECRET.encode() in encode_event(one)]


def test_twice_and_shuffled_is_the_same_store(events: list[Event], sqlite_store: Engine) -> None:
    once = store_events(sqlite_store, events)
    twice = [*read_events(), *events]
    random.Random(19).shuffle(twice)
    assert store_events(sqlite_store, twice) == once
