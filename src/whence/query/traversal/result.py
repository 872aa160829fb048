"""The result of a traversal: sorted nodes; edges, evidence and gaps are read only for the requested nodes.

Naming and proving an edge costs more than following it, and a page shows only a few.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np

from whence.model.graph import Grain
from whence.model.names import DatasetName, Node
from whence.query.answers.completeness import Frontier, completeness_of
from whence.query.answers.transformations import Transformation, in_a_row, side_by_side
from whence.query.answers.values import Answer, AnswerNode, Completeness, Gap
from whence.query.traversal.column_gaps import GapKey, read_gaps
from whence.query.traversal.edges import Edges, assemble_edges, transformations_of
from whence.query.traversal.filtered_nodes import keep_links
from whence.query.traversal.node_order import NodeOrder
from whence.query.traversal.traversal import Traversal, far_end

FRONTIER = 100
"""The most frontier nodes that an answer names."""


@dataclass(slots=True)
class TraversalResult:
    """The kept nodes of a traversal, by distance and name; `chosen` are those that match the question's filter."""

    walk: Traversal
    root: int
    grain: Grain
    chosen: AbstractSet[int]
    kept: AbstractSet[int]
    order: NodeOrder
    _vias: dict[int, Transformation] = field(default_factory=dict)
    _has_gaps: bool = False
    _extents: dict[tuple[str | None, int, bool], Completeness] = field(default_factory=dict)

    def completeness(self) -> Completeness:
        """The completeness, including the gaps that were read by now."""
        stopped = (self.walk.stopped_by, len(self.walk.unfinished), self._has_gaps)
        if stopped not in self._extents:
            self._extents[stopped] = completeness(self.walk, has_gaps=self._has_gaps)
        return self._extents[stopped]

    def answer(self, start: int = 0, end: int | None = None) -> Answer:
        """The nodes from index `start` to `end`, with the edges that lead to them and the gaps at them."""
        ids = set(self.order[start:end])
        self.walk.fetch(ids)
        self.order.know({self.root, *(self.walk.via[id_].parent for id_ in ids if id_ in self.walk.via)})
        gaps = read_gaps(self.walk, ids) if ids else {}
        links = [link for link in keep_links(self.walk, self.kept) if far_end(self.walk, link) in ids]
        links = list(dict.fromkeys([*links, *self.walk.added_links(ids)]))
        self._has_gaps = self._has_gaps or bool(gaps)
        named = {id_ for key, others in gaps.items() for id_ in (key.at, key.owner, *others)}
        edges = assemble_edges(self.walk, links, named, self.order.names)
        checks = set(self.walk.check_jobs(np.array(sorted(ids), np.int64)).tolist())
        return Answer(
            root=self.order.name(self.root),
            direction=self.walk.spec.direction,
            grain=self.grain,
            types=self.walk.spec.types,
            nodes=tuple(self._node(id_, edges, is_check=id_ in checks) for id_ in self.order[start:end]),
            edges=edges.edges,
            gaps=_gaps(edges, gaps),
            completeness=self.completeness(),
        )

    def _node(self, id_: int, edges: Edges, *, is_check: bool) -> AnswerNode:
        last = self.walk.via.get(id_)
        return AnswerNode(
            name=self.order.name(id_),
            depth=self.walk.depth[id_],
            aliases=self.walk.identity.names_of(id_)[1:],
            parent=None if last is None else self.order.name(last.parent),
            edge=None if last is None else edges.places[last.link],
            via=None if last is None else self._compose_transformation(id_),
            shown=id_ in self.chosen,
            more=id_ in self.walk.unfinished,
            is_check=is_check,
        )

    def _compose_transformation(self, id_: int) -> Transformation:
        """The composed transformation along the witness of a node; results for nodes on the path are cached."""
        unknown = []
        while id_ not in self._vias and id_ in self.walk.via:
            unknown.append(id_)
            id_ = self.walk.via[id_].parent
        for one in reversed(unknown):
            last = self.walk.via[one]
            hop = side_by_side(transformations_of(self.walk.links[last.link]))
            before = self._vias.get(last.parent)
            self._vias[one] = hop if before is None else in_a_row(before, hop)
        return self._vias[unknown[0] if unknown else id_]


def reached(walk: Traversal, chosen: AbstractSet[int], nodes: AbstractSet[int]) -> TraversalResult:
    """The kept nodes of a traversal, sorted."""
    return TraversalResult(walk, walk.root, walk.spec.grain, chosen, nodes, NodeOrder(walk, nodes))


def completeness(walk: Traversal, *, has_gaps: bool = False) -> Completeness:
    """The completeness of a finished traversal. `has_gaps`: column lineage is missing somewhere."""
    frontier = NodeOrder(walk, walk.unfinished)
    return completeness_of(
        walk.graph,
        walk.spec.question.at,
        stopped_by=walk.stopped_by,
        depth=max(walk.depth.values()),
        reached=walk.depth,
        frontier=Frontier(tuple(map(frontier.name, frontier[:FRONTIER])), len(frontier)),
        has_gaps=has_gaps,
    )


def _gaps(edges: Edges, gaps: dict[GapKey, list[int]]) -> tuple[Gap, ...]:
    found = [
        Gap(at=edges.name(key.at), owner=edges.name(key.owner), datasets=_datasets(edges, others), reason=key.reason)
        for key, others in gaps.items()
    ]
    return tuple(sorted(found, key=lambda gap: (str(gap.at), str(gap.owner), gap.reason)))


def _datasets(edges: Edges, ids: Iterable[int]) -> tuple[DatasetName, ...]:
    names: Sequence[Node] = [edges.name(id_) for id_ in set(ids)]
    return tuple(sorted(name for name in names if isinstance(name, DatasetName)))
