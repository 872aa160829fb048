"""Strict mode: the specification's schemas, derived from openlineage-python (rule 7)."""

import inspect
import json
import subprocess
import sys
from typing import Any

import attr
import jsonschema_rs
import pytest
from openlineage.client import event_v2, facet_v2
from openlineage.client.generated import base
from openlineage.client.serde import Serde

from whence.errors import EventError
from whence.openlineage.accept import accept
from whence.openlineage.validation.schemas import EVENTS, FACETS, schema_of

RUN_ID = "01941f29-7c00-7abc-8def-000000000001"
FACET = {"_producer": "https://p", "_schemaURL": "https://s"}
JOB = {"namespace": "n", "name": "j"}
HEAD = {"eventTime": "2026-01-01T00:00:00Z", "producer": "https://p", "schemaURL": "https://s"}


def event(**members: Any) -> dict[str, Any]:
    whole = {**HEAD, "eventType": "START", "run": {"runId": RUN_ID}, "job": JOB, **members}
    return {key: value for key, value in whole.items() if value is not ...}


def job_facets(**facets: Any) -> dict[str, Any]:
    return event(job={**JOB, "facets": {key: {**FACET, **one} for key, one in facets.items()}})


def output_facets(**facets: Any) -> dict[str, Any]:
    return event(
        outputs=[{"namespace": "n", "name": "o", "facets": {key: {**FACET, **one} for key, one in facets.items()}}]
    )


def lineage(**entry: Any) -> dict[str, Any]:
    return job_facets(lineage={"entries": [entry]})


def column(**members: Any) -> dict[str, Any]:
    field = {"namespace": "n", "name": "a", "field": "k", **members}
    return output_facets(columnLineage={"fields": {"x": {"inputFields": [field]}}})


VALID = [
    event(),
    event(eventType=...),
    event(dataset={"namespace": "n", "name": "d"}),
    event(run=..., unknown=[1]),
    event(run=..., job={"namespace": "n", "name": ""}),
    event(job=..., dataset={"namespace": "n", "name": "d"}),
    job_facets(
        sql={"query": "select 1", "extra": 1},
        custom={"any": "thing"},
        documentation={"_deleted": True, "description": ""},
    ),
    column(transformations=[{"type": "DIRECT", "masking": True}]),
    lineage(type="DATASET", namespace="n", name="o", inputs=[{"type": "JOB"}], fields={"x": {"inputs": []}}),
    lineage(type="JOB", namespace="n", name="other"),
]
INVALID = [
    (event(schemaURL=...), "", "schemaURL"),
    (event(producer=...), "", "producer"),
    (event(eventTime=...), "", "eventTime"),
    (event(job=...), "", "job"),
    (event(run=..., job=...), "", "an event needs"),
    (event(run=..., dataset={"namespace": "n", "name": "d"}), "", "neither a job event nor a dataset event"),
    (event(eventType="BOGUS"), "/eventType", "is not one of"),
    (event(inputs=None), "/inputs", "array"),
    (event(run={"runId": "x"}), "/run/runId", "UUID"),
    (event(eventTime="soon"), "/eventTime", "ISO 8601"),
    (event(run={"runId": RUN_ID, "facets": {"custom": {"_producer": "p"}}}), "/run/facets/custom", "_schemaURL"),
    (event(job={**JOB, "facets": {"custom": None}}), "/job/facets/custom", "object"),
    (event(job={**JOB, "facets": {"a/b": {"_deleted": True}}}), "/job/facets/a~1b", "_producer"),
    (job_facets(sql={"query": 3}), "/job/facets/sql/query", "string"),
    (job_facets(jobType={"processingType": "BATCH"}), "/job/facets/jobType", "integration"),
    (
        output_facets(schema={"fields": [{"name": "a", "fields": [{"type": "int"}]}]}),
        "/outputs/0/facets/schema/fields/0/fields/0",
        "name",
    ),
    (
        output_facets(lifecycleStateChange={"lifecycleStateChange": "MELT"}),
        "/outputs/0/facets/lifecycleStateChange/lifecycleStateChange",
        "is not one of",
    ),
    (output_facets(columnLineage={}), "/outputs/0/facets/columnLineage", "fields"),
    (column(field=3), "/outputs/0/facets/columnLineage/fields/x/inputFields/0/field", "string"),
    (column(transformations=[{}]), "/outputs/0/facets/columnLineage/fields/x/inputFields/0/transformations/0", "type"),
    (lineage(namespace="n", name="o"), "/job/facets/lineage/entries/0", "type"),
    (lineage(type="RUN"), "/job/facets/lineage/entries/0/type", "is not one of"),
    (lineage(type="DATASET", name="o"), "/job/facets/lineage/entries/0", "namespace"),
    (lineage(type="JOB", name="half"), "/job/facets/lineage/entries/0", "namespace"),
    (
        lineage(type="DATASET", namespace="n", name="o", fields={"x": {"inputs": [{"type": "DATASET"}]}}),
        "/job/facets/lineage/entries/0/fields/x/inputs/0",
        "name",
    ),
    (
        event(inputs=[{"namespace": "n", "name": "a", "inputFacets": {"inputStatistics": {**FACET, "rowCount": "3"}}}]),
        "/inputs/0/inputFacets/inputStatistics/rowCount",
        "integer",
    ),
]


