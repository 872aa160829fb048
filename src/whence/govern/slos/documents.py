"""Objectives, their evaluations and their transitions as JSON: for the API and the command line alike."""

from collections.abc import Sequence
from typing import Any

from typing_extensions import TypedDict

from whence.govern.gate.records import person_of
from whence.govern.slos.declared import EvaluatedSlo
from whence.govern.slos.evaluation.alerts import Alert, Burn
from whence.govern.slos.evaluation.judge import Budget, Judgement
from whence.govern.slos.evaluation.states import state_of
from whence.govern.slos.objectives import Budgeting, Objective, kind_of_indicator
from whence.govern.slos.records import Transition
from whence.query.answers.instants import iso


class SloBudget(TypedDict):
    """An error budget: seconds of open time (`Timeslices`), or occurrences. `remaining`: the share that is left,
    negative if it is overdrawn; null if nothing may be bad.
    """

    budgeting_method: str
    total: float
    allowed: float
    bad: float
    suppressed: float
    suppressed_share: float
    remaining: float | None


class SloWindow(TypedDict):
    """A window of open time, and how fast it burns the budget: 1 is evenly."""

    seconds: float
    burn_rate: float


class SloBurnRate(TypedDict):
    """An alert on a burn rate, and how fast its windows burn now."""

    notify: str
    factor: float
    long_window: SloWindow
    short_window: SloWindow


class SloAlert(TypedDict):
    """An open alert."""

    notify: str
    since: str
    rule: str


class SloRow(TypedDict):
    """A declared objective and its state. What only text or a run would show is null for callers who may not see
    everything. `id`: unique; the name may occur in several services and namespaces.
    """

    id: str
    version: str
    service: str
    name: str
    dataset: str
    description: str | None
    runbook: str | None
    indicator: str | None
    target: float | None
    window_days: float | None
    declared_at: str
    declared_by: str
    state: str
    notify: str | None
    since: str | None
    observed: str | None
    expected: str | None
    reason: str | None
    run: str | None
    budget: SloBudget | None
    burn_rates: list[SloBurnRate]
    alerts: list[SloAlert]


class SloList(TypedDict):
    """Objectives of visible datasets, and the number of all others."""

    at: str
    slos: list[SloRow]
    hidden: int


class SloTransition(TypedDict):
    """A recorded change of the state, when it happened. `reason` and `run`: null for callers who may not see
    everything.
    """

    id: str
    time: str
    before: str
    after: str
    notify_before: str | None
    notify: str | None
    reason: str | None
    run: str | None
    version: str


class SloPoint(TypedDict):
    """An objective at one time: the share of the budget that was left, and the burn rates in its long windows."""

    at: str
    remaining: float | None
    bad: float
    allowed: float
    burn_rates: list[float]


class SloDetail(TypedDict):
    """An objective with its text (JSON), its declarations' times, its transitions, the latest first, and a series."""

    at: str
    slo: SloRow
    text: str | None
    declared: list[str]
    transitions: list[SloTransition]
    series: list[SloPoint]


def slo_row(found: EvaluatedSlo, *, is_whole: bool) -> SloRow:
    """A row; without texts unless `is_whole`."""
    declared, judged, one = found.declaration, found.judgement, found.declaration.objective
    state = state_of(one, judged) if one and judged else None
    is_ended = declared.record.ended
    return {
        "id": declared.id,
        "version": "" if is_ended else declared.version,
        "service": declared.record.service,
        "name": declared.record.name,
        "dataset": declared.record.dataset,
        "description": _text(one.description if one else "", is_whole),
        "runbook": one.runbook or None if one else None,
        "indicator": kind_of_indicator(one.indicator) if one else None,
        "target": float(one.target) if one else None,
        "window_days": one.window / 86_400_000_000 if one else None,
        "declared_at": iso(declared.time),
        "declared_by": person_of(declared.producer) or declared.producer,
        "state": state.state if state else "ended" if is_ended else "not evaluated",
        "notify": state.notify if state else None,
        "since": None if judged is None or judged.since is None else iso(judged.since),
        "observed": _text(judged.observed if judged else "", is_whole),
        "expected": _text(judged.expected if judged else "", is_whole),
        "reason": _text(_reason(judged, is_ended=is_ended), is_whole),
        "run": _text(str(judged.run) if judged and judged.run else "", is_whole),
        "budget": budget_document(one, judged.budget) if one and judged and judged.budget else None,
        "burn_rates": [burn_document(burn) for burn in judged.burns] if judged else [],
        "alerts": [alert_document(alert) for alert in judged.open_alerts] if judged else [],
    }


def transition_row(one: Transition) -> SloTransition:
    """A recorded transition."""
    record = one.record
    return {
        "id": one.id,
        "time": iso(one.time),
        "before": record.before,
        "after": record.after,
        "notify_before": record.notify_before,
        "notify": record.notify,
        "reason": record.reason or None,
        "run": record.run,
        "version": record.version,
    }


def point_of(one: Objective, found: Judgement) -> SloPoint:
    """A point of a series."""
    budget = budget_document(one, found.budget) if found.budget else None
    return {
        "at": iso(found.at),
        "remaining": budget["remaining"] if budget else None,
        "bad": budget["bad"] if budget else 0,
        "allowed": budget["allowed"] if budget else 0,
        "burn_rates": [burn.long for burn in found.burns],
    }


def evaluation_document(one: Objective, found: Judgement) -> dict[str, Any]:
    """The evaluation of an objective in a file."""
    return {
        "name": one.name,
        "dataset": str(one.dataset),
        "outcome": found.outcome.value,
        "since": None if found.since is None else iso(found.since),
        "observed": found.observed or None,
        "expected": found.expected or None,
        "reason": found.reason or None,
        "run": None if found.run is None else str(found.run),
        "budget": None if found.budget is None else budget_document(one, found.budget),
        "burn_rates": [burn_document(burn) for burn in found.burns],
        "alerts": [alert_document(alert) for alert in found.open_alerts],
    }


def budget_document(one: Objective, budget: Budget) -> SloBudget:
    """Seconds of open time, or occurrences."""
    unit = 1_000_000 if one.budgeting is Budgeting.TIMESLICES else 1
    return {
        "budgeting_method": one.budgeting.value,
        "total": budget.total / unit,
        "allowed": budget.allowed / unit,
        "bad": budget.bad / unit,
        "suppressed": budget.suppressed / unit,
        "suppressed_share": budget.suppressed_share,
        "remaining": budget.remaining,
    }


def burn_document(burn: Burn) -> SloBurnRate:
    """How fast a budget burns."""
    return {
        "notify": burn.rate.notify.value,
        "factor": burn.factor,
        "long_window": {"seconds": burn.rate.long / 1_000_000, "burn_rate": burn.long},
        "short_window": {"seconds": burn.rate.short / 1_000_000, "burn_rate": burn.short},
    }


def alert_document(alert: Alert) -> SloAlert:
    """An open alert."""
    return {"notify": alert.notify.value, "since": iso(alert.start), "rule": alert.rule}


def transition_rows(found: Sequence[Transition]) -> list[SloTransition]:
    """Transitions, the latest first."""
    return [transition_row(one) for one in reversed(found)]


def _reason(judged: Judgement | None, *, is_ended: bool) -> str:
    if judged is not None:
        return judged.reason
    return "" if is_ended else "this version of Whence cannot read the objective"


def _text(text: str, is_whole: bool) -> str | None:
    return text or None if is_whole else None
