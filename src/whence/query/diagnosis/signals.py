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
    """The anomalies of a case. `every`: of all series of each candidate that matter, and then of the others.

    `found`: of each candidate the strongest one of each aspect that was measured.
    """

    case: Case
    every: tuple[tuple[Anomaly, ...], ...]
    found: tuple[Mapping[Aspect, Anomaly], ...]

    def scores(self) -> Floats:
        """Candidates × aspects, with sign; 0 where nothing was measured."""
        return np.array([[one[aspect].score if aspect in one else 0.0 for aspect in ASPECTS] for one in self.found])

    def measured(self) -> NDArray[np.bool_]:
        """Candidates × aspects: whether there is a value with enough history."""
        return np.array([[aspect in one for aspect in ASPECTS] for one in self.found])


def read_signals(case: Case) -> Signals:
    """The signals of all candidates of a case."""
    every = [_anomalies(one, one.columns or None, case) for one in case.candidates]
    beside = [_anomalies(one, one.value_columns, case) for one in case.others]
    return Signals(case=case, every=(*every, *beside), found=tuple(map(strongest, every)))


def symptom_of(signals: Signals) -> Symptom:
    """The symptom of a case: as asked, or what deviates most at the wrong node; values if nothing does."""
    return known_symptom_of(signals) or Symptom.VALUES


def known_symptom_of(signals: Signals) -> Symptom | None:
    """The symptom of a case as asked, or what deviates most at the wrong node; None if nothing does."""
    if signals.case.symptom is not None:
        return signals.case.symptom
    at_node = signals.found[0]
    ranked = [(abs(at_node[aspect].score), symptom) for symptom, aspect in SYMPTOM_ASPECTS.items() if aspect in at_node]
    score, found = max(ranked, default=(0.0, None), key=lambda pair: pair[0])
    return found if score >= HOT else None


def strengths(scores: Floats) -> Floats:
    """Scores between 0 (noise) and 1, on logs: of two large ones the larger still counts for more."""
    over = np.maximum(np.abs(scores) - NOTICED, 0)
    return np.asarray(np.minimum(np.log1p(over) / np.log1p(TOP - NOTICED), 1))


def _anomalies(one: Candidate, columns: Sequence[str] | None, case: Case) -> tuple[Anomaly, ...]:
    chosen = [each for each in one.series if not each.column or columns is None or each.column in columns]
    found = (find_anomaly(each, case.since, case.until) for each in (*chosen, delays(one.writes, case.until)))
    return tuple(each for each in found if each is not None)


def strongest(anomalies: Iterable[Anomaly]) -> Mapping[Aspect, Anomaly]:
    """The strongest anomaly of each aspect."""
    found: dict[Aspect, Anomaly] = {}
    for one in anomalies:
        aspect = one.series.aspect
        if aspect not in found or abs(one.score) > abs(found[aspect].score):
            found[aspect] = one
    return found
