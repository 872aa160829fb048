"""What questions need of a store: two small ports. `store.graph.StoreGraph` is both."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from whence.model.graph import EdgeRow, Evidence, FieldRow, GapRow, Hit, Hop
from whence.model.ids import Kind
from whence.model.names import DatasetName, Node


class Names(Protocol):
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

    def edges(self, probes: Sequence[int], hop: Hop, limit: int) -> Sequence[EdgeRow]:
        """The edges at the given nodes, at most `limit`, in the order of `probes`."""
        ...

    def gaps(self, dataset_ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """Where the lineage that an owner gives of these datasets has no columns, at most `limit` rows."""
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
