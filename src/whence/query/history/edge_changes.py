"""Differing edges of two states of lineage: compared by ids, then named."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from whence.model.graph import SetEdge
from whence.model.names import Node
from whence.query.answers.transformations import Transformation
from whence.query.traversal.witnesses import Link

Content = Mapping[Link, AbstractSet[Transformation]]
"""The transformations of each edge. Ids are those of the reported names, not of their representatives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeChange:
    """An edge, with its transformations before and after; empty where the edge did not exist."""

    source: Node
    target: Node
    owner: Node
    before: tuple[Transformation, ...]
    after: tuple[Transformation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Added, removed and changed edges, each sorted by their ends."""

    added: tuple[EdgeChange, ...] = ()
    removed: tuple[EdgeChange, ...] = ()
    changed: tuple[EdgeChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Differing:
    """The links of `Changes`."""

    added: AbstractSet[Link]
    removed: AbstractSet[Link]
    changed: AbstractSet[Link]

    @property
    def each(self) -> tuple[AbstractSet[Link], AbstractSet[Link], AbstractSet[Link]]:
        """Added, removed and changed links, in this order."""
        return self.added, self.removed, self.changed

    @property
    def links(self) -> AbstractSet[Link]:
        """All links."""
        return self.added | self.removed | self.changed


def content_of(edges: Iterable[tuple[int, SetEdge]]) -> Content:
    """Collect the transformations of each edge from (owner, edge)."""
    content: dict[Link, set[Transformation]] = {}
    for owner, edge in edges:
        transformation = Transformation(
            type=edge.type, subtype=edge.subtype, masking=bool(edge.masking), description=edge.description
        )
        content.setdefault(Link(edge.source_id, edge.target_id, owner), set()).add(transformation)
    return content


def compare(before: Content, after: Content) -> Differing:
    """Compare two states."""
    both = before.keys() & after.keys()
    return Differing(
        added=after.keys() - before.keys(),
        removed=before.keys() - after.keys(),
        changed={link for link in both if before[link] != after[link]},
    )


def named(differing: Differing, before: Content, after: Content, names: Mapping[int, Node]) -> Changes:
    """The differences, with the names of their ends."""

    def several(links: Iterable[Link]) -> tuple[EdgeChange, ...]:
        found = [_change(link, before, after, names) for link in links]
        return tuple(sorted(found, key=lambda one: (str(one.target), str(one.source), str(one.owner))))

    return Changes(
        added=several(differing.added), removed=several(differing.removed), changed=several(differing.changed)
    )


def _change(link: Link, before: Content, after: Content, names: Mapping[int, Node]) -> EdgeChange:
    return EdgeChange(
        source=names[link.source],
        target=names[link.target],
        owner=names[link.owner],
        before=tuple(sorted(before.get(link, ()))),
        after=tuple(sorted(after.get(link, ()))),
    )
