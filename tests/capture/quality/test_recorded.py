"""Results of a real Great Expectations 1.24.1 and Soda Core 4.28.0, recorded by `python -m nightly.quality.record`.

`checks.txt` was checked by hand against the jobs in tests/nightly/quality/jobs.
"""

import json
import random
from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.captured_lineage import store_events
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset
from whence_client.outbox.encoding import encode_event
from whence_client.quality import great_expectations, soda
from whence_client.quality.checks import Check, Validation, plain, validation_event
from whence_client.quality.expectations import count_rows, measure_columns, read_checks

HERE = Path(__file__).parent
NAMING = Naming("prod")
ORDERS = Dataset("postgres://db:5432", "shop.public.orders")
VALUES = ("smith-4711", "jones-4711", "-3.0", "4.5")
"""Values of rows. 4.5 is the greatest amount, which both tools report as what they observed."""

Json = dict[str, Any]


def gx_documents() -> dict[str, Json]:
    documents: dict[str, Json] = json.loads((HERE / "great_expectations-1.24.1.json").read_text("utf-8"))
    return documents


def gx_validation(name: str, results: list[Json]) -> Validation:
    at = datetime.fromisoformat("2026-11-25T22:00:00+00:00")
    job, ids = f"great_expectations.{name}", (name, at.isoformat())
    rows, metrics = count_rows(results), measure_columns(results)
    return Validation(
        great_expectations.TOOL, job, ids, at, read_checks(results), ORDERS, "", rows=rows, metrics=metrics
    )


def soda_results() -> list[Any]:
    documents = json.loads(
        (HERE / "soda-4.28.0.json").read_text("utf-8"), object_hook=lambda members: SimpleNamespace(**members)
    )
    return [_soda_result(one) for one in documents]


def _soda_result(one: Any) -> Any:
    for name in ("started_timestamp", "ended_timestamp"):
        setattr(one, name, datetime.fromisoformat(getattr(one, name)))
    for each in one.check_results:
        each.outcome = SimpleNamespace(name=each.outcome)
        each.diagnostic_metric_values = vars(each.diagnostic_metric_values)
    return one


def events() -> list[Json]:
    gx = [gx_validation(name, one["results"]) for name, one in gx_documents().items()]
    verified = [soda.describe_verification(one, ORDERS) for one in soda_results()]
    return [
        *chain.from_iterable(great_expectations.capture.translate(one, NAMING) for one in gx),
        *chain.from_iterable(soda.capture.translate(one, NAMING) for one in verified),
    ]


def lines_of(event: Json) -> Iterator[str]:
    facets = event["run"]["facets"]
    yield f"{event['eventType']} {event['job']['name']} {facets.get('errorMessage', {}).get('message', '')}".rstrip()
    for error in facets.get("extractionError", {}).get("errors", ()):
        yield f"  ? {error['task']}: {error['errorMessage']}"
    (dataset,) = event["inputs"]
    measured = dataset["inputFacets"].get("dataQualityMetrics", {})
    for one in dataset["inputFacets"]["dataQualityAssertions"]["assertions"]:
        shown = {key: value for key, value in one.items() if key not in ("assertion", "success", "name", "params")}
        yield f"  {'held' if one['success'] else 'BROKEN'} {one['assertion']} {json.dumps(shown)}"
    if measured:
        yield f"  rows {measured['rowCount']} {json.dumps(measured['columnMetrics'])}"


def test_the_checks_are_those_that_were_checked_by_hand() -> None:
    text = "".join(f"{line}\n" for event in events() for line in lines_of(event))
    assert text == (HERE / "checks.txt").read_text("utf-8")


def test_events_are_valid_and_have_no_value_of_a_row() -> None:
    recorded = "".join(one.read_text("utf-8") for one in HERE.glob("*.json"))
    assert [one for one in VALUES if one not in recorded] == []
    for event in events():
        require_valid(event)
        assert [one for one in VALUES if one.encode() in encode_event(event)] == []


def test_the_order_of_results_is_not_part_of_the_event() -> None:
    """Great Expectations returns them in another order each time."""
    for name, one in gx_documents().items():
        shuffled = random.Random(name).sample(one["results"], len(one["results"]))
        assert validation_event(gx_validation(name, shuffled), NAMING) == validation_event(
            gx_validation(name, one["results"]), NAMING
        )


def test_order_and_duplicates_do_not_matter(sqlite_store: Engine) -> None:
    once = store_events(sqlite_store, events())
    again = [*events(), *events()]
    random.Random(4).shuffle(again)
    assert store_events(sqlite_store, again) == once


@pytest.mark.parametrize(
    ("checks", "state"),
    [
        ([Check("unique", True)], "COMPLETE"),
        ([Check("unique", False, severity="warn"), Check("recent", None)], "COMPLETE"),
        ([Check("unique", False, severity="warn"), Check("not_null", False)], "FAIL"),
    ],
)
def test_only_a_broken_check_of_severity_error_fails_the_run(checks: list[Check], state: str) -> None:
    at = datetime.fromisoformat("2026-11-25T22:00:00+00:00")
    event = validation_event(Validation("SODA", "soda.orders", ("1",), at, tuple(checks), ORDERS), NAMING)
    assert event["eventType"] == state


def test_checks_without_a_dataset_are_announced() -> None:
    at = datetime.fromisoformat("2026-11-25T22:00:00+00:00")
    event = validation_event(Validation("SODA", "a", ("1",), at, (Check("unique", True),), None, "a query"), NAMING)
    assert event["inputs"] == []
    (error,) = event["run"]["facets"]["extractionError"]["errors"]
    assert (error["task"], error["errorMessage"]) == ("dataset", "a query")


def test_parameters_are_cut() -> None:
    assert len(plain(list(range(10_000)))) == 200
    assert len(plain("x" * 10_000)) == 200
    assert plain({"at": datetime(2026, 1, 1), "all": {1}}) == {"at": "2026-01-01 00:00:00", "all": [1]}
