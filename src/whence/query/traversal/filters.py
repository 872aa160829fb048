"""Matching of nodes with a filter, and the edges that a search within it may follow (questions.md)."""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.model.traits import Traits
from whence.query.answers.values import Filter, kind
from whence.query.ports.graph import Adjacency, Ints
from whence.query.traversal.breadth_first import Accept
from whence.query.traversal.index_sets import contains, distinct
from whence.query.traversal.representatives import Representatives, learn_nodes
from whence.query.traversal.traits import TraitReader


@dataclass(slots=True)
class FilterMatcher:
    """Matches nodes with a filter, each node once."""

    filter: Filter
    identity: Representatives
    knowledge: TraitReader
    _fits: dict[int, bool] = field(default_factory=dict)
    _speaks: dict[int, bool] = field(default_factory=dict)

    def nodes(self, ids: Iterable[int]) -> set[int]:
        """The canonical nodes that match, apart from the filter's jobs."""
        wanted = set(ids)
        new = sorted(wanted - set(self._fits))
        names = {id_: self.identity.names.get(id_) for id_ in new}
        found = self.identity.graph.nodes([id_ for id_, name in names.items() if name is None])
        self.knowledge.learn(new if self.filter.tags or self.filter.owners or self.filter.kinds else ())
        for id_ in new:
            name = names[id_] or found[id_]
            self._fits[id_] = self._fits_name(id_, (name, *self.identity.names_of(id_)))
        return {id_ for id_ in wanted if self._fits[id_]}

    def speaks(self, owners: Iterable[int]) -> set[int]:
        """The owners of edges that are among the filter's jobs."""
        wanted = set(owners)
        if not self.filter.jobs:
            return wanted
        new = wanted - set(self._speaks)
        names = self.identity.graph.nodes(sorted(new)) if new else {}
        self._speaks |= {id_: str(names.get(id_)) in self.filter.jobs for id_ in new}
        return {id_ for id_ in wanted if self._speaks[id_]}

    def accept_over(self, adjacency: Adjacency) -> Accept:
        """The edges that a search may follow if it does not pass through nodes that do not match."""

        def accept(owners: Ints, fars: Ints) -> NDArray[np.bool_]:
            asserting = distinct(owners)
            kept = contains(_chosen(asserting, adjacency.ids(asserting), self.speaks), owners)
            wanted = distinct(fars[kept])
            learn_nodes(self.identity, adjacency, wanted)
            return kept & contains(_chosen(wanted, adjacency.canonical_ids(wanted), self.nodes), fars)

        return accept

    def _fits_name(self, id_: int, names: Sequence[Node]) -> bool:
        wanted = self.filter
        if wanted.namespaces and not any(in_namespace(name, wanted.namespaces) for name in names):
            return False
        if not (wanted.tags or wanted.owners or wanted.kinds):
            return True
        return has_traits(names[0], self.knowledge.of(id_), wanted)


def _chosen(places: Ints, ids: Ints, choose: Callable[[Iterable[int]], AbstractSet[int]]) -> Ints:
    chosen = choose(ids.tolist())
    found: Ints = places[np.fromiter((id_ in chosen for id_ in ids.tolist()), bool, len(ids))]
    return found


def in_namespace(name: Node, patterns: Iterable[str]) -> bool:
    """Whether a node's namespace matches one of the patterns, which may contain `*`."""
    match name:
        case FieldName(dataset):
            namespace = dataset.namespace
        case DatasetName(namespace) | JobName(namespace):
            pass
    return any(namespace == pattern or fnmatchcase(namespace, _only_stars(pattern)) for pattern in patterns)


def _only_stars(pattern: str) -> str:
    return pattern.replace("[", "[[]").replace("?", "[?]")


def has_traits(name: Node, traits: Traits, wanted: Filter) -> bool:
    """Whether a node matches the tags, owners and kinds of a filter."""
    tags = traits.tags_of(name.field if isinstance(name, FieldName) else None)
    types = {kind(name)} if isinstance(name, FieldName) else {kind(name), *(one.lower() for one in traits.types)}
    return (
        _matches_any(wanted.tags, tags)
        and _matches_any(wanted.owners, traits.owners)
        and (not wanted.kinds or any(one.lower() in types for one in wanted.kinds))
    )


def _matches_any(wanted: Sequence[str], has: Iterable[str]) -> bool:
    return not wanted or not set(wanted).isdisjoint(has)
