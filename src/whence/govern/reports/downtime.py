"""For how long a dataset was wrong in a period: a pure function of its objectives, its checks, and their results.

A dataset is wrong while an objective of it is violated, in the open hours of the objective; and while a check of it
fails, or a rule of its contract is violated. Maintenance is not open. It is watched while an objective says that it
holds or is violated, in the same hours, and while the result of a check is not older than `LASTS`. Of a time in which
nothing watched it nothing is known.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from whence.govern.reports.intervals import Intervals, intersect, length, unite
from whence.govern.reports.period import DAY, ReportPeriod
from whence.govern.slos.evaluation.open_time import open_time
from whence.govern.slos.records import Declaration, Transition
from whence.model.slo_records import StateText

LASTS = 7 * DAY
"""How long the result of a check holds without another one: as long as a failure does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What is recorded of one objective, in order."""

    declarations: tuple[Declaration, ...]
    transitions: tuple[Transition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """When checks of a dataset reported results (µs), and from when until when one failed, or a rule of
    its contract was violated; None: it still is."""

    results: tuple[int, ...] = ()
    failures: tuple[tuple[int, int | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Downtime:
    """How long a dataset was wrong, of the time in which it was watched (µs). Both are 0 if nothing watched it."""

    wrong: int = 0
    watched: int = 0

    @property
    def known(self) -> int | None:
        """How long it was wrong; None if nothing watched it."""
        return self.wrong if self.watched else None


def measure_downtime(objectives: Iterable[Watch], checks: Checks, period: ReportPeriod) -> Downtime:
    """The downtime of a dataset in a period."""
    wrong, watched = list[tuple[int, int]](), list[tuple[int, int]]()
    for one in objectives:
        hours = _open_hours(one.declarations, period)
        violated = unite(_spans(one.transitions, frozenset({"violated"}), period))
        judged = unite(_spans(one.transitions, frozenset({"violated", "holds"}), period))
        wrong += intersect(violated, hours)
        watched += intersect(judged, hours)
    failed = [_cut(start, period.until if end is None else end, period) for start, end in checks.failures]
    results = [_cut(time, time + LASTS, period) for time in checks.results]
    return Downtime(
        wrong=length(unite([*wrong, *failed])),
        watched=length(unite([*watched, *failed, *results])),
    )


def _spans(
    transitions: Sequence[Transition], states: frozenset[StateText], period: ReportPeriod
) -> Iterator[tuple[int, int]]:
    """The times in which the last transition led to one of these states."""
    ends = [*(one.time for one in transitions[1:]), period.until]
    for one, end in zip(transitions, ends, strict=False):
        if one.record.after in states:
            yield _cut(one.time, end, period)


def _open_hours(declarations: Sequence[Declaration], period: ReportPeriod) -> Intervals:
    """The open hours of the versions of an objective, each while it held. One that this version of Whence cannot read
    has none.
    """
    ends = [*(one.time for one in declarations[1:]), period.until]
    found: list[tuple[int, int]] = []
    for one, end in zip(declarations, ends, strict=False):
        since, until = _cut(one.time, end, period)
        if one.objective is not None and not one.record.ended and since < until:
            hours = open_time(one.objective.calendar, one.objective.maintenance, since, until)
            found += zip(hours.starts.tolist(), hours.ends.tolist(), strict=True)
    return unite(found)


def _cut(start: int, end: int, period: ReportPeriod) -> tuple[int, int]:
    """The part in the period; empty if the start is not before the end."""
    return max(start, period.since), min(end, period.until)
