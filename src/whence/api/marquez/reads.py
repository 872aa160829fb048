"""Namespaces, sources, datasets, jobs and runs, for clients of Marquez."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response

from whence.api.answers import MISSING, answer
from whence.api.cataloguing import Asked, Catalogued
from whence.api.marquez import gather, shapes
from whence.api.paths import Limit, Offset, Segment
from whence.errors import ThingNotFoundError
from whence.model.catalog import SchemaSaid, Wanted, Window, Write
from whence.model.events import RunState
from whence.model.ids import Kind, node_id
from whence.model.names import DatasetName
from whence.query.described import DescribedDataset, DescribedJob, describe_datasets, describe_jobs, describe_runs
from whence.query.versions import halves

routes = APIRouter(prefix="/api/v1", tags=["marquez"], responses=MISSING)

States = Annotated[Sequence[Literal["NEW", "RUNNING", "COMPLETED", "ABORTED", "FAILED"]], Query(alias="lastRunStates")]


@routes.get("/namespaces")
def list_namespaces(asked: Asked, limit: Limit = 100, offset: Offset = 0) -> Response:
    """All namespaces, by name."""
    found = gather.spaces(asked)
    page = gather.space_documents(asked, found[offset : offset + limit])
    return answer({"namespaces": page, "totalCount": len(found)})


@routes.get("/namespaces/{namespace}")
def get_namespace(asked: Asked, namespace: Segment) -> Response:
    """One namespace."""
    return answer(gather.space_document(asked, namespace))


@routes.get("/sources")
def list_sources(asked: Asked, limit: Limit = 100, offset: Offset = 0) -> Response:
    """All data sources, by name."""
    found = gather.sources(asked)
    page = gather.source_documents(asked, found[offset : offset + limit])
    return answer({"sources": page, "totalCount": len(found)})


@routes.get("/sources/{source}")
def get_source(asked: Asked, source: Segment) -> Response:
    """One data source."""
    return answer(gather.source_named(asked, source))


@routes.get("/namespaces/{namespace}/datasets")
def list_datasets(asked: Asked, namespace: Segment, limit: Limit = 100, offset: Offset = 0) -> Response:
    """The datasets of a namespace, by name, with where their columns come from."""
    wanted = Wanted(namespace=namespace)
    entries = asked.catalog.listed(Kind.DATASET, wanted, Window(limit=limit, offset=offset))
    page = [shapes.dataset_document(one) for one in describe_datasets(asked.catalog, asked.graph, entries)]
    return answer({"datasets": page, "totalCount": asked.catalog.count(Kind.DATASET, wanted)})


@routes.get("/namespaces/{namespace}/datasets/{dataset}")
def get_dataset(asked: Asked, namespace: Segment, dataset: Segment) -> Response:
    """One dataset."""
    return answer(shapes.dataset_document(gather.dataset_named(asked, namespace, dataset)))


@routes.get("/namespaces/{namespace}/datasets/{dataset}/versions")
def list_dataset_versions(
    asked: Asked, namespace: Segment, dataset: Segment, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """A version for each run that wrote the dataset, newest first; of one that no run wrote, for each schema."""
    one = gather.dataset_named(asked, namespace, dataset)
    total = asked.catalog.count_writes(one.entry.id)
    if total:
        page = _written(asked, one, asked.catalog.writes(one.entry.id, Window(limit=limit, offset=offset)))
        return answer({"versions": page, "totalCount": total})
    schemas = _schemas(asked, one)
    page = [shapes.dataset_version_document(one, said, None) for said in schemas[offset : offset + limit]]
    return answer({"versions": page, "totalCount": len(schemas)})


@routes.get("/namespaces/{namespace}/datasets/{dataset}/versions/{version}")
def get_dataset_version(asked: Asked, namespace: Segment, dataset: Segment, version: UUID) -> Response:
    """One version of a dataset."""
    one = gather.dataset_named(asked, namespace, dataset)
    of, whose = halves(str(version)) or (0, 0)
    if whose == one.entry.id and (write := asked.catalog.write(one.entry.id, of)):
        return answer(_written(asked, one, [write])[0])
    schema = next((said for said in _schemas(asked, one) if said.body_id == of and whose == one.entry.id), None)
    if schema is None:
        raise ThingNotFoundError("Dataset version", str(version))
    return answer(shapes.dataset_version_document(one, schema, None))


@routes.get("/jobs")
def list_jobs(asked: Asked, states: States = (), limit: Limit = 100, offset: Offset = 0) -> Response:
    """Jobs of all namespaces, those that were seen last first."""
    wanted = Wanted(states=_states(states), latest=True)
    return _jobs(asked, wanted, Window(limit=limit, offset=offset))


@routes.get("/namespaces/{namespace}/jobs")
def list_jobs_of_namespace(
    asked: Asked, namespace: Segment, states: States = (), limit: Limit = 100, offset: Offset = 0
) -> Response:
    """The jobs of a namespace, by name."""
    wanted = Wanted(namespace=namespace, states=_states(states))
    return _jobs(asked, wanted, Window(limit=limit, offset=offset))


@routes.get("/namespaces/{namespace}/jobs/{job}")
def get_job(asked: Asked, namespace: Segment, job: Segment) -> Response:
    """One job with its latest runs."""
    return answer(shapes.job_document(gather.job_named(asked, namespace, job)))


@routes.get("/namespaces/{namespace}/jobs/{job}/versions")
def list_job_versions(
    asked: Asked, namespace: Segment, job: Segment, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """A version for each lineage that the job told of, newest first."""
    found = _versions(asked, gather.job_named(asked, namespace, job))
    return answer({"versions": found[offset : offset + limit], "totalCount": len(found)})


@routes.get("/namespaces/{namespace}/jobs/{job}/versions/{version}")
def get_job_version(asked: Asked, namespace: Segment, job: Segment, version: UUID) -> Response:
    """One version of a job."""
    found = _versions(asked, gather.job_named(asked, namespace, job))
    one = next((one for one in found if one["version"] == str(version)), None)
    if one is None:
        raise ThingNotFoundError("Job version", str(version))
    return answer(one)


@routes.get("/namespaces/{namespace}/jobs/{job}/runs")
def list_runs(asked: Asked, namespace: Segment, job: Segment, limit: Limit = 100, offset: Offset = 0) -> Response:
    """The runs of a job, newest first."""
    one = gather.job_named(asked, namespace, job)
    entries = asked.catalog.runs_of(one.entry.id, Window(limit=limit, offset=offset))
    runs = [shapes.run_document(run) for run in describe_runs(asked.catalog, asked.graph, entries)]
    return answer({"runs": runs, "totalCount": asked.catalog.count_runs(one.entry.id)})


@routes.get("/jobs/runs/{run}")
def get_run(asked: Asked, run: UUID) -> Response:
    """One run."""
    return answer(shapes.run_document(gather.run_named(asked, str(run))))


@routes.get("/jobs/runs/{run}/facets")
def get_run_facets(asked: Asked, run: UUID, type: Literal["run", "job", "RUN", "JOB"]) -> Response:
    """The facets of a run, or of its job as they are now."""
    if type.lower() == "run":
        facets = gather.run_named(asked, str(run)).facets
    else:
        job = gather.run_entry(asked, str(run)).name.job
        entries = asked.catalog.entries([node_id(job)]).values()
        facets = next(iter(describe_jobs(asked.catalog, asked.graph, list(entries), runs=0))).facets
    return answer({"runId": str(run), "facets": dict(facets)})


def _states(names: Sequence[str]) -> frozenset[RunState]:
    return frozenset(state for name in names for state in shapes.STATES[name])


def _jobs(asked: Catalogued, wanted: Wanted, window: Window) -> Response:
    entries = asked.catalog.listed(Kind.JOB, wanted, window)
    page = [shapes.job_document(one) for one in describe_jobs(asked.catalog, asked.graph, entries)]
    return answer({"jobs": page, "totalCount": asked.catalog.count(Kind.JOB, wanted)})


def _written(asked: Catalogued, one: DescribedDataset, writes: Sequence[Write]) -> list[shapes.Json]:
    runs = describe_runs(asked.catalog, asked.graph, [write.run for write in writes])
    schemas = _schemas(asked, one)
    return [
        shapes.dataset_version_document(_as_of(one, schemas, write), write, shapes.run_document(run))
        for write, run in zip(writes, runs, strict=True)
    ]


def _as_of(one: DescribedDataset, schemas: Sequence[SchemaSaid], write: Write) -> DescribedDataset:
    return replace(one, schema=next((said for said in schemas if said.first_time <= write.time), None))


def _schemas(asked: Catalogued, one: DescribedDataset) -> list[SchemaSaid]:
    return list(asked.catalog.schemas([one.entry.id]).get(one.entry.id, ()))


def _versions(asked: Catalogued, one: DescribedJob) -> list[shapes.Json]:
    said = asked.catalog.versions(one.entry.id)
    members = asked.catalog.members(version.version for version in said)
    names = asked.graph.nodes({id_ for some in members.values() for id_ in (*some.inputs, *some.outputs)})
    found = []
    for version in said:
        touched = members.get(version.version)
        ends = [
            [name for id_ in some if isinstance(name := names.get(id_), DatasetName)]
            for some in ((touched.inputs, touched.outputs) if touched else ((), ()))
        ]
        found.append(shapes.job_version_document(one, version.version, version.first_time, *ends))
    return found
