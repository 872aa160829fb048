"""Answers as JSON, in the shape that API, CLI and UI share. Nodes are node ids, times ISO 8601 UTC."""

from collections.abc import Sequence
from typing import Any, cast

from whence.model.graph import AssertingEvent, AssertingRun, Evidence
from whence.model.names import Node
from whence.query.answers.instants import iso
from whence.query.answers.transformations import Transformation
from whence.query.answers.values import Answer, AnswerEdge, AnswerNode, Completeness, Gap, Path, Paths, Step, kind
from whence.query.lookup.search import Found, HitLabel
from whence.query.rendering import documents

Json = dict[str, Any]


def answer_head(answer: Answer) -> Json:
    """The head of an answer: its question."""
    return {
        "root": str(answer.root),
        "direction": answer.direction,
        "grain": answer.grain,
        "types": sorted(answer.types),
    }


def answer_part(answer: Answer) -> Json:
    """The nodes of an answer, the edges that lead to them, and the gaps."""
    return {
        "nodes": [_node(node) for node in answer.nodes],
        "edges": edge_documents(answer.edges),
        "gaps": [_gap(gap) for gap in answer.gaps],
    }


def paths_head(paths: Paths) -> Json:
    """The head of paths: their question."""
    return {
        "source": str(paths.source),
        "target": str(paths.target),
        "grain": paths.grain,
        "types": sorted(paths.types),
    }


def hit_documents(found: Found, start: int, end: int | None) -> list[documents.Named]:
    """Some search results: each a node with its matching part, and the labels that the search asked for."""
    none: Sequence[tuple[()]] = [()] * len(found.names)
    rows = [*zip(found.names, found.by, found.labels or none, found.standings or none, strict=True)][start:end]
    return [
        {
            "node": str(name),
            "kind": kind(name),
            "by": by,
            "labels": [_found_label(one) for one in several],
            "standings": list(standings),
        }
        for name, by, several, standings in rows
    ]


def _found_label(one: HitLabel) -> documents.FoundLabel:
    return {"category": one.category, "grade": one.grade.word, "assumed": one.proven < one.grade}


def name_document(name: Node) -> Json:
    """A node and its kind."""
    return {"node": str(name), "kind": kind(name)}


def completeness_document(completeness: Completeness) -> documents.Completeness:
    """The completeness of an answer."""
    return {
        "complete": completeness.complete,
        "stopped_by": cast("documents.StoppedBy | None", completeness.stopped_by),
        "depth_reached": completeness.depth_reached,
        "frontier": [str(name) for name in completeness.frontier],
        "frontier_nodes": completeness.frontier_nodes,
        "hidden_nodes": completeness.hidden_nodes,
        "as_of": None if completeness.as_of is None else iso(completeness.as_of),
        "graph_version": completeness.graph_version,
        "forgotten_before": None if completeness.forgotten_before is None else iso(completeness.forgotten_before),
        "recorded_from": None if completeness.recorded_from is None else iso(completeness.recorded_from),
    }


def edge_documents(edges: Sequence[AnswerEdge]) -> list[documents.Edge]:
    """Edges with their evidence; edges of one set share a document."""
    sets = {id(one): one for edge in edges for one in edge.evidence}
    evidence = {id_: evidence_document(one) for id_, one in sets.items()}
    return [_edge(edge, [evidence[id(one)] for one in edge.evidence]) for edge in edges]


def edge_document(edge: AnswerEdge) -> documents.Edge:
    """An edge with its evidence."""
    return _edge(edge, [evidence_document(one) for one in edge.evidence])


def _edge(edge: AnswerEdge, evidence: list[documents.Evidence]) -> documents.Edge:
    return {
        "source": str(edge.source),
        "target": str(edge.target),
        "owner": str(edge.owner),
        "transformations": [transformation_document(one) for one in edge.transformations],
        "origins": list(edge.origins),
        "inferred": edge.inferred,
        "parsed": edge.parsed,
        "confirmed": edge.confirmed,
        "evidence": evidence,
    }


def evidence_document(evidence: Evidence) -> documents.Evidence:
    """The evidence of a lineage set."""
    return {
        "set": evidence.digest,
        "origin": evidence.origin,
        "reader": evidence.reader or None,
        "first_seen": event_document(evidence.first),
        "last_seen": event_document(evidence.last),
        "runs": [run_document(run) for run in evidence.runs],
    }


def _node(node: AnswerNode) -> documents.NodeReached:
    return {
        "node": str(node.name),
        "kind": kind(node.name),
        "depth": node.depth,
        "aliases": [str(alias) for alias in node.aliases],
        "parent": None if node.parent is None else str(node.parent),
        "edge": node.edge,
        "via": None if node.via is None else transformation_document(node.via),
        "shown": node.shown,
        "more": node.more,
        "role": "check" if node.is_check else None,
    }


def transformation_document(one: Transformation) -> documents.Transformation:
    """A transformation of data."""
    return {"type": one.type, "subtype": one.subtype, "masking": one.masking, "description": one.description}


def _gap(gap: Gap) -> documents.Gap:
    datasets = [str(name) for name in gap.datasets]
    return {"at": str(gap.at), "owner": str(gap.owner), "datasets": datasets, "reason": gap.reason}


def path_document(path: Path) -> documents.Path:
    """One path, step by step."""
    return {
        "steps": [_step(step) for step in path.steps],
        "via": None if path.via is None else transformation_document(path.via),
    }


def _step(step: Step) -> documents.Step:
    return {"source": str(step.source), "target": str(step.target), "edges": [edge_document(one) for one in step.edges]}


def event_document(event: AssertingEvent) -> documents.AssertingEvent:
    """An event that asserted an edge."""
    return {"time": iso(event.time), "event": event.key, "position": event.position, "producer": event.producer}


def run_document(run: AssertingRun) -> documents.RunSeen:
    """A run that asserted an edge."""
    return {
        "run": str(run.name),
        "job": str(run.name.job),
        "state": run.state.name,
        "started_at": None if run.started_at is None else iso(run.started_at),
        "ended_at": None if run.ended_at is None else iso(run.ended_at),
        "last_seen": None if run.last_seen is None else iso(run.last_seen),
        "said_at": iso(run.asserted_at),
    }
