"""Evidence of edges: events and runs (rule 51), and the parser for parsed edges."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from whence.model.graph import Evidence
from whence.model.ids import node_id
from whence.model.lineage import Origin
from whence.openlineage.facets.facet_keys import SQL_LINEAGE
from whence.query.answers.values import AnswerEdge
from whence.query.ports.graph import Graph


def prove(graph: Graph, edge: AnswerEdge, at: int | None, runs: int = 100) -> AnswerEdge:
    """The same edge with the latest `runs` runs of each of its lineage sets, not only the last one."""
    return prove_all(graph, [edge], at, runs)[0]


def prove_all(graph: Graph, edges: Iterable[AnswerEdge], at: int | None, runs: int = 100) -> list[AnswerEdge]:
    """The same for several edges, with one query."""
    several = list(edges)
    found = graph.evidence({one.set_id for edge in several for one in edge.evidence}, at, runs)
    readers = _readers(graph, [edge for edge in several if Origin.PARSED in edge.origins])
    return [
        _proven(edge, [found[one.set_id] for one in edge.evidence], readers.get(node_id(edge.owner), ""))
        for edge in several
    ]


def _proven(edge: AnswerEdge, evidence: Iterable[Evidence], reader: str) -> AnswerEdge:
    read = [replace(one, reader=reader) if one.origin == Origin.PARSED else one for one in evidence]
    return replace(edge, evidence=tuple(sorted(read, key=lambda one: (-one.last.time, one.digest))))


def _readers(graph: Graph, parsed: Iterable[AnswerEdge]) -> Mapping[int, str]:
    """By job, the parser that read its SQL last."""
    owners = {node_id(edge.owner) for edge in parsed}
    rows = graph.facets(owners, [SQL_LINEAGE]) if owners else ()
    return {row.subject_id: str(json.loads(row.payload).get("reader", "")) for row in rows}
