"""Why no path leads from one node to another, with a reason from a closed list (questions.md)."""

from dataclasses import dataclass, replace
from enum import StrEnum

from whence.errors import NodeNotFoundError
from whence.model.graph import ALL_TIME, FOREVER
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName, Node, parse_node
from whence.query.answers.completeness import completeness_of
from whence.query.answers.instants import iso
from whence.query.answers.values import Answer, AnswerEdge, Completeness, Path, Paths, Question, Step, dataset_of
from whence.query.lookup.resolve import likeness, nearest, resolve
from whence.query.ports.graph import Past
from whence.query.questions.lineage import downstream, upstream
from whence.query.questions.paths import paths

ALIKE = 0.75
"""The similarity from which two names may denote the same node."""


class Reason(StrEnum):
    """Why no path leads from one node to another."""

    NO_EVENT = "no event"
    NAME_MISMATCH = "name mismatch"
    NO_COLUMN_LINEAGE = "no column lineage"
    PRUNED = "pruned"
    SUPERSEDED = "superseded"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot:
    """If `reason` is None, there is a path: `path`.

    `nearest`: for a name mismatch, the names that may be meant; otherwise names for further investigation: jobs without
    column lineage, or the owner that asserts another lineage since. `until`: for a superseded path, when it ended (µs).
    `path` is then the former path.
    """

    source: str
    target: str
    reason: Reason | None
    detail: str
    nearest: tuple[str, ...] = ()
    until: int | None = None
    path: Path | None = None
    completeness: Completeness


def why_not(graph: Past, source: str, target: str, question: Question) -> WhyNot:
    """Why no path leads from the node that `source` names to the one that `target` names. Raises AmbiguousNodeError."""
    ends: list[Node] = []
    for typed in (source, target):
        try:
            ends.append(resolve(graph, typed))
        except NodeNotFoundError as error:
            return _unknown(graph, source, target, typed, error, question)
    found = _reason(graph, ends[0], ends[1], question)
    return replace(found, source=str(ends[0]), target=str(ends[1]))


def _unknown(graph: Past, source: str, target: str, typed: str, error: NodeNotFoundError, question: Question) -> WhyNot:
    name = parse_node(typed)
    meant = error.nearest or (
        nearest(graph, name.name if not isinstance(name, FieldName) else name.field) if name else ()
    )
    reason = Reason.NAME_MISMATCH if meant else Reason.NO_EVENT
    detail = f"no event{_since_text(graph)} names {typed}" + ("; these are alike" if meant else _deleted(graph))
    completeness = completeness_of(graph, question.at)
    return WhyNot(source=source, target=target, reason=reason, detail=detail, nearest=meant, completeness=completeness)


def _reason(graph: Past, source: Node, target: Node, question: Question) -> WhyNot:
    found = paths(graph, source, target, question, 1)
    about = WhyNot(source=str(source), target=str(target), reason=None, detail="", completeness=found.completeness)
    if found.paths:
        return replace(about, path=found.paths[0], detail=_connected(found))
    return (
        _pruned(graph, source, target, question, about)
        or _hidden(about)
        or _coarse(graph, source, target, question, about)
        or _superseded(graph, source, target, question, about)
        or _mismatched(graph, source, target, question, about)
        or replace(about, reason=Reason.NO_EVENT, detail=_unasserted(graph, source, target, question))
    )


def _unasserted(graph: Past, source: Node, target: Node, question: Question) -> str:
    if paths(graph, target, source, question, 1).paths:
        return f"there is no path in this direction; there is one the other way, from {target} to {source}"
    return f"no event{_since_text(graph) or ' ever'} reported it{_deleted(graph)}"


def _since_text(graph: Past) -> str:
    deleted_before = graph.forgotten_before()
    return "" if deleted_before is None else f" since {iso(deleted_before)}"


def _deleted(graph: Past) -> str:
    return "" if graph.forgotten_before() is None else "; what ended before was deleted"


def _connected(found: Paths) -> str:
    path = found.paths[0]
    hops = f"{len(path.steps)} hop{'' if len(path.steps) == 1 else 's'}"
    kind = "" if path.via is None else f", {path.via.type}"
    return f"there is a path: {hops}{kind}" if path.steps else "they are one and the same"


def _pruned(graph: Past, source: Node, target: Node, question: Question, about: WhyNot) -> WhyNot | None:
    """A budget stopped the traversal, or the question excludes the edges on the path."""
    if about.completeness.stopped_by not in (None, "retention", "beginning", "columns"):
        limits = {
            "depth": "at the depth asked for",
            "nodes": "by the budget of nodes",
            "edges": "by the budget of edges",
        }
        where = limits.get(about.completeness.stopped_by or "", "by the budget of paths")
        return replace(about, reason=Reason.PRUNED, detail=f"the walk was stopped {where}")
    if question.types is None:
        return None
    wider = paths(graph, source, target, replace(question, types=None), 1)
    if not wider.paths:
        return None
    via = wider.paths[0].via
    types = " and ".join(sorted(question.types))
    detail = f"only {types} edges were asked for; there is a path that is {via.type if via else 'another'}"
    return replace(about, reason=Reason.PRUNED, detail=detail, path=wider.paths[0])


