"""What questions need of a store: small ports. `store.snapshots.graph.StoreGraph` is all of them; so is what hides
from some.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from whence.model.graph import (
    AssertingEvent,
    Candidates,
    Direction,
    EdgeRow,
    Evidence,
    FacetRow,
    FieldRow,
    GapRow,
    Grain,
    HeldRow,
    Hit,
    Hop,
    RunRow,
    RunTouch,
    SchemaRow,
    SearchTerms,
    SetEdge,
    SpanRow,
    TextMatches,
)
from whence.model.ids import Kind
from whence.model.names import DatasetName, Node
from whence.model.traits import Traits

Ints = NDArray[np.int64]


class Adjacency(Protocol):
    """The edges that hold now, or held at a time, as arrays, in the snapshot of a graph. Nodes are known by their
    places, 0 to `count`.
    """

    @property
    def count(self) -> int:
        """How many nodes there are: may grow with each call."""
        ...

    @property
    def has_all_fields(self) -> bool:
        """Whether `fields` has those without an edge, too."""
        ...

    def ids(self, places: Ints) -> Ints:
        """The ids of nodes."""
        ...

    def canonical_ids(self, places: Ints) -> Ints:
        """The ids of the names by which nodes that stand for others are known."""
        ...

    def kinds(self, places: Ints) -> NDArray[np.int8]:
        """Their `Kind`s."""
        ...

    def place(self, id_: int) -> int:
        """The place of a node; -1: it is not among these."""
        ...

    def canonical(self, places: Ints) -> Ints:
        """The node that stands for each."""
        ...

    def datasets(self, places: Ints) -> Ints:
        """The dataset of each dataset or field; -1 of a job."""
        ...

    def is_grouped(self, places: Ints) -> NDArray[np.bool_]:
        """Which canonical nodes have other names."""
        ...

    def by_name(self, places: Ints) -> Ints:
        """The place of the name of each node among all names, as texts; -1: not known."""
        ...

    def classes(self, places: Ints) -> Ints:
        """What is said of each canonical dataset or job, for `traits`; -1: nothing, -2: not known."""
        ...

    def traits(self, class_: int) -> Traits:
        """What a class says, without tags."""
        ...

    def members(self, places: Ints) -> tuple[Ints, Ints]:
        """All names of canonical nodes, each node's own first: (which of the nodes, name)."""
        ...

    def fields(self, places: Ints) -> tuple[Ints, Ints]:
        """The fields of datasets, by id: (which of the datasets, field)."""
        ...

    def edges(
        self, probes: Ints, direction: Direction, grain: Grain, limit: int
    ) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """The edges at nodes, in the order of `Graph.edges`: (which of the probes, far end, owner, rank, key). Of more
        than `limit`, at least the first `limit` + 1.

        Rank: 2 × (0 DIRECT, 1 another type, 2 INDIRECT), and 1 more if it is not confirmed.
        """
        ...

    def rows(self, keys: Ints, direction: Direction) -> Sequence[EdgeRow]:
        """Edges with all that is said of them, in no order."""
        ...


class Words(Protocol):
    """What names are made of, and what is said of the things that have them."""

    def find(self, clue: SearchTerms, kind: Kind, limit: int) -> Candidates:
        """Nodes whose names may fit, the likelier first; no other fits if `complete`."""
        ...

    def told(self, words: Sequence[str], limit: int) -> TextMatches:
        """Nodes of which a facet says all words, or words that begin with them; about `limit` of them; no other does
        if `complete`."""
        ...


class Names(Words, Protocol):
    """The names in a graph."""

    def nodes(self, ids: Iterable[int]) -> Mapping[int, Node]:
        """The names of the given ids; an unknown id is left out."""
        ...

    def fields(self, dataset_ids: Iterable[int]) -> Sequence[FieldRow]:
        """The fields of the given datasets."""
        ...

    def groups(self, dataset_ids: Iterable[int]) -> Mapping[int, tuple[DatasetName, ...]]:
        """The alias group, representative first, of each given dataset that is in a group of two or more."""
        ...

    def search(self, fragments: Sequence[str], kind: Kind, limit: int) -> Sequence[Hit]:
        """Nodes whose name holds the fragments in this order, whatever their case: shortest first, at most `limit`."""
        ...


