"""Models as datasets: logged models (`models/m-…`) and registered versions (`models/churn/1`), with their signatures.

A model never changes, and an experiment makes many. So its lineage is declared on the model itself: the next training
run of the experiment does not end it.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from whence.capture.mlflow.datasets import read_columns
from whence.capture.mlflow.records import VersionRecord, members
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import dataset_lineage
from whence_client.captures import Naming
from whence_client.events.datasets import Column, Dataset, Field
from whence_client.events.facets import Facet, facet, own_facet
from whence_client.events.runs import dataset_event

INFLUENCE = "CONDITIONAL"
"""The subtype of what training data does to a model: it decides it, and no value of it flows on."""


def name_model(naming: Naming, *parts: str) -> Dataset:
    """The dataset of a logged model by its id, or of a registered version by name and version."""
    return Dataset(naming.instance, "/".join(("models", *parts)))


def read_signature(signature: Json) -> tuple[Field, ...]:
    """The features of a signature, of the JSON in its `inputs`; none of tensors, and of models without a signature."""
    try:
        return tuple(read_columns(json.loads(signature.get("inputs") or "[]")))
    except (TypeError, ValueError):
        return ()


def describe_model(named: Dataset, features: Iterable[Field], version: str, facets: dict[str, Facet]) -> Dataset:
    """The dataset of a model with its facets."""
    known = {
        "datasetType": facet("DatasetTypeDatasetFacet", datasetType="MODEL"),
        "version": facet("DatasetVersionDatasetFacet", datasetVersion=version),
    }
    return Dataset(named.namespace, named.name, tuple(features), {**known, **facets})


def declare_training(model: Dataset, sources: Iterable[Column | Dataset], at: datetime) -> Json:
    """The event that a model was made from columns, or from datasets with columns that nobody knows."""
    target = DatasetName(*model.key)
    edges = [Edge(source=_node(one), target=target, type="INDIRECT", subtype=INFLUENCE) for one in sources]
    return dataset_event(_with_lineage(model, edges), at)


def version_events(record: VersionRecord, naming: Naming) -> Iterator[Json]:
    """What is declared of a registered version: once what it is a copy of, and its state from `record.at` on."""
    version = record.version
    named = name_model(naming, str(version["name"]), str(version["version"]))
    if record.is_deleted:
        drop = facet("LifecycleStateChangeDatasetFacet", lifecycleStateChange="DROP")
        yield dataset_event(Dataset(*named.key, facets={"lifecycleStateChange": drop}), _time(record.at))
        return
    features = read_signature(record.signature)
    model = describe_model(named, features, str(version["version"]), {})
    source = _source(str(version.get("source") or ""), naming)
    if source is not None:
        yield dataset_event(_copied(model, source, features), _time(version["creation_timestamp"]))
    yield dataset_event(Dataset(*named.key, facets=dict(_state(record))), _time(record.at))


def _copied(model: Dataset, source: Dataset, features: Iterable[Field]) -> Dataset:
    """A registered version is the model that it was made of: each feature is the same feature."""
    pairs = [(DatasetName(*source.key), DatasetName(*model.key))]
    edges = [Edge(source=old, target=new, type="DIRECT", subtype="IDENTITY") for old, new in pairs]
    edges += [
        Edge(source=FieldName(old, one.name), target=FieldName(new, one.name), type="DIRECT", subtype="IDENTITY")
        for old, new in pairs
        for one in features
    ]
    return _with_lineage(model, edges)


def _state(record: VersionRecord) -> Iterator[tuple[str, Facet]]:
    """The facets of a version that change: stage, aliases and tags, as tags that gates and people read."""
    version = record.version
    stage = str(version.get("current_stage") or "None")
    tags = [("mlflow.stage", stage), *((f"mlflow.alias.{alias}", "true") for alias in sorted(record.aliases))]
    tags += sorted(members(version.get("tags")).items())
    yield (
        "tags",
        facet("TagsDatasetFacet", tags=[{"key": key, "value": value, "source": "MLFLOW"} for key, value in tags]),
    )
    known: Json = {"stage": stage, "aliases": sorted(record.aliases), "status": str(version.get("status") or "")}
    yield "whence_mlflowModel", own_facet("MlflowModelDatasetFacet", **known, runId=str(version.get("run_id") or ""))
    if version.get("description"):
        yield "documentation", facet("DocumentationDatasetFacet", description=str(version["description"]))


def _source(uri: str, naming: Naming) -> Dataset | None:
    """The model that `models:/m-…` or `models:/churn/1` names; None for a folder of artifacts, as before MLflow 3."""
    parts = uri.removeprefix("models:/").strip("/").split("/")
    return name_model(naming, *parts) if uri.startswith("models:/") and len(parts) <= 2 and all(parts) else None


def _with_lineage(model: Dataset, edges: Iterable[Edge]) -> Dataset:
    lineage = dataset_lineage(edges)
    return Dataset(*model.key, model.schema_fields, {**model.facets, **({"lineage": lineage} if edges else {})})


def _node(source: Column | Dataset) -> DatasetName | FieldName:
    dataset = DatasetName(source.namespace, source.name)
    return FieldName(dataset, source.field) if isinstance(source, Column) else dataset


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)
