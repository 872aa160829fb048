"""The events that the pipeline declares of itself, as golden JSON."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from whence.demo import declare, facts
from whence.demo.checks import Check, Found, measure
from whence_client.spark import Parent

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
PIPELINE = Parent(namespace="demo", job="churn_pipeline", run_id=str(UUID(int=1)))
TRAIN = Parent(namespace="demo", job="churn_train", run_id=str(UUID(int=2)), root=PIPELINE)


def test_a_failure_carries_its_error() -> None:
    event = declare.failure_event(PIPELINE, AT, ValueError("no rows"))
    assert event["eventType"] == "FAIL"
    assert event["run"]["facets"]["errorMessage"]["message"] == "ValueError: no rows"


def test_checks_are_said_of_what_a_run_reads() -> None:
    check = Check(assertion="unique", column="customer_id", success=False, severity="warn")
    found = Found(measured=measure([{"customer_id": ""}]), checks=(check,))
    event = declare.check_event(TRAIN, PIPELINE, "COMPLETE", AT, {"/raw": found})
    assert event["run"]["facets"]["parent"]["job"]["name"] == "churn_pipeline"
    (read,) = event["inputs"]
    assert read["inputFacets"]["dataQualityAssertions"]["assertions"] == [
        {"assertion": "unique", "column": "customer_id", "success": False, "severity": "warn"}
    ]
    assert read["inputFacets"]["dataQualityMetrics"]["columnMetrics"] == {"customer_id": {"nullCount": 1, "count": 0}}


def test_facts_are_about_datasets_of_the_pipeline(tmp_path: Path) -> None:
    events = list(facts.fact_events(tmp_path, 0))
    assert len(events) == len(facts.FACTS_BY_PATH)
    raw = next(one for one in events if one["dataset"]["name"] == str(tmp_path / "raw/crm_export"))
    assert {tag["field"] for tag in raw["dataset"]["facets"]["tags"]["tags"]} == {"name", "email"}
    assert raw["dataset"]["facets"]["whence_boundary"]["origin"] is True
    assert raw["producer"] == declare.PRODUCER


def test_the_runbook_of_a_dataset_is_a_tag_of_it(tmp_path: Path) -> None:
    logs = next(one for one in facts.fact_events(tmp_path, 0) if one["dataset"]["name"].endswith("raw/usage_logs"))
    (tag,) = logs["dataset"]["facets"]["tags"]["tags"]
    assert (tag["key"], tag["value"]) == ("runbook", facts.FACTS_BY_PATH["raw/usage_logs"].runbook)
