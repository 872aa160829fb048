"""What the lenient reader makes of an event (rules 7-9, 14, 20, 24, 35, 36, 45)."""

import json
from typing import Any

import pytest

from whence.model.events import DatasetEvent, Facet, JobEvent, RunEvent, RunState, SchemaField, Symlink
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.facets.warnings import LIMIT
from whence.openlineage.lineage_sets.event_lineage import derive_lineage_sets
from whence.openlineage.read import read_accepted, read_event

RUN_ID = "01941f29-7c00-7abc-8def-000000000001"
OTHER_ID = "01941f29-7c00-7abc-8def-000000000002"
JOB = {"namespace": "n", "name": "j"}
RUN = {"runId": RUN_ID}
HEAD = {"eventTime": "2026-01-01T00:00:00Z", "producer": "p", "schemaURL": "s"}
MIDNIGHT = 1_767_225_600_000_000


def run_event(**members: Any) -> RunEvent:
    event = read_event({**HEAD, "run": RUN, "job": JOB, **members})
    assert isinstance(event, RunEvent)
    return event


def with_run_facets(**facets: Any) -> RunEvent:
    return run_event(run={**RUN, "facets": {key: known(one) for key, one in facets.items()}})


def known(facet: Any) -> Any:
    """A facet that gives no warning for want of a schema."""
    return {"_schemaURL": "u", **facet} if isinstance(facet, dict) else facet


def dataset(**facets: Any) -> dict[str, Any]:
    return {"namespace": "n", "name": "a", "facets": {key: known(one) for key, one in facets.items()}}


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("2026-01-01T00:00:00Z", 0),
        ("2026-01-01t00:00:00z", 0),
        ("2026-01-01 00:00:00+00:00", 0),
        ("2026-01-01T05:30:00+05:30", 0),
        ("2026-01-01T05:30+0530", 0),
        ("2025-12-31T16:00:00-08", 0),
        ("2026-01-01T00:00:00.5Z", 500_000),
        ("2026-01-01T00:00:00,123456789Z", 123_456),
        ("2026-01-01T00:00:00.000001999Z", 1),
        (" 2026-01-01T00:00:00Z ", 0),
        ("1970-01-01T00:00:00Z", -MIDNIGHT),
        ("1969-12-31T23:59:59.999999Z", -MIDNIGHT - 1),
        ("0001-01-01T23:59:00+23:59", -62_135_596_800_000_000 - MIDNIGHT),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999 - MIDNIGHT),
    ],
)
def test_times(text: str, offset: int) -> None:
    event = run_event(eventTime=text)
    assert event.time == MIDNIGHT + offset
    assert event.warnings == ()


@pytest.mark.parametrize("text", ["2026-01-01T00:00:00", "2026-01-01", "2026-01-01 00:00"])
def test_rule_7_a_time_without_offset_is_utc_with_a_warning(text: str) -> None:
    event = run_event(eventTime=text)
    assert event.time == MIDNIGHT
    assert event.warnings == (f"/eventTime: '{text}' has no offset; read as UTC",)


def test_rule_7_what_is_missing_gives_warnings() -> None:
    event = read_event({"eventTime": HEAD["eventTime"], "run": RUN, "job": JOB})
    assert event.producer == ""
    assert event.warnings == ("/producer: is missing or no text", "/schemaURL: is missing or no text")


def test_rule_7_null_and_other_facets_that_are_no_objects_are_dropped() -> None:
    event = run_event(
        job={**JOB, "facets": {"a": None, "b": 3, "c": "x", "d": [], "e": True, "f": {"_schemaURL": "u"}}}
    )
    assert [facet.key for facet in event.job.facets] == ["f"]
    assert event.warnings == (
        "/job/facets/a: a facet must be an object, not null; dropped",
        "/job/facets/b: a facet must be an object, not a number; dropped",
        "/job/facets/c: a facet must be an object, not a text; dropped",
        "/job/facets/d: a facet must be an object, not a list; dropped",
        "/job/facets/e: a facet must be an object, not a boolean; dropped",
    )


