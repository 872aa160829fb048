"""One incident for each root, whatever the order in which anything becomes known."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from govern.incidents.random_incidents import (
    RULES,
    Estate,
    act,
    dataset,
    expected_incidents,
    expected_states,
    finding,
    random_estate,
)
from whence.govern.incidents.findings import Finding, findings_at
from whence.govern.incidents.fold import find_incident, fold_incidents
from whence.govern.incidents.incident import Act, Incident, Recorded
from whence.govern.incidents.states import ENDED, RECOVERED


def fold(estate: Estate, acts: Sequence[Act] = (), recorded: dict[str, Recorded] | None = None) -> Sequence[Incident]:
    return fold_incidents(estate.findings, estate.relation, acts, recorded, RULES)


def chain(*findings: Finding, edges: Sequence[tuple[int, int]] = ((0, 1), (1, 2), (2, 3))) -> Estate:
    return Estate(frozenset(edges), findings)


def random_quiet(chance: random.Random, since: int, until: int | None) -> tuple[tuple[int, int | None], ...]:
    """Times, none of which touches another, in which a finding is quiet."""
    end = until if until is not None else since + 12
    times = sorted(chance.sample(range(since + 1, end + 1), min(chance.randrange(5), end - since)))
    if until is not None and until in times:
        times.remove(until)
    pairs = list(zip(times[::2], [*times[1::2], None][: len(times[::2])], strict=True))
    return tuple(pairs)


class TestRandomEstates:
    @pytest.mark.parametrize("first", range(0, 600, 200))
    def test_incidents_are_those_of_the_definition_in_any_order(self, first: int) -> None:
        several = 0
        for seed in range(first, first + 200):
            estate, chance = random_estate(seed), random.Random(seed)
            found = fold(estate)
            wanted = expected_incidents(estate)
            shapes = {(one.opened_by.id, frozenset(each.id for each in one.findings)) for one in found}
            assert shapes == {(id_, members) for id_, members, _ in wanted}, seed
            for id_, _, others in wanted:
                of_id = next(one for one in found if one.opened_by.id == id_)
                named = {one.dataset for one in estate.findings if one.id in others} - set(of_id.roots)
                assert set(of_id.other_roots) == named, seed
            shuffled = replace(estate, findings=tuple(chance.sample(estate.findings, len(estate.findings))))
            assert fold(shuffled) == found, seed
            several += len(found) > 1 and any(one.symptoms for one in found)
        assert several > 50

    def test_states_are_those_of_one_tick_after_the_other(self) -> None:
        reopened = recovered = 0
        for seed in range(400):
            chance = random.Random(seed)
            findings = []
            for number in range(chance.randrange(1, 5)):
                since = chance.randrange(20)
                until = since + chance.randrange(1, 9) if chance.random() < 0.8 else None
                page = chance.randrange(9) if chance.random() < 0.5 else None
                if page is not None and until is not None and since + page >= until:
                    page = None
                quiet = random_quiet(chance, since, until)
                findings.append(finding(number, since, until, page=page, ticket=chance.choice((None, 0)), quiet=quiet))
            edges = [(0, number) for number in range(1, 5)]
            kinds = ("acknowledge", "mitigate", "resolve", "reopen", "comment", "silence")
            acts = [act(findings[0], chance.choice(kinds), time) for time in chance.sample(range(40), 4)]
            (one, *_) = [each for each in fold(chain(*findings, edges=edges), acts) if findings[0] in each.findings]
            begin = one.changes[0].time
            wanted = expected_states(one.findings, [each for each in one.acts if each.time >= begin], 40)
            states = {change.time: change.kind for change in one.changes}
            kind: tuple[str, str | None] = ("resolved", None)
            for time in range(41):
                kind = states.get(time, kind)
                if time >= begin:
                    assert kind == wanted[time], (seed, time)
            reopened += sum(change.state == "open" for change in one.changes) > 1
            recovered += any(change.reason == RECOVERED for change in one.changes)
        assert reopened > 20
        assert recovered > 40

    def test_at_a_time_nothing_later_counts(self) -> None:
        for seed in range(200):
            estate = random_estate(seed)
            at = random.Random(seed).randrange(30)
            past = [one for one in estate.findings if one.since <= at]
            unknown = [replace(one, until=None) if one.until is not None and one.until > at else one for one in past]
            known = {one.id for one in findings_at(estate.findings, at)}
            assert known == {one.id for one in past}
            found = fold_incidents(findings_at(estate.findings, at), estate.relation, rules=RULES)
            assert {one.id for one in found} == {one.id for one in fold(replace(estate, findings=tuple(unknown)))}
            assert all(change.time <= at for one in found for change in one.changes)


class TestRoots:
    def test_200_violations_downstream_of_one_root_are_one_incident(self) -> None:
        edges = [(0, number) for number in range(1, 201)]
        found = fold(chain(*(finding(number, 10 + number % 5) for number in range(201)), edges=edges))
        assert [(len(one.findings), len(one.symptoms), one.root) for one in found] == [(201, 200, dataset(0))]

    def test_a_cause_far_upstream_counts_although_what_is_between_holds(self) -> None:
        (one,) = fold(chain(finding(3, 12), finding(0, 10)))
        assert (one.root, one.symptoms, one.other_roots) == (dataset(0), (dataset(3),), ())

    def test_a_cause_that_becomes_visible_later_than_the_slack_is_none(self) -> None:
        assert len(fold(chain(finding(1, 10), finding(0, 10 + RULES.slack)))) == 1
        assert len(fold(chain(finding(1, 10), finding(0, 11 + RULES.slack)))) == 2

    def test_a_cause_that_was_over_is_none(self) -> None:
        assert len(fold(chain(finding(0, 1, 5), finding(1, 5 + RULES.slack)))) == 1
        assert len(fold(chain(finding(0, 1, 5), finding(1, 6 + RULES.slack)))) == 2

    def test_a_cycle_is_one_root(self) -> None:
        estate = chain(finding(1, 11), finding(0, 10), finding(2, 13), edges=((0, 1), (1, 0), (1, 2)))
        (one,) = fold(estate)
        assert (one.root, one.roots, one.symptoms) == (dataset(0), (dataset(0), dataset(1)), (dataset(2),))

    def test_of_unrelated_roots_the_first_counts_and_the_others_are_named(self) -> None:
        estate = chain(finding(2, 20), finding(0, 12), finding(1, 11), edges=((0, 2), (1, 2)))
        first, second = fold(estate)
        assert (first.root, first.symptoms, first.other_roots) == (dataset(1), (dataset(2),), (dataset(0),))
        assert (second.root, second.symptoms, second.other_roots) == (dataset(0), (), ())

    def test_one_failed_run_is_one_incident_whatever_it_writes(self) -> None:
        estate = chain(*(finding(number, 10, source="run") for number in (4, 5, 6)), edges=())
        (one,) = fold(estate)
        assert set(one.roots) == {dataset(4), dataset(5), dataset(6)}

    def test_another_name_of_a_dataset_is_the_same(self) -> None:
        estate = chain(finding(1, 10), finding(5, 11), edges=())
        relation = replace(estate.relation, representatives={dataset(5): dataset(1)})
        (one,) = fold_incidents(estate.findings, relation, rules=RULES)
        assert (one.root, one.roots, one.symptoms) == (dataset(1), (dataset(1),), ())

    def test_a_root_says_that_more_may_be_upstream(self) -> None:
        estate = chain(finding(0, 10), finding(5, 10))
        relation = replace(estate.relation, unfinished=frozenset({dataset(0)}))
        found = fold_incidents(estate.findings, relation, rules=RULES)
        assert {one.root: one.is_complete for one in found} == {dataset(0): False, dataset(5): True}


class TestTime:
    def test_a_finding_within_the_grace_opens_the_incident_again(self) -> None:
        (one,) = fold(chain(finding(0, 1, 5), finding(0, 5 + RULES.grace, 20)))
        assert [(change.time, change.state) for change in one.changes] == [
            (1, "open"),
            (5, "resolved"),
            (9, "open"),
            (20, "resolved"),
        ]
        assert one.changes[1].reason == ENDED

    def test_a_finding_after_the_grace_is_another_incident(self) -> None:
        found = fold(chain(finding(0, 1, 5), finding(0, 6 + RULES.grace)))
        assert [one.state for one in found] == ["resolved", "open"]

    def test_resolved_by_a_person_it_stays_so_until_something_new(self) -> None:
        first = finding(0, 1)
        resolved = act(first, "resolve", 4, text="it is a known gap")
        (one,) = fold(chain(first, finding(1, 3)), [resolved])
        assert (one.state, one.notify, one.until, one.changes[-1].by) == ("resolved", None, None, "ana")
        (one,) = fold(chain(first, finding(1, 5)), [resolved])
        assert (one.state, one.notify) == ("open", "ticket")

    def test_it_is_mitigated_while_only_alerts_are_open(self) -> None:
        (one,) = fold(chain(finding(0, 1, 30, page=1, quiet=((10, 15), (20, None)))))
        assert [(change.time, change.state, change.notify) for change in one.changes] == [
            (1, "open", "ticket"),
            (2, "open", "page"),
            (10, "mitigated", "page"),
            (15, "open", "page"),
            (20, "mitigated", "page"),
            (30, "resolved", None),
        ]
        assert one.changes[2].reason == RECOVERED

    def test_it_becomes_more_urgent_with_its_findings(self) -> None:
        (one,) = fold(chain(finding(0, 1, ticket=None), finding(1, 2), finding(2, 3, page=4)))
        assert [(change.time, change.notify) for change in one.changes] == [(1, None), (2, "ticket"), (7, "page")]


class TestMerging:
    def test_a_root_that_arrives_late_takes_the_incident_and_its_acts(self) -> None:
        symptom = finding(1, 10, page=0)
        acts = [
            act(symptom, "acknowledge", 11),
            act(symptom, "assign", 12, assignee="ben"),
            act(symptom, "resolve", 13),
        ]
        recorded = {symptom.incident: Recorded(10)}
        (before,) = fold(chain(symptom), acts, recorded)
        assert (before.id, before.state, before.assignee) == (symptom.incident, "resolved", "ben")
        root = finding(0, 9)
        (after,) = fold(chain(symptom, root), acts, recorded)
        assert (after.id, after.merged, after.assignee) == (root.incident, (symptom.incident,), "ben")
        # What resolved the part does not resolve the whole.
        assert after.state == "acknowledged"
        assert find_incident([after], symptom.incident) == after == find_incident([after], root.incident)
        assert find_incident([after], "unknown") is None

    def test_an_earlier_finding_of_the_same_root_leaves_the_id(self) -> None:
        first, earlier = finding(0, 10), finding(0, 8)
        (one,) = fold(chain(first, earlier), recorded={first.incident: Recorded(10)})
        assert (one.id, one.since) == (first.incident, 8)
        (one,) = fold(chain(first, earlier))
        assert one.id == earlier.incident

    def test_acts_of_another_namespace_do_not_count(self) -> None:
        one = finding(0, 10)
        forged = replace(act(one, "acknowledge", 11), namespace=dataset(1).namespace)
        assert fold(chain(one), [forged])[0].state == "open"
        assert fold(chain(one), [replace(forged, namespace=dataset(0).namespace)])[0].state == "acknowledged"
