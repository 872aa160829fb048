"""Namespaces, sources, datasets, jobs and runs, for clients of Marquez."""

from collections.abc import Sequence
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response

from whence.api.http.path_names import Limit, Offset, Segment
from whence.api.http.responses import MISSING, answer
from whence.api.marquez import lookup as gather
from whence.api.marquez import response_types, responses
from whence.api.requests.catalog import CatalogView, NewestView, View
from whence.errors import ThingNotFoundError
from whence.model.catalog import EntryFilter, SchemaRecord, Window, Write
from whence.model.events import RunState
from whence.model.ids import Kind, node_id
from whence.model.names import DatasetName
from whence.query.history.versions import halves
from whence.query.lookup.descriptions import (
    DescribedDataset,
    DescribedJob,
    describe_datasets,
    describe_jobs,
    describe_runs,
)

routes = APIRouter(prefix="/api/v1", tags=["marquez"], responses=MISSING)

States = Annotated[Sequence[responses.StateName], Query(alias="lastRunStates")]


@routes.get("/namespaces", response_model=response_types.Namespaces)
def list_namespaces(view: View, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List all namespaces by name."""
    found = gather.spaces(view)
    page = gather.space_documents(view, found[offset : offset + limit])
    return answer({"namespaces": page, "totalCount": len(found)})


@routes.get("/namespaces/{namespace}", response_model=response_types.MarquezNamespace)
def get_namespace(view: NewestView, namespace: Segment) -> Response:
    """Show one namespace."""
    return answer(gather.space_document(view, namespace))


@routes.get("/sources", response_model=response_types.Sources)
def list_sources(view: View, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List all data sources by name."""
    found = gather.sources(view)
    page = gather.source_documents(view, found[offset : offset + limit])
    return answer({"sources": page, "totalCount": len(found)})


@routes.get("/sources/{source}", response_model=response_types.Source)
def get_source(view: NewestView, source: Segment) -> Response:
    """Show one data source."""
    return answer(gather.source_named(view, source))


@routes.get("/namespaces/{namespace}/datasets", response_model=response_types.Datasets)
def list_datasets(view: View, namespace: Segment, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List the datasets of a namespace by name, with the inputs of their columns."""
    gather.require_namespace(view, namespace)
    wanted = EntryFilter(namespace=namespace)
    entries = view.catalog.listed(Kind.DATASET, wanted, Window(limit=limit, offset=offset))
    page = [responses.dataset_document(one) for one in describe_datasets(view.catalog, view.graph, entries)]
    return answer({"datasets": page, "totalCount": view.catalog.count(Kind.DATASET, wanted)})


@routes.get("/namespaces/{namespace}/datasets/{dataset}", response_model=response_types.MarquezDataset)
def get_dataset(view: NewestView, namespace: Segment, dataset: Segment) -> Response:
    """Show one dataset, also with what is asserted of it under its aliases."""
    return answer(responses.dataset_document(gather.whole_dataset_named(view, namespace, dataset)))


@routes.get("/namespaces/{namespace}/datasets/{dataset}/versions", response_model=response_types.DatasetVersions)
def list_dataset_versions(
    view: View, namespace: Segment, dataset: Segment, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """List the versions of a dataset, newest first: one for each run that wrote it, else one for each schema."""
    one = gather.dataset_named(view, namespace, dataset)
    total = view.catalog.count_writes(one.entry.id)
    if total:
        page = _written(view, one, view.catalog.writes(one.entry.id, Window(limit=limit, offset=offset)))
        return answer({"versions": page, "totalCount": total})
    schemas = _schemas(view, one)
    page = [responses.dataset_version_document(one, schema, None) for schema in schemas[offset : offset + limit]]
    return answer({"versions": page, "totalCount": len(schemas)})


@routes.get(
    "/namespaces/{namespace}/datasets/{dataset}/versions/{version}", response_model=response_types.DatasetVersion
)
def get_dataset_version(view: View, namespace: Segment, dataset: Segment, version: UUID) -> Response:
    """Show one version of a dataset."""
    one = gather.dataset_named(view, namespace, dataset)
    of, whose = halves(str(version)) or (0, 0)
    if whose == one.entry.id and (write := view.catalog.write(one.entry.id, of)):
        return answer(_written(view, one, [write])[0])
    schema = next((found for found in _schemas(view, one) if found.body_id == of and whose == one.entry.id), None)
    if schema is None:
        raise ThingNotFoundError("Dataset version", str(version))
    return answer(responses.dataset_version_document(one, schema, None))


@routes.get("/jobs", response_model=response_types.Jobs)
def list_jobs(view: View, states: States = (), limit: Limit = 100, offset: Offset = 0) -> Response:
    """List the jobs of all namespaces, most recently seen first."""
    wanted = EntryFilter(states=_states(states), latest=True)
    return _jobs(view, wanted, Window(limit=limit, offset=offset))


@routes.get("/namespaces/{namespace}/jobs", response_model=response_types.Jobs)
def list_jobs_of_namespace(
    view: View, namespace: Segment, states: States = (), limit: Limit = 100, offset: Offset = 0
) -> Response:
    """List the jobs of a namespace by name."""
    gather.require_namespace(view, namespace)
    wanted = EntryFilter(namespace=namespace, states=_states(states))
    return _jobs(view, wanted, Window(limit=limit, offset=offset))


@routes.get("/namespaces/{namespace}/jobs/{job}", response_model=response_types.MarquezJob)
def get_job(view: NewestView, namespace: Segment, job: Segment) -> Response:
    """Show one job with its latest runs."""
    return answer(responses.job_document(gather.job_named(view, namespace, job)))


@routes.get("/namespaces/{namespace}/jobs/{job}/versions", response_model=response_types.JobVersions)
def list_job_versions(view: View, namespace: Segment, job: Segment, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List the versions of a job, one for each lineage that it reported, newest first."""
    found = _versions(view, gather.job_named(view, namespace, job))
    return answer({"versions": found[offset : offset + limit], "totalCount": len(found)})


@routes.get("/namespaces/{namespace}/jobs/{job}/versions/{version}", response_model=response_types.JobVersion)
def get_job_version(view: View, namespace: Segment, job: Segment, version: UUID) -> Response:
    """Show one version of a job."""
    found = _versions(view, gather.job_named(view, namespace, job))
    one = next((one for one in found if one["version"] == str(version)), None)
    if one is None:
        raise ThingNotFoundError("Job version", str(version))
    return answer(one)


@routes.get("/namespaces/{namespace}/jobs/{job}/runs", response_model=response_types.MarquezRuns)
def list_runs(view: View, namespace: Segment, job: Segment, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List the runs of a job, newest first."""
    one = gather.job_named(view, namespace, job)
    entries = view.catalog.runs_of(one.entry.id, Window(limit=limit, offset=offset))
    runs = [responses.run_document(run) for run in describe_runs(view.catalog, view.graph, entries)]
    return answer({"runs": runs, "totalCount": view.catalog.count_runs(one.entry.id)})


@routes.get("/jobs/runs/{run}", response_model=response_types.MarquezRun)
def get_run(view: NewestView, run: UUID) -> Response:
    """Show one run."""
    return answer(responses.run_document(gather.run_named(view, str(run))))


@routes.get("/jobs/runs/{run}/facets", response_model=response_types.RunFacets)
def get_run_facets(view: View, run: UUID, type: Literal["run", "job", "RUN", "JOB"]) -> Response:
    """Show the facets of a run, or the current facets of its job."""
    if type.lower() == "run":
        facets = gather.run_named(view, str(run)).facets
    else:
        job = gather.run_entry(view, str(run)).name.job
        entries = view.catalog.entries([node_id(job)]).values()
        facets = next(iter(describe_jobs(view.catalog, view.graph, list(entries), runs=0))).facets
    return answer({"runId": str(run), "facets": dict(facets)})


def _states(names: Sequence[responses.StateName]) -> frozenset[RunState]:
    return frozenset(state for name in names for state in responses.STATES[name])


def _jobs(view: CatalogView, wanted: EntryFilter, window: Window) -> Response:
    entries = view.catalog.listed(Kind.JOB, wanted, window)
    page = [responses.job_document(one) for one in describe_jobs(view.catalog, view.graph, entries)]
    return answer({"jobs": page, "totalCount": view.catalog.count(Kind.JOB, wanted)})


def _written(view: CatalogView, one: DescribedDataset, writes: Sequence[Write]) -> list[response_types.DatasetVersion]:
    runs = describe_runs(view.catalog, view.graph, [write.run for write in writes])
    schemas = _schemas(view, one)
    return [
        responses.dataset_version_document(_as_of(one, schemas, write), write, responses.run_document(run))
        for write, run in zip(writes, runs, strict=True)
    ]


def _as_of(one: DescribedDataset, schemas: Sequence[SchemaRecord], write: Write) -> DescribedDataset:
    return one._replace(schema=next((version for version in schemas if version.first_time <= write.time), None))


def _schemas(view: CatalogView, one: DescribedDataset) -> list[SchemaRecord]:
    return list(view.catalog.schemas([one.entry.id]).get(one.entry.id, ()))


def _versions(view: CatalogView, one: DescribedJob) -> list[response_types.JobVersion]:
    versions = view.catalog.versions(one.entry.id)
    members = view.catalog.members(version.version for version in versions)
    names = view.graph.nodes({id_ for some in members.values() for id_ in (*some.inputs, *some.outputs)})
    found = []
    for version in versions:
        touched = members.get(version.version)
        ends = [
            [name for id_ in some if isinstance(name := names.get(id_), DatasetName)]
            for some in ((touched.inputs, touched.outputs) if touched else ((), ()))
        ]
        found.append(responses.job_version_document(one, version.version, version.first_time, *ends))
    return found
