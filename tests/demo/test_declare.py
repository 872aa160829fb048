"""The events that the pipeline declares of itself, as golden JSON."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from whence.demo import declare, facts
from whence.demo.checks import Check
from whence_client.spark import Parent

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
PIPELINE = Parent(namespace="demo", job="churn_pipeline", run_id=str(UUID(int=1)))
TRAIN = Parent(namespace="demo", job="churn_train", run_id=str(UUID(int=2)), root=PIPELINE)


def test_training_names_each_column_and_a_model() -> None:
    event = declare.training_event(TRAIN, PIPELINE, AT, features="/f", columns=("tenure", "churned"), model="/m")
    assert event["eventType"] == "RUNNING"
    assert event["eventTime"] == "2026-01-02T03:04:05.678Z"
    assert event["run"]["runId"] == TRAIN.run_id
    assert event["run"]["facets"]["parent"]["job"] == {"namespace": "demo", "name": "churn_pipeline"}
    (entry,) = event["job"]["facets"]["lineage"]["entries"]
    fit = {"type": "DIRECT", "subtype": "AGGREGATION", "description": "fit", "masking": False}
    sources = [
        {"namespace": "file", "name": "/f", "type": "DATASET", "field": column, "transformations": [fit]}
        for column in ("tenure", "churned")
    ]
    assert entry == {
        "namespace": "file",
        "name": "/m",
        "type": "DATASET",
        "fields": {"coefficientMatrix": {"inputs": sources}, "interceptVector": {"inputs": sources}},
    }


def test_scoring_reads_the_model() -> None:
    event = declare.scoring_event(TRAIN, PIPELINE, AT, model="/m", predictions="/p", columns=("churn_label",))
    (entry,) = event["job"]["facets"]["lineage"]["entries"]
    assert [source["field"] for source in entry["fields"]["churn_label"]["inputs"]] == list(declare.MODEL_FIELDS)
    assert event["inputs"][0]["facets"]["datasetType"]["datasetType"] == "MODEL"
    assert event["outputs"] == [{"namespace": "file", "name": "/p"}]


def test_a_failure_carries_its_error() -> None:
    event = declare.failure_event(PIPELINE, AT, ValueError("no rows"))
    assert event["eventType"] == "FAIL"
    assert event["run"]["facets"]["errorMessage"]["message"] == "ValueError: no rows"


def test_checks_are_said_of_what_a_run_reads() -> None:
    check = Check(assertion="unique", column="customer_id", success=False, severity="warn")
    event = declare.check_event(TRAIN, PIPELINE, "COMPLETE", AT, {"/raw": [check]})
    assert event["run"]["facets"]["parent"]["job"]["name"] == "churn_pipeline"
    (read,) = event["inputs"]
    assert read["inputFacets"]["dataQualityAssertions"]["assertions"] == [
        {"assertion": "unique", "column": "customer_id", "success": False, "severity": "warn"}
    ]


def test_facts_are_about_datasets_of_the_pipeline(tmp_path: Path) -> None:
    events = list(facts.fact_events(tmp_path, 0))
    assert len(events) == len(facts.FACTS_BY_PATH)
    raw = next(one for one in events if one["dataset"]["name"] == str(tmp_path / "raw/crm_export"))
    assert {tag["field"] for tag in raw["dataset"]["facets"]["tags"]["tags"]} == {"name", "email"}
    assert raw["dataset"]["facets"]["whence_boundary"]["origin"] is True
    assert raw["producer"] == declare.PRODUCER
