"""Groups of twins, and who reads one of them that is not the one to prefer. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from whence.govern.twins.derivations import Steps, digest_columns, list_derived, sources_of
from whence.model.names import DatasetName, FieldName, Node
from whence.model.traits import Traits

READERS = frozenset({"MODEL", "DASHBOARD", "REPORT"})
"""The types of datasets that should read the preferred twin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinGraph:
    """What is known of datasets. `steps`: the edges into columns; `unreported`: columns and datasets of which a job
    does not report the sources; `inputs`: pairs of a dataset and one that is made of it; `certified`: those that rules
    certify, or that are tagged so where no rule applies.
    """

    steps: Steps
    columns: AbstractSet[FieldName]
    traits: Mapping[DatasetName, Traits]
    unreported: AbstractSet[Node] = frozenset()
    inputs: AbstractSet[tuple[Node, Node]] = frozenset()
    certified: AbstractSet[DatasetName] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A model or dashboard that reads a twin that is not preferred."""

    reader: DatasetName
    twin: DatasetName


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """Datasets that come from the same sources by the same formulas. `preferred`: the canonical ones, or without one
    the certified ones; empty: nobody says which.
    """

    datasets: tuple[DatasetName, ...]
    columns: int
    sources: tuple[FieldName, ...]
    preferred: tuple[DatasetName, ...] = ()
    readers: tuple[Reader, ...] = field(default=())


def find_twins(graph: TwinGraph) -> Sequence[Twins]:
    """All groups, those with misled readers first, then by name."""
    found = [_group(graph, datasets) for datasets in _groups(graph)]
    return sorted(found, key=lambda one: (-len(one.readers), one.datasets))


def _groups(graph: TwinGraph) -> Iterator[tuple[DatasetName, ...]]:
    """The datasets with the same digests, one of which at least is of more than a copy. Of datasets with columns whose
    sources are not known it cannot be said.
    """
    digests = digest_columns(graph.steps)
    derived = list_derived(graph.steps)
    by_digests: dict[frozenset[str], list[DatasetName]] = {}
    for dataset, columns in _by_dataset(graph.columns).items():
        is_open = dataset in graph.unreported or not graph.unreported.isdisjoint(columns)
        if not is_open and columns <= digests.keys() and not derived.isdisjoint(columns):
            by_digests.setdefault(frozenset(digests[one] for one in columns), []).append(dataset)
    return (tuple(sorted(some)) for some in by_digests.values() if len(some) > 1)


def _by_dataset(columns: AbstractSet[FieldName]) -> Mapping[DatasetName, set[FieldName]]:
    found: dict[DatasetName, set[FieldName]] = {}
    for one in columns:
        found.setdefault(one.dataset, set()).add(one)
    return found


def _group(graph: TwinGraph, datasets: tuple[DatasetName, ...]) -> Twins:
    columns = [one for one in graph.columns if one.dataset == datasets[0]]
    canonical = tuple(one for one in datasets if "canonical" in _tags(graph, one))
    preferred = canonical or tuple(one for one in datasets if one in graph.certified)
    return Twins(
        datasets=datasets,
        columns=len(columns),
        sources=tuple(sorted(sources_of(columns, graph.steps), key=str)),
        preferred=preferred,
        readers=tuple(_readers(graph, datasets, preferred)),
    )


def _readers(
    graph: TwinGraph, datasets: tuple[DatasetName, ...], preferred: tuple[DatasetName, ...]
) -> Iterator[Reader]:
    others = set(datasets) - set(preferred)
    for source, target in sorted(graph.inputs, key=str) if preferred else ():
        if source in others and isinstance(source, DatasetName) and isinstance(target, DatasetName):
            known = graph.traits.get(target)
            if known is not None and not READERS.isdisjoint(known.types) and target not in datasets:
                yield Reader(reader=target, twin=source)


def _tags(graph: TwinGraph, dataset: DatasetName) -> AbstractSet[str]:
    known = graph.traits.get(dataset)
    return known.tags_of("") if known is not None else frozenset()
