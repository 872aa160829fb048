"""What is known of things in the shapes that clients of Marquez read. Pure; times are ISO 8601 UTC."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from whence.api.marquez import response_types
from whence.api.marquez.graph_response_types import HiddenDataset, HiddenJob
from whence.api.marquez.response_types import StreamLocation
from whence.model.catalog import FacetRecord, RunEntry, SchemaRecord, Write
from whence.model.events import RunState, SchemaField
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName, Node
from whence.openlineage.facets.schema_fields import parse_schema_fields
from whence.query.answers.instants import iso
from whence.query.history.versions import version_uuid
from whence.query.lookup.descriptions import DescribedDataset, DescribedJob, DescribedRun, Input, Tag

Json = dict[str, Any]

StateName = Literal["NEW", "RUNNING", "COMPLETED", "ABORTED", "FAILED"]
STATES: Mapping[StateName, frozenset[RunState]] = {
    "NEW": frozenset({RunState.OTHER}),
    "RUNNING": frozenset({RunState.START, RunState.RUNNING}),
    "COMPLETED": frozenset({RunState.COMPLETE}),
    "ABORTED": frozenset({RunState.ABORT}),
    "FAILED": frozenset({RunState.FAIL}),
}
"""Marquez's names of run states."""

_STATE_NAMES = tuple(next(name for name, states in STATES.items() if state in states) for state in RunState)
_STREAMS = ("kafka", "kinesis", "pulsar", "pubsub", "eventhub")
_OWN = "whence_marquez"
"""A dataset facet with the members that only Marquez's clients report: physicalName, schemaLocation, sourceName."""


def name_document(name: DatasetName | JobName) -> response_types.Name:
    """An id."""
    return {"namespace": name.namespace, "name": name.name}


def dataset_document(one: DescribedDataset) -> response_types.MarquezDataset:
    """A dataset, of its current version."""
    return {
        **dataset_head(one),
        "currentVersion": current_version(one),
        "columnLineage": [_column(field, inputs) for field, inputs in one.inputs.items()] or None,
        "facets": dict(one.facets),
        "deleted": one.deleted,
    }


def dataset_head(one: DescribedDataset) -> response_types.DatasetHead:
    """A dataset, also as a node of a lineage graph."""
    return {
        "id": name_document(one.name),
        "type": dataset_type(one),
        "name": one.name.name,
        "physicalName": _text(one.facets.get(_OWN), "physicalName") or one.name.name,
        "createdAt": iso(one.entry.first_seen),
        "updatedAt": iso(one.entry.last_seen),
        "namespace": one.name.namespace,
        "sourceName": source_name(one),
        "fields": _fields(one.fields, one.tags),
        "tags": tag_names(tag for tag in one.tags if not tag.field) if one.tags else [],
        "lastModifiedAt": _iso(one.write_time),
        "description": description_in(one.facets),
        "lastLifecycleState": _text(one.facets.get("lifecycleStateChange"), "lifecycleStateChange"),
        **_of_stream(one),
    }


def dataset_version_document(
    one: DescribedDataset, of: Write | SchemaRecord, run: response_types.MarquezRun | None
) -> response_types.DatasetVersion:
    """A dataset as a run wrote it; if no run wrote it, as a schema describes it."""
    version, time = (of.run.id, of.time) if isinstance(of, Write) else (of.body_id, of.first_time)
    schema = one.schema if isinstance(of, Write) else of
    return {
        "id": {**name_document(one.name), "version": version_uuid(version, one.entry.id)},
        "type": dataset_type(one),
        "name": one.name.name,
        "physicalName": _text(one.facets.get(_OWN), "physicalName") or one.name.name,
        "createdAt": iso(time),
        "version": version_uuid(version, one.entry.id),
        "namespace": one.name.namespace,
        "sourceName": source_name(one),
        "fields": _fields(parse_schema_fields(schema.payload) if schema else (), one.tags),
        "tags": tag_names(tag for tag in one.tags if not tag.field),
        "currentSchemaVersion": version_uuid(schema.body_id, one.entry.id) if schema else None,
        "description": description_in(one.facets),
        "lifecycleState": _text(one.facets.get("lifecycleStateChange"), "lifecycleStateChange"),
        "createdByRun": run,
        "facets": dict(one.facets),
        **_of_stream(one),
    }


def current_version(one: DescribedDataset) -> str | None:
    """The version of a dataset that a lineage, a run or a list refers to."""
    if one.write:
        return version_uuid(one.write.run.id, one.entry.id)
    return version_uuid(one.schema.body_id, one.entry.id) if one.schema else None


