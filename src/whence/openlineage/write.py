"""Construction of Whence's own events, as OpenLineage JSON with `_producer` and `_schemaURL` where they belong.

>>> orders = dataset(DatasetName("warehouse", "orders"), facets={"schema": facet("SchemaDatasetFacet", fields=[])})
>>> run = RunName("01941f29-7c00-7abc-8def-000000000001", JobName("demo", "load"))
>>> event = run_event(0, RunState.START, run, outputs=[orders])
>>> event["eventTime"], event["outputs"][0]["name"]
('1970-01-01T00:00:00.000000Z', 'orders')
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from whence import __version__
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.json.times import iso
from whence.openlineage.json.wire import Json

PRODUCER = f"https://github.com/whence-lineage/whence/tree/{__version__}/src/whence"

_SPEC = "https://openlineage.io/spec"
_LINEAGE = "1-0-0/LineageFacet.json"
SCHEMAS: Mapping[str, str] = {
    "ColumnLineageDatasetFacet": "1-2-0/ColumnLineageDatasetFacet.json",
    "DataQualityAssertionsDatasetFacet": "1-1-0/DataQualityAssertionsDatasetFacet.json",
    "DataQualityMetricsInputDatasetFacet": "1-0-3/DataQualityMetricsInputDatasetFacet.json",
    "DatasetTypeDatasetFacet": "1-0-1/DatasetTypeDatasetFacet.json",
    "DatasourceDatasetFacet": "1-0-1/DatasourceDatasetFacet.json",
    "DocumentationDatasetFacet": "1-1-0/DocumentationDatasetFacet.json",
    "DocumentationJobFacet": "1-1-0/DocumentationJobFacet.json",
    "ErrorMessageRunFacet": "1-0-1/ErrorMessageRunFacet.json",
    "ExternalQueryRunFacet": "1-0-2/ExternalQueryRunFacet.json",
    "ExtractionErrorRunFacet": "1-1-2/ExtractionErrorRunFacet.json",
    "JobTypeJobFacet": "2-0-4/JobTypeJobFacet.json",
    "LifecycleStateChangeDatasetFacet": "1-0-1/LifecycleStateChangeDatasetFacet.json",
    "LineageDatasetFacet": _LINEAGE,
    "LineageJobFacet": _LINEAGE,
    "NominalTimeRunFacet": "1-0-1/NominalTimeRunFacet.json",
    "OwnershipDatasetFacet": "1-0-1/OwnershipDatasetFacet.json",
    "OwnershipJobFacet": "1-0-1/OwnershipJobFacet.json",
    "OutputStatisticsOutputDatasetFacet": "1-0-2/OutputStatisticsOutputDatasetFacet.json",
    "ParentRunFacet": "1-2-0/ParentRunFacet.json",
    "SQLJobFacet": "1-1-0/SQLJobFacet.json",
    "SchemaDatasetFacet": "1-2-0/SchemaDatasetFacet.json",
    "SourceCodeLocationJobFacet": "1-1-0/SourceCodeLocationJobFacet.json",
    "SymlinksDatasetFacet": "1-0-1/SymlinksDatasetFacet.json",
    "TagsDatasetFacet": "1-0-0/TagsDatasetFacet.json",
    "TagsJobFacet": "1-0-0/TagsJobFacet.json",
    "TagsRunFacet": "1-0-0/TagsRunFacet.json",
}
"""The specification's facets that Whence writes, with the file and version of each schema."""

Objects = Sequence[Json]


def run_event(
    time: int,
    state: RunState,
    run: RunName,
    *,
    run_facets: Json | None = None,
    job_facets: Json | None = None,
    inputs: Objects = (),
    outputs: Objects = (),
) -> Json:
    """A run event at `time` (microseconds since 1970 UTC)."""
    return {
        "eventType": state.name,
        **_event_header(time, "RunEvent"),
        "run": {"runId": run.run_id, "facets": run_facets or {}},
        "job": job(run.job, job_facets),
        "inputs": list(inputs),
        "outputs": list(outputs),
    }


def job_event(
    time: int, name: JobName, *, facets: Json | None = None, inputs: Objects = (), outputs: Objects = ()
) -> Json:
    """A job event: what is declared of a job from `time` (microseconds since 1970 UTC) on."""
    return {
        **_event_header(time, "JobEvent"),
        "job": job(name, facets),
        "inputs": list(inputs),
        "outputs": list(outputs),
    }


def dataset_event(time: int, name: DatasetName, *, facets: Json) -> Json:
    """A dataset event: what is declared of a dataset from `time` (microseconds since 1970 UTC) on."""
    return {**_event_header(time, "DatasetEvent"), "dataset": dataset(name, facets=facets)}


