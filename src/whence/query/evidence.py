"""Which events and runs prove an edge (rule 51)."""

from dataclasses import replace

from whence.query.answers import AnswerEdge
from whence.query.ports import Graph


def prove(graph: Graph, edge: AnswerEdge, at: int | None, runs: int = 100) -> AnswerEdge:
    """The same edge with the latest `runs` runs of each of its lineage sets, not only the last one."""
    found = graph.evidence({one.set_id for one in edge.evidence}, at, runs)
    return replace(edge, evidence=tuple(sorted(found.values(), key=lambda one: (-one.last.time, one.digest))))
