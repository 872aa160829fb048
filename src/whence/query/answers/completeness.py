"""Completeness of answers: what stopped one, how old the graph is that it was computed on, several answers as one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from whence.log.position import Position, format_positions
from whence.model.graph import ALL_TIME
from whence.model.names import Node
from whence.query.answers.values import Completeness
from whence.query.ports.graph import Graph


class Frontier(NamedTuple):
    """The nodes beyond which a traversal did not continue: the nearest by name, and the number of all."""

    names: tuple[Node, ...] = ()
    total: int = 0


NO_FRONTIER = Frontier()


def completeness_of(
    graph: Graph,
    at: int | None,
    *,
    stopped_by: str | None = None,
    depth: int = 0,
    reached: Iterable[int] = (),
    frontier: Frontier = NO_FRONTIER,
    has_gaps: bool = False,
) -> Completeness:
    """The completeness of one answer.

    `stopped_by` is the budget that stopped it, `reached` the ids of its nodes or runs, and `has_gaps` whether it has
    gaps in column lineage.
    """
    past = past_limit(graph, at)
    stopped = stopped_by or past.stopped_by or ("columns" if has_gaps else None)
    return Completeness(
        complete=not stopped,
        stopped_by=stopped,
        depth_reached=depth,
        frontier=frontier.names,
        frontier_nodes=frontier.total,
        as_of=at,
        graph_version=graph_version(graph),
        hidden_nodes=len(graph.hidden(reached)),
        forgotten_before=past.forgotten_before,
        recorded_from=past.recorded_from,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PastLimit:
    """Why the graph does not cover a time in the past; at most one of the two times (µs) is set."""

    forgotten_before: int | None = None
    recorded_from: int | None = None

    @property
    def stopped_by(self) -> str | None:
        """The value for `Completeness.stopped_by`, or None if the time is covered."""
        if self.forgotten_before is not None:
            return "retention"
        return None if self.recorded_from is None else "beginning"


def past_limit(graph: Graph, at: int | None) -> PastLimit:
    """Check whether `at` (µs) is before the first event, or in a time that retention has deleted."""
    if at is None:
        return PastLimit()
    horizon = graph.forgotten_before()
    if horizon is not None:
        return PastLimit(forgotten_before=horizon if at < horizon else None)
    first = None if at == ALL_TIME else graph.recorded_from()
    return PastLimit(recorded_from=first if first is not None and at < first else None)


def of_all_times(graph: Graph) -> Completeness:
    """The completeness of an answer about all times: complete if retention deleted nothing."""
    horizon = graph.forgotten_before()
    known = completeness_of(graph, None, stopped_by=None if horizon is None else "retention")
    return replace(known, forgotten_before=horizon)


def graph_version(graph: Graph) -> str:
    """The version of the graph: the applied position in each lane of the log."""
    return format_positions(map(Position.from_int, graph.reached()))


def combine_completeness(several: Sequence[Completeness]) -> Completeness:
    """The completeness of several answers as one: complete if all are.

    A node in the frontier of several answers is counted once if all frontiers are completely named, else once for each.
    """
    first = several[0]
    frontier = dict.fromkeys(name for one in several for name in one.frontier)
    is_whole = all(len(one.frontier) == one.frontier_nodes for one in several)
    return Completeness(
        complete=all(one.complete for one in several),
        stopped_by=next((one.stopped_by for one in several if one.stopped_by), None),
        depth_reached=max(one.depth_reached for one in several),
        frontier=tuple(frontier),
        frontier_nodes=len(frontier) if is_whole else sum(one.frontier_nodes for one in several),
        as_of=first.as_of,
        graph_version=first.graph_version,
        hidden_nodes=sum(one.hidden_nodes for one in several),
        forgotten_before=next((one.forgotten_before for one in several if one.forgotten_before is not None), None),
        recorded_from=next((one.recorded_from for one in several if one.recorded_from is not None), None),
    )
