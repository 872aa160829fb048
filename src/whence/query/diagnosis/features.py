"""The features of each candidate: what it shows itself, beyond what its parents show, and what it would explain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whence.model.symptom import Symptom
from whence.query.diagnosis.anomalies import Floats
from whence.query.diagnosis.case import ASPECTS, Aspect, Candidate, ChangeKind
from whence.query.diagnosis.explanations import explanations_of
from whence.query.diagnosis.signals import HOT, Signals, known_symptom_of, strengths, symptom_of

Bools = NDArray[np.bool_]

_ROWS = ASPECTS.index(Aspect.ROWS)
_DELAY = ASPECTS.index(Aspect.DELAY)
_OF_DATA = [place for place, aspect in enumerate(ASPECTS) if aspect is not Aspect.DELAY]


@dataclass(frozen=True, slots=True)
class Relations:
    """Who is derived from whom, as matrices: `parents[c, p]`, and `descendants[c, d]`, which includes c itself."""

    parents: Bools
    descendants: Bools


def relations_of(candidates: Sequence[Candidate]) -> Relations:
    """The relations among candidates; parents that are not candidates are left out. Cycles are allowed."""
    places = {one.key: place for place, one in enumerate(candidates)}
    parents = np.zeros((len(candidates), len(candidates)), bool)
    for place, one in enumerate(candidates):
        parents[place, [places[key] for key in one.parents if key in places and places[key] != place]] = True
    reach = np.eye(len(candidates), dtype=bool) | parents.T
    while True:
        further = reach @ reach
        if np.array_equal(further, reach):
            return Relations(parents, reach)
        reach = further


def features_of(signals: Signals) -> tuple[tuple[str, ...], Floats]:
    """The names of the features, and a row of them for each candidate."""
    columns = dict(_Features(signals).columns())
    return tuple(columns), np.column_stack(list(columns.values()))


class _Features:
    def __init__(self, signals: Signals) -> None:
        self.signals = signals
        self.candidates = signals.case.candidates
        self.symptom = symptom_of(signals)
        self.relations = relations_of(self.candidates)
        self.scores, self.measured = signals.scores(), signals.measured()
        self.own = strengths(self.scores)
        self.most = self.own.max(axis=1)
        self.of_data = self.own[:, _OF_DATA].max(axis=1)
        self.is_measured = self.measured[:, _OF_DATA].any(axis=1)
        self.from_parents = _worst(self.relations.parents, self.own)
        onsets = [
            min((one.time for one in found.values() if abs(one.score) >= HOT), default=signals.case.until)
            for found in signals.found
        ]
        self.onsets = np.array(onsets, np.int64)
        self.first_seen = int(self.onsets[0])
        self.window = max(signals.case.until - signals.case.since, 1)

    def columns(self) -> Sequence[tuple[str, Floats]]:
        """All features by name."""
        return [
            *self._anomalies(),
            *self._changes(),
            *self._neighbours(),
            *self._explanations(),
            *self._places(),
            *explanations_of(self.signals, known_symptom_of(self.signals)),
            ("always", np.ones(len(self.candidates))),
        ]

    def _anomalies(self) -> Sequence[tuple[str, Floats]]:
        excess = np.where(self.measured, self.own - self.from_parents, 0)
        named = [(f"own {aspect}", self.own[:, at]) for at, aspect in enumerate(ASPECTS)]
        named += [(f"excess {aspect}", excess[:, at]) for at, aspect in enumerate(ASPECTS)]
        direction = np.sign(self.scores[:, _ROWS]) * np.sign(self.scores[0, _ROWS])
        is_volume = self.symptom is Symptom.VOLUME
        return [*named, ("same direction", direction * self.own[:, _ROWS] * self.own[0, _ROWS] * is_volume)]

    def _changes(self) -> Sequence[tuple[str, Floats]]:
        schema = self._changed(ChangeKind.SCHEMA)
        commit = self._changed(ChangeKind.COMMIT)
        lineage = self._changed(ChangeKind.LINEAGE)
        failed = self._changed(ChangeKind.FAILURE)
        checks = self._changed(ChangeKind.CHECK)
        beside = np.array(
            [
                float(any(one.kind is ChangeKind.SCHEMA and not one.is_relevant for one in c.changes))
                for c in self.candidates
            ]
        )
        excess = self._excess()
        is_late = float(self.symptom is Symptom.LATE)
        return [
            ("schema", schema),
            ("schema beside", beside * (1 - schema)),
            ("commit", commit),
            ("no commits", np.array([float(not one.has_commits) for one in self.candidates])),
            ("lineage", lineage),
            ("failed", failed),
            ("check", checks),
            ("schema and excess", schema * excess),
            ("commit and excess", commit * excess),
            ("failed and late", failed * is_late),
            ("schema and late", schema * is_late),
            ("commit and late", commit * is_late),
            ("commit unmeasured", commit * ~self.is_measured),
            ("schema unmeasured", schema * ~self.is_measured),
            ("unchanged", (np.maximum.reduce([schema, commit, lineage, failed, checks]) == 0).astype(float)),
        ]

    def _changed(self, kind: ChangeKind) -> Floats:
        """Which candidates had such a change, not after the wrong node was first wrong."""
        return np.array(
            [
                float(any(one.kind is kind and one.is_relevant and one.time <= self.first_seen for one in each.changes))
                for each in self.candidates
            ]
        )

    def _excess(self) -> Floats:
        return np.asarray(np.maximum(np.where(self.measured, self.own - self.from_parents, 0).max(axis=1), 0))

    def _neighbours(self) -> Sequence[tuple[str, Floats]]:
        parents = _worst(self.relations.parents, self.most[:, None])[:, 0]
        children = _worst(self.relations.parents.T, self.of_data[:, None])[:, 0]
        parents_data = _worst(self.relations.parents, self.of_data[:, None])[:, 0]
        dark = (~self.is_measured).astype(float)
        return [
            ("hot parent", parents),
            ("rootmost", self.most * (parents < 0.2)),
            ("dark", dark),
            ("dark with hot children", dark * np.maximum(children - parents_data, 0)),
            ("dark parent", _worst(self.relations.parents, dark[:, None])[:, 0] * self.of_data),
            ("hot after delay", self.of_data * self.from_parents[:, _DELAY]),
            ("only delay", self.own[:, _DELAY] * (self.of_data == 0)),
        ]

    def _explanations(self) -> Sequence[tuple[str, Floats]]:
        below = self.relations.descendants
        total = max(float(self.of_data.sum()), 1e-9)
        explained = below @ self.of_data / total
        late_total = max(float(self.own[:, _DELAY].sum()), 1e-9)
        explained_late = below @ self.own[:, _DELAY] / late_total
        is_later = self._last_writes()[None, :] >= self.onsets[:, None]
        others = below & ~np.eye(len(below), dtype=bool)
        measured_later = np.asarray(is_later, bool) & np.asarray(self.is_measured, bool)[None, :]
        exposed: Bools = np.logical_and(others, measured_later)
        cold = exposed @ (self.of_data < 0.1).astype(float) / np.maximum(exposed.sum(axis=1), 1)
        hot = exposed @ self.of_data / np.maximum(exposed.sum(axis=1), 1)
        lead = np.clip((self.first_seen - self.onsets) / self.window, -1, 1)
        return [
            ("explains", explained),
            ("explains delays", explained_late * (self.symptom is Symptom.LATE)),
            ("cold below", cold),
            ("hot below", hot),
            ("lead", lead * (self.most > 0)),
            ("later than the symptom", ((self.onsets > self.first_seen) & (self.most > 0)).astype(float)),
        ]

    def _last_writes(self) -> NDArray[np.int64]:
        return np.array([one.writes[-1] if one.writes else np.iinfo(np.int64).max for one in self.candidates])

    def _places(self) -> Sequence[tuple[str, Floats]]:
        distance = np.array([one.distance for one in self.candidates], float)
        size = np.log(self.relations.descendants.sum(axis=1))
        is_source = ~self.relations.parents.any(axis=1)
        return [
            ("distance", np.log1p(distance)),
            ("itself", (distance == 0).astype(float)),
            ("direct", (distance == 1).astype(float)),
            ("descendants", size),
            ("source", is_source.astype(float)),
        ]


def _worst(relation: Bools, values: Floats) -> Floats:
    """For each candidate the largest value of those it is related to, by column; 0 if there are none."""
    return np.asarray(np.max(np.where(relation[:, :, None], values[None, :, :], 0), axis=1, initial=0))
