"""The pipeline's own OpenLineage events: its run, and the checks of its raw data."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from whence import __version__
from whence.demo.checks import Found
from whence_client.spark import Parent

Event = dict[str, Any]

PRODUCER = f"urn:whence:demo:{__version__}"

_SPEC = "https://openlineage.io/spec"


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
    run: Parent, parent: Parent, state: str, at: datetime, found: Mapping[str, Found] | None = None
) -> Event:
    """An event of a run that checks data. `found` are the results, by the path of the dataset."""
    facets = {"jobType": _job_type("JOB")}
    event = _event(run, state, at, run_facets={"parent": _parent(parent)}, job_facets=facets)
    return event | {"inputs": [_checked(path, one) for path, one in (found or {}).items()]}


def _run_event(run: Parent, state: str, at: datetime, run_facets: Event | None = None) -> Event:
    return _event(run, state, at, run_facets=run_facets or {}, job_facets={"jobType": _job_type("PIPELINE")})


def _job_type(kind: str) -> Event:
    job_type = {"processingType": "BATCH", "integration": "PYTHON", "jobType": kind}
    return _facet("facets/2-0-4/JobTypeJobFacet.json#/$defs/JobTypeJobFacet") | job_type


def _checked(path: str, found: Found) -> Event:
    kind = "DataQualityMetricsInputDatasetFacet"
    metrics = _facet(f"facets/1-0-3/{kind}.json#/$defs/{kind}") | found.measured
    kind = "DataQualityAssertionsDatasetFacet"
    facet = _facet(f"facets/1-1-0/{kind}.json#/$defs/{kind}") | {
        "assertions": [check.document for check in found.checks]
    }
    return _dataset(path) | {"inputFacets": {"dataQualityMetrics": metrics, "dataQualityAssertions": facet}}


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


def _dataset(path: str) -> Event:
    return {"namespace": "file", "name": path}


def _facet(schema: str) -> Event:
    return {"_producer": PRODUCER, "_schemaURL": f"{_SPEC}/{schema}"}
