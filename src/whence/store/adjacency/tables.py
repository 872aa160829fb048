"""The edges as arrays, read from the tables while a search runs. A node gets an index when it is first read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from whence.model.graph import Direction, EdgeRow, FieldRow, Grain, Hop
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, FieldName, Node
from whence.model.traits import NO_TRAITS, Traits
from whence.store.adjacency.csr import Ints
from whence.store.adjacency.overlay import Edges

_RANKS = {"DIRECT": 0, "INDIRECT": 4}
_NOT_KNOWN = -2


class Tables(Protocol):
    """The rows of a snapshot, as in `query.ports.graph`."""

    def edges(self, probes: Sequence[int], hop: Hop, limit: int) -> Sequence[EdgeRow]:
        """The edges at nodes, at most `limit`."""
        ...

    def nodes(self, ids: Iterable[int]) -> Mapping[int, Node]:
        """The names of ids."""
        ...

    def fields(self, dataset_ids: Iterable[int]) -> Sequence[FieldRow]:
        """The fields of datasets."""
        ...

    def groups(self, dataset_ids: Iterable[int]) -> Mapping[int, tuple[DatasetName, ...]]:
        """Alias groups, representative first."""
        ...


@dataclass(slots=True)
class TableAdjacency:
    """`query.ports.graph.Adjacency` over the tables of a snapshot. The port documents the methods.

    All names of a dataset or field get their indices together.
    """

    tables: Tables
    at: int | None
    _nodes: Ints = field(default_factory=lambda: np.zeros((4, 64), np.int64))
    """By index: id, canonical index, dataset's index or -1, and whether the node has aliases."""
    _at: dict[int, int] = field(default_factory=dict)
    _groups: dict[int, tuple[DatasetName, ...]] = field(default_factory=dict)
    """By dataset id: its names, or none if it has only one."""
    _members: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By canonical index: the members of alias groups."""
    _rows: list[EdgeRow] = field(default_factory=list)
    _blocks: dict[tuple[Direction, Grain], dict[int, Ints]] = field(default_factory=dict)
    """The edges that were read, by index: far end, owner, rank, key."""

    @classmethod
    def of(cls, tables: Tables, at: int | None, roots: Iterable[int]) -> Self:
        """Create the adjacency for searches from some nodes."""
        found = cls(tables, at)
        wanted = sorted({id_ for id_ in roots if id_})
        names = tables.nodes([id_ for id_ in wanted if kind_of(id_) is Kind.FIELD])
        found._learn([(id_, _dataset_of(id_, names.get(id_))) for id_ in wanted])
        return found

    @property
    def count(self) -> int:
        """The number of nodes read so far."""
        return len(self._at)

    @property
    def has_all_fields(self) -> bool:
        """True: the tables have all fields."""
        return True

    def ids(self, places: Ints) -> Ints:
        """The ids of nodes."""
        return self._column(0, places)

    def canonical_ids(self, places: Ints) -> Ints:
        """The same as `ids`."""
        return self._column(0, places)

    def kinds(self, places: Ints) -> NDArray[np.int8]:
        """The lowest bits of the ids."""
        found: NDArray[np.int8] = (self._column(0, places) & 3).astype(np.int8)
        return found

    def place(self, id_: int) -> int:
        """The index of a node, or -1 if it was not read."""
        return self._at.get(id_, -1)

    def canonical(self, places: Ints) -> Ints:
        """The representative of each node."""
        return self._column(1, places)

    def datasets(self, places: Ints) -> Ints:
        """The dataset of each dataset or field; -1 for a job."""
        return self._column(2, places)

    def is_grouped(self, places: Ints) -> NDArray[np.bool_]:
        """Which nodes have aliases."""
        found: NDArray[np.bool_] = self._column(3, places) != 0
        return found

    def by_name(self, places: Ints) -> Ints:
        """-1: the order of names is not known."""
        return np.full(len(places), -1, np.int64)

    def classes(self, places: Ints) -> Ints:
        """-2: classes are not known."""
        return np.full(len(places), _NOT_KNOWN, np.int64)

    def traits(self, class_: int) -> Traits:
        """Never called, since there are no classes."""
        return NO_TRAITS

    def members(self, places: Ints) -> tuple[Ints, Ints]:
        """All names, including those without an edge."""
        if not self._members:
            return np.arange(len(places)), places
        runs = [self._members.get(place, (place,)) for place in places.tolist()]
        which = np.repeat(np.arange(len(places)), list(map(len, runs)))
        return which, np.fromiter(chain.from_iterable(runs), np.int64)

    def fields(self, places: Ints) -> tuple[Ints, Ints]:
        """All fields, by id."""
        if not len(places):
            return places, places
        which = {id_: at for at, id_ in enumerate(self.ids(places).tolist())}
        rows = self.tables.fields(sorted(which))
        self._learn((row.id, row.dataset_id) for row in rows)
        found = sorted((which[row.dataset_id], row.id) for row in rows)
        pairs = np.array([(at, self._at[id_]) for at, id_ in found], np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def edges(self, probes: Ints, direction: Direction, grain: Grain, limit: int) -> Edges:
        """The edges at nodes. Each node is read from the tables only once."""
        blocks = self._blocks.setdefault((direction, grain), {})
        places = probes.tolist()
        new = [place for place in places if place not in blocks]
        read = self._read(new, Hop(direction, grain, self.at), limit + 1) if new else {}
        if sum(map(len, read.values())) <= limit:
            blocks |= read | {place: _NONE for place in new if place not in read}
        runs = [blocks[place] if place in blocks else read.get(place, _NONE) for place in places]
        which = np.repeat(np.arange(len(places)), list(map(len, runs)))
        return Edges(which, *(np.concatenate(runs).T if runs else _NONE.T))

    def rows(self, keys: Ints, direction: Direction) -> Sequence[EdgeRow]:
        """The rows, as they were read."""
        return [self._rows[key] for key in keys.tolist()]

    def _column(self, column: int, places: Ints) -> Ints:
        found: Ints = self._nodes[column, places]
        return found

    def _read(self, places: Sequence[int], hop: Hop, limit: int) -> dict[int, Ints]:
        rows = self.tables.edges(self._nodes[0, places].tolist(), hop, limit)
        self._learn(pair for row in rows for pair in _ends(row))
        at, first = self._at, len(self._rows)
        found: dict[int, list[tuple[int, int, int, int]]] = {}
        for key, row in enumerate(rows, first):
            rank = _RANKS.get(row.type, 2) + (not row.confirmed)
            found.setdefault(at[row.near_id], []).append((at[row.far_id], at[row.owner_id], rank, key))
        self._rows.extend(rows)
        return {place: np.array(several, np.int64) for place, several in found.items()}

    def _learn(self, ends: Iterable[tuple[int, int]]) -> None:
        """Give indices to nodes, given as (id, its dataset's id; 0 for a job)."""
        new = {id_: of for id_, of in ends if id_ not in self._at}
        if not new:
            return
        if wholes := {of for of in new.values() if of} - self._groups.keys():
            self._groups |= dict.fromkeys(wholes, ()) | dict(self.tables.groups(sorted(wholes)))
        fields = [id_ for id_, of in new.items() if id_ != of and self._groups.get(of)]
        names = self.tables.nodes(sorted(fields)) if fields else {}
        added: list[tuple[int, int, int, bool]] = []
        for of in sorted({of for of in new.values() if of}):
            self._add([(node_id(name), node_id(name)) for name in self._groups[of]] or [(of, of)], added)
        for id_, of in sorted(new.items()):
            name = names.get(id_)
            self._add(_names_of(name, self._groups[of]) if isinstance(name, FieldName) else [(id_, of)], added)
        self._keep(added)

    def _add(self, names: Sequence[tuple[int, int]], added: list[tuple[int, int, int, bool]]) -> None:
        """Give indices to all names of a node, the canonical one first, given as (id, its dataset's id)."""
        if names[0][0] in self._at:
            return
        first, is_grouped = len(self._at), len(names) > 1
        self._at |= {id_: place for place, (id_, _) in enumerate(names, first)}
        added += [(id_, first, self._at[of] if of else -1, is_grouped) for id_, of in names]
        if is_grouped:
            self._members[first] = tuple(range(first, len(self._at)))

    def _keep(self, added: Sequence[tuple[int, int, int, bool]]) -> None:
        end = len(self._at)
        if end > self._nodes.shape[1]:
            self._nodes = np.concatenate([self._nodes, np.zeros((4, end), np.int64)], axis=1)
        self._nodes[:, end - len(added) : end] = np.array(added, np.int64).T


_NONE = np.zeros((0, 4), np.int64)


def _names_of(name: FieldName, group: Iterable[DatasetName]) -> Sequence[tuple[int, int]]:
    return [(node_id(FieldName(one, name.field)), node_id(one)) for one in group]


def _ends(row: EdgeRow) -> Sequence[tuple[int, int]]:
    owner_dataset = row.owner_id if kind_of(row.owner_id) is Kind.DATASET else 0
    return (row.near_id, row.near_dataset_id), (row.far_id, row.far_dataset_id), (row.owner_id, owner_dataset)


def _dataset_of(id_: int, name: Node | None) -> int:
    if isinstance(name, FieldName):
        return node_id(name.dataset)
    return 0 if kind_of(id_) is Kind.JOB else id_
