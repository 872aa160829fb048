"""What the pipeline says of itself as OpenLineage events: its own run, and the two edges that the listener cannot see.

The listener loses a model: training ends in RDDs, and what is saved are rows made in the driver
(`InsertIntoHadoopFsRelationCommand <- WriteFiles <- LocalRelation`), so that write has no inputs; when scoring, the
weights sit inside a function of the plan (`UDF(features)`), so the prediction has no model. Both are declared on the
run of the application that did it, in the explicit lineage facet.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from whence import __version__
from whence.capture.spark import Parent

Event = dict[str, Any]

PRODUCER = f"urn:whence:demo:{__version__}"
MODEL_FIELDS = ("coefficientMatrix", "interceptVector")

_SPEC = "https://openlineage.io/spec"
_FIT = {"type": "DIRECT", "subtype": "AGGREGATION", "description": "fit", "masking": False}
_APPLY = {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": "predict", "masking": False}


def started(run: Parent, at: datetime) -> Event:
    """The start of the pipeline's own run."""
    return _run_event(run, "START", at)


def completed(run: Parent, at: datetime) -> Event:
    """The end of the pipeline's own run."""
    return _run_event(run, "COMPLETE", at)


def failed(run: Parent, at: datetime, error: Exception) -> Event:
    """The failure of the pipeline's own run, with the error."""
    message = {"message": f"{type(error).__name__}: {error}", "programmingLanguage": "PYTHON"}
    facet = _facet("facets/1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet") | message
    return _run_event(run, "FAIL", at, {"errorMessage": facet})


def trained(run: Parent, parent: Parent, at: datetime, *, features: str, columns: Iterable[str], model: str) -> Event:
    """The `columns` of `features` that the model was fitted on, at field level; the model is a dataset of type MODEL.

    `features` and `model` are paths. `run` is the run of the Spark application that trained.
    """
    sources = [_source(features, column, _FIT) for column in columns]
    entry = _entry(model, dict.fromkeys(MODEL_FIELDS, sources))
    return _lineage_event(run, parent, at, entry, source=_dataset(features), target=_model(model))


def scored(run: Parent, parent: Parent, at: datetime, *, model: str, predictions: str, columns: Iterable[str]) -> Event:
    """The `columns` of `predictions` that the model computed. `model` and `predictions` are paths."""
    sources = [_source(model, field, _APPLY) for field in MODEL_FIELDS]
    entry = _entry(predictions, dict.fromkeys(columns, sources))
    return _lineage_event(run, parent, at, entry, source=_model(model), target=_dataset(predictions))


def _run_event(run: Parent, state: str, at: datetime, run_facets: Event | None = None) -> Event:
    job_type = {"processingType": "BATCH", "integration": "PYTHON", "jobType": "PIPELINE"}
    facets = {"jobType": _facet("facets/2-0-4/JobTypeJobFacet.json#/$defs/JobTypeJobFacet") | job_type}
    return _event(run, state, at, run_facets=run_facets or {}, job_facets=facets)


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
