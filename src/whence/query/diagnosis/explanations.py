"""What each candidate would explain: of all that is measured downstream of it, what is wrong and what is well.

Wrong data flows along lineage: missing and wrong values with the values, lost rows with the rows, delays with either.
A candidate whose effect had to pass through what is well, or would have reached what is well, is a poor explanation.
The log-likelihood ratio of a score is that of an effect of the candidate against chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whence.model.symptom import Symptom
from whence.query.diagnosis.anomalies import Anomaly, Floats
from whence.query.diagnosis.case import SYMPTOM_ASPECTS, Aspect, Candidate, ChangeKind
from whence.query.diagnosis.signals import Signals

Bools = NDArray[np.bool_]

KEPT: Final = 0.85
"""How sure an effect on a dataset is to reach the next."""
SHUT: Final = 0.08
"""How sure it is to pass through a dataset that is measured and well."""
_TOP: Final = 200.0
"""A score from which on it makes no difference how large it is."""
_LEAST, _MOST = -12.0, 25.0
"""The bounds of the evidence downstream of a candidate."""


@dataclass(frozen=True, slots=True)
class _Flow:
    """What flows, along whose parents, and in which aspects it is seen. `by_values`: only in columns on that way."""

    name: str
    parents: str
    aspects: tuple[Aspect, ...]
    by_values: bool = False


_FLOWS = (
    _Flow("rows", "row_parents", (Aspect.ROWS,)),
    _Flow("nulls", "value_parents", (Aspect.NULLS,), by_values=True),
    _Flow("values", "value_parents", (Aspect.VALUES,), by_values=True),
    _Flow("distinct", "value_parents", (Aspect.DISTINCT,), by_values=True),
    _Flow("delay", "parents", (Aspect.DELAY,)),
    _Flow("data", "parents", (Aspect.ROWS, Aspect.NULLS, Aspect.DISTINCT, Aspect.VALUES)),
)


_SYMPTOMS = (*Symptom, None)


def explanations_of(signals: Signals, symptom: Symptom | None) -> Sequence[tuple[str, Floats]]:
    """What each candidate explains of a symptom (None: it is not known), by name of the feature."""
    return [
        *(feature for flow in _FLOWS for feature in _of_flow(flow, signals, symptom)),
        *(
            (f"values lead to {_name(each)}", _leads_by_values(signals.case.candidates) * (each is symptom))
            for each in _SYMPTOMS
        ),
        *((f"rare {kind}", _rareness(signals.case.candidates, kind)) for kind in ChangeKind),
    ]


def _of_flow(flow: _Flow, signals: Signals, symptom: Symptom | None) -> Sequence[tuple[str, Floats]]:
    nodes, count = (*signals.case.candidates, *signals.case.others), len(signals.case.candidates)
    scores = np.array([_score(flow, *pair) for pair in zip(nodes, signals.every, strict=True)])
    parents = _parents(nodes, flow.parents)
    passing = np.where(np.isnan(scores), 1, np.clip((np.nan_to_num(scores) - 1) / 3, SHUT, 1))
    reach = _reach(nodes, parents, passing)
    ratios = np.where(np.isnan(scores), 0, _ratio(np.nan_to_num(scores), np.minimum(reach, 0.95)))
    own = np.diag(ratios)[:count]
    below = np.clip(ratios[:count].sum(axis=1) - own, _LEAST, _MOST)
    to_symptom = reach[:count, 0]
    return [
        (f"own {flow.name} explained", own),
        (f"{flow.name} explained below", below),
        *((f"{_name(each)} by {flow.name} explained", (own + below) * (each is symptom)) for each in _SYMPTOMS),
        *(
            feature
            for each in _shown_by(flow)
            for feature in (
                (f"{flow.name} to {_name(each)}", np.log(np.maximum(to_symptom, 1e-3)) * (each is symptom)),
                (f"no {flow.name} to {_name(each)}", (to_symptom < 1e-9).astype(float) * (each is symptom)),
            )
        ),
    ]


def _shown_by(flow: _Flow) -> Sequence[Symptom | None]:
    """The symptoms that a flow may lead to: rows and data any."""
    is_any = flow.name in ("rows", "data")
    return [each for each in _SYMPTOMS if is_any or (each is not None and SYMPTOM_ASPECTS[each] in flow.aspects)]


def _name(symptom: Symptom | None) -> str:
    return "unknown" if symptom is None else symptom


def _score(flow: _Flow, node: Candidate, anomalies: Sequence[Anomaly]) -> float:
    """How unusual the newest values are, NaN if nothing was measured; of delays the longest."""
    columns = node.value_columns if flow.by_values else None
    found = [
        max(one.score, 0.0) if flow.name == "delay" else abs(one.last)
        for one in anomalies
        if one.series.aspect in flow.aspects
        and (not one.series.column or columns is None or one.series.column in columns)
    ]
    return min(max(found), _TOP) if found else np.nan


def _parents(nodes: Sequence[Candidate], attribute: str) -> Sequence[Sequence[int]]:
    """The places of the parents of each node."""
    places = {one.key: place for place, one in enumerate(nodes)}
    named: Sequence[Sequence[int]] = [getattr(one, attribute) for one in nodes]
    return [[places[key] for key in keys if key in places and places[key] != at] for at, keys in enumerate(named)]


def _reach(nodes: Sequence[Candidate], parents: Sequence[Sequence[int]], passing: Floats) -> Floats:
    """How sure an effect at a node (row) is to reach another (column), on the surest way."""
    reach = np.eye(len(nodes))
    # The farthest first: if there is no cycle, little is left for a second round.
    order = sorted(range(len(nodes)), key=lambda at: -nodes[at].distance)
    while True:
        before = reach.copy()
        for at in order:
            if several := parents[at]:
                via = reach[:, several] * passing[several]
                via[several, range(len(several))] = 1
                reach[:, at] = np.maximum(reach[:, at], KEPT * via.max(axis=1))
        if np.array_equal(before, reach):
            return reach


def _ratio(scores: Floats, reach: Floats) -> Floats:
    """The log-likelihood ratio of scores: of an effect that is as sure as `reach` to be there, against chance.

    Chance is noise, and now and then something harmless; an effect may be as small as noise, or large.
    """
    chance = 0.94 * np.exp(-(scores**2) / 2) / 1.2533 + 0.06 * np.exp(-scores / 8) / 8
    effect = 0.35 * np.exp(-(scores**2) / 8) / 2.5066 + 0.65 * np.exp(-scores / 20) / 20
    return np.asarray(np.log((1 - reach) + reach * effect / chance))


def _leads_by_values(candidates: Sequence[Candidate]) -> Floats:
    return np.array([float(one.value_columns is None or bool(one.value_columns)) for one in candidates])


def _rareness(candidates: Sequence[Candidate], kind: ChangeKind) -> Floats:
    """Of the candidates with such a change, the surprise: where most changed, a change says little."""
    changed = np.array(
        [float(any(one.kind is kind and one.is_relevant for one in each.changes)) for each in candidates]
    )
    return np.asarray(changed * -np.log((changed.sum() + 0.3) / (len(candidates) + 3)))
