"""Which transitions are recorded: each once, whoever looks and how often, and also if events arrive late."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from whence.govern.slos.evaluation.facts import Facts, Write
from whence.govern.slos.evaluation.judge import judge
from whence.govern.slos.objectives import Objective
from whence.govern.slos.recording import LATE, find_new_transitions
from whence.govern.slos.records import Declaration, Transition, declaration_of, transition_event
from whence.govern.slos.slo_file import read_slos
from whence.model.names import DatasetName
from whence.model.slo_records import DeclarationRecord, slo_id

MINUTE, HOUR, DAY = 60_000_000, 3_600_000_000, 86_400_000_000
MONDAY = 1_788_739_200_000_000  # 2026-09-07
DATASET = DatasetName("postgres://prod:5432", "shop.public.[bold]revenue\n")


def fresh(limit: str = "2h", maintenance: str = "", target: str = "90%") -> Objective:
    document = f"""\
version: 1
service: shop
{maintenance}
slos:
  - name: fresh
    dataset: {json.dumps(str(DATASET))}
    indicator: {{freshness: {{limit: {limit}}}}}
    objective: {{target: {target}}}
    alerting: [{{factor: 4, longWindow: 2h, shortWindow: 1h, notify: page}}]
"""
    (found,) = read_slos(document).objectives
    return found


def declared(one: Objective | None, hour: float) -> Declaration:
    record = declaration_of(one or fresh(), ended=one is None)
    id_ = slo_id(DATASET.namespace, record.service, record.name)
    return Declaration(id=id_, record=record, dataset=DATASET, time=MONDAY + int(hour * HOUR), objective=one)


def writes(*hours: float) -> Facts:
    return Facts(writes=tuple(Write(time=MONDAY + int(hour * HOUR)) for hour in hours))


def record(
    declarations: Sequence[Declaration], facts: Facts, now: int, known: Sequence[Transition] = ()
) -> list[Transition]:
    last = known[-1] if known else None
    return [*known, *find_new_transitions(declarations, last, {DATASET: facts}, now)]


def shape(found: Sequence[Transition]) -> list[tuple[float, str, str | None]]:
    return [((one.time - MONDAY) / HOUR, one.record.after, one.record.notify) for one in found]


HOURS = (*range(24), *range(30, 48))
"""Written every hour, but for an outage of six hours."""


class TestRecording:
    def test_an_outage_pages_once_and_ends(self) -> None:
        found = record([declared(fresh(), 1)], writes(*HOURS), MONDAY + 47 * HOUR)
        # Bad from 25:00. Of the last 2 h, 0.4 h burn four times too fast, and so does 0.4 h of the last hour.
        assert shape(found) == [
            (1, "holds", None),
            (25, "violated", None),
            (25.8, "violated", "page"),
            (30, "holds", "page"),
            (pytest.approx(31.6, abs=1e-6), "holds", None),
        ]
        assert found[2].record.reason == ("expected at most 2 h old (wall); 4 times the even burn rate for 2 h and 1 h")

    def test_whoever_looks_at_whatever_times_records_the_same_bytes(self) -> None:
        whole = record([declared(fresh(), 1)], writes(*HOURS), MONDAY + 47 * HOUR)
        for seed in range(20):
            rng, known = random.Random(seed), list[Transition]()
            for now in sorted(rng.uniform(0, 47) for _ in range(rng.randint(1, 60))):
                facts = writes(*(hour for hour in HOURS if hour <= now))
                known = record([declared(fresh(), 1)], facts, MONDAY + int(now * HOUR), known)
                again = record([declared(fresh(), 1)], facts, MONDAY + int(now * HOUR), known)
                assert again == known
            known = record([declared(fresh(), 1)], writes(*HOURS), MONDAY + 47 * HOUR, known)
            events = [json.dumps(transition_event(one.record, DATASET.namespace, one.time)) for one in known]
            assert events == [json.dumps(transition_event(one.record, DATASET.namespace, one.time)) for one in whole]

    def test_the_order_in_which_events_arrive_changes_nothing(self) -> None:
        whole = record([declared(fresh(), 1)], writes(*HOURS), MONDAY + 47 * HOUR)
        for seed in range(20):
            shuffled = random.Random(seed).sample(HOURS, len(HOURS))
            assert record([declared(fresh(), 1)], writes(*shuffled), MONDAY + 47 * HOUR) == whole

    def test_events_that_arrive_late_correct_the_state_and_never_the_past(self) -> None:
        known = record([declared(fresh(), 1)], writes(*range(24)), MONDAY + 25 * HOUR + MINUTE)
        assert shape(known)[-1] == (25, "violated", None)
        found = record([declared(fresh(), 1)], writes(*range(26)), MONDAY + 25 * HOUR + 2 * MINUTE, known)
        assert found[: len(known)] == known
        (correction,) = found[len(known) :]
        assert (correction.time, correction.record.after) == (known[-1].time + 1, "holds")
        assert correction.record.reason == LATE

    def test_a_new_version_counts_from_its_time_on(self) -> None:
        versions = [declared(fresh("2h"), 1), declared(fresh("30m"), 10.75), declared(None, 11.25)]
        found = record(versions, writes(*HOURS), MONDAY + 47 * HOUR)
        assert shape(found) == [
            (1, "holds", None),
            (10.75, "violated", "page"),
            (11, "holds", "page"),
            (11.25, "ended", None),
        ]
        assert len({one.record.version for one in found}) == 3

    def test_maintenance_is_a_state_in_which_no_alert_is_open(self) -> None:
        text = "maintenance: [{from: 2026-09-08T02:00Z, until: 2026-09-08T05:00Z, reason: upgrade}]"
        found = record([declared(fresh(maintenance=text), 1)], writes(*HOURS), MONDAY + 47 * HOUR)
        # 26:00 to 29:00 do not count: the hour before and the hour after burn the budget together.
        assert [one for one in shape(found) if one[1] == "suppressed"] == [(26, "suppressed", None)]
        suppressed = next(one for one in found if one.record.after == "suppressed")
        assert (suppressed.record.notify_before, suppressed.record.reason) == ("page", "upgrade")

    def test_what_nothing_decides_is_not_evaluated_and_makes_no_transition(self) -> None:
        assert record([declared(fresh(), 1)], Facts(), MONDAY + 47 * HOUR) == []

    def test_an_objective_that_this_version_cannot_read_keeps_its_state(self) -> None:
        one = declared(fresh(), 1)
        newer = replace(one, time=one.time + 1, objective=None, record=replace(one.record, text='{"version": 9}'))
        known = record([one], writes(*HOURS), MONDAY + 2 * HOUR)
        assert record([one, newer], writes(*HOURS), MONDAY + 47 * HOUR, known) == known

    def test_the_last_state_is_that_of_the_evaluation(self) -> None:
        for seed in range(200):
            rng = random.Random(seed)
            hours = sorted(rng.uniform(0, 80) for _ in range(rng.randint(1, 60)))
            now, known = 0.0, list[Transition]()
            while now < 80:
                now += rng.uniform(0.1, 20)
                seen = writes(*(hour for hour in hours if hour <= now and rng.random() < 0.9))
                known = record([declared(fresh(), 1)], seen, MONDAY + int(now * HOUR), known)
                if now < 1 or not seen.writes:
                    continue
                found = judge(fresh(), seen, MONDAY + int(now * HOUR))
                pages = any(one.start <= found.at for one in found.open_alerts)
                assert (known[-1].record.after, known[-1].record.notify) == (
                    found.outcome.value,
                    "page" if pages else None,
                ), (seed, now)


def test_a_declaration_is_small() -> None:
    members = msgspec.to_builtins(declaration_of(fresh()))
    assert msgspec.convert(members, DeclarationRecord) == declaration_of(fresh())