@pytest.mark.parametrize("given", VALID)
def test_valid(given: dict[str, Any]) -> None:
    assert accept(json.dumps(given).encode(), strict=True).warnings == accept(json.dumps(given).encode()).warnings


@pytest.mark.parametrize(("given", "pointer", "reason"), INVALID)
def test_invalid_names_the_place(given: dict[str, Any], pointer: str, reason: str) -> None:
    with pytest.raises(EventError) as caught:
        accept(json.dumps(given).encode(), strict=True)
    assert (caught.value.status, caught.value.pointer) == (422, pointer)
    assert reason in caught.value.reason


def test_reasons_quote_no_values() -> None:
    with pytest.raises(EventError) as caught:
        accept(json.dumps(job_facets(sql={"query": ["hunter2"]})).encode(), strict=True)
    assert caught.value.reason == 'the value is not of type "string"'


def test_several_errors_are_counted() -> None:
    with pytest.raises(EventError, match=r"\(and 2 more\)"):
        accept(json.dumps(event(producer=3, schemaURL=3, inputs=3)).encode(), strict=True)


def facet_classes() -> list[type]:
    modules = [module for _, module in inspect.getmembers(facet_v2, inspect.ismodule)]
    classes = {cls for module in modules for _, cls in inspect.getmembers(module, inspect.isclass)}
    return sorted(
        (cls for cls in classes if issubclass(cls, base.BaseFacet) and cls not in _BASES), key=lambda cls: cls.__name__
    )


_BASES = {base.BaseFacet, *FACETS}


def test_every_facet_class_of_the_package_has_its_key() -> None:
    assert {cls for some in FACETS.values() for cls in some.values()} == set(facet_classes())
    assert len(facet_classes()) >= 38


@pytest.mark.parametrize("cls", facet_classes(), ids=lambda cls: cls.__name__)
def test_schemas_are_sound_and_hold_the_facet_to_its_required_members(cls: type) -> None:
    schema = schema_of(cls)
    jsonschema_rs.meta.validate(schema)
    required = {one.name for one in attr.fields(cls) if one.default is attr.NOTHING} | set(FACET)
    messages = [error.message for error in jsonschema_rs.Draft202012Validator(schema).iter_errors({})]
    assert {name for name in required if any(f'"{name}"' in message for message in messages)} == required


def test_what_the_python_client_writes_is_valid() -> None:
    schema = facet_v2.schema_dataset.SchemaDatasetFacet(
        fields=[facet_v2.schema_dataset.SchemaDatasetFacetFields("a", "int")]
    )
    written = event_v2.RunEvent(
        eventTime="2026-01-01T00:00:00Z",
        run=event_v2.Run(
            RUN_ID, {"nominalTime": facet_v2.nominal_time_run.NominalTimeRunFacet("2026-01-01T00:00:00Z")}
        ),
        job=event_v2.Job("n", "j", {"sql": facet_v2.sql_job.SQLJobFacet("select 1")}),
        eventType=event_v2.RunState.COMPLETE,
        producer="https://p",
        outputs=[event_v2.OutputDataset("n", "o", facets={"schema": schema})],
    )
    accepted = accept(Serde.to_json(written).encode(), strict=True)
    assert accepted.warnings == ()


def test_the_lenient_path_does_not_import_the_client() -> None:
    """It takes a second, and the collector must be ready sooner."""
    names = "('openlineage.client', 'jsonschema_rs')"
    code = f"import sys, whence.openlineage.accept; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_all_three_kinds_of_events_have_a_schema() -> None:
    for cls in EVENTS.values():
        jsonschema_rs.meta.validate(schema_of(cls))
