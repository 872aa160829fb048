"""What an objective says of what happened until a time: a pure function of the objective, the facts and the time.

Everything follows from intervals and occurrences, so that no answer depends on when somebody looked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import floor

from whence.govern.slos.burn_rates import open_time_of
from whence.govern.slos.calendars import Maintenance
from whence.govern.slos.evaluation.alerts import (
    Alert,
    Burn,
    Intervals,
    Missed,
    bad_between,
    burn_alerts,
    burn_at,
    miss_alerts,
    missed_of,
)
from whence.govern.slos.evaluation.facts import Facts, Silence, Write, backfills, refreshing
from whence.govern.slos.evaluation.freshness import find_staleness
from whence.govern.slos.evaluation.occurrence import Occurrence
from whence.govern.slos.evaluation.occurrences import find_occurrences
from whence.govern.slos.evaluation.open_time import FOREVER, OpenTime, open_time
from whence.govern.slos.objectives import DAY, Freshness, Objective, SchemaStability
from whence.model.names import RunName
from whence.query.answers.instants import iso

HISTORY = 90 * DAY
"""How far back an evaluation looks, and at least twice the time window."""


class Outcome(StrEnum):
    """What is known of an objective's indicator."""

    HOLDS = "holds"
    VIOLATED = "violated"
    LEARNING = "learning"
    NOT_EVALUATED = "not evaluated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The error budget of the time window until now: open µs, or occurrences. `allowed` may be bad, and `bad` were.

    `suppressed`: what maintenance and backfills removed.
    """

    total: int
    allowed: float
    bad: int
    suppressed: int = 0

    @property
    def remaining(self) -> float | None:
        """The share that is left: negative if it is overdrawn; None if nothing may be bad."""
        return 1 - self.bad / self.allowed if self.allowed else None

    @property
    def suppressed_share(self) -> float:
        """The share of the time window that does not count, 0 to 1."""
        whole = self.total + self.suppressed
        return self.suppressed / whole if whole else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """The indicator was bad from an instant (µs) until another; `end` is None if it still is."""

    start: int
    end: int | None
    observed: str = ""
    run: RunName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What an objective says at a time `at` (µs). `since`: when the outcome became true, computed, None if unknown.

    `reason`: why nothing is evaluated, or what is still learned. `unknown_since`: from when on (µs) that is not known
    of which all before is known. `violations`, `alerts`: in order, all that are known,
    from `known_since` on (µs); None if nothing is.
    `burns`: of each alert on a burn rate, how fast the budget burns now. `missed`: of each alert on occurrences.
    """

    at: int
    outcome: Outcome
    since: int | None = None
    known_since: int | None = None
    observed: str = ""
    expected: str = ""
    reason: str = ""
    unknown_since: int | None = None
    run: RunName | None = None
    budget: Budget | None = None
    violations: tuple[Violation, ...] = ()
    alerts: tuple[Alert, ...] = ()
    burns: tuple[Burn, ...] = ()
    missed: tuple[Missed, ...] = ()

    @property
    def open_alerts(self) -> tuple[Alert, ...]:
        """The alerts that are open."""
        return tuple(one for one in self.alerts if one.end is None)


def history_since(one: Objective, at: int) -> int:
    """From when on an evaluation at a time needs facts (µs)."""
    return at - max(HISTORY, 2 * one.window)


def judge(one: Objective, facts: Facts, at: int) -> Judgement:
    """Judge an objective by what happened until a time (µs). Raises WhenceError without the library of holidays."""
    known = facts.until(at)
    if isinstance(one.indicator, Freshness):
        return _judge_freshness(one, one.indicator, known, at)
    return _judge_occurrences(one, known, at)


def _judge_freshness(one: Objective, indicator: Freshness, facts: Facts, at: int) -> Judgement:
    writes = refreshing(facts)
    if not writes:
        return Judgement(at=at, outcome=Outcome.NOT_EVALUATED, reason="no completed run has written the dataset")
    since = max(writes[0].time, history_since(one, at))
    known = _known(writes, since)
    unknown = _unknown_since(one, indicator, known, facts.silence, at)
    frozen = () if unknown is None else (Maintenance(start=unknown, end=FOREVER, reason=""),)
    hours = open_time(one.calendar, (*one.maintenance, *frozen), known[0].time, at)
    stale = find_staleness(indicator, known, hours, at)
    bad, now = (stale.starts, stale.ends), hours.passed_at(at)
    usual = open_time_of(one.calendar, one.window)
    alerts = [alert for rate in one.burn_rates for alert in burn_alerts(rate, one.target, usual, bad, hours, now)]
    violations = [Violation(start=start, end=None if end == FOREVER else end) for start, end in stale.episodes]
    last = violations[-1] if violations else None
    is_bad = last is not None and last.end is None
    return Judgement(
        at=at,
        outcome=Outcome.NOT_EVALUATED if unknown is not None else Outcome.VIOLATED if is_bad else Outcome.HOLDS,
        since=_freshness_since(last, unknown, since),
        known_since=since,
        unknown_since=unknown,
        reason="" if unknown is None or facts.silence is None else facts.silence.text,
        observed=f"written last at {iso(writes[-1].time)}",
        expected=f"at most {_length(indicator.limit)} old ({indicator.age})",
        run=writes[-1].run,
        budget=_time_budget(one, bad, hours, max(since, at - one.window), at),
        violations=tuple(violations),
        alerts=_ordered(alerts),
        burns=tuple(burn_at(rate, one.target, usual, bad, now) for rate in one.burn_rates),
    )


