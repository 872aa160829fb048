"""The graph ports: edges, names, runs, history. `store.snapshots.graph.StoreGraph` implements all of them, and so does
`query.visibility.graph.VisibleGraph`.
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
    HeldFacetRow,
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
    """The current edges, or those at a time, as arrays in the snapshot of a graph. Nodes are indices (`places`) from 0
    to `count`.
    """

    @property
    def count(self) -> int:
        """The number of nodes; it may grow with each call."""
        ...

    @property
    def has_all_fields(self) -> bool:
        """Whether `fields` includes fields without an edge."""
        ...

    def ids(self, places: Ints) -> Ints:
        """The ids of nodes."""
        ...

    def canonical_ids(self, places: Ints) -> Ints:
        """The ids of the names that the viewer sees for canonical nodes."""
        ...

    def kinds(self, places: Ints) -> NDArray[np.int8]:
        """The `Kind` of each node."""
        ...

    def place(self, id_: int) -> int:
        """The index of a node, or -1 if it is not known."""
        ...

    def canonical(self, places: Ints) -> Ints:
        """The representative of each node."""
        ...

    def datasets(self, places: Ints) -> Ints:
        """The dataset of each dataset or field; -1 for a job."""
        ...

    def is_grouped(self, places: Ints) -> NDArray[np.bool_]:
        """Which canonical nodes have aliases."""
        ...

    def by_name(self, places: Ints) -> Ints:
        """The rank of each node's name among all names, sorted as text; -1: not known."""
        ...

    def classes(self, places: Ints) -> Ints:
        """The class of each canonical dataset or job, for `traits`; -1: no traits, -2: not known."""
        ...

    def traits(self, class_: int) -> Traits:
        """The traits of a class, without tags."""
        ...

    def members(self, places: Ints) -> tuple[Ints, Ints]:
        """All names of canonical nodes, the representative first: (index of the node, name)."""
        ...

    def fields(self, places: Ints) -> tuple[Ints, Ints]:
        """The fields of datasets, by id: (index of the dataset, field)."""
        ...

    def edges(
        self, probes: Ints, direction: Direction, grain: Grain, limit: int
    ) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """The edges at nodes, in the order of `Graph.edges`: (index of the probe, far end, owner, rank, key). If there
        are more than `limit`, at least the first `limit` + 1.

        Rank: 2 × (0 DIRECT, 1 another type, 2 INDIRECT), plus 1 if it is unconfirmed.
        """
        ...

    def rows(self, keys: Ints, direction: Direction) -> Sequence[EdgeRow]:
        """The complete rows of edges, in any order."""
        ...


class Words(Protocol):
    """The words of names and of facets."""

    def find(self, clue: SearchTerms, kind: Kind, limit: int) -> Candidates:
        """Nodes whose names may match, the most likely first; no other node matches if `complete`."""
        ...

    def facet_matches(self, words: Sequence[str], limit: int) -> TextMatches:
        """Nodes with a facet that contains all words, or words that begin with them; about `limit` of them. No other
        node matches if `complete`.
        """
        ...


class Names(Words, Protocol):
    """The names in a graph."""

    def nodes(self, ids: Iterable[int]) -> Mapping[int, Node]:
        """The names of the given ids; unknown ids are left out."""
        ...

    def fields(self, dataset_ids: Iterable[int]) -> Sequence[FieldRow]:
        """The fields of the given datasets."""
        ...

    def groups(self, dataset_ids: Iterable[int]) -> Mapping[int, tuple[DatasetName, ...]]:
        """The alias group, representative first, of each given dataset that is in a group of two or more."""
        ...

    def search(self, fragments: Sequence[str], kind: Kind, limit: int) -> Sequence[Hit]:
        """Nodes whose name contains the fragments in this order, ignoring case: shortest first, at most `limit`."""
        ...


