"""Events of runs, jobs and datasets.

>>> from datetime import datetime, timezone
>>> run = RunRef("shop", "load", "01941f29-7c00-7abc-8def-000000000001")
>>> event = run_event("START", run, datetime(2026, 1, 1, tzinfo=timezone.utc))
>>> event["eventTime"], event["job"]["name"]
('2026-01-01T00:00:00.000000Z', 'load')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from whence_client.events.datasets import Dataset
from whence_client.events.facets import PRODUCER, SPEC, Event, Facet, facet

START, RUNNING, COMPLETE, FAIL, ABORT, OTHER = "START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER"
ENDED = frozenset((COMPLETE, FAIL, ABORT))

Facets = Mapping[str, Facet]


@dataclass(frozen=True)
class RunRef:
    """A run by its job and id. `root` is the topmost run of the hierarchy, None if it is not known to be another.
    `part_of` is the job that this one is a part of, as a cell is of its notebook.
    """

    namespace: str
    job: str
    run_id: str
    root: RunRef | None = None
    part_of: str = ""

    @property
    def scope(self) -> str:
        """The job that the jobs below this one are named after: another cell may write the same dataset tomorrow."""
        return self.part_of or self.job


def run_event(
    state: str,
    run: RunRef,
    at: datetime,
    *,
    parent: RunRef | None = None,
    run_facets: Facets | None = None,
    job_facets: Facets | None = None,
    inputs: Iterable[Dataset] = (),
    outputs: Iterable[Dataset] = (),
    producer: str = PRODUCER,
) -> Event:
    """An event of a run at `at`, an aware time of the source. `parent` becomes the facet `parent`, with its root."""
    facets = dict(run_facets or {})
    if parent is not None:
        facets.setdefault("parent", parent_facet(parent))
    return {
        "eventType": state,
        **_header("RunEvent", at, producer),
        "run": {"runId": run.run_id, "facets": facets},
        "job": {"namespace": run.namespace, "name": run.job, "facets": dict(job_facets or {})},
        "inputs": [one.document("inputFacets") for one in inputs],
        "outputs": [one.document("outputFacets") for one in outputs],
    }


def job_event(
    namespace: str,
    name: str,
    at: datetime,
    *,
    facets: Facets | None = None,
    inputs: Iterable[Dataset] = (),
    outputs: Iterable[Dataset] = (),
    producer: str = PRODUCER,
) -> Event:
    """What is declared of a job from `at` on."""
    return {
        **_header("JobEvent", at, producer),
        "job": {"namespace": namespace, "name": name, "facets": dict(facets or {})},
        "inputs": [one.document("inputFacets") for one in inputs],
        "outputs": [one.document("outputFacets") for one in outputs],
    }


def dataset_event(dataset: Dataset, at: datetime, *, producer: str = PRODUCER) -> Event:
    """What is declared of a dataset from `at` on."""
    return {**_header("DatasetEvent", at, producer), "dataset": dataset.document("outputFacets")}


def parent_facet(parent: RunRef) -> Facet:
    """The facet `parent`. Without a known root, the parent is the root."""
    return facet("ParentRunFacet", **_reference(parent), root=_reference(parent.root or parent))


def error_facet(message: str, stack: str = "", language: str = "PYTHON") -> Facet:
    """The facet `errorMessage`."""
    members = {"message": message, "programmingLanguage": language, **({"stackTrace": stack} if stack else {})}
    return facet("ErrorMessageRunFacet", **members)


def extraction_error_facet(errors: Mapping[str, str], total: int | None = None) -> Facet:
    """The facet `extractionError`: lineage of the run is incomplete. `errors`: message of each failed task."""
    documents = [
        {"errorMessage": message, "task": task, "taskNumber": number}
        for number, (task, message) in enumerate(errors.items())
    ]
    failed = len(documents)
    return facet("ExtractionErrorRunFacet", totalTasks=total or failed, failedTasks=failed, errors=documents)


def job_type_facet(kind: str, integration: str = "PYTHON", processing: str = "BATCH") -> Facet:
    """The facet `jobType`: what kind of job it is (JOB, TASK, CELL, QUERY, PIPELINE), and of which system."""
    return facet("JobTypeJobFacet", processingType=processing, integration=integration, jobType=kind)


def iso(at: datetime) -> str:
    """The time in UTC, in microseconds. A naive time is taken as UTC."""
    at = at.replace(tzinfo=timezone.utc) if at.tzinfo is None else at.astimezone(timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond:06d}Z"


def _header(kind: str, at: datetime, producer: str) -> dict[str, Any]:
    schema = f"{SPEC}/2-0-2/OpenLineage.json#/$defs/{kind}"
    return {"eventTime": iso(at), "producer": producer, "schemaURL": schema}


def _reference(run: RunRef) -> dict[str, Any]:
    return {"run": {"runId": run.run_id}, "job": {"namespace": run.namespace, "name": run.job}}
