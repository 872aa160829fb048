"""Lineage of jobs, datasets, columns and runs, for Marquez clients."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from msgspec import Raw
from msgspec.json import Encoder

from whence.api.http.path_names import Depth, Plain
from whence.api.http.responses import MISSING, answer
from whence.api.marquez import graph_response_types as graphs
from whence.api.marquez import response_types, responses
from whence.api.requests.catalog import CatalogView, View
from whence.errors import EventError, ThingNotFoundError
from whence.model.catalog import RunEntry
from whence.model.graph import Direction
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.values import AnswerEdge, Question
from whence.query.history.versions import halves, version_uuid
from whence.query.lookup.alias_facets import with_aliases
from whence.query.lookup.descriptions import (
    DescribedDataset,
    DescribedJob,
    DescribedRun,
    Ends,
    Input,
    describe_datasets,
    describe_jobs,
    describe_runs,
)
from whence.query.lookup.node_ids import Address, find_address
from whence.query.questions.columns import columns
from whence.query.runs.run_lineage import AnswerRun, Handover, run_lineage
from whence.query.traversal.component import ConnectedComponent, connected_component

routes = APIRouter(prefix="/api/v1", tags=["marquez"], responses=MISSING)

NodeId = Annotated[Plain, Query(alias="nodeId", description="dataset:…, datasetField:… or job:…")]
Described = DescribedDataset | DescribedJob

MOST_EDGES = 500_000
"""The most edges between columns in an answer, and the most that are read for it."""


@routes.get("/lineage", response_model=graphs.LineageGraph)
def get_lineage(view: View, node: NodeId, depth: Depth = 20) -> Response:
    """Show the jobs and datasets connected with a node, at most `depth` jobs away in either direction."""
    root = _address(view, node).node
    if isinstance(root, FieldName):
        raise EventError("/query/nodeId", "lineage is asked of a dataset or job; of columns: /column-lineage", 400)
    if view.catalog.deleted([node_id(root)]):
        raise ThingNotFoundError("Node", node)
    found = connected_component(view.graph, root, depth)
    # Each node becomes text, and its objects end, before the next is built: all objects together take longer.
    encode = Encoder().encode
    graph = [Raw(encode(one)) for one in _graph(found, *_things(view, found))]
    return answer({"graph": graph, "complete": found.complete, "depthReached": found.depth_reached})


@routes.get("/column-lineage", response_model=graphs.ColumnGraph)
def get_column_lineage(
    view: View,
    node: NodeId,
    depth: Depth = 20,
    downstream: Annotated[bool, Query(alias="withDownstream")] = False,
) -> Response:
    """Show the columns upstream (and downstream) of a column, dataset or job."""
    address = _address(view, node)
    if address.version and downstream:
        raise EventError("/query/withDownstream", "Node version cannot be specified when withDownstream is true", 400)
    at = _time(view, address) if address.version else None
    roots = _with_columns(view, address.node)
    question = Question(depth=depth, at=at, max_edges=MOST_EDGES)
    found = columns(view.catalog, view.graph, roots, question, downstream=downstream)
    return answer({"graph": _column_graph(view, found.fields, found.edges), "complete": found.complete})


@routes.get("/runlineage/upstream", response_model=graphs.UpstreamRuns)
def get_upstream_runs(view: View, run: Annotated[UUID, Query(alias="runId")], depth: Depth = 20) -> Response:
    """List the runs upstream of a run, nearest first."""
    named = view.graph.runs_named(str(run))
    if not named:
        raise ThingNotFoundError("Run", str(run))
    # One hop more, for the runs that wrote the inputs of the last.
    found = run_lineage(view.graph, named[0], Direction.UPSTREAM, depth + 1)
    shown = [one for one in found.runs if one.depth <= depth]
    complete = found.completeness.complete and not found.completeness.hidden_nodes and len(shown) == len(found.runs)
    return answer({"runs": _steps(view, shown, found.handovers), "complete": complete})


def _address(view: CatalogView, text: str) -> Address:
    found = find_address(view.graph, text)
    if found is None:
        raise ThingNotFoundError("Node", text)
    return found


def _things(view: CatalogView, found: ConnectedComponent) -> tuple[Mapping[int, Described], Collection[int]]:
    """Details of nodes, and the ids of deleted ones."""
    entries = view.catalog.entries(found.ids).values()
    of_dataset = [one for one in entries if isinstance(one.name, DatasetName)]
    of_job = [one for one in entries if isinstance(one.name, JobName)]
    named = describe_datasets(view.catalog, view.graph, of_dataset, columns=False, versions=False)
    datasets = with_aliases(view.catalog, view.graph, named, columns=False, versions=False)
    jobs = describe_jobs(view.catalog, view.graph, of_job, runs=1, ends=_ends(found))
    deleted = view.catalog.deleted(one.id for one in of_dataset) | {one.entry.id for one in jobs if one.deleted}
    described: dict[int, Described] = {one.entry.id: one for one in datasets}
    return described | {one.entry.id: one for one in jobs}, deleted


def _ends(found: ConnectedComponent) -> tuple[Ends, Ends]:
    """The inputs and the outputs of each job, named as the nodes of the graph: an event may have used another alias."""
    inputs: dict[int, list[DatasetName]] = {}
    outputs: dict[int, list[DatasetName]] = {}
    for source, target in found.edges:
        match found.nodes[source], found.nodes[target]:
            case DatasetName() as dataset, JobName():
                inputs.setdefault(found.ids[target], []).append(dataset)
            case JobName(), DatasetName() as dataset:
                outputs.setdefault(found.ids[source], []).append(dataset)
    return _sorted(inputs), _sorted(outputs)


def _sorted(ends: Mapping[int, list[DatasetName]]) -> Ends:
    by_name = attrgetter("namespace", "name")
    return {job: tuple(sorted(names, key=by_name)) for job, names in ends.items()}


def _graph(
    found: ConnectedComponent, described: Mapping[int, Described], deleted: Collection[int]
) -> Iterator[graphs.GraphNode]:
    """The graph without deleted nodes, since clients cannot open them."""
    names = list(map(str, found.nodes))
    gone = {place for place, id_ in enumerate(found.ids) if id_ in deleted}
    into: list[list[graphs.GraphEdge]] = [[] for _ in names]
    out: list[list[graphs.GraphEdge]] = [[] for _ in names]
    for source, target in found.edges:
        if source not in gone and target not in gone:
            edge: graphs.GraphEdge = {"origin": names[source], "destination": names[target]}
            out[source].append(edge)
            into[target].append(edge)
    for place, (node, id_) in enumerate(zip(found.nodes, found.ids, strict=True)):
        if place not in gone:
            yield {
                "id": names[place],
                "type": "JOB" if isinstance(node, JobName) else "DATASET",
                "data": _head(described[id_]) if id_ in described else responses.hidden_head(node),
                "inEdges": into[place],
                "outEdges": out[place],
            }


def _head(one: Described) -> response_types.DatasetHead | response_types.JobHead:
    return responses.dataset_head(one) if isinstance(one, DescribedDataset) else responses.job_head(one)


def _with_columns(view: CatalogView, node: Node) -> Sequence[Node]:
    if not isinstance(node, JobName):
        return [node]
    entries = view.catalog.entries([node_id(node)]).values()
    return [name for one in describe_jobs(view.catalog, view.graph, list(entries), runs=0) for name in one.outputs]


def _time(view: CatalogView, address: Address) -> int:
    """The time at which the version of a node was created."""
    what, whose = halves(address.version or "") or (0, 0)
    node = address.node.dataset if isinstance(address.node, FieldName) else address.node
    if whose == node_id(node):
        if write := view.catalog.write(whose, what):
            return write.time
        times = [one.first_time for one in view.catalog.versions(whose) if one.version == what]
        times += [one.first_time for one in view.catalog.schemas([whose]).get(whose, ()) if one.body_id == what]
        if times:
            return times[0]
    raise ThingNotFoundError("Version", address.version or "")


def _column_graph(
    view: CatalogView, fields: Sequence[FieldName], edges: Sequence[AnswerEdge]
) -> list[graphs.ColumnNode]:
    """Build the column graph. As in Marquez, `inEdges` lead from the field to its input."""
    entries = view.catalog.entries({node_id(one.dataset) for one in fields}).values()
    named = describe_datasets(view.catalog, view.graph, list(entries), columns=False)
    described = with_aliases(view.catalog, view.graph, named, columns=False)
    of_dataset = {one.name: one for one in described}
    types = {of.name: {field.name: field.type for field in of.fields} for of in described}
    inputs: dict[Node, dict[Input, None]] = {}
    outputs: dict[Node, set[Node]] = {}
    for edge in edges:
        if isinstance(edge.source, FieldName):
            stated = [Input(field=edge.source, transformation=one) for one in edge.transformations]
            inputs.setdefault(edge.target, {}).update(dict.fromkeys(stated))
            outputs.setdefault(edge.source, set()).add(edge.target)
    texts: dict[Node, str] = {one: str(one) for one in fields}
    nodes: list[graphs.ColumnNode] = []
    for one in fields:
        made_of = list(inputs.get(one, ()))
        type_ = types.get(one.dataset, {}).get(one.field)
        nodes.append(
            {
                "id": texts[one],
                "type": "DATASET_FIELD",
                "data": _column_data(one, of_dataset.get(one.dataset), type_, made_of),
                "inEdges": _edges(texts, one, {made.field for made in made_of}),
                "outEdges": _edges(texts, one, outputs.get(one, ())),
            }
        )
    return nodes


def _edges(texts: Mapping[Node, str], one: FieldName, others: Iterable[Node]) -> list[graphs.GraphEdge]:
    return [{"origin": texts[one], "destination": text} for text in sorted(map(texts.__getitem__, others))]


def _column_data(
    one: FieldName, of: DescribedDataset | None, type_: str | None, inputs: Sequence[Input]
) -> graphs.ColumnData:
    return {
        "namespace": one.dataset.namespace,
        "dataset": one.dataset.name,
        "datasetVersion": responses.current_version(of) if of else None,
        "field": one.field,
        "fieldType": type_ or None,
        **responses.transformation(inputs),
        "inputFields": [responses.input_document(made) for made in inputs],
    }


def _steps(view: CatalogView, runs: Iterable[AnswerRun], handovers: Iterable[Handover]) -> list[graphs.RunStep]:
    """The runs that the viewer may see, each with its inputs that they may see."""
    runs, handovers = list(runs), list(handovers)
    ids = {one.name.run_id for one in runs} | {one.writer.run_id for one in handovers}
    entries = {one.name: one for one in view.catalog.runs(ids)}
    shown = [one for one in runs if one.name in entries]
    described = describe_runs(view.catalog, view.graph, [entries[one.name] for one in shown])
    visible = view.graph.nodes({node_id(name) for one in shown for name in one.reads})
    writers = {(one.reader, one.dataset): entries.get(one.writer) for one in handovers}
    return [
        _step(one, [(name, writers.get((one.entry.name, name))) for name in run.reads if node_id(name) in visible])
        for run, one in zip(shown, described, strict=True)
    ]


def _step(one: DescribedRun, reads: Iterable[tuple[DatasetName, RunEntry | None]]) -> graphs.RunStep:
    """A run, with each dataset that it read and the run that had written it, if one is known."""
    job = one.entry.name.job
    version = version_uuid(one.version, node_id(job)) if one.version else None
    run = responses.run_document(one)
    return {
        "job": {**responses.name_document(job), "version": version},
        "run": {"id": run["id"], "start": run["startedAt"], "end": run["endedAt"], "status": run["state"]},
        "inputs": [
            {
                **responses.name_document(dataset),
                "version": version_uuid(writer.id, node_id(dataset)) if writer else None,
                "producedByRunId": writer.name.run_id if writer else None,
            }
            for dataset, writer in reads
        ],
    }