def job(name: JobName, facets: Json | None = None) -> Json:
    """A job with its facets."""
    return {"namespace": name.namespace, "name": name.name, "facets": facets or {}}


def dataset(name: DatasetName, *, facets: Json | None = None, **run_facets: Json) -> Json:
    """A dataset with its facets; `inputFacets` or `outputFacets` as keywords."""
    return {"namespace": name.namespace, "name": name.name, "facets": facets or {}, **run_facets}


def facet(kind: str, **members: Any) -> Json:
    """A facet of the specification; `kind` is the name of its schema (a key of SCHEMAS)."""
    return {"_producer": PRODUCER, "_schemaURL": f"{_SPEC}/facets/{SCHEMAS[kind]}#/$defs/{kind}", **members}


def own_facet(kind: str, **members: Any) -> Json:
    """A facet that Whence defines."""
    return {"_producer": PRODUCER, "_schemaURL": f"{PRODUCER}/openlineage/facets.json#/$defs/{kind}", **members}


def deleted_facet(kind: str) -> Json:
    """The marker that ends a job or dataset facet."""
    return facet(kind, _deleted=True)


def parent_facet(run: RunName, root: RunName | None = None) -> Json:
    """The parent facet."""
    return facet("ParentRunFacet", **_reference(run), root=_reference(root or run))


def column_lineage(edges: Iterable[Edge]) -> Json:
    """The columnLineage facet of the dataset into which all these edges, from fields, lead."""
    fields: dict[str, dict[Node, Json]] = {}
    whole_dataset: dict[Node, Json] = {}
    for edge in edges:
        target = fields.setdefault(edge.target.field, {}) if isinstance(edge.target, FieldName) else whole_dataset
        _add_transformation(target, edge, _field(edge.source))
    members: Json = {"fields": {name: {"inputFields": list(sources.values())} for name, sources in fields.items()}}
    return facet(
        "ColumnLineageDatasetFacet", **members, **({"dataset": list(whole_dataset.values())} if whole_dataset else {})
    )


def job_lineage(edges: Iterable[Edge]) -> Json:
    """The explicit lineage facet of a job: one entry for each dataset or job that edges lead into."""
    targets: dict[Node, dict[Node, dict[Node, Json]]] = {}
    for edge in edges:
        entry = targets.setdefault(_dataset_or_job(edge.target), {})
        _add_transformation(entry.setdefault(edge.target, {}), edge, _source(edge.source))
    return facet("LineageJobFacet", entries=[_entry(target, inputs) for target, inputs in targets.items()])


def dataset_lineage(edges: Iterable[Edge]) -> Json:
    """The explicit lineage facet of a dataset event: the edges into the dataset and its fields."""
    into: dict[Node, dict[Node, Json]] = {}
    for edge in edges:
        _add_transformation(into.setdefault(edge.target, {}), edge, _source(edge.source))
    return facet("LineageDatasetFacet", **_input_members(into))


def _input_members(into: dict[Node, dict[Node, Json]]) -> Json:
    """The `inputs` of the dataset or job, and its `fields` with theirs."""
    fields = {
        node.field: {"inputs": list(sources.values())} for node, sources in into.items() if isinstance(node, FieldName)
    }
    whole = [list(sources.values()) for node, sources in into.items() if not isinstance(node, FieldName)]
    return {**({"inputs": whole[0]} if whole else {}), **({"fields": fields} if fields else {})}


def _entry(target: Node, into: dict[Node, dict[Node, Json]]) -> Json:
    return {**_source(target), **_input_members(into)}


def _add_transformation(sources: dict[Node, Json], edge: Edge, source: Json) -> None:
    transformation = {
        "type": edge.type,
        "subtype": edge.subtype,
        "description": edge.description,
        "masking": edge.masking,
    }
    sources.setdefault(edge.source, {**source, "transformations": []})["transformations"].append(transformation)


def _source(node: Node) -> Json:
    if isinstance(node, JobName):
        return {"type": "JOB", "namespace": node.namespace, "name": node.name}
    return {"type": "DATASET", **_field(node)}


def _field(node: Node) -> Json:
    name = _dataset_or_job(node)
    field = {"field": node.field} if isinstance(node, FieldName) else {}
    return {"namespace": name.namespace, "name": name.name, **field}


def _dataset_or_job(node: Node) -> DatasetName | JobName:
    return node.dataset if isinstance(node, FieldName) else node


def _reference(run: RunName) -> Json:
    return {"run": {"runId": run.run_id}, "job": {"namespace": run.job.namespace, "name": run.job.name}}


def _event_header(time: int, kind: str) -> Json:
    schema = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/{kind}"
    return {"eventTime": iso(time), "producer": PRODUCER, "schemaURL": schema}


def replace_producer(producer: str, event: Json) -> Json:
    """The event with another producer."""
    return {**event, "producer": producer}
