"""Reading how data passes between all columns: the edges, and the jobs that do not report which columns they read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from whence.model.catalog import Entry, EntryFilter, Window, entry_sort_key
from whence.model.graph import Direction, EdgeRow, GapRow, Grain, Hop
from whence.model.ids import Kind, kind_of
from whence.model.names import Node
from whence.model.traits import Traits
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph
from whence.query.traversal.representatives import Representatives
from whence.query.traversal.traits import TraitReader

MOST_EDGES = 2_000_000
"""Edges that are read of a graph; more are a budget that cuts the answer."""
_PAGE = 5_000

_Row = TypeVar("_Row", EdgeRow, GapRow)


def list_datasets(catalog: Catalog) -> Iterator[Entry]:
    """All datasets of a catalog, by name."""
    after = None
    while page := catalog.listed(Kind.DATASET, EntryFilter(), Window(limit=_PAGE, after=after)):
        yield from page
        if len(page) < _PAGE:
            return
        after = entry_sort_key(page[-1])


@dataclass(slots=True)
class WholeGraph:
    """All edges into some datasets and what leads to them, at a time (µs), None: now. Ids are those of the graph."""

    graph: Graph
    at: int | None = None
    identity: Representatives = field(init=False)
    fields: dict[int, int] = field(default_factory=dict)
    """Each column with its dataset."""
    columns: dict[int, str] = field(default_factory=dict)
    """The names of the columns of the read datasets."""
    datasets: set[int] = field(default_factory=set)
    rows: list[EdgeRow] = field(default_factory=list)
    gaps: list[tuple[int, int]] = field(default_factory=list)
    """A node, and a dataset of which it may show anything."""
    unreported: set[int] = field(default_factory=set)
    """Columns whose sources a job does not report; a dataset stands for all of its columns."""
    inputs: set[tuple[int, int]] = field(default_factory=set)
    is_complete: bool = True

    def __post_init__(self) -> None:
        self.identity = Representatives(self.graph)

    def read(self, datasets: Sequence[int]) -> None:
        """Read the edges at datasets and their columns, then at those that are upstream, until there are no more."""
        frontier = list(datasets)
        while frontier and self.is_complete:
            self.datasets |= set(frontier)
            inner = self.graph.fields(frontier)
            self.fields |= {row.id: row.dataset_id for row in inner}
            self.columns |= {row.id: row.name for row in inner}
            self._read_edges(frontier, [row.id for row in inner])
            ends = {row.far_dataset_id for row in self.rows} | {other for _, other in self.gaps}
            frontier = sorted((ends | {source for source, _ in self.inputs}) - self.datasets - {0})

    def learn_names(self) -> Sequence[int]:
        """Learn the representative of every id that was read; the ids."""
        ends = [*((id_, id_) for id_ in self.datasets), *self.fields.items()]
        self.identity.learn(ends)
        return [id_ for id_, _ in ends]

    def names(self) -> Mapping[int, Node]:
        """The representative's name of each id that was read."""
        canonical = {id_: self.identity.canonical(id_) for id_ in self.learn_names()}
        wanted = set(canonical.values())
        made = {id_: name for id_, name in self.identity.names.items() if id_ in wanted}
        named = {**self.graph.nodes(sorted(wanted - made.keys())), **made}
        return {id_: named[one] for id_, one in canonical.items() if one in named}

    def traits(self) -> Mapping[int, Traits]:
        """The traits of each dataset, under all its names, with the tags of the time; after `learn_names`."""
        canonical = {id_: self.identity.canonical(id_) for id_ in self.datasets}
        reader = TraitReader(self.identity, self.at)
        reader.learn_subjects(set(canonical.values()))
        return {id_: reader.of_subject(one) for id_, one in canonical.items()}

    def _read_edges(self, datasets: Sequence[int], columns: Sequence[int]) -> None:
        hop, coarse = (Hop(Direction.UPSTREAM, grain, self.at) for grain in (Grain.FIELD, Grain.DATASET))
        ids = [*datasets, *columns]
        self.rows += self._within_budget(self.graph.edges(ids, hop, MOST_EDGES + 1))
        whole = self._within_budget(self.graph.edges(datasets, coarse, MOST_EDGES + 1))
        self.inputs |= {(row.far_id, row.near_id) for row in whole if kind_of(row.far_id) is Kind.DATASET}
        self.fields |= {row.far_id: row.far_dataset_id for row in self.rows if kind_of(row.far_id) is Kind.FIELD}
        gaps = [
            *self.graph.gaps(datasets, hop, MOST_EDGES + 1),
            *self.graph.unreported(ids, hop, MOST_EDGES + 1),
            *self.graph.incomplete(ids, hop, MOST_EDGES + 1),
        ]
        known = self._within_budget(gaps)
        self.unreported |= {row.near_id for row in known}
        self.gaps += [(row.near_id, row.other_id) for row in known if row.other_id]

    def _within_budget(self, rows: Sequence[_Row]) -> Sequence[_Row]:
        if len(self.rows) + len(rows) > MOST_EDGES:
            self.is_complete = False
            return rows[: max(0, MOST_EDGES - len(self.rows))]
        return rows
