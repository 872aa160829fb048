"""Lineage of jobs, datasets, columns and runs, for clients of Marquez: the answers of the one query engine."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from whence.api.answers import MISSING, answer
from whence.api.cataloguing import Asked, Catalogued
from whence.api.marquez import shapes
from whence.api.paths import Depth, Plain
from whence.errors import EventError, ThingNotFoundError
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.addresses import Address, find_address
from whence.query.answers import AnswerEdge, Question
from whence.query.columns import columns
from whence.query.described import DescribedDataset, Input, describe_datasets, describe_jobs
from whence.query.neighbourhood import Neighbourhood, neighbourhood
from whence.query.run_steps import RunStep, upstream_runs
from whence.query.versions import halves, version_uuid

routes = APIRouter(prefix="/api/v1", tags=["marquez"], responses=MISSING)

NodeId = Annotated[Plain, Query(alias="nodeId", description="dataset:…, datasetField:… or job:…")]
Json = shapes.Json


@routes.get("/lineage")
def get_lineage(asked: Asked, node: NodeId, depth: Depth = 20) -> Response:
    """All jobs and datasets that are connected with a job or dataset, at most `depth` jobs away, whichever way."""
    root = _address(asked, node).node
    if isinstance(root, FieldName):
        raise EventError("/query/nodeId", "lineage is asked of a dataset or job; of columns: /column-lineage", 400)
    if asked.catalog.deleted([node_id(root)]):
        raise ThingNotFoundError("Node", node)
    found = neighbourhood(asked.graph, root, depth)
    graph = _graph(found, *_things(asked, found.ids))
    return answer({"graph": graph, "complete": found.complete, "depthReached": found.depth_reached})


@routes.get("/column-lineage")
def get_column_lineage(
    asked: Asked,
    node: NodeId,
    depth: Depth = 20,
    downstream: Annotated[bool, Query(alias="withDownstream")] = False,
) -> Response:
    """The columns that a column, or those of a dataset or job, are made of; and those that are made of them."""
    address = _address(asked, node)
    if address.version and downstream:
        raise EventError("/query/withDownstream", "Node version cannot be specified when withDownstream is true", 400)
    at = _time(asked, address) if address.version else None
    roots = _with_columns(asked, address.node)
    found = columns(asked.graph, roots, Question(depth=depth, at=at, max_edges=500_000), downstream=downstream)
    return answer({"graph": _column_graph(asked, found.fields, found.edges), "complete": found.complete})


@routes.get("/runlineage/upstream")
def get_upstream_runs(asked: Asked, run: Annotated[UUID, Query(alias="runId")], depth: Depth = 20) -> Response:
    """A run, the runs that had written what it read, and so on: nearest first."""
    steps, complete = upstream_runs(asked.catalog, asked.graph, str(run), depth)
    if not steps:
        raise ThingNotFoundError("Run", str(run))
    return answer({"runs": [_step(step) for step in steps], "complete": complete})


def _address(asked: Catalogued, text: str) -> Address:
    found = find_address(asked.graph, text)
    if found is None:
        raise ThingNotFoundError("Node", text)
    return found


def _things(asked: Catalogued, ids: Sequence[int]) -> tuple[Mapping[int, Json], Collection[int]]:
    """What is known of nodes, and which of them are deleted."""
    entries = asked.catalog.entries(ids).values()
    of_dataset = [one for one in entries if isinstance(one.name, DatasetName)]
    of_job = [one for one in entries if isinstance(one.name, JobName)]
    datasets = describe_datasets(asked.catalog, asked.graph, of_dataset, columns=False, versions=False)
    jobs = describe_jobs(asked.catalog, asked.graph, of_job, runs=1)
    data = {one.entry.id: shapes.dataset_head(one) for one in datasets}
    deleted = asked.catalog.deleted(one.id for one in of_dataset) | {one.entry.id for one in jobs if one.deleted}
    return data | {one.entry.id: shapes.job_head(one) for one in jobs}, deleted


def _graph(found: Neighbourhood, data: Mapping[int, Json], deleted: Collection[int]) -> list[Json]:
    """Without what is deleted: clients cannot open it."""
    names = list(map(str, found.nodes))
    gone = {place for place, id_ in enumerate(found.ids) if id_ in deleted}
    into: list[list[Json]] = [[] for _ in names]
    out: list[list[Json]] = [[] for _ in names]
    for source, target in found.edges:
        if source not in gone and target not in gone:
            edge = {"origin": names[source], "destination": names[target]}
            out[source].append(edge)
            into[target].append(edge)
    return [
        {
            "id": names[place],
            "type": "JOB" if isinstance(node, JobName) else "DATASET",
            "data": data.get(id_) or shapes.hidden_head(node),
            "inEdges": into[place],
            "outEdges": out[place],
        }
        for place, (node, id_) in enumerate(zip(found.nodes, found.ids, strict=True))
        if place not in gone
    ]


def _with_columns(asked: Catalogued, node: Node) -> Sequence[Node]:
    if not isinstance(node, JobName):
        return [node]
    entries = asked.catalog.entries([node_id(node)]).values()
    return [name for one in describe_jobs(asked.catalog, asked.graph, list(entries), runs=0) for name in one.outputs]


def _time(asked: Catalogued, address: Address) -> int:
    """When the version of a node was made."""
    what, whose = halves(address.version or "") or (0, 0)
    node = address.node.dataset if isinstance(address.node, FieldName) else address.node
    if whose == node_id(node):
        if write := asked.catalog.write(whose, what):
            return write.time
        times = [one.first_time for one in asked.catalog.versions(whose) if one.version == what]
        times += [one.first_time for one in asked.catalog.schemas([whose]).get(whose, ()) if one.body_id == what]
        if times:
            return times[0]
    raise ThingNotFoundError("Version", address.version or "")


def _column_graph(asked: Catalogued, fields: Sequence[FieldName], edges: Sequence[AnswerEdge]) -> list[Json]:
    """In the graph of columns Marquez writes `inEdges` from the field to its input; so does this."""
    entries = asked.catalog.entries({node_id(one.dataset) for one in fields}).values()
    described = describe_datasets(asked.catalog, asked.graph, list(entries), columns=False)
    of_dataset = {one.name: one for one in described}
    inputs: dict[Node, list[Input]] = {}
    outputs: dict[Node, set[Node]] = {}
    for edge in edges:
        if isinstance(edge.source, FieldName):
            said = [Input(field=edge.source, transformation=one) for one in edge.transformations]
            inputs.setdefault(edge.target, []).extend(said)
            outputs.setdefault(edge.source, set()).add(edge.target)
    return [
        {
            "id": str(one),
            "type": "DATASET_FIELD",
            "data": _column_data(one, of_dataset.get(one.dataset), inputs.get(one, [])),
            "inEdges": _edges(one, {said.field for said in inputs.get(one, [])}),
            "outEdges": _edges(one, outputs.get(one, set())),
        }
        for one in fields
    ]


def _edges(one: FieldName, others: Iterable[Node]) -> list[Json]:
    return [{"origin": str(one), "destination": text} for text in sorted(str(other) for other in others)]


def _column_data(one: FieldName, of: DescribedDataset | None, inputs: Sequence[Input]) -> Json:
    types = {field.name: field.type for field in of.fields} if of else {}
    return {
        "namespace": one.dataset.namespace,
        "dataset": one.dataset.name,
        "datasetVersion": shapes.current_version(of) if of else None,
        "field": one.field,
        "fieldType": types.get(one.field) or None,
        **shapes.transformation(inputs),
        "inputFields": [shapes.input_document(said) for said in inputs],
    }


def _step(step: RunStep) -> Json:
    job = step.run.entry.name.job
    version = version_uuid(step.run.version, node_id(job)) if step.run.version else None
    run = shapes.run_document(step.run)
    return {
        "job": {**shapes.name_document(job), "version": version},
        "run": {"id": run["id"], "start": run["startedAt"], "end": run["endedAt"], "status": run["state"]},
        "inputs": [
            {
                **shapes.name_document(read.dataset),
                "version": version_uuid(read.write.run.id, read.write.dataset_id) if read.write else None,
                "producedByRunId": read.write.run.name.run_id if read.write else None,
            }
            for read in step.reads
        ],
    }