def _unknown_since(
    one: Objective, indicator: Freshness, writes: Sequence[Write], silence: Silence | None, at: int
) -> int | None:
    """From when on the data is too old as far as is known, while its source is silent."""
    if silence is None or silence.since > at:
        return None
    hours = open_time(one.calendar, one.maintenance, writes[0].time, at)
    episodes = find_staleness(indicator, writes, hours, at).episodes
    is_stale = bool(episodes) and episodes[-1][1] == FOREVER
    return max(episodes[-1][0], silence.since) if is_stale else None


def _freshness_since(last: Violation | None, unknown: int | None, since: int) -> int:
    if unknown is not None:
        return unknown
    if last is None:
        return since
    return last.start if last.end is None else last.end


def _known(writes: Sequence[Write], since: int) -> Sequence[Write]:
    """The writes from the last one that is not after an instant."""
    first = next((i for i in range(len(writes) - 1, -1, -1) if writes[i].time <= since), 0)
    return writes[first:]


def _time_budget(one: Objective, bad: Intervals, hours: OpenTime, since: int, at: int) -> Budget:
    first, last = hours.passed_at(since), hours.passed_at(at)
    whole = open_time(one.calendar, (), since, at)
    total = last - first
    return Budget(
        total=total,
        allowed=float((1 - one.target) * total),
        bad=bad_between(bad, first, last),
        suppressed=whole.passed_at(at) - total,
    )


def _judge_occurrences(one: Objective, facts: Facts, at: int) -> Judgement:
    found = [each for each in find_occurrences(one, facts, at) if each.time >= history_since(one, at)]
    suppressed = _suppressed(one, facts, found)
    counted = [each for each in found if each not in suppressed]
    judged = [each for each in counted if each.good is not None]
    if not judged:
        return _nothing_judged(one, counted, at)
    unknown = [each for each in counted if each.is_unknown]
    violations = tuple(_streaks(judged, at))
    last, is_bad = judged[-1], bool(violations) and violations[-1].end is None
    results = [(each.time, bool(each.good)) for each in judged]
    return Judgement(
        at=at,
        outcome=Outcome.NOT_EVALUATED if unknown else Outcome.VIOLATED if is_bad else Outcome.HOLDS,
        since=unknown[0].time if unknown else violations[-1].start if is_bad else _good_since(judged, violations),
        known_since=judged[0].time,
        unknown_since=unknown[0].time if unknown else None,
        reason=unknown[0].reason if unknown else "",
        observed=last.observed,
        expected=last.expected,
        run=last.run,
        budget=_count_budget(one, judged, suppressed | frozenset(unknown), at),
        violations=violations,
        alerts=_ordered([alert for rule in one.misses for alert in miss_alerts(rule, results)]),
        missed=tuple(missed_of(rule, results) for rule in one.misses),
    )


def _nothing_judged(one: Objective, found: Sequence[Occurrence], at: int) -> Judgement:
    if found:
        outcome = Outcome.LEARNING if found[-1].is_learning else Outcome.NOT_EVALUATED
        known = found[0].time
        return Judgement(
            at=at, outcome=outcome, known_since=known, observed=found[-1].observed, reason=found[-1].reason
        )
    if isinstance(one.indicator, SchemaStability):
        return Judgement(at=at, outcome=Outcome.HOLDS, known_since=0, reason="the columns have not changed")
    return Judgement(at=at, outcome=Outcome.NOT_EVALUATED, reason="no run has reported it")


def _suppressed(one: Objective, facts: Facts, found: Sequence[Occurrence]) -> frozenset[Occurrence]:
    """The occurrences that do not count: in maintenance, or of a backfill."""
    of_backfills = backfills(facts)
    return frozenset(
        each
        for each in found
        if each.run in of_backfills or any(some.start <= each.time < some.end for some in one.maintenance)
    )


def _streaks(judged: Sequence[Occurrence], at: int) -> Iterator[Violation]:
    """Bad occurrences without a good one between them, until the next good one, or until they were mended."""
    start: Occurrence | None = None
    mended: int | None = None
    for each in judged:
        if start is not None and (each.good or (mended is not None and mended < each.time)):
            end = each.time if mended is None else min(mended, each.time)
            yield Violation(start=start.time, end=end, observed=start.observed, run=start.run)
            start = None
        if not each.good:
            start = start or each
            mended = each.ended if each.ended is not None and each.ended <= at else None
    if start is not None:
        yield Violation(start=start.time, end=mended, observed=start.observed, run=start.run)


def _good_since(judged: Sequence[Occurrence], violations: Sequence[Violation]) -> int:
    return judged[0].time if not violations or violations[-1].end is None else violations[-1].end


def _count_budget(one: Objective, judged: Sequence[Occurrence], suppressed: frozenset[Occurrence], at: int) -> Budget:
    recent = [each for each in judged if each.time > at - one.window]
    return Budget(
        total=len(recent),
        allowed=floor((1 - one.target) * len(recent)),
        bad=sum(not each.good for each in recent),
        suppressed=sum(each.time > at - one.window for each in suppressed),
    )


def _ordered(alerts: Sequence[Alert]) -> tuple[Alert, ...]:
    return tuple(sorted(alerts, key=lambda one: (one.start, one.notify, one.rule)))


def _length(micros: int) -> str:
    for size, unit in ((DAY, "d"), (3_600_000_000, "h"), (60_000_000, "min")):
        if micros % size == 0:
            return f"{micros // size} {unit}"
    return f"{micros / 1_000_000:g} s"