def dataset_type(one: DescribedDataset) -> Literal["DB_TABLE", "STREAM"]:
    """STREAM or DB_TABLE."""
    reported = (_text(one.facets.get("datasetType"), "datasetType") or "").upper()
    is_stream = reported in ("STREAM", "TOPIC") or (not reported and one.name.namespace.partition("://")[0] in _STREAMS)
    return "STREAM" if is_stream else "DB_TABLE"


def _of_stream(one: DescribedDataset) -> StreamLocation:
    """The member that only a stream has: the location of its schema."""
    location = _text(one.facets.get(_OWN), "schemaLocation") if dataset_type(one) == "STREAM" else None
    return {"schemaLocation": location} if location else {}


def source_name(one: DescribedDataset) -> str:
    """The data source that the producer names; in OpenLineage, a dataset's namespace is its data source."""
    return _text(one.facets.get("dataSource"), "name") or one.name.namespace


def job_document(one: DescribedJob) -> response_types.MarquezJob:
    """A job with its latest runs; null if it has none, as in Marquez, whose web UI rejects an empty list."""
    runs = [run_document(run) for run in one.runs]
    return {
        **job_head(one),
        "latestRuns": runs or None,
        "facets": dict(one.facets),
        "currentVersion": _job_version(one),
        "tags": tag_names(one.tags),
        "labels": [],
    }


def hidden_head(name: Node) -> HiddenDataset | HiddenJob:
    """A node that a viewer may not see: only its pseudonym, in the form that clients draw."""
    assert isinstance(name, DatasetName | JobName)
    if isinstance(name, DatasetName):
        return {
            "id": name_document(name),
            "type": "DB_TABLE",
            **name_document(name),
            "description": None,
            "fields": [],
            "tags": [],
            "physicalName": name.name,
            "sourceName": name.namespace,
        }
    return {
        "id": name_document(name),
        "type": "BATCH",
        **name_document(name),
        "description": None,
        "inputs": [],
        "outputs": [],
        "latestRun": None,
        "simpleName": name.name,
    }


def job_head(one: DescribedJob) -> response_types.JobHead:
    """A job, also as a node of a lineage graph."""
    parent = one.runs[0].parent.job if one.runs and one.runs[0].parent else None
    return {
        "id": name_document(one.name),
        "type": job_type(one),
        "name": one.name.name,
        "simpleName": one.name.name.removeprefix(f"{parent.name}.") if parent else one.name.name,
        "parentJobName": parent.name if parent else None,
        "parentJobUuid": None,
        "createdAt": iso(one.entry.first_seen),
        "updatedAt": iso(one.entry.last_seen),
        "namespace": one.name.namespace,
        "inputs": [name_document(name) for name in one.inputs],
        "outputs": [name_document(name) for name in one.outputs],
        "location": _text(one.facets.get("sourceCodeLocation"), "url"),
        "description": description_in(one.facets),
        "latestRun": run_document(one.runs[0]) if one.runs else None,
    }


def job_type(one: DescribedJob) -> Literal["BATCH", "STREAM", "SERVICE"]:
    """BATCH, STREAM or SERVICE."""
    reported = (_text(one.facets.get("jobType"), "processingType") or "").upper()
    if reported in ("STREAMING", "STREAM"):
        return "STREAM"
    return "SERVICE" if reported == "SERVICE" else "BATCH"


def job_version_document(
    one: DescribedJob, version: int, created_at: int, inputs: Sequence[DatasetName], outputs: Sequence[DatasetName]
) -> response_types.JobVersion:
    """A job with one of the lineages that it reported."""
    uuid = version_uuid(version, one.entry.id)
    return {
        "id": {**name_document(one.name), "version": uuid},
        "name": one.name.name,
        "namespace": one.name.namespace,
        "version": uuid,
        "type": job_type(one),
        "location": _text(one.facets.get("sourceCodeLocation"), "url"),
        "createdAt": iso(created_at),
        "inputs": [name_document(name) for name in inputs],
        "outputs": [name_document(name) for name in outputs],
        "latestRun": next((run_document(run) for run in one.runs if run.version == version), None),
        "facets": dict(one.facets),
    }


def run_document(one: DescribedRun) -> response_types.MarquezRun:
    """A run."""
    entry, job = one.entry, one.entry.name.job
    nominal = one.facets.get("nominalTime", {})
    started, ended = _started(entry), entry.ended_at
    uuid = version_uuid(one.version, node_id(job)) if one.version else None
    return {
        "id": entry.name.run_id,
        "createdAt": _iso(entry.seen_from),
        "updatedAt": _iso(entry.seen_to),
        "nominalStartTime": _text(nominal, "nominalStartTime"),
        "nominalEndTime": _text(nominal, "nominalEndTime"),
        "state": _STATE_NAMES[entry.state],
        "startedAt": _iso(started),
        "endedAt": _iso(ended),
        "durationMs": None if started is None or ended is None else max(0, ended - started) // 1000,
        "args": _args(one),
        "jobVersion": {**name_document(job), "version": uuid} if uuid else None,
        "inputDatasetVersions": [_touched(one, "input", name) for name in one.inputs],
        "outputDatasetVersions": [_touched(one, "output", name) for name in one.outputs],
        "facets": dict(one.facets),
    }


