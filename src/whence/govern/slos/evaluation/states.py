"""The state of an objective over time: its outcome, and how urgent its open alerts are. Pure, like `judge`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whence.govern.slos.calendars import Maintenance
from whence.govern.slos.evaluation.alerts import Alert
from whence.govern.slos.evaluation.judge import Judgement, Outcome, Violation
from whence.govern.slos.objectives import Notify, Objective
from whence.model.names import RunName
from whence.model.slo_records import NotifyText, StateText

SUPPRESSED: StateText = "suppressed"
"""In maintenance: nothing counts, and no alert is open."""
_MINUTE = 60_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A state from a time on (µs). `notify`: of the most urgent open alert; `reason`: as people read it."""

    time: int
    state: StateText
    notify: NotifyText | None = None
    reason: str = ""
    run: RunName | None = None

    @property
    def kind(self) -> tuple[StateText, NotifyText | None]:
        """What makes it another state than others."""
        return self.state, self.notify


def find_states(one: Objective, found: Judgement, since: int) -> Iterator[State]:
    """The states of an objective from a time (µs), or from when something is known, until the time of its evaluation;
    each a change.

    Only the last ones are certain: events that arrive late change the past.
    """
    until = found.at
    if _is_unjudged(found):
        yield from _unjudged(one, found, since, until)
        return
    begin = max(since, found.known_since or 0)
    last: State | None = None
    for time in _moments(one, found, begin, until):
        state = _state_at(one, found, time)
        if last is None or state.kind != last.kind:
            yield state
        last = state


def state_of(one: Objective, found: Judgement) -> State:
    """The state that an evaluation implies at its time."""
    if _is_unjudged(found):
        return next(_unjudged(one, found, found.at, found.at))
    return _state_at(one, found, found.at)


def _is_unjudged(found: Judgement) -> bool:
    """Whether nothing is known of it, at no time."""
    return found.outcome in (Outcome.LEARNING, Outcome.NOT_EVALUATED) and found.unknown_since is None


def _unjudged(one: Objective, found: Judgement, since: int, until: int) -> Iterator[State]:
    """The minute is as exact as it gets: nothing says when the last measurement was forgotten."""
    begin = max(since, found.known_since if found.known_since is not None else until - until % _MINUTE)
    if begin <= until:
        outcome: StateText = "learning" if found.outcome is Outcome.LEARNING else "not evaluated"
        window = _maintenance_at(one, until)
        reason = window.reason if window else found.reason
        yield State(time=begin, state=SUPPRESSED if window else outcome, reason=reason)


def _moments(one: Objective, found: Judgement, begin: int, until: int) -> Sequence[int]:
    """When the state may change, ascending, from `begin` on."""
    times = {time for some in (found.violations, found.alerts) for each in some for time in (each.start, each.end)}
    times |= {time for each in one.maintenance for time in (each.start, each.end)}
    times.add(found.unknown_since)
    later = sorted(time for time in times if time is not None and begin < time <= until)
    return [begin, *later] if begin <= until else ()


def _state_at(one: Objective, found: Judgement, time: int) -> State:
    if window := _maintenance_at(one, time):
        return State(time=time, state=SUPPRESSED, reason=window.reason)
    violation = next((each for each in reversed(found.violations) if _covers(each, time)), None)
    alerts = [each for each in found.alerts if _covers(each, time)]
    alert = min(alerts, key=lambda each: (each.notify is not Notify.PAGE, each.start), default=None)
    notify: NotifyText | None = None
    if alert is not None:
        notify = "page" if alert.notify is Notify.PAGE else "ticket"
    if found.unknown_since is not None and found.unknown_since <= time:
        return State(time=time, state="not evaluated", notify=notify, reason=found.reason)
    return State(
        time=time,
        state="violated" if violation else "holds",
        notify=notify,
        reason="; ".join(filter(None, (_violation_text(violation, found), alert.rule if alert else ""))),
        run=violation.run if violation else None,
    )


def _covers(each: Violation | Alert, time: int) -> bool:
    return each.start <= time and (each.end is None or time < each.end)


def _violation_text(violation: Violation | None, found: Judgement) -> str:
    if violation is None:
        return ""
    parts = (violation.observed, f"expected {found.expected}" if found.expected else "")
    return ", ".join(filter(None, parts))


def _maintenance_at(one: Objective, time: int) -> Maintenance | None:
    return next((each for each in one.maintenance if each.start <= time < each.end), None)
