"""Representatives of alias groups: the one node for all names of a dataset, and for all names of each of its fields."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, FieldName, Node
from whence.query.answers.values import dataset_of
from whence.query.ports.graph import Adjacency, Graph, Ints


@dataclass(slots=True)
class Representatives:
    """The nodes and aliases that were read so far. Each dataset is queried once.

    Ids are hashes of names, so the ids of all names of a field are computed, not looked up: an unused name has no
    edges.
    """

    graph: Graph
    groups: dict[int, tuple[DatasetName, ...]] = field(default_factory=dict)
    dataset_of: dict[int, int] = field(default_factory=dict)
    """Canonical field or dataset → canonical dataset."""
    names: dict[int, Node] = field(default_factory=dict)
    """Names that were computed, by id."""
    _canonical: dict[int, int] = field(default_factory=dict)
    _grouped: set[int] = field(default_factory=set)

    def learn(self, ends: Iterable[tuple[int, int]]) -> None:
        """Read the aliases of (node id, its dataset's id; 0 for a job), for `canonical` and `members`."""
        new = {end for end in ends if end[0] not in self._canonical}
        self._read_groups({dataset for _, dataset in new if dataset} - self._grouped)
        grouped = [id_ for id_, dataset in new if dataset in self.groups and kind_of(id_) is Kind.FIELD]
        names = self.graph.nodes(grouped) if grouped else {}
        for id_, dataset in new:
            self._learn(id_, dataset, names)

    def learn_unaliased(self, ends: Iterable[tuple[int, int]]) -> None:
        """The same for nodes that are known to have no alias, without a query."""
        for id_, dataset in ends:
            if id_ not in self._canonical:
                self._learn(id_, dataset, {})

    def canonical(self, id_: int) -> int:
        """The representative of `id_`, which must have been learned."""
        return self._canonical[id_]

    def members(self, id_: int) -> tuple[int, ...]:
        """The ids of all names of a canonical node, its own first."""
        names = self.names_of(id_)
        return tuple(node_id(name) for name in names) if names else (id_,)

    def names_of(self, id_: int) -> tuple[Node, ...]:
        """All names of a canonical node that has aliases, its own first; empty if it has none."""
        group = self.groups.get(self.dataset_of.get(id_, 0))
        match group, self.names.get(id_):
            case None, _:
                return ()
            case members, FieldName(_, name):
                return tuple(FieldName(member, name) for member in members)
            case members, _:
                return members

    def _read_groups(self, dataset_ids: set[int]) -> None:
        if not dataset_ids:
            return
        self._grouped |= dataset_ids
        self.groups |= self.graph.groups(sorted(dataset_ids))

    def _learn(self, id_: int, dataset: int, names: Mapping[int, Node]) -> None:
        group = self.groups.get(dataset)
        if group is None:
            self._canonical[id_] = id_
            if dataset:
                self.dataset_of[id_] = dataset
            return
        known = names.get(id_)
        name = FieldName(group[0], known.field) if isinstance(known, FieldName) else group[0]
        chosen = node_id(name)
        self._canonical[id_] = self._canonical[chosen] = chosen
        self.names[chosen] = name
        self.dataset_of[chosen] = node_id(group[0])
        self.groups[node_id(group[0])] = group
        self.dataset_of[node_id(group[0])] = node_id(group[0])


def canonical_root(graph: Graph, root: Node) -> tuple[Representatives, int]:
    """The representatives for a node, and the id of its own representative."""
    identity = Representatives(graph)
    dataset = dataset_of(root)
    known = (node_id(dataset), node_id(dataset)) if dataset else (0, 0)
    identity.learn([known, (node_id(root), known[0])])
    return identity, identity.canonical(node_id(root))


def learn_nodes(identity: Representatives, adjacency: Adjacency, places: Ints) -> None:
    """Learn all names of canonical nodes of an adjacency."""
    is_grouped = adjacency.is_grouped(places)
    identity.learn_unaliased(_with_datasets(adjacency, places[~is_grouped]))
    if is_grouped.any():
        ends = _with_datasets(adjacency, adjacency.members(places[is_grouped])[1])
        fields = [id_ for id_, _ in ends if kind_of(id_) is Kind.FIELD]
        # A name may be computed only: no event has it, and the node is learned from a name that an event has.
        minted = set(fields) - identity.graph.nodes(fields).keys()
        identity.learn(end for end in ends if end[0] not in minted)


def _with_datasets(adjacency: Adjacency, places: Ints) -> Sequence[tuple[int, int]]:
    wholes = adjacency.datasets(places)
    datasets = np.zeros(len(places), np.int64)
    datasets[wholes >= 0] = adjacency.ids(wholes[wholes >= 0])
    return list(zip(adjacency.ids(places).tolist(), datasets.tolist(), strict=True))
