"""Which transitions of incidents are recorded: each once, whoever looks and how often, also if events arrive late."""

import json
from collections.abc import Sequence

from govern.incidents.random_incidents import RULES, Estate, act, dataset, finding, random_estate
from whence.govern.incidents.findings import findings_at
from whence.govern.incidents.fold import fold_incidents
from whence.govern.incidents.incident import Act
from whence.govern.incidents.recording import GONE, LATE, find_new_transitions
from whence.govern.incidents.records import (
    IncidentTransition,
    last_transitions,
    recorded_incidents,
    transition_event,
)

Shape = tuple[str, str, str, str | None]


def record(
    estate: Estate, at: int, known: Sequence[IncidentTransition] = (), acts: Sequence[Act] = ()
) -> list[IncidentTransition]:
    """All transitions after a look at a time."""
    findings = list(findings_at(estate.findings, at))
    past = [one for one in acts if one.time <= at]
    incidents = fold_incidents(findings, estate.relation, past, recorded_incidents(known), RULES)
    new = find_new_transitions(incidents, last_transitions(known), at)
    return sorted([*known, *new], key=lambda one: (one.time, one.id))


def shape(found: Sequence[IncidentTransition], names: dict[str, str]) -> list[tuple[int, str, str, str | None]]:
    return [(one.time, names[one.record.incident], one.record.after, one.record.notify) for one in found]


def sent(found: Sequence[IncidentTransition]) -> list[str]:
    return [json.dumps(transition_event(one.record, dataset(0).namespace, one.time)) for one in found]


class TestRecording:
    def test_a_story(self) -> None:
        first = finding(0, 1, 20, page=2)
        estate = Estate(frozenset({(0, 1)}), (first, finding(1, 5, 30)))
        acts = [act(first, "acknowledge", 8), act(first, "comment", 9, text="x"), act(first, "mitigate", 12)]
        found = record(estate, 40, acts=acts)
        assert shape(found, {first.incident: "first"}) == [
            (1, "first", "open", "ticket"),
            (3, "first", "open", "page"),
            (8, "first", "acknowledged", "page"),
            (12, "first", "mitigated", "page"),
            (20, "first", "mitigated", "ticket"),
            (30, "first", "resolved", None),
        ]
        assert [one.record.by for one in found] == ["", "", "ana", "ana", "", ""]
        assert [one.record.previous for one in found] == ["", *(one.id for one in found[:-1])]

    def test_looking_again_records_nothing(self) -> None:
        for seed in range(200):
            estate = random_estate(seed)
            known = record(estate, 20)
            assert sent(record(estate, 20)) == sent(known)
            assert record(estate, 20, known) == known, seed
            later = record(estate, 40, known)
            assert record(estate, 40, later) == later, seed

    def test_how_often_somebody_looks_changes_nothing_if_no_root_is_found_late(self) -> None:
        for seed in range(100):
            estate = Estate(frozenset(), random_estate(seed).findings)
            whole = record(estate, 40)
            known: list[IncidentTransition] = []
            for at in range(0, 41, 1 + seed % 7):
                known = record(estate, at, known)
            if all(not one.source for one in estate.findings):
                assert sent(record(estate, 40, known)) == sent(whole), seed

    def test_the_recorded_state_is_the_state(self) -> None:
        for seed in range(200):
            estate = random_estate(seed)
            known: list[IncidentTransition] = []
            for at in (7, 13, 40):
                known = record(estate, at, known)
            incidents = fold_incidents(estate.findings, estate.relation, (), recorded_incidents(known), RULES)
            last = last_transitions(known)
            for one in incidents:
                assert (last[one.id].record.after, last[one.id].record.notify) == one.changes[-1].kind, seed
            for id_ in last.keys() - {one.id for one in incidents}:
                (into,) = [one for one in incidents if id_ in one.merged]
                assert (last[id_].record.after, last[id_].record.into) == ("merged", into.id), seed

    def test_a_root_that_is_found_late_takes_the_place_of_the_incident(self) -> None:
        symptom, root = finding(1, 10, page=0), finding(0, 9, page=0)
        known = record(Estate(frozenset(), (symptom,)), 20)
        found = record(Estate(frozenset({(0, 1)}), (symptom, root)), 20, known)
        names = {symptom.incident: "symptom", root.incident: "root"}
        assert shape(found, names) == [
            (9, "root", "open", "page"),
            (10, "symptom", "open", "page"),
            (11, "symptom", "merged", None),
        ]
        assert found[0].record.reason == f"takes the place of {symptom.incident}: 0 is late"
        assert found[2].record.into == root.incident

    def test_late_events_correct_the_state(self) -> None:
        whole, ended = finding(0, 1), finding(0, 1, 15)
        known = record(Estate(frozenset(), (whole,)), 20, acts=[act(whole, "acknowledge", 18)])
        found = record(Estate(frozenset(), (ended,)), 20, known)
        assert [(one.time, one.record.after, one.record.reason) for one in found[-1:]] == [
            (19, "resolved", f"{LATE}: all findings ended")
        ]
        # The finding was never true.
        gone = record(Estate(frozenset(), ()), 20, known)
        assert [(one.time, one.record.after, one.record.reason) for one in gone[-1:]] == [(19, "resolved", GONE)]
        assert list(find_new_transitions([], last_transitions(known), 20, are_all=False)) == []
