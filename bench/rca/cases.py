"""Incidents as cases: the plain values that production gives the ranking, as far as they were observed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from bench.rca.estates import PUBLISHED, Dataset, Setting, make_estate, random_setting
from bench.rca.incidents import Chance, Days, Fault, break_something, live, roll
from whence.model.symptom import Symptom
from whence.query.diagnosis.case import Aspect, Candidate, Case, Change, ChangeKind, Series

HOUR = 3_600_000_000
SEEN = {Symptom.NULLS: 0.03, Symptom.VOLUME: 0.08, Symptom.VALUES: 0.08, Symptom.LATE: 1.0}
"""From these effects on a person notices a symptom: a share, relative sizes, hours."""

BENIGN_EDGES = 0.15
"""The share of harmless commits that change lineage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A case, and the key of its true cause."""

    case: Case
    cause: int
    fault: str


@dataclass(frozen=True, slots=True)
class _Seen:
    dataset: int
    column: int | None
    symptom: Symptom
    hops: int


def incidents(seed: int, estates: int, each: int, setting: Setting | None = PUBLISHED) -> Iterator[Incident]:
    """Incidents of random estates, `each` of every estate. Without a setting every estate has one of its own."""
    for number in range(estates):
        random = np.random.default_rng([seed, number])
        chosen = setting or random_setting(random)
        estate = make_estate(chosen, random)
        found = 0
        while found < each:
            one = _incident(chosen, estate, random)
            if one is not None:
                found += 1
                yield one


def _incident(setting: Setting, estate: tuple[Dataset, ...], random: Generator) -> Incident | None:
    chance, fault = roll(setting, estate, random), break_something(setting, estate, random)
    bad, good = live(setting, estate, chance, fault), live(setting, estate, chance, None)
    distances = _distances(estate, fault.dataset)
    seen = [one for one in _symptoms(bad, good, distances) if _reaches(estate, one, fault.dataset)]
    far = [one for one in seen if one.hops >= setting.hops] or seen
    if not far:
        return None
    chosen = far[int(random.integers(len(far)))]
    since = 24 * HOUR * (fault.day - int(random.integers(2)))
    case = _case(estate, bad, chance, fault, chosen, since, 24 * HOUR * setting.days)
    return Incident(case=case, cause=fault.dataset, fault=fault.kind) if len(case.candidates) > 1 else None


def _distances(estate: Sequence[Dataset], start: int) -> dict[int, int]:
    found = {start: 0}
    for at, one in enumerate(estate):
        near = [found[parent] for parent in one.parents if parent in found]
        if near and at not in found:
            found[at] = min(near) + 1
    return found


def _symptoms(bad: Days, good: Days, distances: dict[int, int]) -> Iterator[_Seen]:
    for at, hops in distances.items():
        if bad.finish[at, -1] - good.finish[at, -1] >= SEEN[Symptom.LATE]:
            yield _Seen(at, None, Symptom.LATE, hops)
        if abs(bad.rows[at, -1] - good.rows[at, -1]) >= SEEN[Symptom.VOLUME]:
            yield _Seen(at, None, Symptom.VOLUME, hops)
        for symptom, of_bad, of_good in (
            (Symptom.NULLS, bad.nulls, good.nulls),
            (Symptom.VALUES, bad.values, good.values),
        ):
            apart = np.abs(of_bad[at, -1] - of_good[at, -1])
            yield from (_Seen(at, int(column), symptom, hops) for column in np.flatnonzero(apart >= SEEN[symptom]))


def _reaches(estate: Sequence[Dataset], seen: _Seen, cause: int) -> bool:
    return cause in _ancestors(estate, seen)


def _ancestors(estate: Sequence[Dataset], seen: _Seen, *, by_values: bool = False) -> dict[int, tuple[int, set[int]]]:
    """Dataset → its distance, and its columns that lead to the symptom; none if that is about whole datasets."""
    columns = range(len(estate[seen.dataset].means)) if seen.column is None else [seen.column]
    layer = {(seen.dataset, column) for column in columns}
    found: dict[int, tuple[int, set[int]]] = {}
    reached: set[tuple[int, int]] = set()
    distance = 0
    while layer:
        for at, column in layer:
            found.setdefault(at, (distance, set()))[1].add(column)
        reached |= layer
        read = {one for at, column in layer for one in (_sources_of if by_values else _read)(estate[at], column)}
        layer, distance = read - reached, distance + 1
    return found


def _read(one: Dataset, column: int) -> list[tuple[int, int]]:
    return [*(one.sources[column] if one.sources else ()), *one.filters]


def _sources_of(one: Dataset, column: int) -> list[tuple[int, int]]:
    return list(one.sources[column] if one.sources else ())


def _case(
    estate: tuple[Dataset, ...], bad: Days, chance: Chance, fault: Fault, seen: _Seen, since: int, until: int
) -> Case:
    ancestors, values = _ancestors(estate, seen), _ancestors(estate, seen, by_values=True)
    order = sorted(ancestors, key=lambda at: (ancestors[at][0], at))
    return Case(
        since=since,
        until=until,
        symptom=seen.symptom,
        candidates=tuple(
            replace(
                _candidate(estate, bad, at, ancestors[at][1], ancestors, ancestors[at][0]),
                value_columns=tuple(f"c{column}" for column in sorted(values[at][1])) if at in values else (),
                changes=tuple(_changes(estate[at], bad, chance, fault, at, ancestors[at][1], since)),
            )
            for at in order
        ),
        others=tuple(
            replace(
                _candidate(estate, bad, at, columns, ancestors, 0),
                columns=(),
                value_columns=tuple(f"c{column}" for column in sorted(columns)),
            )
            for at, columns in _beside(estate, ancestors).items()
        ),
    )


def _candidate(
    estate: Sequence[Dataset], bad: Days, at: int, columns: set[int], known: Mapping[int, object], distance: int
) -> Candidate:
    one = estate[at]
    used = {parent for column in columns for parent, _ in _sources_of(one, column)}
    return Candidate(
        key=at,
        distance=distance,
        parents=tuple(parent for parent in one.parents if parent in known),
        columns=tuple(f"c{column}" for column in sorted(columns)),
        series=tuple(_series(one, bad, at)),
        writes=tuple(_times(bad, at)),
        has_commits=one.has_commits,
        value_parents=tuple(parent for parent in one.parents if parent in known and parent in used),
        row_parents=tuple(parent for parent in one.parents if parent in known and parent in dict(one.filters)),
    )


def _beside(estate: Sequence[Dataset], ancestors: Mapping[int, tuple[int, set[int]]]) -> Mapping[int, set[int]]:
    """Datasets that read candidates and are none, with their columns that are fed by the columns of candidates."""
    found = {}
    for at, one in enumerate(estate):
        if at not in ancestors and set(one.parents) & set(ancestors):
            found[at] = {
                column
                for column, sources in enumerate(one.sources)
                if any(parent in ancestors and source in ancestors[parent][1] for parent, source in sources)
            }
    return found


def _times(bad: Days, at: int) -> list[int]:
    return [int(hours * HOUR) for hours in bad.finish[at]]


def _series(one: Dataset, bad: Days, at: int) -> Iterator[Series]:
    times = _times(bad, at)

    def points(values: np.ndarray) -> tuple[tuple[int, float], ...]:
        return tuple(zip(times, values.tolist(), strict=True))

    rows = np.maximum(np.round(one.rows * np.exp(bad.rows[at])), 0)
    if one.has_rows:
        yield Series(aspect=Aspect.ROWS, metric="rowCount", points=points(rows))
    if not one.has_columns:
        return
    for column, (nulls, mean) in enumerate(zip(one.nulls, one.means, strict=True)):
        share = np.clip(nulls * np.exp(0.1 * bad.distinct[at, :, column]) + bad.nulls[at, :, column], 0, 1)
        name, distinct = f"c{column}", np.clip(0.4 * np.exp(bad.distinct[at, :, column]), 0, 1)
        yield Series(aspect=Aspect.NULLS, metric="nulls", points=points(share), column=name)
        yield Series(aspect=Aspect.DISTINCT, metric="distinct", points=points(distinct), column=name)
        yield Series(
            aspect=Aspect.VALUES, metric="mean", points=points(mean * (1 + bad.values[at, :, column])), column=name
        )


def _changes(
    one: Dataset, bad: Days, chance: Chance, fault: Fault, at: int, columns: set[int], since: int
) -> Iterator[Change]:
    times = _times(bad, at)
    days = [day for day, time in enumerate(times) if time >= since]
    broken = fault.day if at == fault.dataset else -1
    for day in days:
        is_code = day == broken and fault.kind == "code"
        has_commit = bool(chance.commits[at, day]) or is_code
        if one.has_commits and has_commit:
            yield Change(kind=ChangeKind.COMMIT, time=times[day], text="")
        if one.has_lineage and has_commit and (fault.moves_edges if is_code else chance.check[at, day] < BENIGN_EDGES):
            yield Change(kind=ChangeKind.LINEAGE, time=times[day], text="")
        if one.has_schema and chance.schema_beside[at, day]:
            yield Change(kind=ChangeKind.SCHEMA, time=times[day], text="", is_relevant=False)
        if one.has_schema and day == broken and fault.kind == "schema":
            is_relevant = bool(columns & set(fault.columns))
            yield Change(kind=ChangeKind.SCHEMA, time=times[day], text="", is_relevant=is_relevant)
        if bad.failed[at, day]:
            yield Change(kind=ChangeKind.FAILURE, time=times[day] - HOUR, text="")
        if one.has_checks and _fails_check(bad, at, day, columns, float(chance.check[at, day])):
            yield Change(kind=ChangeKind.CHECK, time=times[day], text="")


def _fails_check(bad: Days, at: int, day: int, columns: set[int], chance: float) -> bool:
    """Checks look at missing values, uniqueness and volume with wide bounds; a few fail for other reasons."""
    several = sorted(columns)
    bounds = (
        bad.nulls[at, day, several].max() > 0.1,
        bad.distinct[at, day, several].min() < -0.1,
        abs(bad.rows[at, day]) > 1.5,
    )
    return chance < (0.8 if any(bounds) else 0.01)
