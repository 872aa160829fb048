"""What happens with the scores: they are checked, published to one environment after the other, and reported."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whence.demo import checks
from whence.demo.call_lists import call_list, publish_scores, report
from whence.openlineage.accept import accept

Event = Mapping[str, Any]


class Outbox:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> bool:
        self.events.append(event)
        return True


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Three customers, one of whom stays."""
    _write(tmp_path / "silver/customers", [{"customer_id": one} for one in (1, 2, 3)])
    _scores(tmp_path, {1: 0.9, 2: 0.2, 3: 0.5})
    return tmp_path


def _scores(data: Path, scores: Mapping[int, float]) -> None:
    rows = [{"customer_id": one, "churn_probability": score} for one, score in scores.items()]
    _write(data / "gold/predictions", rows)


def _write(directory: Path, rows: list[dict[str, Any]]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), directory / "part.parquet")


def _called(data: Path, environment: str) -> list[tuple[int, float]]:
    with closing(sqlite3.connect(data / "crm" / f"{environment}.db")) as database:
        return database.execute("SELECT * FROM call_list ORDER BY customer_id").fetchall()


def test_good_scores_reach_production_and_the_report(data: Path) -> None:
    outbox = Outbox()
    assert publish_scores(data, outbox) == "2 customers to call, in crm-staging and crm-prod"
    for environment in ("crm-staging", "crm-prod"):
        assert _called(data, environment) == [(1, 0.9), (3, 0.5)]
    assert "2 customers to call" in Path(report(data).name).read_text()
    events = [(one["job"]["namespace"], one["job"]["name"], one["eventType"]) for one in outbox.events]
    assert events == [
        (namespace, job, state)
        for namespace, job in (
            ("crm-staging", "publish_call_list"),
            ("crm-prod", "publish_call_list"),
            ("crm-prod", "report_call_list"),
        )
        for state in ("START", "COMPLETE")
    ]


def test_scores_that_lack_a_customer_stop_in_staging(data: Path) -> None:
    publish_scores(data, Outbox())
    _scores(data, {1: 0.1})
    outbox = Outbox()
    assert publish_scores(data, outbox) == "stopped in crm-staging, 2 of 3 customers have no score"
    assert [one["eventType"] for one in outbox.events] == ["START", "FAIL"]
    failed = outbox.events[-1]
    assert failed["run"]["facets"]["errorMessage"]["message"] == "2 of 3 customers have no score"
    (read,) = failed["inputs"]
    assertions = read["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert [one["assertion"] for one in assertions if not one["success"]] == ["every_customer"]
    assert _called(data, "crm-staging") == _called(data, "crm-prod") == [(1, 0.9), (3, 0.5)]


def test_the_events_are_valid_and_say_how_columns_are_derived(data: Path) -> None:
    outbox = Outbox()
    publish_scores(data, outbox)
    for event in outbox.events:
        assert not accept(_body(event)).warnings
    loaded = next(one for one in outbox.events if one["eventType"] == "COMPLETE")
    (written,) = loaded["outputs"]
    assert (written["namespace"], written["name"]) == (call_list("crm-staging").namespace, "main.call_list")
    lineage = written["facets"]["columnLineage"]
    assert set(lineage["fields"]) == {field["name"] for field in written["facets"]["schema"]["fields"]}
    assert [one["transformations"][0]["subtype"] for one in lineage["dataset"]] == ["FILTER"]
    assert written["outputFacets"]["outputStatistics"]["rowCount"] == 2


def test_raw_data_is_checked_with_warnings() -> None:
    customers = checks.check_customers([{"customer_id": "1"}, {"customer_id": "1"}])
    assert [(one.assertion, one.success, one.severity) for one in customers] == [
        ("not_null", True, "error"),
        ("unique", False, "warn"),
    ]
    rows = [{"last_login": "", "session_minutes": "-0.5"}, {"last_login": "2023-09-30", "session_minutes": "90"}]
    assert [(one.assertion, one.success, one.severity) for one in checks.check_sessions(rows)] == [
        ("not_null", False, "error"),
        ("not_negative", False, "warn"),
        ("at_most_1440", True, "error"),
    ]


def test_what_the_pipeline_wrote_is_of_customers() -> None:
    assert [
        one.success for rows in ([{"customer_id": 0}], [{"customer_id": None}]) for one in checks.check_keys(rows)
    ] == [
        True,
        False,
    ]


def test_rows_nulls_and_numbers_are_measured() -> None:
    rows: list[dict[str, object]] = [
        {"day": "1", "amount": 2.5},
        {"day": "", "amount": None},
        {"day": "3", "amount": 4},
    ]
    assert checks.measure(rows) == {
        "rowCount": 3,
        "columnMetrics": {
            "day": {"nullCount": 1, "count": 2},
            "amount": {"nullCount": 1, "count": 2, "sum": 6.5, "min": 2.5, "max": 4, "quantiles": {"0.5": 3.25}},
        },
    }


def _body(event: Event) -> bytes:
    return json.dumps(event).encode()
