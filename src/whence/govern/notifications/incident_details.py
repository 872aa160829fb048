"""The details of an incident as lines of a notice: what somebody who is paged needs first."""

import shlex
from collections.abc import Iterable, Iterator
from urllib.parse import urlencode

from whence.govern.gate.rendering.names import name_of
from whence.govern.incidents.detail.gathering import IncidentDetail, LastGood
from whence.govern.incidents.detail.impact import Downstream
from whence.govern.incidents.detail.mitigation import RollbackRun, SuggestedPause
from whence.govern.notifications.notice import Detail, Link
from whence.govern.notifications.rendering.texts import minute
from whence.model.names import FieldName
from whence.query.answers.instants import iso
from whence.query.answers.probabilities import probability_text
from whence.query.diagnosis.diagnosis import PossibleCause
from whence.query.runs.commits import Commit

_MOST_UPSTREAM, _MOST_VIOLATIONS, _MOST_BUDGETS, _MOST_EVIDENCE, _MOST_NAMED = 3, 2, 2, 2, 3
_LONGEST_COMMIT = 12


def detail_lines(one: IncidentDetail) -> tuple[Detail, ...]:
    """The lines: impact, last good run, where to roll back to, what to pause, possible causes, what is upstream,
    contracts, and what is left of budgets.
    """
    return (
        *_impact(one),
        *_last_good(one.last_good),
        *_rollback(one.rollback),
        *_pause(one.pause),
        *_causes(one.candidates),
        *_upstream(one),
        *_violations(one),
        *_budgets(one),
    )


def detail_links(one: IncidentDetail) -> tuple[Link, ...]:
    """The page that compares the lineage of the root with that of its last good run."""
    if one.last_good is None:
        return ()
    root = one.incident.root
    query = urlencode({"node": str(root), "vs": iso(one.last_good.time)})
    return (Link(title="Compared with the last good run", path=f"/ui/lineage?{query}", nodes=(root,)),)


def _impact(one: IncidentDetail) -> Iterator[Detail]:
    for kind in one.impact:
        count = (
            f"{kind.total:,} {kind.kind.lower()}{'s' * (kind.total != 1)}{'' if one.impact_complete else ' or more'}"
        )
        names = tuple(node.name for node in kind.nearest[:_MOST_NAMED])
        yield Detail(label="Downstream", text=f"{count}{_named(kind)}", nodes=names, plain=count)


def _named(kind: Downstream) -> str:
    named = [f"{name_of(node.name)}{_owners(node.owners)}" for node in kind.nearest[:_MOST_NAMED]]
    return f": {', '.join(named)}" if named else ""


def _owners(owners: Iterable[str]) -> str:
    names = ", ".join(owners)
    return f" ({names})" if names else ""


def _last_good(good: LastGood | None) -> Iterator[Detail]:
    if good is None:
        return
    job = good.run.job
    text = f"{name_of(job)} at {minute(good.time)}{_commit(good.commit)}"
    yield Detail(label="Last successful run", text=text, nodes=(job,))


def _rollback(point: RollbackRun | None) -> Iterator[Detail]:
    if point is None:
        return
    job = point.run.job
    version = f", version {point.version}" if point.version else ""
    text = f"{name_of(job)} at {minute(point.time)}{_commit(point.commit)}{version}"
    yield Detail(label="Roll back to", text=text, nodes=(job,))


def _commit(commit: Commit | None) -> str:
    return f", commit {commit.version[:_LONGEST_COMMIT]}" if commit and commit.version else ""


def _pause(one: SuggestedPause | None) -> Iterator[Detail]:
    if one is None or not one.total:
        return
    nearest = one.schedules[:_MOST_NAMED]
    count = f"{one.total:,} schedule{'s' * (one.total != 1)}"
    named = ", ".join(f"{each.schedule.system} {each.schedule.id}" for each in nearest)
    nodes = (one.node, *(each.schedule.job for each in nearest))
    yield Detail(label="Could be paused", text=f"{count}: {named}", nodes=nodes, plain=count)
    yield Detail(label="Plan it", text=f"whence contain plan {shlex.quote(str(one.node))}", nodes=(one.node,))


def _causes(causes: Iterable[PossibleCause]) -> Iterator[Detail]:
    for cause in causes:
        text = f"{name_of(cause.dataset)} ({probability_text(cause.probability)})"
        yield Detail(label="Possible cause", text=text, nodes=(cause.dataset,))
        if evidence := "; ".join(each.text for each in cause.evidence[-_MOST_EVIDENCE:] if each.text):
            yield Detail(label="Evidence", text=f"{name_of(cause.dataset)}: {evidence}")


def _upstream(one: IncidentDetail) -> Iterator[Detail]:
    wrong_first = sorted(one.upstream, key=lambda each: not each.is_wrong)
    for each in wrong_first[:_MOST_UPSTREAM]:
        written = "never written" if each.last_written is None else f"written {minute(each.last_written)}"
        wrong = ", wrong as well" if each.is_wrong else ""
        yield Detail(label="Upstream", text=f"{name_of(each.dataset)}: {written}{wrong}", nodes=(each.dataset,))


def _violations(one: IncidentDetail) -> Iterator[Detail]:
    open_first = sorted(one.contract_violations, key=lambda each: each.until is not None)
    for each in open_first[:_MOST_VIOLATIONS]:
        column = f".{each.column}" if each.column else ""
        when = f"since {minute(each.since)}" if each.until is None else f"{minute(each.since)} to {minute(each.until)}"
        text = f"{name_of(each.dataset)}{column}: {each.rule} {when}"
        nodes = (FieldName(each.dataset, each.column),) if each.column else ()
        yield Detail(label="Contract violated", text=text, nodes=nodes)
    if not one.violations_complete:
        yield Detail(label="Contract violated", text="perhaps others: not everything was read")


def _budgets(one: IncidentDetail) -> Iterator[Detail]:
    for each in one.budgets[:_MOST_BUDGETS]:
        if each.remaining is not None:
            text = f"{each.slo}: {each.remaining:.0%} left"
            yield Detail(label="Error budget", text=text, nodes=(each.dataset,))
