"""Request bodies of Marquez clients, and their translation to OpenLineage facets and events."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from whence.govern.assertions import Facets, Json, add_tag, set_description
from whence.model.catalog import RegistryKind
from whence.model.names import DatasetName, JobName
from whence.openlineage.write import dataset, facet, own_facet

MARQUEZ = "whence_marquez"
"""A facet for values that only Marquez defines."""


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("a text must not contain U+0000")
    return text


Text = Annotated[str, AfterValidator(_no_nul), Field(max_length=100_000)]
Name = Annotated[str, AfterValidator(_no_nul), Field(min_length=1, max_length=10_000)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class NamespaceBody(_Body):
    """A namespace."""

    ownerName: Name
    description: Text | None = None


class SourceBody(_Body):
    """A data source."""

    type: Name
    connectionUrl: Name
    description: Text | None = None


class TagBody(_Body):
    """A tag."""

    description: Text | None = None


class FieldBody(_Body):
    """A column of a dataset."""

    name: Name
    type: Text | None = None
    description: Text | None = None
    tags: list[Name] | None = None


class DatasetBody(_Body):
    """A table or stream."""

    type: Literal["DB_TABLE", "STREAM"]
    physicalName: Name
    sourceName: Name
    description: Text | None = None
    fields: list[FieldBody] | None = None
    tags: list[Name] | None = None
    runId: Name | None = None
    schemaLocation: Name | None = None


class DatasetIdBody(_Body):
    """A dataset's name."""

    namespace: Name
    name: Name


class JobBody(_Body):
    """A job and its current inputs and outputs."""

    type: Literal["BATCH", "STREAM", "SERVICE"]
    inputs: list[DatasetIdBody] = []
    outputs: list[DatasetIdBody] = []
    location: Name | None = None
    description: Text | None = None
    context: dict[str, Text] | None = None
    runId: Name | None = None


class RunBody(_Body):
    """A run to be created."""

    id: Name | None = None
    nominalStartTime: Name | None = None
    nominalEndTime: Name | None = None
    args: dict[str, Text] | None = None


def namespace_facets(body: NamespaceBody) -> Mapping[str, Json]:
    """Owner and description."""
    owners = facet("OwnershipDatasetFacet", owners=[{"name": body.ownerName}])
    return {"ownership": owners, **_documentation(RegistryKind.NAMESPACE.dataset_of(""), body.description)}


def source_facets(name: str, body: SourceBody) -> Mapping[str, Json]:
    """Address and type."""
    of = facet("DatasourceDatasetFacet", name=name, uri=body.connectionUrl)
    kept = own_facet("MarquezFacet", type=body.type)
    return {"dataSource": of, MARQUEZ: kept, **_documentation(RegistryKind.SOURCE.dataset_of(""), body.description)}


def tag_facets(body: TagBody) -> Mapping[str, Json]:
    """Description."""
    return _documentation(RegistryKind.TAG.dataset_of(""), body.description) or {
        MARQUEZ: own_facet("MarquezFacet", type="TAG")
    }


def dataset_facets(body: DatasetBody, connection: str, known: Facets) -> Mapping[str, Json]:
    """Schema, tags, source. `connection` is the URL of its source. Tags are added to those in `known` facets."""
    fields = [
        _without_none({"name": one.name, "type": one.type, "description": one.description}) for one in body.fields or ()
    ]
    kept = _without_none({"physicalName": body.physicalName, "schemaLocation": body.schemaLocation})
    return {
        "dataSource": facet("DatasourceDatasetFacet", name=body.sourceName, uri=connection),
        "datasetType": facet("DatasetTypeDatasetFacet", datasetType="STREAM" if body.type == "STREAM" else "TABLE"),
        MARQUEZ: own_facet("MarquezFacet", **kept),
        **({"schema": facet("SchemaDatasetFacet", fields=fields)} if fields else {}),
        **_with_tags(body, known),
        **_documentation(DatasetName("", ""), body.description),
    }


def job_facets(body: JobBody) -> Mapping[str, Json]:
    """Type, location, description."""
    processing = "STREAMING" if body.type == "STREAM" else body.type
    where = {"sourceCodeLocation": facet("SourceCodeLocationJobFacet", type="git", url=body.location)}
    return {
        "jobType": facet("JobTypeJobFacet", processingType=processing, integration="MARQUEZ", jobType="JOB"),
        **(where if body.location else {}),
        **({MARQUEZ: own_facet("MarquezFacet", context=body.context)} if body.context else {}),
        **_documentation(JobName("", ""), body.description),
    }


def run_facets(body: RunBody) -> Mapping[str, Json]:
    """Nominal times and arguments."""
    times = _without_none({"nominalStartTime": body.nominalStartTime, "nominalEndTime": body.nominalEndTime})
    return {
        **({"nominalTime": facet("NominalTimeRunFacet", **times)} if body.nominalStartTime else {}),
        **({"whence_args": own_facet("ArgsRunFacet", args=body.args)} if body.args else {}),
    }


def ends(some: Iterable[DatasetIdBody]) -> Sequence[Json]:
    """Inputs or outputs."""
    return [dataset(DatasetName(one.namespace, one.name)) for one in some]


def _documentation(subject: DatasetName | JobName, text: str | None) -> Mapping[str, Json]:
    return {"documentation": set_description(subject, text)} if text is not None else {}


def _with_tags(body: DatasetBody, known: Facets) -> Facets:
    given = [("", tag) for tag in body.tags or ()]
    given += [(one.name, tag) for one in body.fields or () for tag in one.tags or ()]
    found: Facets = {"tags": known["tags"]} if "tags" in known else {}
    for field, tag in given:
        found = {"tags": add_tag(DatasetName("", ""), found, tag, field=field)}
    return found if given else {}


def _without_none(members: Mapping[str, Any]) -> Json:
    return {key: value for key, value in members.items() if value is not None}
