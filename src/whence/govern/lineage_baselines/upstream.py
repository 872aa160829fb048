"""The lineage upstream of a dataset, by columns: what a baseline accepts. Reads the graph; the walk is pure.

An edge leads from a column or dataset to one that is made of it. An edge without a source says that a job does not
report the sources of the target.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from whence.govern.contracts.evaluation.observations import Observed, ids_of
from whence.model.names import DatasetName, FieldName, Node
from whence.model.records.lineage_baselines import edge_key
from whence.query.answers.values import dataset_of
from whence.query.sensitivity.whole_graph import WholeGraph

UNREPORTED = "the sources are not reported"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamEdge:
    """An edge with its transformations, sorted. `source`: None if a job does not report it."""

    source: Node | None
    target: Node
    transformations: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key that a baseline has of it."""
        return edge_key(str(self.source or ""), str(self.target), self.transformations)

    @property
    def order(self) -> tuple[str, str]:
        """The order of lists."""
        return str(self.target), str(self.source or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamLineage:
    """All edges upstream of a dataset, sorted. `complete`: false if a budget cut the reading."""

    edges: tuple[UpstreamEdge, ...] = ()
    complete: bool = True


Link = tuple[Node | None, Node]


@dataclass(slots=True)
class _Known:
    """What was read of the graph, by target."""

    sources: dict[Node, dict[Link, set[str]]] = field(default_factory=dict)
    columns: dict[DatasetName, set[FieldName]] = field(default_factory=dict)
    opaque: dict[Node, set[DatasetName]] = field(default_factory=dict)
    """A target, and the datasets of which it may have any column."""

    def add(self, source: Node | None, target: Node, text: str) -> None:
        self.sources.setdefault(target, {}).setdefault((source, target), set()).add(text)


def read_upstream(
    graph: Observed, names: Sequence[DatasetName], at: int | None
) -> Mapping[DatasetName, UpstreamLineage]:
    """The lineage upstream of each dataset at a time (µs), None: the current one, under all its names."""
    ids = ids_of(graph, names)
    found = WholeGraph(graph, at)
    found.read(sorted({id_ for some in ids.values() for id_ in some}))
    named = found.names()
    known = _known(found, named)
    lineage = {}
    for name, some in ids.items():
        starts = {one for id_ in some if isinstance(one := named.get(id_), DatasetName)}
        lineage[name] = UpstreamLineage(edges=walk_upstream(known, starts), complete=found.is_complete)
    return lineage


def walk_upstream(known: _Known, starts: Iterable[DatasetName]) -> tuple[UpstreamEdge, ...]:
    """All edges at datasets, at their columns, and at what these are made of.

    Of a dataset upstream, only the columns that are used count; its inputs as a whole are named, and not followed.
    """
    waiting: list[Node] = [one for start in starts for one in (start, *known.columns.get(start, ()))]
    visited: set[Node] = set(waiting)
    links: dict[Link, set[str]] = {}
    while waiting:
        target = waiting.pop()
        for next_ in _expand(known, target, links):
            if next_ not in visited:
                visited.add(next_)
                waiting.append(next_)
    edges = (
        UpstreamEdge(source=source, target=target, transformations=tuple(sorted(texts)))
        for (source, target), texts in links.items()
    )
    return tuple(sorted(edges, key=lambda one: one.order))


def _expand(known: _Known, target: Node, links: dict[Link, set[str]]) -> Iterable[Node]:
    """Record the edges at a node; the nodes to visit next."""
    if isinstance(target, FieldName):
        yield target.dataset
    for link, texts in known.sources.get(target, {}).items():
        links.setdefault(link, set()).update(texts)
        source = link[0]
        is_whole = isinstance(source, DatasetName) and isinstance(target, DatasetName) and texts == {_INPUT}
        if source is not None and not is_whole:
            yield source
    for dataset in known.opaque.get(target, ()):
        yield dataset
        yield from known.columns.get(dataset, ())


_INPUT = "input"


def _known(found: WholeGraph, names: Mapping[int, Node]) -> _Known:
    known = _Known()
    for name in names.values():
        if isinstance(name, FieldName):
            known.columns.setdefault(name.dataset, set()).add(name)
    for row in found.rows:
        source, target = names.get(row.far_id), names.get(row.near_id)
        if source is not None and target is not None:
            masked = "masked" if row.masking else ""
            words = " ".join(filter(None, (row.type, row.subtype, masked)))
            known.add(source, target, f"{words}: {row.description}" if row.description else words)
    for far, near in found.inputs:
        if far in names and near in names and names[far] != names[near]:
            known.add(names[far], names[near], _INPUT)
    for id_ in found.unreported:
        if id_ in names:
            known.add(None, names[id_], UNREPORTED)
    for id_, other in found.gaps:
        dataset = dataset_of(names[other]) if other in names else None
        if id_ in names and isinstance(dataset, DatasetName):
            known.opaque.setdefault(names[id_], set()).add(dataset)
    return known
