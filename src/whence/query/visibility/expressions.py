"""Visible expressions: those of visible jobs, where all inputs of the target are visible.

An expression is on each edge into a field, and may name the sources of the other edges.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whence.model.graph import Direction, EdgeRow, Grain, Hop, SetEdge
from whence.query.visibility.visible_ids import VisibleIds

MOST_EDGES = 50_000
"""The most edges of one hop to check; if there are more, their expressions are hidden."""


@dataclass(slots=True)
class Expressions:
    """The visibility of expressions, as far as it was determined in one request."""

    visible_ids: VisibleIds
    _clear: dict[tuple[int, int, int | None], bool] = field(default_factory=dict)
    """Real ids of an owner and of the dataset that it derives, and the time in the question."""

    def of_row(self, row: EdgeRow, hop: Hop) -> str:
        """The expression of an edge, or an empty text. `judge` must have been called with the rows of the hop."""
        return row.description if self._clear.get((row.owner_id, _target(row, hop), hop.at), False) else ""

    def judge(self, rows: Sequence[EdgeRow], hop: Hop) -> None:
        """Determine the visibility for all edges of a hop; their ends are known to the viewer's ids."""
        described = {(row.owner_id, _target(row, hop), hop.at) for row in rows if row.description} - self._clear.keys()
        if not described:
            return
        targets = sorted({target for _, target, _ in described})
        probes = sorted({*targets, *(row.id for row in self.visible_ids.graph.fields(targets))})
        into = Hop(Direction.UPSTREAM, Grain.JOB, hop.at)
        inflow = self.visible_ids.graph.edges(probes, into, MOST_EDGES + 1)
        self.visible_ids.meet(id_ for row in inflow for id_ in row[:5])
        dark = {
            (row.owner_id, _target(row, into), hop.at)
            for row in inflow
            if not all(map(self.visible_ids.can_see, row[:5]))
        }
        is_all = len(inflow) <= MOST_EDGES
        self._clear |= {key: is_all and key not in dark for key in described}

    def of_sets(self, edges: Sequence[SetEdge], owners: Mapping[int, int]) -> Sequence[SetEdge]:
        """Edges of complete lineage sets, with their visible expressions. `owners`: real ids, by set."""
        dark = {(owners[edge.set_id], _end(edge)) for edge in edges if not self._sees(edge, owners[edge.set_id])}
        return [
            edge._replace(description="") if edge.description and (owners[edge.set_id], _end(edge)) in dark else edge
            for edge in edges
        ]

    def _sees(self, edge: SetEdge, owner: int) -> bool:
        return self.visible_ids.can_see(owner) and all(map(self.visible_ids.can_see, edge[1:5]))


def _end(edge: SetEdge) -> int:
    return edge.target_dataset_id or edge.target_id


def _target(row: EdgeRow, hop: Hop) -> int:
    """The dataset that an edge leads into, or the job."""
    if hop.direction is Direction.UPSTREAM:
        return row.near_dataset_id or row.near_id
    return row.far_dataset_id or row.far_id
