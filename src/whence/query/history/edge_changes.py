"""Which edges two states of lineage differ in: compared by their ids, named afterwards."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from whence.model.graph import SetEdge
from whence.model.names import Node
from whence.query.answers.transformations import Transformation
from whence.query.traversal.witnesses import Link

Content = Mapping[Link, AbstractSet[Transformation]]
"""What is said of each edge. Ids are those of the names that were said, not of what they are aliases of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeChange:
    """An edge, and what was said of it before and after: nothing where it was not there."""

    source: Node
    target: Node
    owner: Node
    before: tuple[Transformation, ...]
    after: tuple[Transformation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Edges that are new, that are gone, and those of which something else is said; each sorted by their ends."""

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
        """One set after the other."""
        return self.added, self.removed, self.changed

    @property
    def links(self) -> AbstractSet[Link]:
        """All of them."""
        return self.added | self.removed | self.changed


def content_of(edges: Iterable[tuple[int, SetEdge]]) -> Content:
    """What owners say, from (owner, edge)."""
    content: dict[Link, set[Transformation]] = {}
    for owner, edge in edges:
        said = Transformation(
            type=edge.type, subtype=edge.subtype, masking=bool(edge.masking), description=edge.description
        )
        content.setdefault(Link(edge.source_id, edge.target_id, owner), set()).add(said)
    return content


def compare(before: Content, after: Content) -> Differing:
    """Where two states differ."""
    both = before.keys() & after.keys()
    return Differing(
        added=after.keys() - before.keys(),
        removed=before.keys() - after.keys(),
        changed={link for link in both if before[link] != after[link]},
    )


def named(differing: Differing, before: Content, after: Content, names: Mapping[int, Node]) -> Changes:
    """The differences with the names of their ends."""

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
