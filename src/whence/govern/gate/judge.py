"""Judging: a pure function of the changes and what they affect, the rules, waivers, approvals, and the time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from hashlib import sha256

from whence.govern.gate.change_rules import Case, reasons_of
from whence.govern.gate.contract_changes import ContractCase
from whence.govern.gate.impact import Assessed, Assessment, Impact, subject_of
from whence.govern.gate.judgement import (
    ALL_JUDGED,
    NOBODY,
    Approval,
    Head,
    JudgedChange,
    Judgement,
    Reason,
    RequiredApproval,
    Unjudged,
)
from whence.govern.gate.policy import Rules, Verdict, Waiver
from whence.govern.gate.policy_findings import PolicyCase
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.ids import netstrings

_LIFTED_BY_APPROVAL = (Verdict.APPROVAL_NEEDED, Verdict.UNKNOWN)


def judge(
    assessment: Assessment,
    rules: Rules,
    head: Head,
    approvals: Sequence[Approval] = (),
    *,
    now: int,
    notices: tuple[str, ...] = (),
    contracts: Sequence[ContractCase] = (),
    policies: Sequence[PolicyCase] = (),
    unread: Sequence[str] = (),
) -> Judgement:
    """The verdict on a head. `now`: µs UTC; it decides about readers and waivers, and nothing else does.

    Approvals count for this commit alone, from somebody who did not write it. They never lift what is blocked.
    `notices`: what could not be judged, in the gate's words. `contracts`: the contracts that the head changes.
    `policies`: those that would no longer hold.
    `unread`: the changed files that nothing reads, and that are no known job's code.
    """
    own = [one for one in assessment.changes if rules.judges(one.change.file)]
    beside: tuple[ContractCase | PolicyCase, ...] = (*contracts, *policies)
    judged, waivers = _without_consequences(own), {one.change: one for one in rules.waivers}
    today = datetime.fromtimestamp(now / 1_000_000, UTC).date()
    changes = tuple(_judge_change(Case(one, assessment, rules, now), waivers, today) for one in judged)
    changes += tuple(_judge(one.change, Impact(), one.reasons, waivers, today) for one in beside)
    unjudged = _unjudged(unread, rules)
    required = tuple(_with_approval(one, head, approvals) for one in _required(changes, unjudged, rules))
    missing = [one for one in required if not one.approved_by]
    open_ = {change for one in missing for change in one.changes}
    changes = tuple(one if one.id in open_ else _lift(one) for one in changes)
    if unjudged.needs_approval and NOBODY not in {one.owner for one in missing}:
        unjudged = replace(unjudged, verdict=Verdict.NOTE)
    return Judgement(
        verdict=max((unjudged.verdict, *(one.verdict for one in changes))),
        head=head,
        changes=tuple(sorted(changes, key=lambda one: (-one.verdict, one.change.file, -len(one.reasons), one.id))),
        required=required,
        stale=tuple(_stale(approvals, missing, head)),
        lapsed=tuple(waivers[one.id] for one in changes if one.id in waivers and waivers[one.id].is_expired(today)),
        skipped=len(assessment.changes) - len(own),
        unjudged=unjudged,
        graph_version=assessment.graph_version,
        notices=notices,
    )


def change_id(change: ColumnChange) -> str:
    """A short name of a change that stays while the change does: the hash of what changed, from what, to what."""
    parts = [str(change.dataset), change.column or "", change.kind, change.before, change.after]
    parts += [change.content] if change.content else []
    return f"C-{sha256(netstrings(parts).encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


def _without_consequences(changes: Sequence[Assessed]) -> list[Assessed]:
    """The changes without those that another one of them causes, and whose nodes are counted there."""
    causes = [one for one in changes if not one.change.inherited and not _may_be_none(one.change)]
    counted = {subject for one in causes for subject in one.impact.subjects}
    return [one for one in changes if not (_is_consequence(one.change) and subject_of(one.change.dataset) in counted)]


def _may_be_none(change: ColumnChange) -> bool:
    """Whether it may be no change: then it is no other one's cause."""
    return change.kind is ChangeKind.NOT_CONFIRMED


def _is_consequence(change: ColumnChange) -> bool:
    return change.inherited and change.kind in (ChangeKind.VALUES, ChangeKind.ROWS, ChangeKind.ORDER)


def _judge_change(case: Case, waivers: Mapping[str, Waiver], today: date) -> JudgedChange:
    return _judge(case.assessed.change, case.assessed.impact, reasons_of(case), waivers, today)


def _judge(
    change: ColumnChange, impact: Impact, reasons: tuple[Reason, ...], waivers: Mapping[str, Waiver], today: date
) -> JudgedChange:
    verdict = max((one.verdict for one in reasons), default=Verdict.PASS)
    id_ = change_id(change)
    waiver = waivers.get(id_)
    if waiver and verdict > Verdict.NOTE and not waiver.is_expired(today):
        verdict = Verdict.NOTE
    else:
        waiver = None
    return JudgedChange(id=id_, change=change, impact=impact, verdict=verdict, reasons=reasons, waiver=waiver)


def _unjudged(unread: Sequence[str], rules: Rules) -> Unjudged:
    """The files that must not pass unjudged, before approvals."""
    if not (files := tuple(one for one in unread if rules.must_judge(one))):
        return ALL_JUDGED
    verdict = rules.on_unjudged.verdict
    return Unjudged(files=files, verdict=verdict, needs_approval=verdict in _LIFTED_BY_APPROVAL)


def _required(changes: Sequence[JudgedChange], unjudged: Unjudged, rules: Rules) -> Iterator[RequiredApproval]:
    """Which owners must approve which changes. The files that are not judged are nobody's."""
    changes_by_owner: dict[str, dict[str, None]] = {NOBODY: {}} if unjudged.needs_approval else {}
    for one in changes:
        if one.verdict in _LIFTED_BY_APPROVAL:
            for owner in _owners(one.reasons):
                changes_by_owner.setdefault(owner, {})[one.id] = None
    for owner, ids in sorted(changes_by_owner.items()):
        yield RequiredApproval(owner=owner, changes=tuple(ids), people=tuple(sorted(rules.people_of(owner))))


def _owners(reasons: Sequence[Reason]) -> Iterator[str]:
    return (owner for one in reasons if one.verdict in _LIFTED_BY_APPROVAL for owner in one.owners)


def _with_approval(required: RequiredApproval, head: Head, approvals: Sequence[Approval]) -> RequiredApproval:
    """With who approved for this owner, if somebody did. Without listed people, anybody but an author may."""
    for approval in approvals:
        if head.is_approved_by(approval) and _may_approve(approval.person, required, head):
            return replace(required, approved_by=approval.person)
    return required


def _may_approve(person: str, required: RequiredApproval, head: Head) -> bool:
    people = {one.casefold() for one in required.people}
    return not head.is_author(person) and (not people or person.casefold() in people)


def _stale(approvals: Sequence[Approval], missing: Sequence[RequiredApproval], head: Head) -> Iterator[Approval]:
    """Those of an earlier head that are missing now: who approved what needs no approval is not asked again."""
    for approval in approvals:
        if not head.is_approved_by(approval) and any(_may_approve(approval.person, one, head) for one in missing):
            yield approval


def _lift(change: JudgedChange) -> JudgedChange:
    """A change that has all its approvals."""
    return replace(change, verdict=Verdict.NOTE) if change.verdict in _LIFTED_BY_APPROVAL else change