def test_rule_7_a_facet_without_a_schema_is_kept_with_a_warning() -> None:
    event = run_event(job={**JOB, "facets": {"sql": {"query": "select 1"}}})
    assert event.job.facets == (Facet(key="sql", payload='{"query":"select 1"}'),)
    assert event.warnings == ("/job/facets/sql: no _schemaURL",)


def test_rule_7_deleted_alone_is_a_deletion() -> None:
    event = run_event(
        job={**JOB, "facets": {"sql": {"_deleted": True}}},
        inputs=[dataset(schema={"_deleted": True, "fields": [{"name": "x"}]})],
    )
    assert event.job.facets == (Facet(key="sql", payload='{"_deleted":true}', deleted=True),)
    assert event.inputs[0].facets[0].deleted
    assert event.inputs[0].fields == ()


@pytest.mark.parametrize("marker", [False, "true", 1, None])
def test_only_a_true_marker_deletes(marker: Any) -> None:
    assert not run_event(job={**JOB, "facets": {"sql": known({"_deleted": marker})}}).job.facets[0].deleted


def test_rule_24_deleted_is_ignored_on_run_input_and_output_facets() -> None:
    gone = known({"_deleted": True})
    event = run_event(
        run={**RUN, "facets": {"x": gone}},
        inputs=[{"namespace": "n", "name": "a", "inputFacets": {"y": gone}}],
        outputs=[{"namespace": "n", "name": "b", "outputFacets": {"z": gone}}],
    )
    kept = [event.run.facets[0], event.inputs[0].run_facets[0], event.outputs[0].run_facets[0]]
    assert [(facet.key, facet.deleted) for facet in kept] == [("x", False), ("y", False), ("z", False)]
    assert event.warnings == tuple(
        f"{place}: _deleted is for job and dataset facets only; ignored"
        for place in ("/inputs/0/inputFacets/y", "/outputs/0/outputFacets/z", "/run/facets/x")
    )


def test_rule_8_job_and_dataset_without_run() -> None:
    described = dataset(schema={"fields": [{"name": "x"}]}, lineage={"inputs": [{"namespace": "n", "name": "b"}]})
    event = read_event({**HEAD, "job": JOB, "dataset": described, "outputs": [{"namespace": "n", "name": "o"}]})
    assert isinstance(event, JobEvent)
    assert event.dataset is not None
    assert event.dataset.fields == (SchemaField(name="x"),)
    assert [facet.key for facet in event.dataset.facets] == ["lineage", "schema"]
    assert event.warnings == ("/dataset: stands beside a job; read as a job event, with the dataset's facets",)
    assert {one.output for one in derive_lineage_sets(event)} == {DatasetName("n", "o")}


def test_rule_8_run_job_and_dataset_is_a_run_event() -> None:
    event = run_event(dataset=dataset())
    assert event.inputs == event.outputs == ()
    assert event.warnings == ("/dataset: a run event has inputs and outputs; ignored",)


def test_run_and_dataset_without_job_is_a_dataset_event() -> None:
    event = read_event({**HEAD, "run": RUN, "dataset": dataset()})
    assert isinstance(event, DatasetEvent)
    assert event.warnings == ("/run: a dataset event has no run; ignored",)


def test_rule_9_unknown_facets_are_kept_whatever_their_keys() -> None:
    odd = {
        "spark.logicalPlan": {"plan": [1, {"b": None, "a": "\u0000é"}], "_schemaURL": "u"},
        "environment-properties": known({"x": 1e2}),
    }
    event = run_event(run={**RUN, "facets": odd})
    assert {facet.key: json.loads(facet.payload) for facet in event.run.facets} == odd


def test_rule_14_empty_absent_and_null_lists_are_alike() -> None:
    assert run_event(inputs=[], outputs=[]) == run_event()
    event = run_event(inputs=None, outputs=7)
    assert (event.inputs, event.outputs) == ((), ())
    assert event.warnings == ("/outputs: is not a list; ignored",)


