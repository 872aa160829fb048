"""What a real Dagster 1.13.27 had, recorded by `python -m nightly.orchestrators.record_dagster`, and its events.

`events.txt` was checked by hand against tests/nightly/orchestrators/dagster_shop.py.
"""

import json
import random
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from capture.dagster.replay import Replay, replaying
from fixtures.captured_lineage import column_edges, dataset_edges, store_events
from whence.capture.dagster.source import capture
from whence.openlineage.accept import accept
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window
from whence_client.naming import name_table_of_url
from whence_client.outbox.encoding import encode_event

HERE = Path(__file__).parent
SECRET = "hush-4711"
INSTANCE = "dagster://dagster:3000"
NAMING = Naming("prod.dagster", INSTANCE)

Event = dict[str, Any]


@pytest.fixture(scope="module")
def events() -> list[Event]:
    with replaying() as replay:
        return read_events(replay)


def read_events(replay: Replay, **options: str) -> list[Event]:
    source = capture.configure({"url": replay.url, "namespace": INSTANCE, **options})
    records = [record for record, _ in source.records(None, Window())]
    return list(chain.from_iterable(source.translate(one, NAMING) for one in records))


def of_job(events: list[Event], job: str) -> list[Event]:
    return [one for one in events if one["job"]["name"] == job]


def test_the_events_are_those_that_were_checked_by_hand(events: list[Event]) -> None:
    assert "".join(f"{line}\n" for one in events for line in lines_of(one)) == (HERE / "events.txt").read_text("utf-8")


def lines_of(event: Event) -> Iterator[str]:
    """An event for a person: what happened, then what is known of the run, the job and the datasets."""
    facets, job = event["run"]["facets"], event["job"]["facets"]
    step, run = facets.get("whence_dagsterStep", {}), facets.get("whence_dagsterRun", {})
    number = f" try {step['tryNumber']} of {step['stepKey']}" if step.get("stepKey") else ""
    about = [f"{name}={value}" for name, value in run.items() if name in ("status", "partition")]
    yield f"{event['eventTime']} {event['eventType']} {event['job']['name']}{number} {' '.join(about)}".rstrip()
    if parent := facets.get("parent"):
        yield f"  in {parent['job']['name']}, root {parent['root']['job']['name']}"
    for one in facets.get("executionParameters", {}).get("parameters", ()):
        yield f"  with {one['name']}={one['value']}"
    for one in facets.get("tags", {}).get("tags", ()):
        yield f"  tagged {one['key']}={one['value']}"
    if error := facets.get("errorMessage"):
        yield f"  error {error['message'].splitlines()[0]} {'with' if error.get('stackTrace') else 'without'} stack"
    for one in facets.get("extractionError", {}).get("errors", ()):
        yield f"  not captured: {one['errorMessage']}"
    yield f"  {job['jobType']['jobType']}"
    for sign, key, about_run in (("<", "inputs", "inputFacets"), (">", "outputs", "outputFacets")):
        for dataset in event[key]:
            yield f"  {sign} {dataset['namespace']} {dataset['name']}"
            yield from (f"    {line}" for line in _about(dataset, dataset.get(about_run, {})))


def _about(dataset: Event, ran: Event) -> Iterator[str]:
    facets = dataset["facets"]
    if asset := facets.get("whence_dagsterAsset"):
        owners = ",".join(one["name"] for one in facets.get("ownership", {}).get("owners", ()))
        tags = ",".join(f"{one['key']}={one['value']}" for one in facets.get("tags", {}).get("tags", ()))
        yield f"asset {asset['key']} in {asset.get('group', '-')} of {owners or '-'} [{tags}]"
    if made := ran.get("whence_dagsterMaterialization"):
        shown = {name: made[name] for name in ("codeVersion", "partitions", "metadata") if name in made}
        yield f"made {json.dumps(shown)} rows {ran.get('outputStatistics', {}).get('rowCount', '-')}"
    for one in ran.get("dataQualityAssertions", {}).get("assertions", ()):
        known = " ".join(str(one.get(name, "-")) for name in ("severity", "success", "actual", "description"))
        yield f"check {one['name']} {known}"
    if columns := facets.get("schema"):
        yield "columns " + ", ".join(f"{one['name']} {one['type']}" for one in columns["fields"])
    for column, found in facets.get("columnLineage", {}).get("fields", {}).items():
        yield f"{column} from " + ", ".join(f"{one['name']}:{one['field']}" for one in found["inputFields"])
    for one in facets.get("whence_columnEvidence", {}).get("unexplained", ()):
        yield f"{one['field']} unexplained: {one['reason']}"


def test_the_store_has_the_lineage_that_the_assets_declare(events: list[Event], sqlite_store: Engine) -> None:
    lines = store_events(sqlite_store, events)
    assert dataset_edges(lines) == {edge for stage in ("prod", "staging") for edge in daily_edges(stage)} | {
        "shop.sales.orders -> prod/days"
    }
    assert column_edges(lines) == {
        "raw ü.id -> orders.id",
        "raw ü.amount -> orders.total",
        "raw ü.price -> orders.total",
    }


