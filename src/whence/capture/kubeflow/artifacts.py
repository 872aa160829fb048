"""Artifacts as datasets: the file, object or table at the URI of each, named as other captures name it."""

from collections.abc import Iterable

from whence.capture.kubeflow.records import Artifact
from whence.capture.polling.uris import name_uri
from whence.openlineage.json.wire import Json
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset
from whence_client.events.facets import Facet, facet, own_facet
from whence_client.naming.files import is_location

_METRICS = frozenset(("system.Metrics", "system.ClassificationMetrics", "system.SlicedClassificationMetrics"))
_KINDS = {"system.Model": "MODEL", "system.Dataset": "DATASET"}


def name_artifacts(artifacts: Iterable[Artifact], naming: Naming, gaps: dict[str, str]) -> tuple[Dataset, ...]:
    """The datasets of artifacts, each once; a gap for each that is known by its URI only."""
    found = (_describe(one, _name(one, naming, gaps)) for one in artifacts if one.uri)
    return tuple({one.key: one for one in found}.values())


def metrics_of(artifacts: Iterable[Artifact]) -> list[Json]:
    """The numbers in artifacts of metrics. Curves and matrices are left out."""
    listed = [one for one in artifacts if one.type in _METRICS]
    return [{"key": key, "value": value} for one in listed for key, value in numbers_in(one.metadata).items()]


def numbers_in(members: Json) -> dict[str, float]:
    """The members that are numbers. Texts may show rows."""
    found = sorted(members.items())
    return {key: one for key, one in found if isinstance(one, int | float) and not isinstance(one, bool)}


def _name(artifact: Artifact, naming: Naming, gaps: dict[str, str]) -> Dataset:
    uri = artifact.uri
    if uri.startswith("minio://"):
        uri = f"s3://{uri.removeprefix('minio://')}"
    if found := name_uri(uri, naming):
        return found
    if is_location(uri) and "://" not in uri:
        return naming.file(uri)
    gaps[f"artifact {artifact.key}"] = f"{uri} is no URI of a file, table or topic; it is known by that name"
    return Dataset(naming.instance, f"artifacts/{uri}")


def _describe(artifact: Artifact, dataset: Dataset) -> Dataset:
    numbers = numbers_in(artifact.metadata)
    members: Json = {"type": artifact.type, "key": artifact.key, "metadata": numbers}
    facets: dict[str, Facet] = {
        "whence_kubeflowArtifact": own_facet(
            "KubeflowArtifactFacet", **{name: one for name, one in members.items() if one}
        )
    }
    if kind := _KINDS.get(artifact.type):
        facets["datasetType"] = facet("DatasetTypeDatasetFacet", datasetType=kind)
    return Dataset(dataset.namespace, dataset.name, facets=facets)
