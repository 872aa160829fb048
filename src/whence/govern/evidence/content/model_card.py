"""The card of a model: its training, the columns that it is made of, their labels, what changed since, approvals."""

from collections.abc import Iterable, Sequence
from typing import Any

from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.govern.evidence.content.lineage import PackLineage
from whence.govern.evidence.content.sources import Sources
from whence.model.graph import Direction
from whence.model.names import FieldName, Node
from whence.query.answers.instants import instant
from whence.query.answers.values import Question, dataset_of
from whence.query.diagnosis.diagnosis import diagnose
from whence.query.history.changes.period import Period
from whence.query.rendering.diagnosis import cause_document
from whence.query.rendering.timeline import not_known_document
from whence.query.sensitivity.labels import Label, LabelledGraph, SensitivityQuestion, label_graph

Json = dict[str, Any]
Ends = tuple[Node, Node]
"""The source and the target of an edge."""

MODEL = "MODEL"
"""The dataset type of a model."""
MOST_ORIGINS = 100
"""The most raw columns of one feature that are named."""


def is_model(facts: Sequence[Json], root: Node) -> bool:
    """Whether somebody reports that a node is a model."""
    return any(one["node"] == str(root) and MODEL in one["types"] for one in facts)


def make_card(
    sources: Sources, found: PackLineage, question: Question, at: int, *, facts: Json, runs: Json, gate: Json
) -> Json | None:
    """The card of the root of a lineage, as of a time (µs); None if it is no model. The documents are those of a pack.

    Drift is what changed or became unusual at the model and upstream of it after the last training run ended.
    """
    root = found.answer.root
    if not is_model(facts["facts"], root):
        return None
    training = [one for one in runs["runs"] if str(root) in one["outputs"]]
    training.sort(key=lambda one: (one["ended_at"] or "", one["run"]), reverse=True)
    found_labels = label_graph(sources.graph, root, SensitivityQuestion(direction=Direction.UPSTREAM, range=question))
    labels, edges = found_labels.labels, _edges(root, found_labels)
    return {
        "model": next(one for one in facts["facts"] if one["node"] == str(root)),
        "training": training,
        "features": [_feature(one, edges, labels) for one in _features(root, edges)],
        "labels": [_label_document(one) for one in labels if dataset_of(one.node) == dataset_of(root)],
        "drift": _drift(sources, root, question, training, at),
        "approvals": gate["approvals"],
        "promotions": gate["promotions"],
    }


def _features(root: Node, edges: Iterable[Ends]) -> list[Node]:
    """What the model is made of: the columns, or datasets, that flow into it or its columns."""
    sources = {source for source, target in edges if _is_of(target, root) and not _is_of(source, root)}
    columns = {one for one in sources if isinstance(one, FieldName)}
    covered = {one.dataset for one in columns}
    return sorted((one for one in sources if one in columns or dataset_of(one) not in covered), key=str)


def _is_of(node: Node, root: Node) -> bool:
    return dataset_of(node) == dataset_of(root)


def _feature(feature: Node, edges: Iterable[Ends], labels: Sequence[Label]) -> Json:
    origins = sorted(map(str, _origins(feature, edges)))
    return {
        "node": str(feature),
        "origins": origins[:MOST_ORIGINS],
        "origins_total": len(origins),
        "labels": [_label_document(one) for one in labels if one.node == feature],
    }


def _origins(start: Node, edges: Iterable[Ends]) -> set[Node]:
    """The nodes upstream that are made of nothing; the start, if it is."""
    sources: dict[Node, list[Node]] = {}
    for source, target in edges:
        sources.setdefault(target, []).append(source)
    seen, frontier = {start}, [start]
    while frontier:
        new = {source for node in frontier for source in sources.get(node, ())} - seen
        seen |= new
        frontier = list(new)
    return {node for node in seen if node not in sources}


def _edges(root: Node, found: LabelledGraph) -> list[Ends]:
    """The edges into the model, and upstream of them those by which values are made: no joins and filters."""
    return [ends for ends in found.flows if ends in found.direct or _is_of(ends[1], root)]


def _label_document(one: Label) -> Json:
    return {
        "node": str(one.node),
        "category": one.category,
        "grade": one.grade.word,
        "assumed": one.is_assumed,
        "path": [str(step) for step in one.path],
    }


def _drift(sources: Sources, root: Node, question: Question, training: Sequence[Json], at: int) -> Json:
    """The datasets with evidence after the last training run, the most probable cause of wrong predictions first."""
    ended = next((one["ended_at"] for one in training if one["state"] == "COMPLETE" and one["ended_at"]), None)
    since = None if ended is None else instant(ended, at)
    if since is None or since >= at:
        return {"since": ended, "changed": [], "not_known": []}
    contracts = EvaluatedContracts(sources.catalog, sources.graph)
    period = Period(since=since, until=at)
    found = diagnose(sources.graph, contracts, root, period, question, read_commits=sources.read_commits)
    causes = map(cause_document, found.causes)
    changed = [{key: one[key] for key in ("node", "distance", "path", "evidence")} for one in causes if one["evidence"]]
    return {"since": ended, "changed": changed, "not_known": [not_known_document(one) for one in found.not_known]}
