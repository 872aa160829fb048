"""From the rows that a walk read to the edges of an answer: named, grouped, with evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from whence.model.graph import EdgeRow, Evidence
from whence.model.names import Node
from whence.query.answers import AnswerEdge
from whence.query.transformations import Transformation
from whence.query.walk import Link, Walk


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of a walk, sorted by their ends and owner, and where each link of the walk is among them."""

    names: Mapping[int, Node]
    edges: tuple[AnswerEdge, ...]
    places: Mapping[Link, int]

    def name(self, id_: int) -> Node:
        """The name of a canonical node."""
        return self.names[id_]


def assemble_edges(walk: Walk, ids: Iterable[int]) -> Edges:
    """The edges of a walk; `ids` are further nodes whose names will be needed."""
    names = _names(walk, {*ids, *(id_ for link in walk.links for id_ in link)})
    evidence = walk.graph.evidence({row.set_id for rows in walk.links.values() for row in rows}, walk.question.at, 1)
    links = sorted(walk.links, key=lambda link: [str(names[id_]) for id_ in link])
    edges = tuple(_edge(names, link, walk.links[link], evidence) for link in links)
    return Edges(names=names, edges=edges, places={link: place for place, link in enumerate(links)})


def _names(walk: Walk, ids: set[int]) -> Mapping[int, Node]:
    minted = {id_: walk.identity.names[id_] for id_ in ids if id_ in walk.identity.names}
    return {**walk.graph.nodes(sorted(ids - set(minted))), **minted}


def _edge(
    names: Mapping[int, Node], link: Link, rows: Sequence[EdgeRow], evidence: Mapping[int, Evidence]
) -> AnswerEdge:
    said = {_transformation(row) for row in rows}
    seen = [evidence[id_] for id_ in {row.set_id for row in rows}]
    return AnswerEdge(
        source=names[link.source],
        target=names[link.target],
        owner=names[link.owner],
        transformations=tuple(sorted(said)),
        origins=tuple(sorted({row.origin for row in rows})),
        confirmed=any(row.confirmed for row in rows),
        evidence=tuple(sorted(seen, key=lambda one: (-one.last.time, one.digest))),
    )


def _transformation(row: EdgeRow) -> Transformation:
    return Transformation(type=row.type, subtype=row.subtype, masking=row.masking, description=row.description)
