"""Whom an incident affects: counts of downstream nodes by kind, and the nearest of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName
from whence.query.answers.values import Question
from whence.query.questions.impact import LISTED_JOBS, Affected, Impact, impact
from whence.query.visibility.visible_ids import QuestionGraph

MOST_NAMED = 5
"""Nodes of a kind that are named: the nearest."""
MOST_LOOKED = 500
"""Downstream nodes among which they are looked for: the nearest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedNode:
    """A downstream dataset or job with its owners."""

    name: DatasetName | JobName
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Downstream:
    """The downstream nodes of a kind (`dashboard`, `model`, `dataset`, `job` …), as they are called in facets."""

    kind: str
    total: int
    nearest: tuple[NamedNode, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DownstreamNodes:
    """The downstream nodes by kind: dashboards and models first."""

    found: tuple[Downstream, ...]
    complete: bool


def find_downstream(graph: QuestionGraph, root: DatasetName, at: int | None) -> DownstreamNodes:
    """The nodes downstream of a dataset, now or at a time (µs); nodes that the viewer may not see are only counted."""
    found = impact(graph, root, Question(at=at))
    named = _name(graph, [*found.nodes(0, MOST_LOOKED), *found.jobs[:LISTED_JOBS]])
    counts = {kind.lower(): count for kind, count in found.counts.by_type.items() if kind != "field"}
    counts["job"] = found.counts.jobs
    kinds = sorted((kind for kind, count in counts.items() if count), key=_rank)
    several = (Downstream(kind=kind, total=counts[kind], nearest=_nearest(named, kind)) for kind in kinds)
    return DownstreamNodes(found=tuple(several), complete=_is_complete(found))


def _rank(kind: str) -> tuple[int, str]:
    order = ("dashboard", "model")
    return order.index(kind) if kind in order else len(order) + (kind == "job"), kind


def _name(graph: QuestionGraph, affected: Sequence[Affected]) -> Sequence[Affected]:
    hidden = graph.hidden([node_id(one.name) for one in affected])
    return [one for one in affected if node_id(one.name) not in hidden]


def _nearest(affected: Sequence[Affected], kind: str) -> tuple[NamedNode, ...]:
    found: dict[DatasetName | JobName, NamedNode] = {}
    for one in affected:
        if one.type.lower() == kind and not isinstance(one.name, FieldName):
            found.setdefault(one.name, NamedNode(name=one.name, owners=one.owners))
    return tuple(found.values())[:MOST_NAMED]


def _is_complete(found: Impact) -> bool:
    return found.completeness.stopped_by in (None, "columns")