def daily_edges(stage: str) -> Iterator[str]:
    """Written from reading the shop. The two ends of `ends` come from one asset each, not from both."""
    yield f"{stage}.feed -> {stage}/raw ü.csv"
    yield f"{stage}/raw ü.csv -> shop.sales.orders"
    yield f"shop.sales.orders -> {stage}/top; drop 1"
    yield f"{stage}/raw ü.csv -> shop.{stage}.flop"
    yield f"{stage}/top; drop 1 -> {stage}/report"
    yield f"shop.sales.orders -> {stage}/retried.csv"


def test_tables_have_the_names_that_other_captures_give_them(events: list[Event]) -> None:
    written = {(one["namespace"], one["name"]) for event in events for one in event["outputs"]}
    assert name_table_of_url("duckdb:////lake/prod/shop.duckdb", "orders", schema="sales").key in written
    assert name_table_of_url("postgresql+psycopg://db/shop", "flop", schema="prod").key in written


def test_each_try_is_a_run_of_its_own(events: list[Event]) -> None:
    tries = of_job(events, "shop.prod_daily.prod__retried")
    assert [(one["eventType"], one["run"]["facets"]["whence_dagsterStep"]["tryNumber"]) for one in tries] == [
        ("START", 1),
        ("FAIL", 1),
        ("START", 2),
        ("COMPLETE", 2),
    ]
    assert len({one["run"]["runId"] for one in tries}) == 2
    assert [len(one["outputs"]) for one in tries] == [0, 0, 0, 1]


def test_what_failed_or_was_killed_has_written_nothing(events: list[Event]) -> None:
    failed = [one for one in events if one["eventType"] == "FAIL"]
    assert {one["job"]["name"] for one in failed} >= {
        "shop.prod_broken",
        "shop.prod_broken.prod__never",
        "shop.prod_broken.prod__killed",
    }
    assert not [one for one in failed if one["outputs"]]
    (never,) = [one for one in failed if one["job"]["name"].endswith("never")]
    assert [one["name"] for one in never["inputs"]] == ["shop.sales.orders"]
    error = never["run"]["facets"]["errorMessage"]
    assert error["message"].startswith("ValueError: kaput")
    assert "dagster_shop.py" in error["stackTrace"]


def test_the_steps_of_a_dynamic_output_are_runs_of_one_job(events: list[Event]) -> None:
    stored = [one for one in of_job(events, "shop.prod_export.prod_store") if one["eventType"] == "COMPLETE"]
    assert sorted(one["outputs"][0]["name"] for one in stored) == ["/lake/prod/a.bin", "/lake/prod/b.bin"]
    assert len({one["run"]["runId"] for one in stored}) == 2


def test_all_partitions_are_one_dataset(events: list[Event]) -> None:
    made = [one["outputs"][0] for one in of_job(events, "shop.__ASSET_JOB.prod__days") if one["outputs"]]
    assert {one["name"] for one in made} == {"/home/storage/prod/days"}
    facets = [one["outputFacets"]["whence_dagsterMaterialization"] for one in made]
    assert sorted(one["partitions"] for one in facets) == [["2026-11-20"], ["2026-11-21"]]


def test_a_run_that_goes_on_has_only_begun(events: list[Event]) -> None:
    assert {one["eventType"] for one in events if one["job"]["name"].startswith("lab.")} == {"START"}


@pytest.mark.parametrize("reports_failure", [True, False], ids=["interrupted", "without a word"])
def test_a_canceled_run_is_aborted_with_its_steps(reports_failure: bool) -> None:
    """A step that can, reports its interruption as a failure."""
    with replaying() as replay:
        (running,) = [one for one in replay.runs if one["status"] == "STARTED"]
        canceled = {**running, "status": "CANCELED", "endTime": running["startTime"] + 60}
        replay.runs = [canceled if one is running else one for one in replay.runs]
        if reports_failure:
            error = {"message": "", "className": "DagsterExecutionInterruptedError", "stack": [], "causes": []}
            log = replay.data["logs"][running["runId"]]
            log.append({**log[-1], "__typename": "ExecutionStepFailureEvent", "error": error})
        ends = {one["job"]["name"]: one["eventType"] for one in read_events(replay, jobs="lab.*")}
    assert ends == {"lab.__ASSET_JOB": "ABORT", "lab.__ASSET_JOB.dev__endless": "ABORT"}


def test_every_event_is_valid_in_strict_mode(events: list[Event]) -> None:
    for one in events:
        require_valid(one)
        assert accept(encode_event(one)).warnings == ()


def test_no_secret_and_no_row_leaves_the_process(events: list[Event]) -> None:
    assert SECRET in json.dumps(events), "the fixture has secrets, or this test proves nothing"
    assert not [one for one in events if SECRET.encode() in encode_event(one)]
    assert "| ann | 3 |" not in json.dumps(events)


def test_twice_and_shuffled_is_the_same_store(events: list[Event], sqlite_store: Engine) -> None:
    once = store_events(sqlite_store, events)
    with replaying() as replay:
        twice = [*read_events(replay), *events]
    random.Random(19).shuffle(twice)
    assert store_events(sqlite_store, twice) == once
