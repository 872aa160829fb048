"""Which transitions are to be recorded: a pure function of what rules say now, and of recorded transitions.

Each transition follows from the one before it. So whoever finds it gives it the same id, and nobody records it twice.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from whence.govern.certification.current import CertifiedDataset
from whence.govern.certification.judge import Outcome as Required
from whence.govern.lineage_baselines.current import ComparedBaseline
from whence.govern.policies.policy import Finding, Outcome
from whence.govern.rule_states.records import RuleTransition
from whence.model.names import DatasetName, FieldName
from whence.model.records.rule_transitions import (
    RuleKindText,
    RuleStateText,
    RuleTransitionRecord,
    rule_transition_id,
)
from whence.query.answers.values import dataset_of

MOST_COLUMNS = 20
"""Columns that a transition names."""
_OPEN: frozenset[RuleStateText] = frozenset({"violated", "not evaluated"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleState:
    """What a policy (`rule`), or certification, says of a dataset."""

    kind: RuleKindText
    rule: str = ""
    dataset: DatasetName
    state: RuleStateText
    columns: tuple[str, ...] = ()
    blocks: bool = False
    reason: str = ""


def policy_states(findings: Iterable[Finding]) -> Iterator[RuleState]:
    """What policies say of datasets of which, or of whose columns, they do not hold: the worst of each."""
    found: dict[tuple[str, DatasetName], list[Finding]] = {}
    for one in findings:
        if isinstance(dataset := dataset_of(one.node), DatasetName):
            found.setdefault((one.policy.name, dataset), []).append(one)
    for (rule, dataset), several in found.items():
        violated = [one for one in several if one.outcome is Outcome.VIOLATED]
        worst = violated or several
        columns = sorted(one.node.field for one in worst if isinstance(one.node, FieldName))
        yield RuleState(
            kind="policy",
            rule=rule,
            dataset=dataset,
            state="violated" if violated else "not evaluated",
            columns=tuple(columns[:MOST_COLUMNS]),
            blocks=any(one.blocks for one in worst),
            reason=worst[0].policy.reason if violated else worst[0].unknown,
        )


def certification_states(certified: Iterable[CertifiedDataset]) -> Iterator[RuleState]:
    """What the rules of certification say of the datasets that have one."""
    for one in certified:
        if one.found.rules:
            missing = one.found.with_outcome(Required.NOT_MET) or one.found.with_outcome(Required.NOT_EVALUATED)
            yield RuleState(kind="certification", dataset=one.name, state=one.found.status, reason=", ".join(missing))


def lineage_states(compared: Iterable[ComparedBaseline]) -> Iterator[RuleState]:
    """How the lineage of datasets differs from the baselines that were accepted."""
    for one in compared:
        state: RuleStateText = "violated" if one.drift.state == "drifted" else one.drift.state
        columns = (each.edge.target for each in one.drift.changes)
        own = {each.field for each in columns if isinstance(each, FieldName) and each.dataset == one.baseline.dataset}
        yield RuleState(
            kind="lineage",
            dataset=one.baseline.dataset,
            state=state,
            columns=tuple(sorted(own)[:MOST_COLUMNS]),
            blocks=state == "violated",
            reason=one.text,
        )


def find_new_transitions(
    states: Iterable[RuleState],
    last: Mapping[str, RuleTransition],
    now: int,
    held: Collection[tuple[str, str]],
    *,
    are_all: bool = True,
) -> Iterator[RuleTransition]:
    """The transitions from what was recorded last, by subject, to the states at a time (µs).

    `held`: namespace and name of each policy that holds. `are_all`: whether everything was read; if not, a policy that
    is silent about a dataset says nothing.
    """
    current = {_record(one, None).subject: one for one in states}
    for subject, one in current.items():
        before = last.get(subject)
        if _is_new(one, before):
            yield _transition(one, before, now)
    for subject, before in last.items():
        if subject not in current and (ended := _ending(before, held, are_all=are_all)):
            yield _transition(ended, before, now)


def _is_new(one: RuleState, last: RuleTransition | None) -> bool:
    """What is ok, or not evaluated and blocks nothing, is recorded only as the end of something else."""
    if last is not None and last.record.after == one.state:
        return False
    is_silent = one.kind != "certification" and not one.blocks and one.state in ("ok", "not evaluated")
    return not is_silent or (last is not None and last.record.after in _OPEN)


def _ending(last: RuleTransition, held: Collection[tuple[str, str]], *, are_all: bool) -> RuleState | None:
    record, dataset = last.record, last.dataset
    if record.rule_kind == "certification":
        state: RuleStateText = "no rule"
    elif record.rule_kind == "lineage" or (dataset.namespace, record.rule) not in held:
        state = "ended"
    elif are_all:
        state = "ok"
    else:
        return None
    return None if record.after in (state, "ok", "ended", "no rule") else _closed(last, state)


def _closed(last: RuleTransition, state: RuleStateText) -> RuleState:
    return RuleState(kind=last.record.rule_kind, rule=last.record.rule, dataset=last.dataset, state=state)


def _record(one: RuleState, last: RuleTransition | None) -> RuleTransitionRecord:
    return RuleTransitionRecord(
        rule_kind=one.kind,
        rule=one.rule,
        dataset=str(one.dataset),
        before=last.record.after if last else "",
        after=one.state,
        columns=one.columns,
        blocks=one.blocks,
        reason=one.reason,
        previous=last.id if last else "",
    )


def _transition(one: RuleState, last: RuleTransition | None, now: int) -> RuleTransition:
    record = _record(one, last)
    time = now if last is None else max(now, last.time + 1)
    return RuleTransition(id=rule_transition_id(record), time=time, dataset=one.dataset, record=record)
