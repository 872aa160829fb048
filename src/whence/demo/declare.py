"""The pipeline's own OpenLineage events: its run, the checks of its raw data, and the two edges that the listener
cannot observe.

The listener loses a model: training ends in RDDs, and the saved rows are created in the driver
(`InsertIntoHadoopFsRelationCommand <- WriteFiles <- LocalRelation`), so that write has no inputs. When scoring, the
weights are inside a function of the plan (`UDF(features)`), so the prediction has no model. Both edges are declared on
the run of the application, in the explicit lineage facet.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from whence import __version__
from whence.demo.checks import Check
from whence_client.spark import Parent

Event = dict[str, Any]

PRODUCER = f"urn:whence:demo:{__version__}"
MODEL_FIELDS = ("coefficientMatrix", "interceptVector")

_SPEC = "https://openlineage.io/spec"
_FIT = {"type": "DIRECT", "subtype": "AGGREGATION", "description": "fit", "masking": False}
_APPLY = {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": "predict", "masking": False}


def start_event(run: Parent, at: datetime) -> Event:
    """The start of the pipeline's own run."""
    return _run_event(run, "START", at)


def complete_event(run: Parent, at: datetime) -> Event:
    """The end of the pipeline's own run."""
    return _run_event(run, "COMPLETE", at)


def failure_event(run: Parent, at: datetime, error: Exception) -> Event:
    """The failure of the pipeline's own run, with the error."""
    message = {"message": f"{type(error).__name__}: {error}", "programmingLanguage": "PYTHON"}
    facet = _facet("facets/1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet") | message
    return _run_event(run, "FAIL", at, {"errorMessage": facet})


def check_event(
    run: Parent, parent: Parent, state: str, at: datetime, found: Mapping[str, Iterable[Check]] | None = None
) -> Event:
    """An event of a run that checks data. `found` are the results, by the path of the dataset."""
    facets = {"jobType": _job_type("JOB")}
    event = _event(run, state, at, run_facets={"parent": _parent(parent)}, job_facets=facets)
    return event | {"inputs": [_checked(path, checks) for path, checks in (found or {}).items()]}


def training_event(
    run: Parent, parent: Parent, at: datetime, *, features: str, columns: Iterable[str], model: str
) -> Event:
    """The `columns` of `features` that the model was fitted on, at field level; the model is a dataset of type MODEL.

    `features` and `model` are paths. `run` is the run of the Spark application that trained.
    """
    sources = [_source(features, column, _FIT) for column in columns]
    entry = _entry(model, dict.fromkeys(MODEL_FIELDS, sources))
    return _lineage_event(run, parent, at, entry, source=_dataset(features), target=_model(model))


def scoring_event(
    run: Parent, parent: Parent, at: datetime, *, model: str, predictions: str, columns: Iterable[str]
) -> Event:
    """The `columns` of `predictions` that the model computed. `model` and `predictions` are paths."""
    sources = [_source(model, field, _APPLY) for field in MODEL_FIELDS]
    entry = _entry(predictions, dict.fromkeys(columns, sources))
    return _lineage_event(run, parent, at, entry, source=_model(model), target=_dataset(predictions))


def _run_event(run: Parent, state: str, at: datetime, run_facets: Event | None = None) -> Event:
    return _event(run, state, at, run_facets=run_facets or {}, job_facets={"jobType": _job_type("PIPELINE")})


def _job_type(kind: str) -> Event:
    job_type = {"processingType": "BATCH", "integration": "PYTHON", "jobType": kind}
    return _facet("facets/2-0-4/JobTypeJobFacet.json#/$defs/JobTypeJobFacet") | job_type


def _checked(path: str, checks: Iterable[Check]) -> Event:
    kind = "DataQualityAssertionsDatasetFacet"
    facet = _facet(f"facets/1-1-0/{kind}.json#/$defs/{kind}") | {"assertions": [check.document for check in checks]}
    return _dataset(path) | {"inputFacets": {"dataQualityAssertions": facet}}


def _lineage_event(run: Parent, parent: Parent, at: datetime, entry: Event, *, source: Event, target: Event) -> Event:
    lineage = _facet("facets/1-0-0/LineageFacet.json#/$defs/LineageJobFacet") | {"entries": [entry]}
    event = _event(run, "RUNNING", at, run_facets={"parent": _parent(parent)}, job_facets={"lineage": lineage})
    return event | {"inputs": [source], "outputs": [target]}


def _event(run: Parent, state: str, at: datetime, *, run_facets: Event, job_facets: Event) -> Event:
    return {
        "eventType": state,
        "eventTime": at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "producer": PRODUCER,
        "schemaURL": f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": run.run_id, "facets": run_facets},
        "job": {"namespace": run.namespace, "name": run.job, "facets": job_facets},
        "inputs": [],
        "outputs": [],
    }


def _parent(parent: Parent) -> Event:
    reference = {"run": {"runId": parent.run_id}, "job": {"namespace": parent.namespace, "name": parent.job}}
    return _facet("facets/1-2-0/ParentRunFacet.json#/$defs/ParentRunFacet") | reference | {"root": reference}


def _entry(target: str, fields: dict[str, list[Event]]) -> Event:
    return _dataset(target) | {"type": "DATASET", "fields": {name: {"inputs": list(of)} for name, of in fields.items()}}


def _source(path: str, field: str, transformation: Event) -> Event:
    return _dataset(path) | {"type": "DATASET", "field": field, "transformations": [transformation]}


def _dataset(path: str) -> Event:
    return {"namespace": "file", "name": path}


def _model(path: str) -> Event:
    facet = _facet("facets/1-0-1/DatasetTypeDatasetFacet.json#/$defs/DatasetTypeDatasetFacet")
    return _dataset(path) | {"facets": {"datasetType": facet | {"datasetType": "MODEL"}}}


def _facet(schema: str) -> Event:
    return {"_producer": PRODUCER, "_schemaURL": f"{_SPEC}/{schema}"}
