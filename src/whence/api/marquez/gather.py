"""Things by name with all that is known of them, or the fault that clients of Marquez expect where there is none."""

from collections.abc import Iterable, Mapping, Sequence

from whence.api.cataloguing import Catalogued
from whence.api.marquez.shapes import Json, namespace_document, source_document
from whence.errors import ThingNotFoundError
from whence.model.catalog import Entry, FacetSaid, Registered, RunEntry
from whence.model.ids import Kind, node_id
from whence.model.names import DatasetName, JobName
from whence.openlineage.naming import job_name as normal_job
from whence.openlineage.naming import normalise
from whence.query.described import (
    DescribedDataset,
    DescribedJob,
    DescribedRun,
    decoded,
    describe_datasets,
    describe_jobs,
    describe_runs,
)


def dataset_named(asked: Catalogued, namespace: str, name: str) -> DescribedDataset:
    """The dataset of this name, in any of its forms. Raises ThingNotFoundError."""
    for form in dict.fromkeys((DatasetName(namespace, name), normal(namespace, name))):
        if entry := _entry(asked, form):
            return describe_datasets(asked.catalog, asked.graph, [entry])[0]
    raise ThingNotFoundError("Dataset", name)


def job_named(asked: Catalogued, namespace: str, name: str) -> DescribedJob:
    """The job of this name. Raises ThingNotFoundError."""
    entry = _entry(asked, JobName(namespace, name))
    if entry is None:
        raise ThingNotFoundError("Job", name)
    return describe_jobs(asked.catalog, asked.graph, [entry])[0]


def run_named(asked: Catalogued, run_id: str) -> DescribedRun:
    """The run of this UUID; of several jobs' the one that was seen last. Raises ThingNotFoundError."""
    return describe_runs(asked.catalog, asked.graph, [run_entry(asked, run_id)])[0]


def run_entry(asked: Catalogued, run_id: str) -> RunEntry:
    """Likewise, without what it touched."""
    found = asked.catalog.runs([run_id.lower()])
    if not found:
        raise ThingNotFoundError("Run", run_id)
    return found[0]


def spaces(asked: Catalogued) -> Sequence[str]:
    """Every namespace: those with something in them, and those that somebody made. By name."""
    found = {name for kind in (Kind.DATASET, Kind.JOB) for name in asked.catalog.namespaces(kind)}
    return sorted(found | _made(asked, Registered.NAMESPACE).keys())


def space_documents(asked: Catalogued, names: Sequence[str]) -> list[Json]:
    """Namespaces with what people said of them."""
    said, since = _registry(asked, Registered.NAMESPACE, names), _since(asked, Registered.NAMESPACE, names)
    return [
        namespace_document(name, since.get(name, 0), said.get(name, {}), decoded(said.get(name, {}))) for name in names
    ]


def space_document(asked: Catalogued, name: str) -> Json:
    """One namespace. Raises ThingNotFoundError."""
    if name not in spaces(asked):
        raise ThingNotFoundError("Namespace", name)
    return space_documents(asked, [name])[0]


def sources(asked: Catalogued) -> Sequence[str]:
    """Every data source: namespaces of datasets, and those that somebody made. By name."""
    return sorted({*asked.catalog.namespaces(Kind.DATASET), *_made(asked, Registered.SOURCE)})


def source_times(asked: Catalogued) -> Sequence[int]:
    """When each of them was first spoken of."""
    names = asked.catalog.namespaces(Kind.DATASET)
    known = {**asked.catalog.first_seen(Kind.DATASET, names)}
    return [*known.values(), *(since for name, since in _made(asked, Registered.SOURCE).items() if name not in known)]


def source_documents(asked: Catalogued, names: Sequence[str]) -> list[Json]:
    """Data sources with what people said of them."""
    said, since = _registry(asked, Registered.SOURCE, names), _since(asked, Registered.SOURCE, names)
    return [source_document(name, since.get(name, 0), decoded(said.get(name, {}))) for name in names]


def source_named(asked: Catalogued, name: str) -> Json:
    """One data source. Raises ThingNotFoundError."""
    if name not in sources(asked):
        raise ThingNotFoundError("Source", name)
    return source_documents(asked, [name])[0]


def connection_of(asked: Catalogued, source: str) -> str:
    """The URL of a data source; of an unknown one, its name."""
    said = _registry(asked, Registered.SOURCE, [source]).get(source, {})
    return str(decoded(said).get("dataSource", {}).get("uri") or source)


def job_name(namespace: str, name: str) -> JobName:
    """The name as an event's job has it."""
    return normal_job(namespace, name)


def _entry(asked: Catalogued, name: DatasetName | JobName) -> Entry | None:
    id_ = node_id(name)
    return None if id_ in asked.catalog.deleted([id_]) else asked.catalog.entries([id_]).get(id_)


def normal(namespace: str, name: str) -> DatasetName:
    """The name as events are read."""
    return normalise(namespace, name) if namespace and name else DatasetName(namespace, name)


def _made(asked: Catalogued, kind: Registered) -> Mapping[str, int]:
    """What somebody made, and when."""
    return {
        kind.name_in(one.name): one.first_seen
        for one in asked.catalog.registered(kind)
        if isinstance(one.name, DatasetName)
    }


def _since(asked: Catalogued, kind: Registered, names: Sequence[str]) -> Mapping[str, int]:
    kinds = (Kind.DATASET, Kind.JOB) if kind is Registered.NAMESPACE else (Kind.DATASET,)
    found = [asked.catalog.first_seen(one, names) for one in kinds]
    ids = {node_id(kind.of(name)): name for name in names}
    found.append({ids[id_]: one.first_seen for id_, one in asked.catalog.entries(ids).items()})
    return {
        name: min(some[name] for some in found if name in some) for name in names if any(name in some for some in found)
    }


def _registry(asked: Catalogued, kind: Registered, names: Iterable[str]) -> Mapping[str, Mapping[str, FacetSaid]]:
    found = asked.catalog.registry([kind.of(name) for name in names])
    return {kind.name_in(name): facets for name, facets in found.items()}
