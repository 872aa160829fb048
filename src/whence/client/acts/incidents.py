"""Incidents in answers: values."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from whence.client.answers.diagnosis import PossibleCause
from whence.client.values.history import Commit


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    """An incident. What the key may not see is None, or counted in `hidden_datasets`.

    `complete`: False if its root may be further upstream.
    """

    id: str
    title: str
    state: str
    notify: str | None
    notify_rule: str | None
    root: str | None
    roots: tuple[str, ...]
    symptoms: tuple[str, ...]
    other_roots: tuple[str, ...]
    hidden_datasets: int
    since: str
    until: str | None
    findings: int
    tier: int | None
    owners: tuple[str, ...]
    routed_to: str | None
    assignee: str | None
    silenced_until: str | None
    cause: str | None
    merged: tuple[str, ...]
    complete: bool


class Incidents(msgspec.Struct, frozen=True, kw_only=True):
    """Incidents with a visible dataset at a time; `hidden`: how many there are besides.

    `complete`: whether all findings were read.
    """

    at: str
    incidents: tuple[Incident, ...]
    hidden: int
    complete: bool


class IncidentFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a dataset, or with one column."""

    id: str
    kind: str
    dataset: str
    rule: str | None
    since: str
    until: str | None
    notify: str | None
    reason: str | None
    run: str | None
    column: str | None = None


class IncidentChange(msgspec.Struct, frozen=True, kw_only=True):
    """A state of the incident from a time on. `by`: the person whose act it is."""

    time: str
    state: str
    notify: str | None
    reason: str | None
    by: str | None


class IncidentAct(msgspec.Struct, frozen=True, kw_only=True):
    """What a person did."""

    id: str
    time: str
    act: str
    person: str | None
    text: str | None
    assignee: str | None
    until: str | None
    cause: str | None


class IncidentUpstream(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset that the root is made of. `wrong`: it has an open finding of this incident."""

    dataset: str
    last_written: str | None
    wrong: bool


class IncidentViolation(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of a contract that began to be violated. `until`: when that ended; None while it is."""

    dataset: str
    rule: str
    column: str | None
    since: str
    until: str | None


class IncidentLastGood(msgspec.Struct, frozen=True, kw_only=True):
    """The last completed run that wrote the root before the incident."""

    run: str
    job: str
    time: str
    commit: Commit | None


class IncidentRollback(msgspec.Struct, frozen=True, kw_only=True):
    """The newest run before the incident that can be trusted. `commit`, `version`: None if they were not reported."""

    run: str
    job: str
    time: str
    commit: Commit | None
    version: str | None
    checked: bool
    hidden: int


class IncidentSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule to pause: a DAG of Airflow. `running`: a run goes on, which pausing does not stop."""

    system: str
    namespace: str
    id: str
    distance: int
    running: bool


class IncidentPause(msgspec.Struct, frozen=True, kw_only=True):
    """What to pause so that the broken `node` goes no further: the nearest of `total` schedules.

    `unscheduled`: dependent jobs of which no schedule is known; `uncertain`: jobs that do not report which columns they
    read; `hidden`: jobs that the key may not see.
    """

    node: str
    schedules: tuple[IncidentSchedule, ...]
    total: int
    unscheduled: int
    uncertain: int
    hidden: int
    complete: bool


class AffectedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A downstream dataset or job."""

    node: str
    owners: tuple[str, ...]


class IncidentImpact(msgspec.Struct, frozen=True, kw_only=True):
    """The downstream nodes of a kind, and the nearest of them."""

    kind: str
    total: int
    nearest: tuple[AffectedNode, ...]


class IncidentBudget(msgspec.Struct, frozen=True, kw_only=True):
    """An objective of a dataset with findings, and the share of its error budget that is left."""

    id: str
    slo: str
    dataset: str
    remaining: float | None


class IncidentDetail(msgspec.Struct, frozen=True, kw_only=True):
    """An incident with its findings, its states, and what people did, all in order; and what is known around its root,
    as far as the key may see it. `violations_complete`: there are no other violations. `rollback`, `pause`: None unless
    data is wrong now, or if seen as of the past. `possible_acts`: what the key may be used for now.
    """

    at: str
    incident: Incident
    severity: str
    runbook: str | None
    findings: tuple[IncidentFinding, ...]
    changes: tuple[IncidentChange, ...]
    acts: tuple[IncidentAct, ...]
    causes: tuple[PossibleCause, ...]
    upstream: tuple[IncidentUpstream, ...]
    contract_violations: tuple[IncidentViolation, ...]
    last_good: IncidentLastGood | None
    impact: tuple[IncidentImpact, ...]
    impact_complete: bool
    budgets: tuple[IncidentBudget, ...]
    possible_acts: tuple[str, ...] = ()
    violations_complete: bool = True
    rollback: IncidentRollback | None = None
    pause: IncidentPause | None = None


class IncidentsPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of incidents."""

    data: Incidents
    page: dict[str, Any] | None


class IncidentAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer about one incident."""

    data: IncidentDetail


class IncidentActAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to an act."""

    data: IncidentAct


def read_incidents(get_page: Callable[[Mapping[str, Any]], IncidentsPage], options: Mapping[str, Any]) -> Incidents:
    """All pages of incidents; all are of the same time."""
    found: list[Incident] = []
    query = dict(options)
    while True:
        page = get_page(query)
        found += page.data.incidents
        query |= {"cursor": (page.page or {}).get("next"), "as_of": page.data.at}
        if not query["cursor"]:
            return msgspec.structs.replace(page.data, incidents=tuple(found))


UNRESOLVED: Sequence[str] = ("open", "acknowledged", "mitigated")
