"""The edges of an answer from the rows that a traversal read: named, grouped, with evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from whence.model.graph import EdgeRow, Evidence
from whence.model.names import Node
from whence.query.answers.duplicate_jobs import fold_siblings
from whence.query.answers.transformations import Transformation
from whence.query.answers.values import AnswerEdge
from whence.query.traversal.traversal import Traversal
from whence.query.traversal.witnesses import Link


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of a traversal, sorted by their ends and owner, and the index of each link among them."""

    names: Mapping[int, Node]
    edges: tuple[AnswerEdge, ...]
    places: Mapping[Link, int]

    def name(self, id_: int) -> Node:
        """The name of a canonical node."""
        return self.names[id_]


def assemble_edges(
    walk: Traversal, links: Iterable[Link], ids: Iterable[int], known: Mapping[int, Node] | None = None
) -> Edges:
    """Assemble some edges of a traversal. `ids` are further nodes whose names are needed, `known` the names known
    already.
    """
    wanted = list(links)
    ends = {id_ for link in wanted for id_ in link}
    names = {**(known or {})}
    names |= names_of(walk, {*ids, *ends} - set(names))
    sets = {row.set_id for link in wanted for row in walk.links[link]}
    evidence = walk.graph.evidence(sets, walk.spec.question.at, 1) if sets else {}
    texts = {id_: str(names[id_]) for id_ in ends}
    ordered = sorted(wanted, key=lambda link: [texts[id_] for id_ in link])
    every = [_edge(names, link, walk.links[link], evidence) for link in ordered]
    edges, places = fold_siblings(every)
    return Edges(names=names, edges=edges, places=dict(zip(ordered, places, strict=True)))


def names_of(walk: Traversal, ids: Iterable[int]) -> dict[int, Node]:
    """The names of canonical nodes of a traversal."""
    wanted = set(ids)
    walk.learn(wanted)
    minted = {id_: walk.identity.names[id_] for id_ in wanted if id_ in walk.identity.names}
    return {**walk.graph.nodes(sorted(wanted - set(minted))), **minted}


def transformations_of(rows: Iterable[EdgeRow]) -> tuple[Transformation, ...]:
    """The distinct transformations in the rows of one edge."""
    return tuple(sorted({_transformation(row) for row in rows}))


def _edge(
    names: Mapping[int, Node], link: Link, rows: Sequence[EdgeRow], evidence: Mapping[int, Evidence]
) -> AnswerEdge:
    seen = [evidence[id_] for id_ in {row.set_id for row in rows}]
    return AnswerEdge(
        source=names[link.source],
        target=names[link.target],
        owner=names[link.owner],
        transformations=transformations_of(rows),
        origins=tuple(sorted({row.origin for row in rows})),
        confirmed=any(row.confirmed for row in rows),
        evidence=tuple(sorted(seen, key=lambda one: (-one.last.time, one.digest))),
    )


def _transformation(row: EdgeRow) -> Transformation:
    return Transformation(type=row.type, subtype=row.subtype, masking=row.masking, description=row.description)
