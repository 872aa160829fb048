"""Assets as datasets, by their keys: URIs, named as the other captures name what is there."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from whence.capture.polling.uris import name_uri
from whence.model.lineage import Edge
from whence.model.names import DatasetName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import job_lineage
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset
from whence_client.events.facets import Facet, facet, own_facet

MADE, READ = "prefect.asset.materialization.succeeded", "prefect.asset.referenced"


@dataclass(slots=True)
class TaskAssets:
    """The assets of a task run: what it made, each with its sources, and what it read."""

    outputs: dict[tuple[str, str], Dataset] = field(default_factory=dict)
    sources: dict[tuple[str, str], dict[tuple[str, str], Dataset]] = field(default_factory=dict)
    inputs: dict[tuple[str, str], Dataset] = field(default_factory=dict)
    gaps: dict[str, str] = field(default_factory=dict)

    def lineage(self) -> Facet:
        """The job facet `lineage`: of each output its own sources."""
        return job_lineage(self._edges())

    def _edges(self) -> Iterator[Edge]:
        for target, sources in self.sources.items():
            for source in sources:
                if source != target:
                    yield Edge(source=DatasetName(*source), target=DatasetName(*target))


def read_assets(events: tuple[Json, ...], naming: Naming) -> TaskAssets:
    """The assets in the events of a task run."""
    found = TaskAssets()
    for event in events:
        key = str(event["resource"]["prefect.resource.id"])
        dataset = name_asset(key, naming, found.gaps)
        if event["event"] == READ:
            found.inputs.setdefault(dataset.key, dataset)
        elif event["event"] == MADE:
            found.outputs[dataset.key] = _describe(dataset, key, event)
            above = [name_asset(one, naming, found.gaps) for one in with_role(event, "asset")]
            found.sources.setdefault(dataset.key, {}).update({one.key: one for one in above})
            found.inputs.update({one.key: one for one in above})
    found.inputs = {key: one for key, one in found.inputs.items() if key not in found.outputs}
    return found


def name_asset(key: str, naming: Naming, gaps: dict[str, str]) -> Dataset:
    """The dataset of an asset: the file, table or topic at its URI; any other by its key at the Prefect, and a gap."""
    if found := name_uri(key, naming):
        return found
    gaps[f"asset {key}"] = f"asset {key}: its key is no URI of a file, table or topic; it is known by its key"
    return Dataset(naming.instance, f"assets/{key}")


def with_role(event: Json, role: str) -> list[str]:
    """The ids of the resources of a role in an event."""
    related = event.get("related") or ()
    return [str(one["prefect.resource.id"]) for one in related if one.get("prefect.resource.role") == role]


def _describe(dataset: Dataset, key: str, event: Json) -> Dataset:
    """The dataset, with the properties of its asset. Of the metadata, texts may show rows: numbers are sent."""
    resource, payload = event["resource"], event.get("payload") or {}
    numbers = {name: value for name, value in payload.items() if isinstance(value, int | float)}
    own = {"key": key, "name": resource.get("prefect.resource.name"), "url": resource.get("prefect.asset.url")}
    facets = {
        "whence_prefectAsset": own_facet("PrefectAssetFacet", **{name: one for name, one in own.items() if one}),
        **_described(resource.get("prefect.asset.description")),
        **_owned(resource.get("prefect.asset.owners")),
    }
    made = {"whence_prefectMaterialization": own_facet("PrefectMaterializationFacet", metadata=numbers)}
    return Dataset(dataset.namespace, dataset.name, facets=facets, run_facets=made if numbers else {})


def _described(text: object) -> dict[str, Facet]:
    return {"documentation": facet("DocumentationDatasetFacet", description=text)} if text else {}


def _owned(text: object) -> dict[str, Facet]:
    """The owners, which an event has as JSON."""
    try:
        owners = json.loads(str(text)) if text else []
    except ValueError:
        owners = [text]
    names = [{"name": str(one)} for one in owners] if isinstance(owners, list) else []
    return {"ownership": facet("OwnershipDatasetFacet", owners=names)} if names else {}
