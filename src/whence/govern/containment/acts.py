"""Pausing and resuming: each step is recorded before the next one, so that a crash loses nothing.

`StepLog` is where steps are recorded; it refuses a step for which the sender lacks the role. The first step of an act
comes before the act. So who may not contain pauses nothing.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from whence.errors import SourceError
from whence.govern.containment.assignment import Assigned
from whence.govern.containment.orchestrators.port import Orchestrator, Receipt, TargetState
from whence.govern.containment.orchestrators_file import OrchestratorRule
from whence.govern.containment.steps import Held, Step, Target, fold_steps, held_by
from whence.model.records.containment import PhaseText, StepRecord

Connect = Callable[[OrchestratorRule], Orchestrator]


class StepLog(Protocol):
    """Where steps are recorded. Each method raises AccessError, ApiError."""

    def steps(self) -> Sequence[Step]:
        """All steps, in their order."""
        ...

    def record(self, incident: str, record: StepRecord) -> None:
        """Record a step; it is durable when this returns."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a target. `did`: the phase of its last step, or `would pause`, `would resume` in a dry run."""

    target: Target
    did: str
    reason: str = ""
    running: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What an act is for. `node` and `plan`: the broken data, and the hash of the plan."""

    incident: str
    node: str = ""
    plan: str = ""


@dataclass(slots=True)
class Containing:
    """Pauses and resumes over the port of orchestrators. Each orchestrator is connected to once."""

    log: StepLog
    connect: Connect
    _open: dict[str, Orchestrator] = field(default_factory=dict)

    def pause(self, act: Act, targets: Sequence[Assigned], *, dry_run: bool) -> Iterator[Outcome]:
        """Pause targets in their order. What fails is an outcome, and the others go on."""
        held = {} if dry_run and not act.incident else held_by(fold_steps(self.log.steps()), act.incident)
        for one in targets:
            work = partial(self._pause, act, one, held.get(one.target), dry_run=dry_run)
            yield self._guarded(act, one, work, dry_run=dry_run)

    def resume(self, act: Act, targets: Sequence[Assigned], *, dry_run: bool) -> Iterator[Outcome]:
        """Resume what an incident paused, unless another one needs it."""
        found = fold_steps(self.log.steps())
        for one in targets:
            work = partial(self._resume, act, one, found[one.target], dry_run=dry_run)
            yield self._guarded(act, one, work, dry_run=dry_run)

    def close(self) -> None:
        """Close all connections."""
        for one in self._open.values():
            one.close()

    def _guarded(self, act: Act, one: Assigned, work: Callable[[], Outcome], *, dry_run: bool) -> Outcome:
        if one.rule is None:
            return Outcome(target=one.target, did="failed", reason=one.reason)
        try:
            return work()
        except SourceError as error:
            if dry_run:
                return _outcome(one, "failed", str(error), None)
            return self._record(act, one, "failed", str(error), None)

    def _pause(self, act: Act, one: Assigned, held: Held | None, *, dry_run: bool) -> Outcome:
        last = held.holders[act.incident].phase if held else None
        if last in ("paused", "unchanged"):
            return Outcome(target=one.target, did=last, reason="already contained for this incident")
        at = self._at(one)
        state = at.read_state(one.target)
        is_ours = last == "intended"  # an act of before may have happened
        if dry_run:
            did = "unchanged" if state.is_paused and not is_ours else "would pause"
            return _outcome(one, did, "it is paused already" if did == "unchanged" else "", state)
        if state.is_paused and not is_ours:
            return self._record(act, one, "unchanged", "it was paused before", state)
        if state.is_paused:
            return self._record(act, one, "paused", "found paused after an interrupted step", state)
        self._record(act, one, "intended", "", state)
        receipt = at.pause(one.target)
        return self._record(act, one, "paused", "", state, _text(receipt))

    def _resume(self, act: Act, one: Assigned, held: Held, *, dry_run: bool) -> Outcome:
        others = sorted(held.holders.keys() - {act.incident})
        if others or held.receipt is None:
            reason = f"it stays paused for {', '.join(others)}" if others else "it was paused before"
            return self._release(act, one, reason, None, dry_run=dry_run)
        at = self._at(one)
        state = at.read_state(one.target)
        if state.is_paused is None and not held.is_certain:
            reason = "it is not known whether it was paused: look, and resume it by hand"
            return _outcome(one, "failed", reason, state)
        if state.is_paused is False:
            reason = "it is not paused" if held.is_certain else "it had not been paused"
            return self._release(act, one, reason, state, dry_run=dry_run)
        if dry_run:
            return _outcome(one, "would resume", "", state)
        self._record(act, one, "resuming", "", state)
        at.resume(_receipt(one.target, held.receipt))
        return self._record(act, one, "resumed", "", state)

    def _release(self, act: Act, one: Assigned, reason: str, state: TargetState | None, *, dry_run: bool) -> Outcome:
        """The incident needs it no more, and nothing is changed."""
        if dry_run:
            return _outcome(one, "released", reason, state)
        return self._record(act, one, "released", reason, state)

    def _record(
        self, act: Act, one: Assigned, phase: PhaseText, reason: str, state: TargetState | None, receipt: str = ""
    ) -> Outcome:
        record = StepRecord(
            **one.target._asdict(),
            phase=phase,
            orchestrator=one.rule.name if one.rule else "",
            node=act.node,
            plan=act.plan,
            reason=reason,
            receipt=receipt,
        )
        self.log.record(act.incident, record)
        return _outcome(one, phase, reason, state)

    def _at(self, one: Assigned) -> Orchestrator:
        assert one.rule is not None
        if one.rule.name not in self._open:
            self._open[one.rule.name] = self.connect(one.rule)
        return self._open[one.rule.name]


def _outcome(one: Assigned, did: str, reason: str, state: TargetState | None) -> Outcome:
    return Outcome(target=one.target, did=did, reason=reason, running=state.running if state else None)


def _text(receipt: Receipt) -> str:
    return json.dumps(dict(receipt.detail), sort_keys=True) if receipt.detail else ""


def _receipt(target: Target, record: StepRecord) -> Receipt:
    detail: Mapping[str, object] = json.loads(record.receipt) if record.receipt else {}
    return Receipt(target=target, detail=detail)