def _hidden(about: WhyNot) -> WhyNot | None:
    if not about.completeness.hidden_nodes:
        return None
    return replace(about, reason=Reason.HIDDEN, detail="a part of the graph on the way is hidden from you")


def _coarse(graph: Past, source: Node, target: Node, question: Question, about: WhyNot) -> WhyNot | None:
    """The datasets depend on each other, and an owner on the path reports no columns."""
    wholes = dataset_of(source), dataset_of(target)
    if not (isinstance(source, FieldName) or isinstance(target, FieldName)) or None in wholes:
        return None
    between = paths(graph, wholes[0] or source, wholes[1] or target, question, 20)
    if not between.paths:
        return None
    owners = {edge.owner for path in between.paths for step in path.steps for edge in step.edges}
    blind = _blind(graph, source, target, question) & owners
    if not blind:
        detail = "the datasets depend on each other, and the columns that are known do not"
        return replace(about, reason=Reason.NO_EVENT, detail=detail, path=between.paths[0])
    producers = sorted(
        {
            evidence.last.producer
            for path in between.paths
            for step in path.steps
            for edge in step.edges
            if edge.owner in blind
            for evidence in edge.evidence
        }
    )
    detail = (
        f"the datasets depend on each other, by jobs whose producer does not give all columns: {', '.join(producers)}"
    )
    names = tuple(sorted(map(str, blind)))
    return replace(about, reason=Reason.NO_COLUMN_LINEAGE, detail=detail, nearest=names, path=between.paths[0])


def _blind(graph: Past, source: Node, target: Node, question: Question) -> set[Node]:
    """The owners that report whole datasets only, at the ends of the known lineage upstream of the target and
    downstream of the source.
    """
    answers: list[Answer] = []
    if isinstance(target, FieldName):
        answers.append(upstream(graph, target, question))
    if isinstance(source, FieldName):
        answers.append(downstream(graph, source, question))
    return {gap.owner for answer in answers for gap in answer.gaps}


def _superseded(graph: Past, source: Node, target: Node, question: Question, about: WhyNot) -> WhyNot | None:
    """The path existed before, and does not exist now, or did not at the time in the question."""
    ever = paths(graph, source, target, replace(question, at=ALL_TIME), 1)
    if not ever.paths or not ever.paths[0].steps:
        return None
    path = ever.paths[0]
    ends = [ended for step in path.steps if (ended := _ended(graph, step, question.at))]
    if not ends:
        return None
    until, owner = max(ends, key=lambda one: (one[0], str(one[1])))
    detail = f"{owner} said so until then, and says something else since"
    return replace(about, reason=Reason.SUPERSEDED, detail=detail, nearest=(str(owner),), until=until, path=path)


def _ended(graph: Past, step: Step, at: int | None) -> tuple[int, Node] | None:
    """When the last owner stopped asserting a step; None while one still asserts it, or if it was never valid."""
    ends = [(until, edge.owner) for edge in step.edges if (until := _end_of_validity(graph, edge, at)) is not None]
    last = max(ends, key=lambda one: (one[0], str(one[1])), default=None)
    return None if last is None or last[0] > (FOREVER - 1 if at is None else at) else last


def _end_of_validity(graph: Past, edge: AnswerEdge, at: int | None) -> int | None:
    """The end of the last validity interval of an edge that began by a time."""
    sets = {one.set_id for one in edge.evidence}
    spans = [span for span in graph.spans([node_id(edge.owner)]) if at is None or span.valid_from <= at]
    versions = graph.versions({span.version for span in spans})
    ends = [span.valid_to for span in spans if not sets.isdisjoint(versions.get(span.version, ()))]
    return max(ends, default=None)


def _mismatched(graph: Past, source: Node, target: Node, question: Question, about: WhyNot) -> WhyNot | None:
    """A name similar to the source's is upstream of the target, or one similar to the target's is downstream of the
    source.
    """
    above = _similar_names(source, upstream(graph, dataset_of(target) or target, replace(question, types=None)))
    below = _similar_names(target, downstream(graph, dataset_of(source) or source, replace(question, types=None)))
    meant = (*above, *below)
    if not meant:
        return None
    which = f"{target} depends on" if above else f"{source} leads to"
    detail = f"{which} a name that is much like the one asked about"
    return replace(about, reason=Reason.NAME_MISMATCH, detail=detail, nearest=meant)


def _similar_names(name: Node, answer: Answer) -> tuple[str, ...]:
    of = dataset_of(name) or name
    typed = of.name if isinstance(of, DatasetName | JobName) else ""
    others = [node.name for node in answer.nodes[1:] if type(node.name) is type(of) and node.name != of]
    ranked = sorted(((likeness(other, typed), str(other)) for other in others), key=lambda one: (-one[0], one[1]))
    return tuple(text for score, text in ranked[:3] if score >= ALIKE)
