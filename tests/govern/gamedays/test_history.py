"""The events of a scenario: what jobs report while a fault lasts, before it and after it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whence.govern.gamedays.history import make_events
from whence.govern.gamedays.scenario import Scenario
from whence.govern.gamedays.scenario_file import read_scenario
from whence.openlineage.accept import accept
from whence.openlineage.json.times import iso

TEXT = (Path(__file__).parents[3] / "docs/how-to/gamedays/late-orders.yaml").read_text()
PRODUCER = "https://people.example/ada"
Json = dict[str, Any]


def with_fault(fault: str) -> Scenario:
    return read_scenario(TEXT.replace("{late: 12h}", fault))


def ends(scenario: Scenario, job: str) -> Sequence[Json]:
    """The last event of each run of a job, from the day of the fault on, in order."""
    events = [json.loads(one.body) for one in make_events(scenario, PRODUCER)]
    from_then = [one for one in events if one["eventTime"] >= iso(scenario.fault_at)]
    return [one for one in from_then if one.get("job", {}).get("name") == job and one["eventType"] != "START"]


def written(event: Json) -> tuple[int, int, dict[str, int]]:
    """Rows, distinct values of any column, and the missing values by column."""
    metrics = event["outputs"][0]["outputFacets"]["dataQualityMetrics"]
    columns = metrics["columnMetrics"]
    (distinct,) = {one["distinctCount"] for one in columns.values()}
    return metrics["rowCount"], distinct, {name: one["nullCount"] for name, one in columns.items()}


def test_every_event_is_accepted_and_the_same_scenario_has_the_same_events() -> None:
    scenario = read_scenario(TEXT)
    events = make_events(scenario, PRODUCER)
    assert [one.body for one in events] == [one.body for one in make_events(scenario, PRODUCER)]
    assert len({accept(one.body).key for one in events}) == len(events)
    assert [one.time for one in events] == sorted(one.time for one in events)


def test_a_late_run_starts_later_and_what_reads_it_runs_again_after_the_fix() -> None:
    scenario = read_scenario(TEXT)
    assert [one["eventTime"][:16] for one in ends(scenario, "load_orders")] == [
        "2026-03-22T16:20",
        "2026-03-22T16:20",
    ]
    assert [one["eventTime"][:16] for one in ends(scenario, "build_report")] == [
        "2026-03-22T06:05",
        "2026-03-22T16:25",
    ]


def test_a_missing_run_reports_nothing() -> None:
    first, *_ = ends(with_fault("{missing: true}"), "load_orders")
    assert first["eventTime"].startswith("2026-03-22T16:20")


def test_a_failed_run_has_its_message_and_measures_nothing() -> None:
    first, again, *_ = ends(with_fault("{fails: no space left}"), "load_orders")
    assert (first["eventType"], again["eventType"]) == ("FAIL", "COMPLETE")
    assert first["run"]["facets"]["errorMessage"]["message"] == "no space left"
    assert "outputFacets" not in first["outputs"][0]


def test_fewer_rows_copies_and_missing_values_go_downstream() -> None:
    scenario = with_fault("{rows: 0.5, copies: 2, nulls: {amount: 0.25}}")
    usual, bad = ends(scenario, "load_orders")[-1], ends(scenario, "load_orders")[0]
    rows, distinct, nulls = written(bad)
    assert 0.45 < distinct / written(usual)[1] < 0.55
    assert abs(rows - 2 * distinct) <= 1
    assert nulls == {"order_id": 0, "amount": round(rows / 4)}
    rows, _, nulls = written(ends(scenario, "build_report")[0])
    assert nulls["revenue"] == round(rows / 4)
    assert written(ends(scenario, "build_report")[-1])[2]["revenue"] == 0


def test_a_renamed_column_is_empty_where_the_old_name_is_read() -> None:
    scenario = with_fault("{renames: {amount: total}, adds: {note: string}}")
    fields = ends(scenario, "load_orders")[0]["outputs"][0]["facets"]["schema"]["fields"]
    assert [one["name"] for one in fields] == ["order_id", "total", "note"]
    rows, _, nulls = written(ends(scenario, "build_report")[0])
    assert nulls["revenue"] == rows


def test_another_source_is_read_in_its_place() -> None:
    text = TEXT.replace("datasets:\n", "datasets:\n  other: {id: 'dataset:mysql://test:3306:shop.orders'}\n", 1)
    scenario = read_scenario(text.replace("{late: 12h}", "{reads: {shop: other}, commit: abc123}"))
    bad = ends(scenario, "load_orders")[0]
    assert [one["namespace"] for one in bad["inputs"]] == ["mysql://test:3306"]
    lineage = bad["outputs"][0]["facets"]["columnLineage"]["fields"]["amount"]["inputFields"]
    assert [(one["namespace"], one["field"]) for one in lineage] == [("mysql://test:3306", "amount")]
    assert bad["job"]["facets"]["sourceCodeLocation"]["version"] == "abc123"
    assert written(bad)[2]["amount"] == written(bad)[0]
