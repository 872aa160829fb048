"""Rankers to compare with: by chance, and what most products do. Each gives every candidate a number."""

from collections.abc import Callable

import numpy as np

from whence.query.diagnosis.anomalies import Floats
from whence.query.diagnosis.features import relations_of
from whence.query.diagnosis.ranking import probabilities_of
from whence.query.diagnosis.signals import HOT, Signals, strengths


def by_chance(signals: Signals) -> Floats:
    """No information: all the same, in a random order that the case decides."""
    return np.random.default_rng(len(signals.found) + signals.case.since % 1_000).random(len(signals.found))


def nearest(signals: Signals) -> Floats:
    """The nearest ancestor, not the node itself."""
    return np.array([-one.distance if one.distance else -99 for one in signals.case.candidates], float)


def nearest_changed(signals: Signals) -> Floats:
    """The nearest ancestor with a commit, a schema change or a failure: what most products do."""
    return np.asarray(nearest(signals) + [100.0 * bool(one.changes) for one in signals.case.candidates])


def nearest_changed_or_unusual(signals: Signals) -> Floats:
    """The nearest ancestor with a change or an unusual measurement."""
    is_hot = np.abs(signals.scores()).max(axis=1) >= HOT
    counted = [100.0 * bool(one.changes or hot) for one, hot in zip(signals.case.candidates, is_hot, strict=True)]
    return np.asarray(nearest(signals) + counted)


def most_unusual(signals: Signals) -> Floats:
    """The highest score of any measurement."""
    return np.asarray(np.abs(signals.scores()).max(axis=1))


def rootmost_unusual(signals: Signals) -> Floats:
    """The most unusual of those that have no unusual parent."""
    most = strengths(signals.scores()).max(axis=1)
    parents = np.max(np.where(relations_of(signals.case.candidates).parents, most[None, :], 0), axis=1, initial=0)
    return np.asarray(most - parents)


RANKERS: dict[str, Callable[[Signals], Floats]] = {
    "random": by_chance,
    "nearest ancestor": nearest,
    "nearest changed": nearest_changed,
    "nearest changed or unusual": nearest_changed_or_unusual,
    "most unusual": most_unusual,
    "rootmost unusual": rootmost_unusual,
    "whence diagnose": probabilities_of,
}


def place_of(cause: int, scores: Floats) -> int:
    """How many candidates a ranker places before the true cause."""
    return int(np.sum(scores > scores[cause])) + int(np.sum(scores[:cause] == scores[cause]))
