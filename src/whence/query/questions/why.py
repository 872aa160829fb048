"""Why one node depends on another: the paths between them, every edge with all its evidence."""

from collections.abc import Mapping
from dataclasses import replace

from whence.model.names import Node
from whence.query.answers.values import AnswerEdge, Path, Paths, Question
from whence.query.ports.graph import Graph
from whence.query.questions.paths import paths
from whence.query.traversal.evidence import prove_all


def why(graph: Graph, source: Node, target: Node, question: Question, limit: int = 5, runs: int = 100) -> Paths:
    """The shortest paths from source to target, every edge with all its evidence and its latest `runs` runs."""
    found = paths(graph, source, target, question, limit)
    edges = {edge for path in found.paths for step in path.steps for edge in step.edges}
    proven = dict(zip(edges, prove_all(graph, edges, question.at, runs), strict=True))
    return replace(found, paths=tuple(_proven(path, proven) for path in found.paths))


def _proven(path: Path, proven: Mapping[AnswerEdge, AnswerEdge]) -> Path:
    steps = [replace(step, edges=tuple(proven[edge] for edge in step.edges)) for step in path.steps]
    return replace(path, steps=tuple(steps))
