"""Lookup of datasets, jobs, runs and sources by name, with the errors that Marquez clients expect."""

from collections.abc import Iterable, Mapping, Sequence

from whence.api.marquez import response_types
from whence.api.marquez.responses import namespace_document, source_document
from whence.api.requests.catalog import CatalogView
from whence.errors import ThingNotFoundError
from whence.model.catalog import Entry, FacetRecord, RegistryKind, RunEntry
from whence.model.ids import Kind, node_id
from whence.model.names import DatasetName, JobName
from whence.openlineage.names.naming import normalise
from whence.query.lookup.alias_facets import with_aliases
from whence.query.lookup.descriptions import (
    DescribedDataset,
    DescribedJob,
    DescribedRun,
    decoded,
    describe_datasets,
    describe_jobs,
    describe_runs,
)


def dataset_named(view: CatalogView, namespace: str, name: str) -> DescribedDataset:
    """The dataset with this name, in any of its spellings. Raises ThingNotFoundError."""
    for form in dict.fromkeys((DatasetName(namespace, name), normal(namespace, name))):
        if entry := _entry(view, form):
            return describe_datasets(view.catalog, view.graph, [entry])[0]
    raise ThingNotFoundError("Dataset", name)


def whole_dataset_named(view: CatalogView, namespace: str, name: str) -> DescribedDataset:
    """The same, completed from its aliases. Raises ThingNotFoundError."""
    return with_aliases(view.catalog, view.graph, [dataset_named(view, namespace, name)])[0]


def require_dataset(view: CatalogView, namespace: str, name: str) -> None:
    """Raises ThingNotFoundError if there is no dataset with this name, in any of its spellings."""
    if not any(_entry(view, form) for form in (DatasetName(namespace, name), normal(namespace, name))):
        raise ThingNotFoundError("Dataset", name)


def require_source(view: CatalogView, name: str) -> None:
    """Raises ThingNotFoundError if there is no such data source."""
    if name not in sources(view):
        raise ThingNotFoundError("Source", name)


def require_namespace(view: CatalogView, name: str) -> None:
    """Raises ThingNotFoundError if a namespace never contained anything, and nobody created it."""
    if name not in _first_seen(view, RegistryKind.NAMESPACE, [name]):
        raise ThingNotFoundError("Namespace", name)


def job_named(view: CatalogView, namespace: str, name: str) -> DescribedJob:
    """The job with this name. Raises ThingNotFoundError."""
    entry = _entry(view, JobName(namespace, name))
    if entry is None:
        raise ThingNotFoundError("Job", name)
    return describe_jobs(view.catalog, view.graph, [entry])[0]


def run_named(view: CatalogView, run_id: str) -> DescribedRun:
    """The run with this UUID; of several jobs' runs, the one seen last. Raises ThingNotFoundError."""
    return describe_runs(view.catalog, view.graph, [run_entry(view, run_id)])[0]


def run_entry(view: CatalogView, run_id: str) -> RunEntry:
    """The same, without its inputs and outputs."""
    found = view.catalog.runs([run_id.lower()])
    if not found:
        raise ThingNotFoundError("Run", run_id)
    return found[0]


def spaces(view: CatalogView) -> Sequence[str]:
    """Every namespace: those with entries, and those that somebody created. By name."""
    found = {name for kind in (Kind.DATASET, Kind.JOB) for name in view.catalog.namespaces(kind)}
    return sorted(found | _made(view, RegistryKind.NAMESPACE).keys())


def space_documents(view: CatalogView, names: Sequence[str]) -> list[response_types.MarquezNamespace]:
    """Namespaces with their assertions. Namespaces with deleted entries only are hidden."""
    facets, since = _registry(view, RegistryKind.NAMESPACE, names), _first_seen(view, RegistryKind.NAMESPACE, names)
    shown = set(spaces(view))
    return [
        namespace_document(
            name,
            since.get(name, 0),
            facets.get(name, {}),
            decoded(facets.get(name, {})),
            is_hidden=name not in shown,
        )
        for name in names
    ]


def space_document(view: CatalogView, name: str) -> response_types.MarquezNamespace:
    """One namespace, even if it is deleted. Raises ThingNotFoundError."""
    require_namespace(view, name)
    return space_documents(view, [name])[0]


def sources(view: CatalogView) -> Sequence[str]:
    """Every data source: namespaces of datasets, and those that somebody created. By name."""
    return sorted({*view.catalog.namespaces(Kind.DATASET), *_made(view, RegistryKind.SOURCE)})


def source_times(view: CatalogView) -> Sequence[int]:
    """The time of the first event about each of them."""
    names = view.catalog.namespaces(Kind.DATASET)
    known = {**view.catalog.first_seen(Kind.DATASET, names)}
    return [*known.values(), *(since for name, since in _made(view, RegistryKind.SOURCE).items() if name not in known)]


def source_documents(view: CatalogView, names: Sequence[str]) -> list[response_types.Source]:
    """Data sources with their assertions."""
    facets, since = _registry(view, RegistryKind.SOURCE, names), _first_seen(view, RegistryKind.SOURCE, names)
    return [source_document(name, since.get(name, 0), decoded(facets.get(name, {}))) for name in names]


def source_named(view: CatalogView, name: str) -> response_types.Source:
    """One data source. Raises ThingNotFoundError."""
    require_source(view, name)
    return source_documents(view, [name])[0]


def connection_of(view: CatalogView, source: str) -> str:
    """The URL of a data source, or its name if it is unknown."""
    facets = _registry(view, RegistryKind.SOURCE, [source]).get(source, {})
    return str(decoded(facets).get("dataSource", {}).get("uri") or source)


def _entry(view: CatalogView, name: DatasetName | JobName) -> Entry | None:
    id_ = node_id(name)
    return None if id_ in view.catalog.deleted([id_]) else view.catalog.entries([id_]).get(id_)


def normal(namespace: str, name: str) -> DatasetName:
    """The normalised name, as the reader of events stores it."""
    return normalise(namespace, name) if namespace and name else DatasetName(namespace, name)


def _made(view: CatalogView, kind: RegistryKind) -> Mapping[str, int]:
    """The namespaces or sources that somebody created, with their times."""
    return {
        kind.name_in(one.name): one.first_seen
        for one in view.catalog.registered(kind)
        if isinstance(one.name, DatasetName)
    }


def _first_seen(view: CatalogView, kind: RegistryKind, names: Sequence[str]) -> Mapping[str, int]:
    kinds = (Kind.DATASET, Kind.JOB) if kind is RegistryKind.NAMESPACE else (Kind.DATASET,)
    found = [view.catalog.first_seen(one, names) for one in kinds]
    ids = {node_id(kind.dataset_of(name)): name for name in names}
    found.append({ids[id_]: one.first_seen for id_, one in view.catalog.entries(ids).items()})
    return {
        name: min(some[name] for some in found if name in some) for name in names if any(name in some for some in found)
    }


def _registry(view: CatalogView, kind: RegistryKind, names: Iterable[str]) -> Mapping[str, Mapping[str, FacetRecord]]:
    found = view.catalog.registry([kind.dataset_of(name) for name in names])
    return {kind.name_in(name): facets for name, facets in found.items()}