@pytest.mark.parametrize("word", ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"])
def test_states(word: str) -> None:
    assert run_event(eventType=word).state is RunState[word]


@pytest.mark.parametrize("word", ["BOGUS", "complete", 3, {}, [], "a\0"])
def test_rule_7_another_event_type_is_other_with_a_warning(word: Any) -> None:
    event = run_event(eventType=word)
    assert event.state is RunState.OTHER
    assert len(event.warnings) == 1
    assert event.warnings[0].startswith("/eventType: ")
    assert "\0" not in event.warnings[0]


def test_no_event_type_is_other() -> None:
    assert run_event().state is RunState.OTHER
    assert run_event().warnings == ()


def test_run_ids_are_lower_case() -> None:
    assert run_event(run={"runId": RUN_ID.upper()}).run.name == RunName(RUN_ID, JobName("n", "j"))


def test_rules_35_36_parent_and_root() -> None:
    top = {"run": {"runId": OTHER_ID.upper()}, "job": {"namespace": "https://u:p@m", "name": "top"}}
    run = with_run_facets(parent={**top, "root": top, "facets": {"x": {}}}).run
    assert run.parent == run.root == RunName(OTHER_ID, JobName("https://m", "top"))


def test_rule_36_a_run_is_not_its_own_parent() -> None:
    event = with_run_facets(parent={"run": RUN, "job": JOB, "root": {"run": {"runId": OTHER_ID}, "job": JOB}})
    assert event.run.parent is None
    assert event.run.root == RunName(OTHER_ID, JobName("n", "j"))
    assert event.warnings == ("/run/facets/parent: a run cannot contain itself; cut",)


@pytest.mark.parametrize(
    "parent", [{}, {"run": RUN}, {"run": {"runId": ""}, "job": JOB}, {"run": RUN, "job": {"name": "x"}}]
)
def test_a_parent_that_cannot_be_placed_is_ignored(parent: dict[str, Any]) -> None:
    event = with_run_facets(parent=parent)
    assert event.run.parent is None
    assert event.run.facets
    assert event.warnings == (
        "/run/facets/parent: needs a run with an id and a job with a namespace and a name; ignored",
    )


def test_a_parent_run_without_a_uuid_has_the_one_that_marquez_gives() -> None:
    event = with_run_facets(
        parent={"run": {"runId": "scheduled__2022-03-14"}, "job": {"namespace": "n", "name": "dag"}}
    )
    run_id = "7a8bf5e6-8cc5-3450-8fd1-ad5aad2c75fd"
    assert event.run.parent == RunName(run_id, JobName("n", "dag"))
    assert event.warnings == (f"/run/facets/parent/run/runId: 'scheduled__2022-03-14' is no UUID; known as {run_id}",)


def test_rule_20_partial() -> None:
    timeout = "Incomplete lineage: timeout caught. Inputs missing: true, Outputs missing: false"
    assert with_run_facets(extractionError={"totalTasks": 1, "failedTasks": 1, "errors": []}).run.partial
    assert with_run_facets(debug={"logs": ["other", timeout]}).run.partial
    assert not with_run_facets(debug={"logs": ["all is well"]}).run.partial
    assert not with_run_facets(debug={"logs": "Incomplete lineage"}).run.partial
    assert not run_event().run.partial


@pytest.mark.parametrize(
    ("kind", "streaming"), [("STREAMING", True), ("service", True), ("BATCH", False), (None, False), (3, False)]
)
def test_streaming(kind: Any, streaming: bool) -> None:
    assert run_event(job={**JOB, "facets": {"jobType": known({"processingType": kind})}}).job.streaming is streaming


def test_rule_45_nested_fields_are_flattened_after_their_parent() -> None:
    fields = [
        {
            "name": "a",
            "type": "struct",
            "fields": [
                {"name": "b", "type": "int", "description": "d\0"},
                {"type": "nameless", "fields": [{"name": "x"}]},
            ],
        },
        {"name": "Quoted.Name", "type": {"odd": 1}},
        "no field",
    ]
    event = run_event(inputs=[dataset(schema={"fields": fields})])
    assert event.inputs[0].fields == (
        SchemaField(name="a", type="struct"),
        SchemaField(name="a.b", type="int", description="d\ufffd"),
        SchemaField(name="Quoted.Name"),
    )
    assert event.warnings == ("/inputs/0/facets/schema/fields/0/fields/1/name: a field needs a name; ignored",)


def test_symlinks_are_normalised_and_never_to_itself() -> None:
    links = [
        {"namespace": "s3a://lake/", "name": "x//y/", "type": "LOCATION"},
        {"namespace": "n", "name": "a", "type": "TABLE"},
        {"namespace": "n", "name": "b", "type": "T" * 300},
        {"namespace": "n", "name": "c"},
        {"name": "d"},
    ]
    event = run_event(inputs=[dataset(symlinks={"identifiers": links})])
    assert event.inputs[0].symlinks == (
        Symlink(name=DatasetName("s3://lake", "x/y"), type="LOCATION"),
        Symlink(name=DatasetName("n", "b"), type="T" * 200),
        Symlink(name=DatasetName("n", "c"), type=""),
    )
    assert event.warnings == (
        "/inputs/0/facets/symlinks/identifiers/4: a symlink needs a namespace and a name; ignored",
    )


def test_rules_26_27_the_raw_name_is_kept() -> None:
    event = run_event(inputs=[{"namespace": "s3a://lake/", "name": "x//"}])
    assert event.inputs[0].name == DatasetName("s3://lake", "x")
    assert event.inputs[0].raw == DatasetName("s3a://lake/", "x//")


def test_datasets_without_a_name_are_ignored_with_a_warning() -> None:
    event = run_event(inputs=[3, {"namespace": "n"}, {"namespace": "n", "name": ""}, {"namespace": "n", "name": "a"}])
    assert [one.name.name for one in event.inputs] == ["a"]
    assert event.warnings == tuple(
        f"/inputs/{index}: a dataset needs a namespace and a name, both non-empty texts; ignored" for index in range(3)
    )


def test_producer_loses_nul() -> None:
    assert run_event(producer="a\0b").producer == "a\ufffdb"


def test_warnings_are_bounded() -> None:
    event = run_event(inputs=[{"x" * 999: 1} for _ in range(500)], job={**JOB, "facets": {"é" * 400: None}})
    assert len(event.warnings) == LIMIT + 1
    assert event.warnings[-1] == "and 481 more"
    assert all(len(warning) <= 200 for warning in event.warnings)


CHECKED, OTHERS = ({"_schemaURL": "u", "assertions": [{"assertion": one, "success": False}]} for one in ("a", "b"))


@pytest.mark.parametrize("read", [read_event, lambda event: read_accepted(json.dumps(event).encode())])
@pytest.mark.parametrize(
    ("misplaced", "found"),
    [
        ({"facets": {"dataQualityAssertions": CHECKED}}, CHECKED),
        ({"facets": {"dataQualityAssertions": CHECKED}, "inputFacets": {"dataQualityAssertions": OTHERS}}, OTHERS),
        ({"facets": {"dataQualityAssertions": CHECKED}, "inputFacets": {"x": {"_schemaURL": "u"}}}, CHECKED),
        ({"facets": {"dataQualityAssertions": CHECKED | {"_deleted": True}}}, None),
    ],
)
def test_checks_among_the_facets_of_an_input_are_the_runs(read: Any, misplaced: dict[str, Any], found: Any) -> None:
    """Airflow's provider 2.20.3 reports them there, and no failed check was known."""
    event = read({**HEAD, "run": RUN, "job": JOB, "inputs": [{"namespace": "n", "name": "a", **misplaced}]})
    facets = {one.key: json.loads(one.payload) for one in event.inputs[0].run_facets}
    assert facets.get("dataQualityAssertions") == found
