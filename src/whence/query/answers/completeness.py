"""How much of the truth answers hold that are no walk, and several together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from whence.log.position import Position, format_positions
from whence.model.graph import ALL_TIME
from whence.query.answers.values import Completeness
from whence.query.ports.graph import Graph


def whole(
    graph: Graph, at: int | None, stopped_by: str | None = None, depth: int = 0, reached: Iterable[int] = ()
) -> Completeness:
    """The extent of an answer without a frontier. `stopped_by`: the budget that cut it; `reached`: nodes or runs."""
    past = past_limit(graph, at)
    stopped = stopped_by or past.stopped_by
    return Completeness(
        complete=not stopped,
        stopped_by=stopped,
        depth_reached=depth,
        frontier=(),
        frontier_nodes=0,
        as_of=at,
        graph_version=graph_version(graph),
        hidden_nodes=len(graph.hidden(reached)),
        forgotten_before=past.forgotten_before,
        recorded_from=past.recorded_from,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PastLimit:
    """Why a time that is asked about is beyond what the graph knows, if it is: at most one of the times (µs) is set."""

    forgotten_before: int | None = None
    recorded_from: int | None = None

    @property
    def stopped_by(self) -> str | None:
        """What `Completeness.stopped_by` says of it."""
        if self.forgotten_before is not None:
            return "retention"
        return None if self.recorded_from is None else "beginning"


def past_limit(graph: Graph, at: int | None) -> PastLimit:
    """Whether the graph as of `at` (µs) lies before the first event, or in a time that retention has deleted."""
    if at is None:
        return PastLimit()
    horizon = graph.forgotten_before()
    if horizon is not None:
        return PastLimit(forgotten_before=horizon if at < horizon else None)
    first = None if at == ALL_TIME else graph.recorded_from()
    return PastLimit(recorded_from=first if first is not None and at < first else None)


def of_all_times(graph: Graph) -> Completeness:
    """The extent of an answer about all that ever was: complete if nothing was forgotten."""
    horizon = graph.forgotten_before()
    known = whole(graph, None, None if horizon is None else "retention")
    return replace(known, forgotten_before=horizon)


def graph_version(graph: Graph) -> str:
    """How far the graph has come: a position in each lane of the log."""
    return format_positions(map(Position.from_int, graph.reached()))


def together(extents: Sequence[Completeness]) -> Completeness:
    """The extent of several answers as one: complete if all are. Where a frontier is not named whole, a node that is in
    several counts for each.
    """
    first = extents[0]
    frontier = dict.fromkeys(name for one in extents for name in one.frontier)
    is_whole = all(len(one.frontier) == one.frontier_nodes for one in extents)
    return Completeness(
        complete=all(one.complete for one in extents),
        stopped_by=next((one.stopped_by for one in extents if one.stopped_by), None),
        depth_reached=max(one.depth_reached for one in extents),
        frontier=tuple(frontier),
        frontier_nodes=len(frontier) if is_whole else sum(one.frontier_nodes for one in extents),
        as_of=first.as_of,
        graph_version=first.graph_version,
        hidden_nodes=sum(one.hidden_nodes for one in extents),
        forgotten_before=first.forgotten_before,
    )