class Graph(Protocol):
    """The edges of a graph and what is known about them, in one snapshot."""

    def reached(self) -> tuple[int, ...]:
        """In each lane of the log, the position before which every event is in this graph; ascending."""
        ...

    def forgotten_before(self) -> int | None:
        """What held only before this time (µs) was deleted by retention; None: nothing was."""
        ...

    def recorded_from(self) -> int | None:
        """When the first event happened (µs); None: there is none."""
        ...

    def hidden(self, ids: Iterable[int]) -> frozenset[int]:
        """Those of the ids that stand for nodes which the asker may not see."""
        ...

    def edges(self, probes: Sequence[int], hop: Hop, limit: int) -> Sequence[EdgeRow]:
        """The edges at the given nodes, at most `limit`, in the order of `probes`."""
        ...

    def adjacencies(self, at: int | None, roots: Iterable[int]) -> Iterator[Adjacency]:
        """What holds now (or held at a time) for a search from some nodes, the fastest first. The last one has all
        fields and all roots.
        """
        ...

    def gaps(self, dataset_ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """Where the lineage that an owner gives of these datasets has no columns, at most `limit` rows."""
        ...

    def unreported(self, ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """Where a job does not say where all columns that it writes come from, at most `limit` rows: upstream one
        without a dataset at the far end, and one for each.
        """
        ...

    def nodes(self, ids: Iterable[int]) -> Mapping[int, Node]:
        """As in `Names`."""
        ...

    def fields(self, dataset_ids: Iterable[int]) -> Sequence[FieldRow]:
        """As in `Names`."""
        ...

    def groups(self, dataset_ids: Iterable[int]) -> Mapping[int, tuple[DatasetName, ...]]:
        """As in `Names`."""
        ...

    def evidence(self, set_ids: Iterable[int], at: int | None, runs: int) -> Mapping[int, Evidence]:
        """Why each lineage set is believed, with its latest `runs` runs."""
        ...

    def facets(self, ids: Iterable[int], names: Sequence[str]) -> Sequence[FacetRow]:
        """What the named facets say now of datasets and jobs; deleted ones are left out."""
        ...

    def events(self, ids: Iterable[int]) -> Mapping[int, tuple[AssertingEvent, int]]:
        """Events, and what each is about: a run, a job or a dataset. Forgotten ones are left out."""
        ...


class Runs(Graph, Protocol):
    """A graph that knows its runs."""

    def runs_named(self, run_id: str) -> Sequence[RunRow]:
        """The runs with this run id: one of each job that claims it."""
        ...

    def runs(self, ids: Iterable[int]) -> Sequence[RunRow]:
        """The runs with these ids."""
        ...

    def said(self, run_ids: Iterable[int]) -> Mapping[int, tuple[int, ...]]:
        """The lineage sets that each run said."""
        ...

    def content(self, set_ids: Iterable[int]) -> Sequence[SetEdge]:
        """The edges of lineage sets."""
        ...

    def writers(self, asked: Sequence[tuple[int, int]]) -> Sequence[RunTouch]:
        """For each (dataset, time), the last run that had completed writing it by then."""
        ...

    def next_writers(self, asked: Sequence[tuple[int, int]]) -> Sequence[RunTouch]:
        """For each (dataset, time), the first run after then that completed writing it."""
        ...

    def readers(self, asked: Sequence[tuple[int, int, int]], limit: int) -> Sequence[RunTouch]:
        """For each (dataset, from, until), the runs that spoke in that time and read it; at most `limit` in all."""
        ...


class Past(Runs, Names, Protocol):
    """A graph that knows what held when, and who said so."""

    def owners(self, ids: Iterable[int]) -> Sequence[int]:
        """Who ever said an edge that ends at one of these nodes."""
        ...

    def spans(self, owner_ids: Iterable[int]) -> Sequence[SpanRow]:
        """All that held of what these owners said, by owner, aspect and time."""
        ...

    def versions(self, ids: Iterable[int]) -> Mapping[int, tuple[int, ...]]:
        """The lineage sets of each version that has any: where lineage was ended, none holds."""
        ...

    def changed(self, since: int, until: int) -> Sequence[int]:
        """Owners of whose lineage something began or ended to hold after `since`, and not after `until`."""
        ...

    def held(self, at: int | None, owner_ids: Iterable[int] | None) -> Sequence[HeldRow]:
        """The lineage sets that hold now or held at a time, of some owners or of all."""
        ...

    def present(self, ids: Iterable[int], at: int | None) -> set[int]:
        """Those of the nodes at which an edge begins or ends that holds now, or held at a time."""
        ...

    def schemas(self, dataset_ids: Iterable[int]) -> Sequence[SchemaRow]:
        """Every schema that was said of these datasets, the oldest first."""
        ...

    def described(self, since: int | None) -> Sequence[int]:
        """Datasets whose schema may have changed after a time; None: all that have one."""
        ...
