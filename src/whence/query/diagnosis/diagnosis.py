"""Why is a node wrong: its ranked possible causes, and what is not known about them."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whence.model.names import DatasetName, Node
from whence.model.symptom import Symptom
from whence.query.answers.values import Completeness, Question
from whence.query.diagnosis.case import SYMPTOM_ASPECTS, Aspect, Candidate
from whence.query.diagnosis.evidence import Evidence, evidence_of, is_unusual
from whence.query.diagnosis.features import relations_of
from whence.query.diagnosis.ranking import RankedCandidate, Ranking, rank
from whence.query.diagnosis.reading import ReadCase, read_case
from whence.query.history.changes.code import ReadCommits
from whence.query.history.changes.contracts import ContractHistories
from whence.query.history.changes.period import Period
from whence.query.history.changes.transitions import TimelineGraph
from whence.query.history.changes.values import NotKnown

MOST_NAMED = 20
"""Datasets without a measurement that an answer names: the nearest."""

METRICS: Mapping[Symptom, tuple[str, ...]] = {
    Symptom.NULLS: ("rowCount", "nullCount"),
    Symptom.VOLUME: ("rowCount",),
    Symptom.LATE: ("completed runs",),
    Symptom.VALUES: ("rowCount", "sum"),
}
"""The measurements that show each symptom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleCause:
    """A dataset that may be the cause, and the way from it to the requested node.

    `probability`: that it is the cause, if one of the datasets is. `is_measured`: whether the symptom could be seen
    in it.
    """

    dataset: DatasetName
    probability: float
    distance: int
    is_measured: bool
    path: tuple[DatasetName, ...]
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """The missing measurement that would tell most: the cause is at this dataset or upstream of it with this
    probability, else elsewhere.
    """

    dataset: DatasetName
    metrics: tuple[str, ...]
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The possible causes of what is wrong at a node, the most probable first.

    `has_evidence`: something changed or is unusual; if nothing is, the order comes from the positions alone.
    `unmeasured`: the nearest datasets in which the symptom could not be seen, of `unmeasured_total`.
    """

    node: Node
    since: int
    until: int
    symptom: Symptom
    is_seen: bool
    has_evidence: bool
    causes: tuple[PossibleCause, ...]
    deciding: Deciding | None
    unmeasured: tuple[DatasetName, ...]
    unmeasured_total: int
    not_known: tuple[NotKnown, ...]
    completeness: Completeness


def diagnose(
    graph: TimelineGraph,
    contracts: ContractHistories,
    node: Node,
    period: Period,
    question: Question,
    symptom: Symptom | None = None,
    read_commits: ReadCommits | None = None,
) -> Diagnosis:
    """Rank the datasets upstream of a dataset or column, and itself, as causes of what is wrong in a period.

    Without a symptom it is what deviates most at the node. `read_commits`: None without a log. Raises QuestionError for
    a job, and what `read_commits` raises.
    """
    read = read_case(graph, contracts, node, period, question, symptom, read_commits)
    ranking = rank(read.case)
    aspect = SYMPTOM_ASPECTS[ranking.symptom]
    causes = tuple(_cause(read, one, aspect) for one in ranking.ranked)
    dark = [one.candidate for one in ranking.ranked if aspect not in one.anomalies]
    nearest = sorted(dark, key=lambda one: one.key)[:MOST_NAMED]
    at_node = next(one for one in ranking.ranked if one.candidate.key == 0)
    return Diagnosis(
        node=node,
        since=period.since,
        until=period.until,
        symptom=ranking.symptom,
        is_seen=aspect in at_node.anomalies and is_unusual(at_node.anomalies[aspect]),
        has_evidence=any(one.evidence for one in causes),
        causes=causes,
        deciding=_deciding(read, ranking, dark),
        unmeasured=tuple(read.datasets[one.key] for one in nearest),
        unmeasured_total=len(dark),
        not_known=read.not_known,
        completeness=read.completeness,
    )


def _cause(read: ReadCase, one: RankedCandidate, aspect: Aspect) -> PossibleCause:
    key = one.candidate.key
    return PossibleCause(
        dataset=read.datasets[key],
        probability=round(one.probability, 3),
        distance=one.candidate.distance,
        is_measured=aspect in one.anomalies,
        path=tuple(read.datasets[step] for step in _path(read.case.candidates, key)),
        evidence=evidence_of(one, read.changes[key]),
    )


def _path(candidates: Sequence[Candidate], start: int) -> list[int]:
    """A shortest way from a candidate to the requested node; the candidate alone if no edges of one time lead there."""
    before: dict[int, int] = {0: 0}
    queue = deque([0])
    while queue and start not in before:
        at = queue.popleft()
        for parent in candidates[at].parents:
            if parent not in before:
                before[parent] = at
                queue.append(parent)
    if start not in before:
        return [start]
    path = [start]
    while path[-1] != 0:
        path.append(before[path[-1]])
    return path


def _deciding(read: ReadCase, ranking: Ranking, dark: Sequence[Candidate]) -> Deciding | None:
    """Of the unmeasured datasets the one that divides the probability most evenly: its upstream, and the rest."""
    if not dark or len(read.datasets) == 1:
        return None
    probabilities = np.zeros(len(read.datasets))
    for one in ranking.ranked:
        probabilities[one.candidate.key] = one.probability
    upstream = relations_of(read.case.candidates).descendants.T @ probabilities
    best = min(dark, key=lambda one: (round(abs(float(upstream[one.key]) - 0.5), 6), one.key))
    columns = best.columns if ranking.symptom in (Symptom.NULLS, Symptom.VALUES) else ()
    metrics = METRICS[ranking.symptom]
    named = tuple(f"{metrics[-1]} of {column}" for column in columns)
    return Deciding(
        dataset=read.datasets[best.key],
        metrics=(*metrics[:-1], *named) if named else metrics,
        probability=round(float(upstream[best.key]), 3),
    )