def tag_names(tags: Iterable[Tag]) -> list[str]:
    """Tags as Marquez has them: names, followed by a colon and the value unless it is `true`."""
    names = {tag.key if tag.value.lower() in ("", "true") else f"{tag.key}:{tag.value}" for tag in tags}
    return sorted(names)


def namespace_document(
    name: str, created_at: int, records: Mapping[str, FacetRecord], facets: Mapping[str, Any], *, is_hidden: bool
) -> response_types.MarquezNamespace:
    """A namespace; `facets` are decoded, `records` has the report time of each."""
    return {
        "name": name,
        "createdAt": iso(created_at),
        "updatedAt": iso(max([created_at, *(one.time for one in records.values())])),
        "ownerName": owner_name(facets),
        "description": description_in(facets),
        "isHidden": is_hidden,
    }


def owner_name(facets: Mapping[str, Any]) -> str:
    """The first owner of an ownership facet, or `anonymous`, as in Marquez."""
    owners = facets.get("ownership", {}).get("owners")
    some = owners if isinstance(owners, list) else []
    named = [one["name"] for one in some if isinstance(one, dict) and isinstance(one.get("name"), str)]
    return named[0] if named else "anonymous"


def description_in(facets: Mapping[str, Any]) -> str | None:
    """The text of a documentation facet."""
    return _text(facets.get("documentation"), "description")


def source_document(name: str, created_at: int, facets: Mapping[str, Any]) -> response_types.Source:
    """A data source."""
    source = facets.get("dataSource", {})
    scheme = name.partition("://")[0] if "://" in name else ""
    return {
        "type": _text(facets.get(_OWN), "type") or {"postgres": "POSTGRESQL"}.get(scheme, scheme.upper() or "UNKNOWN"),
        "name": name,
        "createdAt": iso(created_at),
        "updatedAt": iso(created_at),
        "connectionUrl": _text(source, "uri") or name,
        "description": description_in(facets),
    }


def _job_version(one: DescribedJob) -> str | None:
    version = next((run.version for run in one.runs if run.version), 0)
    return version_uuid(version, one.entry.id) if version else None


def _touched(one: DescribedRun, role: str, name: DatasetName) -> response_types.TouchedVersion:
    version = version_uuid(one.entry.id, node_id(name)) if role == "output" else None
    return {
        "datasetVersionId": {**name_document(name), "version": version},
        "facets": dict(one.apart.get((role, name), {})) if one.apart else {},
    }


def _started(entry: RunEntry) -> int | None:
    return entry.started_at if entry.started_at is not None or entry.state is RunState.OTHER else entry.seen_from


def _args(one: DescribedRun) -> Json:
    args = one.facets.get("whence_args", {}).get("args", {})
    return dict(args) if isinstance(args, dict) else {}


def _fields(fields: Iterable[SchemaField], tags: Sequence[Tag]) -> list[response_types.FieldOfDataset]:
    return [
        {
            "name": field.name,
            "type": field.type or None,
            "tags": tag_names(tag for tag in tags if tag.field == field.name),
            "description": field.description or None,
        }
        for field in fields
    ]


def _column(field: str, inputs: Sequence[Input]) -> response_types.ColumnLineage:
    return {"name": field, "inputFields": [input_document(one) for one in inputs], **transformation(inputs)}


def input_document(one: Input) -> response_types.InputField:
    """A source field of another field."""
    how = one.transformation
    return {
        **name_document(one.field.dataset),
        "dataset": one.field.dataset.name,
        "field": one.field.field,
        "transformationDescription": how.description or None,
        "transformationType": how.subtype or how.type,
        "transformations": [
            {"type": how.type, "subtype": how.subtype, "description": how.description, "masking": how.masking}
        ],
    }


def transformation(inputs: Sequence[Input]) -> response_types.TransformationOfAll:
    """The transformation of all inputs, if they are equal; influence only if no data flows."""
    values = [one for one in inputs if one.transformation.type != "INDIRECT"] or inputs
    described = {
        (one.transformation.description, one.transformation.subtype or one.transformation.type) for one in values
    }
    description, type_ = next(iter(described)) if len(described) == 1 else ("", "")
    return {"transformationDescription": description or None, "transformationType": type_ or None}


def _text(facet: Mapping[str, Any] | None, key: str) -> str | None:
    value = facet.get(key) if facet else None
    return value if isinstance(value, str) else None


def _iso(time: int | None) -> str | None:
    return None if time is None else iso(time)
