"""What a real Prefect 3.9.1 had, recorded by `python -m nightly.orchestrators.record_prefect`, and its events.

`events.txt` was checked by hand against tests/nightly/orchestrators/prefect_shop.py.
"""

import json
import random
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from capture.prefect.replay import Replay, replaying
from fixtures.captured_lineage import dataset_edges, store_events
from whence.capture.prefect.source import capture
from whence.openlineage.accept import accept
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window
from whence_client.naming import name_file, name_table_of_url, name_topic
from whence_client.outbox.encoding import encode_event

HERE = Path(__file__).parent
SECRET = "hush-4711"
INSTANCE = "prefect://prefect:4200/api"
NAMING = Naming("prod.prefect", INSTANCE)

Event = dict[str, Any]


@pytest.fixture(scope="module")
def events() -> list[Event]:
    with replaying() as replay:
        return read_events(replay)


def read_events(replay: Replay, **options: str) -> list[Event]:
    source = capture.configure({"url": replay.url, "namespace": INSTANCE, **options})
    records = [record for record, _ in source.records(None, Window())]
    return list(chain.from_iterable(source.translate(one, NAMING) for one in records))


def test_the_events_are_those_that_were_checked_by_hand(events: list[Event]) -> None:
    assert "".join(f"{line}\n" for one in events for line in lines_of(one)) == (HERE / "events.txt").read_text("utf-8")


def lines_of(event: Event) -> Iterator[str]:
    """An event for a person: what happened, then what is known of the run, the job and the datasets."""
    facets, job = event["run"]["facets"], event["job"]["facets"]
    run = facets.get("whence_prefectFlowRun") or facets["whence_prefectTaskRun"]
    yield f"{event['eventTime']} {event['eventType']} {event['job']['name']} {run['state']} {run['runCount']}"
    if parent := facets.get("parent"):
        yield f"  in {parent['job']['name']}, root {parent['root']['job']['name']}"
    for one in facets.get("executionParameters", {}).get("parameters", ()):
        yield f"  with {one['name']}={one['value']}"
    for one in facets.get("tags", {}).get("tags", ()):
        yield f"  tagged {one['key']}"
    if error := facets.get("errorMessage"):
        yield f"  error {error['message']} {'with' if error.get('stackTrace') else 'without'} stack"
    for one in facets.get("extractionError", {}).get("errors", ()):
        yield f"  not captured: {one['errorMessage']}"
    code = job.get("whence_code", {}).get("path", "")
    yield f"  {job['jobType']['jobType']} {code} {job.get('documentation', {}).get('description', '')}".rstrip()
    for sign, key in (("<", "inputs"), (">", "outputs")):
        for dataset in event[key]:
            numbers = dataset.get("outputFacets", {}).get("whence_prefectMaterialization", {}).get("metadata", "")
            owners = ",".join(one["name"] for one in dataset["facets"].get("ownership", {}).get("owners", ()))
            text = dataset["facets"].get("documentation", {}).get("description", "")
            yield f"  {sign} {dataset['namespace']} {dataset['name']} {numbers} {owners} {text}".rstrip()


def test_the_store_has_the_lineage_that_the_flows_declare(events: list[Event], sqlite_store: Engine) -> None:
    expected = {edge for stage in ("prod", "staging") for edge in daily_edges(stage)}
    assert dataset_edges(store_events(sqlite_store, events)) == expected


def daily_edges(stage: str) -> Iterator[str]:
    """Written from reading the shop."""
    yield f"{stage}.feed -> {stage}/raw-ü+1.csv"
    yield f"{stage}/raw-ü+1.csv -> shop.{stage}.orders"
    yield f"shop.{stage}.orders -> {stage}/top"


def test_datasets_have_the_names_that_other_captures_give_them(events: list[Event]) -> None:
    named = {(one["namespace"], one["name"]) for event in events for one in (*event["inputs"], *event["outputs"])}
    assert name_table_of_url("postgresql+psycopg://db/shop", "orders", schema="prod").key in named
    assert name_file("s3a://lake/prod/raw-ü+1.csv").key in named
    assert name_topic("broker:9092", "prod.feed").key in named


def test_a_subflow_is_a_child_of_the_flow_run_that_it_is_in(events: list[Event]) -> None:
    (parent,) = {one["run"]["runId"] for one in events if one["job"]["name"] == "prod-daily/nightly"}
    below = [one["run"]["facets"]["parent"] for one in events if one["job"]["name"] == "prod-report"]
    assert {one["run"]["runId"] for one in below} == {parent}
    tasks = [one["run"]["facets"]["parent"]["root"] for one in events if one["job"]["name"] == "prod-report.publish"]
    assert {one["run"]["runId"] for one in tasks} == {parent}
    assert not [one for one in events if one["job"]["name"].startswith("prod-daily/nightly.prod-report")]


def test_what_failed_has_written_nothing(events: list[Event]) -> None:
    failed = [one for one in events if one["eventType"] == "FAIL"]
    assert {one["job"]["name"] for one in failed} == {"prod-broken", "prod-broken.never"}
    assert not [one for one in failed if one["outputs"]]
    errors = [one["run"]["facets"]["errorMessage"] for one in failed]
    assert all("ValueError: kaput" in one["message"] and "prefect_shop.py" in one["stackTrace"] for one in errors)
    assert [one["name"] for one in failed[1]["inputs"]] == ["shop.prod.orders"]


def test_a_run_whose_process_was_killed_has_only_begun(events: list[Event]) -> None:
    assert {one["eventType"] for one in events if one["job"]["name"].startswith("dev-endless")} == {"START"}


def test_every_event_is_valid_in_strict_mode(events: list[Event]) -> None:
    for one in events:
        require_valid(one)
        assert accept(encode_event(one)).warnings == ()


def test_no_secret_and_no_row_leaves_the_process(events: list[Event]) -> None:
    assert SECRET in json.dumps(events), "the fixture has secrets, or this test proves nothing"
    assert not [one for one in events if SECRET.encode() in encode_event(one)]
    assert "ann, 3" not in json.dumps(events)


def test_twice_and_shuffled_is_the_same_store(events: list[Event], sqlite_store: Engine) -> None:
    once = store_events(sqlite_store, events)
    with replaying() as replay:
        twice = [*read_events(replay), *events]
    random.Random(19).shuffle(twice)
    assert store_events(sqlite_store, twice) == once
