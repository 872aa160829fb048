"""Which nodes of a walk an answer shows, and which are kept because they are on the way to them (docs/ask.md)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from whence.model.graph import Direction, EdgeRow, Grain
from whence.model.ids import Kind, kind_of
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.model.traits import Traits
from whence.query.answers import Filter
from whence.query.document import kind
from whence.query.identity import Identity
from whence.query.traits import Knowledge
from whence.query.walk import Link, Walk, far_of


@dataclass(slots=True)
class Fitting:
    """Decides which nodes fit a filter, each once."""

    filter: Filter
    identity: Identity
    knowledge: Knowledge
    _fits: dict[int, bool] = field(default_factory=dict)
    _speaks: dict[int, bool] = field(default_factory=dict)

    def nodes(self, ids: Iterable[int]) -> set[int]:
        """Those of the canonical nodes that fit, jobs of the filter apart."""
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
        """Those of the owners of edges that are jobs of the filter."""
        wanted = set(owners)
        if not self.filter.jobs:
            return wanted
        new = wanted - set(self._speaks)
        names = self.identity.graph.nodes(sorted(new)) if new else {}
        self._speaks |= {id_: str(names.get(id_)) in self.filter.jobs for id_ in new}
        return {id_ for id_ in wanted if self._speaks[id_]}

    def rows(self, walk: Walk, rows: Sequence[EdgeRow], grain: Grain) -> Sequence[EdgeRow]:
        """The edges that a walk may take which does not pass through nodes that do not fit."""
        jobs = self.speaks(row.owner_id for row in rows)
        spoken = [row for row in rows if row.owner_id in jobs]
        fits = self.nodes(far_of(walk, row, grain) for row in spoken)
        return [row for row in spoken if far_of(walk, row, grain) in fits]

    def _fits_name(self, id_: int, names: Sequence[Node]) -> bool:
        wanted = self.filter
        if wanted.namespaces and not any(in_namespace(name, wanted.namespaces) for name in names):
            return False
        if not (wanted.tags or wanted.owners or wanted.kinds):
            return True
        return has_traits(names[0], self.knowledge.of(id_), wanted)


def fitting(walk: Walk) -> Fitting:
    """What decides for the question of a walk."""
    return Fitting(walk.question.only, walk.identity, Knowledge(walk.identity))


def shown(walk: Walk, fits: Fitting, root: int) -> set[int]:
    """The nodes of a finished walk that fit, and its root."""
    reached = set(walk.depth)
    if fits.filter.jobs:
        owners = fits.speaks(link.owner for link in walk.links)
        reached &= {_far(walk, link) for link in walk.links if link.owner in owners} | owners
    return fits.nodes(reached) | {root}


def kept(walk: Walk, shown_nodes: Iterable[int]) -> set[int]:
    """These nodes, and those on the way to them: on one shortest path to each from the root."""
    found: set[int] = set()
    for node in shown_nodes:
        at: int | None = node
        while at is not None and at not in found:
            found.add(at)
            at = walk.via[at].parent if at in walk.via else None
    return found


def drop_links(walk: Walk, nodes: set[int]) -> None:
    """Forget the links that do not lead from one of these nodes to another."""
    wholes = {walk.identity.dataset_of[node] for node in nodes if kind_of(node) is Kind.FIELD}
    ends = {id_: id_ in nodes or _touches(walk, id_, nodes, wholes) for link in walk.links for id_ in link[:2]}
    walk.links = {
        link: rows for link, rows in walk.links.items() if _far(walk, link) in nodes and ends[_near(walk, link)]
    }


def _touches(walk: Walk, end: int, nodes: set[int], wholes: set[int]) -> bool:
    match kind_of(end):
        case Kind.FIELD:
            return walk.identity.dataset_of[end] in nodes
        case Kind.DATASET:
            return end in wholes
    return False


def _far(walk: Walk, link: Link) -> int:
    return link.source if walk.direction is Direction.UPSTREAM else link.target


def _near(walk: Walk, link: Link) -> int:
    return link.target if walk.direction is Direction.UPSTREAM else link.source


def in_namespace(name: Node, patterns: Iterable[str]) -> bool:
    """Whether a node's namespace is one of the patterns, or fits one that has `*`."""
    match name:
        case FieldName(dataset):
            namespace = dataset.namespace
        case DatasetName(namespace) | JobName(namespace):
            pass
    return any(namespace == pattern or fnmatchcase(namespace, _only_stars(pattern)) for pattern in patterns)


def _only_stars(pattern: str) -> str:
    return pattern.replace("[", "[[]").replace("?", "[?]")


def has_traits(name: Node, traits: Traits, wanted: Filter) -> bool:
    """Whether a node fits the tags, owners and kinds of a filter."""
    tags = traits.tags_of(name.field if isinstance(name, FieldName) else None)
    types = {kind(name)} if isinstance(name, FieldName) else {kind(name), *(one.lower() for one in traits.types)}
    return (
        _any(wanted.tags, tags)
        and _any(wanted.owners, traits.owners)
        and (not wanted.kinds or any(one.lower() in types for one in wanted.kinds))
    )


def _any(wanted: Sequence[str], has: Iterable[str]) -> bool:
    return not wanted or not set(wanted).isdisjoint(has)