class Graph(Protocol):
    """The edges of a graph with their evidence and gaps, in one snapshot."""

    def reached(self) -> tuple[int, ...]:
        """The position in each lane of the log before which every event is in this graph; ascending."""
        ...

    def forgotten_before(self) -> int | None:
        """The time (µs) before which retention deleted lineage that is no longer valid, or None."""
        ...

    def recorded_from(self) -> int | None:
        """The time of the first event (µs), or None."""
        ...

    def hidden(self, ids: Iterable[int]) -> frozenset[int]:
        """Which of the ids are pseudonyms of nodes that the viewer may not see."""
        ...

    def edges(self, probes: Sequence[int], hop: Hop, limit: int) -> Sequence[EdgeRow]:
        """The edges at the given nodes, at most `limit`, in the order of `probes`."""
        ...

    def adjacencies(self, at: int | None, roots: Iterable[int]) -> Iterator[Adjacency]:
        """Adjacencies of the current edges (or those at a time) for a search from some nodes, fastest first. The last
        one has all fields and all roots.
        """
        ...

    def gaps(self, dataset_ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """Assertions about these datasets without columns, at most `limit` rows."""
        ...

    def unreported(self, ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """Columns that a job writes without reporting their sources, at most `limit` rows. Upstream, there is one row
        without a dataset at the far end, and one for each dataset.
        """
        ...

    def incomplete(self, ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """Columns and whole outputs of which a job reports that it does not know all sources; rows as of `unreported`.
        At other grains than that of fields, an output stands for its columns.
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
        """The evidence of each lineage set, with its latest `runs` runs."""
        ...

    def facets(self, ids: Iterable[int], names: Sequence[str]) -> Sequence[FacetRow]:
        """The current payloads of the named facets of datasets and jobs; deleted ones are left out."""
        ...

    def tags_at(self, ids: Iterable[int], at: int) -> Sequence[HeldFacetRow]:
        """The payloads of facets with tags (`TAG_FACETS`) at a time (µs); deleted ones are left out."""
        ...

    def check_jobs(self, job_ids: Iterable[int], at: int | None) -> frozenset[int]:
        """Which of these jobs only check data: they have checked all that they read, and write nothing. As of a time
        (µs), None: now.
        """
        ...

    def events(self, ids: Iterable[int]) -> Mapping[int, tuple[AssertingEvent, int]]:
        """Stored events with their subjects (a run, a job or a dataset)."""
        ...


class Runs(Graph, Protocol):
    """A graph with its runs."""

    def runs_named(self, run_id: str) -> Sequence[RunRow]:
        """The runs with this run id: one of each job that claims it."""
        ...

    def runs(self, ids: Iterable[int]) -> Sequence[RunRow]:
        """The runs with these ids."""
        ...

    def asserted_sets(self, run_ids: Iterable[int]) -> Mapping[int, tuple[int, ...]]:
        """The lineage sets that each run asserted."""
        ...

    def content(self, set_ids: Iterable[int]) -> Sequence[SetEdge]:
        """The edges of lineage sets."""
        ...

    def writers(self, touches: Sequence[tuple[int, int]]) -> Sequence[RunTouch]:
        """For each (dataset, time), the last run that had completed writing it by then."""
        ...

    def next_writers(self, touches: Sequence[tuple[int, int]]) -> Sequence[RunTouch]:
        """For each (dataset, time), the first run after then that completed writing it."""
        ...

    def readers(self, periods: Sequence[tuple[int, int, int]], limit: int) -> Sequence[RunTouch]:
        """For each (dataset, from, until), the runs with events in that time that read it; at most `limit` in all."""
        ...


class Past(Runs, Names, Protocol):
    """A graph with its history."""

    def owners(self, ids: Iterable[int]) -> Sequence[int]:
        """The owners that ever asserted an edge that ends at one of these nodes."""
        ...

    def spans(self, owner_ids: Iterable[int]) -> Sequence[SpanRow]:
        """All validity intervals of these owners, by owner, aspect and time."""
        ...

    def versions(self, ids: Iterable[int]) -> Mapping[int, tuple[int, ...]]:
        """The lineage sets of each version that has any; a version that ends lineage has none."""
        ...

    def changed(self, since: int, until: int) -> Sequence[int]:
        """Owners with a validity interval that began or ended after `since`, and not after `until`."""
        ...

    def held(self, at: int | None, owner_ids: Iterable[int] | None) -> Sequence[HeldRow]:
        """The lineage sets that are valid now or at a time, of some owners or of all."""
        ...

    def present(self, ids: Iterable[int], at: int | None) -> set[int]:
        """Which of the nodes have an edge that is valid now, or at a time."""
        ...

    def schemas(self, dataset_ids: Iterable[int]) -> Sequence[SchemaRow]:
        """Every reported schema of these datasets, the oldest first."""
        ...

    def described(self, since: int | None) -> Sequence[int]:
        """Datasets whose schema may have changed after a time; with None, all that have one."""
        ...


class RunEnds(Past, Protocol):
    """A graph with the ends of runs, and with the events that runs sent."""

    def run_ends(self, job_ids: Iterable[int], since: int, until: int, limit: int) -> Sequence[RunRow]:
        """The runs of these jobs that ended after `since` and not after `until`, the latest first, at most `limit`; and
        the last run of each job that had ended by `since`.
        """
        ...

    def run_events(self, times: Iterable[tuple[int, int]]) -> Mapping[tuple[int, int], AssertingEvent]:
        """For each (run, time) the last event of the run that is not after the time."""
        ...
