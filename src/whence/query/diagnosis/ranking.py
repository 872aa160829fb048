"""The ranking: a conditional logit over the candidates of one case and the kinds of faults, with fixed weights.

Which features speak for a candidate differs by the kind of fault: lost rows leave no change of the schema. So each pair
of a candidate and a kind has a probability, and that of a candidate is the sum over the kinds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from whence.model.symptom import Symptom
from whence.query.diagnosis.anomalies import Anomaly, Floats
from whence.query.diagnosis.case import Aspect, Candidate, Case
from whence.query.diagnosis.features import features_of
from whence.query.diagnosis.signals import Signals, read_signals, symptom_of
from whence.query.diagnosis.weights import WEIGHTS


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCandidate:
    """A candidate, the probability that it is the cause if one of the candidates is, and its anomalies."""

    candidate: Candidate
    probability: float
    anomalies: Mapping[Aspect, Anomaly]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """All candidates of a case, the most probable first; their probabilities sum to 1."""

    symptom: Symptom
    ranked: tuple[RankedCandidate, ...]


def rank(case: Case) -> Ranking:
    """Rank the candidates of a case. Equal probabilities are in the order of distance and key."""
    signals = read_signals(case)
    probabilities = probabilities_of(signals)
    places = range(len(case.candidates))
    order = sorted(places, key=lambda at: (-probabilities[at], case.candidates[at].distance, case.candidates[at].key))
    return Ranking(
        symptom=symptom_of(signals),
        ranked=tuple(
            RankedCandidate(
                candidate=case.candidates[at], probability=float(probabilities[at]), anomalies=signals.found[at]
            )
            for at in order
        ),
    )


def probabilities_of(signals: Signals) -> Floats:
    """The probability of each candidate, in their order."""
    names, rows = features_of(signals)
    return np.asarray(softmax(rows @ np.array([WEIGHTS[name] for name in names])).sum(axis=1))


def softmax(utilities: Floats) -> Floats:
    """Probabilities that are proportional to the exponentials."""
    powers = np.exp(utilities - utilities.max())
    return np.asarray(powers / powers.sum())
