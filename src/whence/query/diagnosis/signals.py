"""The signals of candidates: of every aspect the strongest anomaly, and which aspects nobody measured."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whence.model.symptom import Symptom
from whence.query.diagnosis.anomalies import Anomaly, Floats, delays, find_anomaly
from whence.query.diagnosis.case import ASPECTS, SYMPTOM_ASPECTS, Aspect, Candidate, Case

HOT = 4.0
"""From this score on a value is called unusual."""
NOTICED = 2.0
"""Scores below this are noise."""
TOP = 40.0
"""A score from which on it makes no difference how large it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """The strongest anomaly of each aspect of each candidate that was measured, in the order of the candidates."""

    case: Case
    found: tuple[Mapping[Aspect, Anomaly], ...]

    def scores(self) -> Floats:
        """Candidates × aspects, with sign; 0 where nothing was measured."""
        return np.array([[one[aspect].score if aspect in one else 0.0 for aspect in ASPECTS] for one in self.found])

    def measured(self) -> NDArray[np.bool_]:
        """Candidates × aspects: whether there is a value with enough history."""
        return np.array([[aspect in one for aspect in ASPECTS] for one in self.found])


def read_signals(case: Case) -> Signals:
    """The signals of all candidates of a case."""
    return Signals(case=case, found=tuple(_strongest(one, case) for one in case.candidates))


def symptom_of(signals: Signals) -> Symptom:
    """The symptom of a case: as asked, or what deviates most at the wrong node; values if nothing does."""
    if signals.case.symptom is not None:
        return signals.case.symptom
    at_node = signals.found[0]
    ranked = [(abs(at_node[aspect].score), symptom) for symptom, aspect in SYMPTOM_ASPECTS.items() if aspect in at_node]
    score, found = max(ranked, default=(0.0, Symptom.VALUES), key=lambda pair: pair[0])
    return found if score >= HOT else Symptom.VALUES


def strengths(scores: Floats) -> Floats:
    """Scores between 0 (noise) and 1, on logs: of two large ones the larger still counts for more."""
    over = np.maximum(np.abs(scores) - NOTICED, 0)
    return np.asarray(np.minimum(np.log1p(over) / np.log1p(TOP - NOTICED), 1))


def _strongest(candidate: Candidate, case: Case) -> Mapping[Aspect, Anomaly]:
    gaps = delays(candidate.writes, case.until)
    relevant = [one for one in candidate.series if _is_relevant(one.column, candidate.columns)]
    anomalies = (find_anomaly(one, case.since, case.until) for one in (*relevant, gaps))
    return _by_aspect(one for one in anomalies if one is not None)


def _by_aspect(anomalies: Iterable[Anomaly]) -> Mapping[Aspect, Anomaly]:
    found: dict[Aspect, Anomaly] = {}
    for one in anomalies:
        aspect = one.series.aspect
        if aspect not in found or abs(one.score) > abs(found[aspect].score):
            found[aspect] = one
    return found


def _is_relevant(column: str, columns: Sequence[str]) -> bool:
    return not column or not columns or column in columns
