"""Pausing and resuming: what was paused before stays so, whatever is cut where, and however incidents overlap."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

import pytest

from whence.errors import AccessError, SourceError
from whence.govern.containment.acts import Act, Containing, Outcome
from whence.govern.containment.assignment import Assigned, assign
from whence.govern.containment.orchestrators.port import Receipt, TargetState
from whence.govern.containment.orchestrators_file import OrchestratorRule
from whence.govern.containment.steps import Step, Target, fold_steps, held_by
from whence.model.records.containment import StepRecord, step_dataset

RULE = OrchestratorRule(name="one", type="airflow", url="http://airflow")
TARGETS = [Target("airflow", "prod", name) for name in ("a.b", "a", 'c"; drop', "räv‮")]
ASSIGNED = assign([(one, False) for one in TARGETS], [RULE])


class Cut(Exception):
    """The process died here."""


@dataclass
class World:
    """An orchestrator and a log in memory. The process dies at the effect with the number `dies_at`, before or after
    it.
    """

    paused: dict[str, bool]
    recorded: list[Step] = field(default_factory=list)
    effects: int = 0
    dies_at: float = -1
    may: bool = True
    name: str = "one"

    def _effect(self) -> None:
        self.effects += 1
        if self.effects == self.dies_at:
            raise Cut

    def steps(self) -> Sequence[Step]:
        return list(self.recorded)

    def record(self, incident: str, record: StepRecord) -> None:
        if not self.may:
            raise AccessError("no role", 403)
        self._effect()
        name = step_dataset(incident, str(len(self.recorded)), record.namespace)
        self.recorded.append(Step(incident=incident, record=record, time=len(self.recorded), name=name))
        self._effect()

    def read_state(self, target: Target) -> TargetState:
        if target.id not in self.paused:
            raise SourceError(self.name, "unknown")
        return TargetState(is_paused=self.paused[target.id], running=0)

    def pause(self, target: Target) -> Receipt:
        self._effect()
        self.paused[target.id] = True
        self._effect()
        return Receipt(target=target, detail={"of": target.id})

    def resume(self, receipt: Receipt) -> None:
        assert dict(receipt.detail) in ({"of": receipt.target.id}, {}), "empty only if it was never recorded"
        self._effect()
        self.paused[receipt.target.id] = False
        self._effect()

    def close(self) -> None:
        """Nothing."""

    def apply(self, incident: str, *, dry_run: bool = False) -> list[Outcome]:
        return list(Containing(self, lambda _: self).pause(Act(incident=incident), ASSIGNED, dry_run=dry_run))

    def undo(self, incident: str, *, dry_run: bool = False) -> list[Outcome]:
        held = held_by(fold_steps(self.recorded), incident)
        targets = [Assigned(target=one, rule=RULE) for one in held]
        return list(Containing(self, lambda _: self).resume(Act(incident=incident), targets, dry_run=dry_run))


def world(*paused: bool) -> World:
    return World(dict(zip((one.id for one in TARGETS), paused, strict=True)))


def test_undo_restores_what_was_before_each_possible_cut() -> None:
    """The process dies before or after each effect of applying, then of undoing, and somebody starts it again."""
    before = (False, True, False, True)
    cuts = 0
    for dies_at in count(1):
        one = world(*before)
        one.dies_at = dies_at
        try:
            one.apply("INC-1")
        except Cut:
            cuts += 1
        else:
            break
        for again in (False, True):
            other = World(dict(one.paused), list(one.recorded))
            if again:
                other.apply("INC-1")
                assert all(other.paused.values())
            other.undo("INC-1")
            assert tuple(other.paused.values()) == before, (dies_at, again)
    for dies_at in count(1):
        one = world(*before)
        one.apply("INC-1")
        one.effects, one.dies_at = 0, dies_at
        try:
            one.undo("INC-1")
        except Cut:
            cuts += 1
        else:
            break
        one.undo("INC-1")
        assert tuple(one.paused.values()) == before, dies_at
        assert one.undo("INC-1") == []
    assert cuts == 2 * (2 * (3 + 3 + 1 + 1)), "before and after each record and act, of applying and of undoing"


def test_a_dry_run_changes_and_records_nothing() -> None:
    one = world(False, True, False, False)
    assert [found.did for found in one.apply("", dry_run=True)] == [
        "would pause",
        "unchanged",
        "would pause",
        "would pause",
    ]
    assert (tuple(one.paused.values()), one.recorded) == ((False, True, False, False), [])
    one.apply("INC-1")
    recorded = len(one.recorded)
    assert [found.did for found in one.undo("INC-1", dry_run=True)] == [
        "would resume",
        "released",
        "would resume",
        "would resume",
    ]
    assert (all(one.paused.values()), len(one.recorded)) == (True, recorded)


def test_who_lacks_the_role_pauses_nothing() -> None:
    one = world(False, False, False, False)
    one.may = False
    with pytest.raises(AccessError):
        one.apply("INC-1")
    assert not any(one.paused.values())
    one.may = True
    one.apply("INC-1")
    one.may = False
    with pytest.raises(AccessError):
        one.undo("INC-1")
    assert all(one.paused.values())


def test_what_fails_is_said_and_the_others_go_on() -> None:
    one = world(False, False, False, False)
    del one.paused["a"]
    found = one.apply("INC-1")
    assert [outcome.did for outcome in found] == ["paused", "failed", "paused", "paused"]
    assert found[1].reason == "one: unknown"
    assert [step.record.phase for step in one.recorded].count("failed") == 1
    one.undo("INC-1")
    assert not any(one.paused.values())


def test_a_target_that_a_person_resumed_is_left_alone() -> None:
    one = world(False, False, False, False)
    one.apply("INC-1")
    one.paused["a"] = False
    found = {outcome.target.id: (outcome.did, outcome.reason) for outcome in one.undo("INC-1")}
    assert found["a"] == ("released", "it is not paused")
    assert not any(one.paused.values())


def test_incidents_that_overlap_in_any_order_restore_what_was_before() -> None:
    """Against a plain model: a target is paused while one of the incidents holds it, and as before when none does."""
    dice = random.Random(7)
    for _ in range(200):
        before = tuple(dice.random() < 0.3 for _ in TARGETS)
        one, held = world(*before), set[str]()
        for _ in range(8):
            incident = dice.choice(("INC-1", "INC-2", "a/b%2F ü"))
            if dice.random() < 0.5:
                one.apply(incident)
                held.add(incident)
            else:
                one.undo(incident)
                held.discard(incident)
            assert tuple(one.paused.values()) == (before if not held else (True,) * len(TARGETS))
