"""Transitions of rules: whatever happens in whatever order of looks, each change is recorded once, and closed."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.examples import examples
from whence.govern.incidents.findings import FindingKind
from whence.govern.rule_states.findings import certification_findings, policy_findings
from whence.govern.rule_states.records import RuleTransition, certifications_of, last_by_subject
from whence.govern.rule_states.states import RuleState, find_new_transitions
from whence.model.names import DatasetName
from whence.model.records.rule_transitions import RuleStateText

MART, BOARD = (DatasetName("s3://mart", name) for name in ("[bold]mart\x1b", "board"))
HELD = {(MART.namespace, "owned")}


def policy(state: RuleStateText, *, blocks: bool = True, dataset: DatasetName = MART) -> RuleState:
    return RuleState(kind="policy", rule="owned", dataset=dataset, state=state, blocks=blocks)


def certification(state: RuleStateText) -> RuleState:
    return RuleState(kind="certification", dataset=MART, state=state)


def recorded(*looks: list[RuleState]) -> list[RuleTransition]:
    """What is recorded by looks at the seconds 1, 2, 3 …"""
    found: list[RuleTransition] = []
    for now, states in enumerate(looks, 1):
        new = list(find_new_transitions(states, last_by_subject(found), now * 1_000_000, HELD))
        found += new
    return found


looks = st.lists(
    st.lists(
        st.builds(policy, st.sampled_from(["violated", "not evaluated"]), blocks=st.booleans())
        | st.builds(certification, st.sampled_from(["certified", "not certified", "not evaluated"])),
        max_size=2,
        unique_by=lambda one: one.kind,
    ),
    max_size=6,
)


@settings(max_examples=examples(60))
@given(looks)
def test_the_last_state_is_what_the_last_look_saw(several: list[list[RuleState]]) -> None:
    found = recorded(*several)
    again = recorded(*(one for one in several for _ in range(2)))
    assert [(one.id, one.record) for one in found] == [(one.id, one.record) for one in again]
    last = {one.record.rule_kind: one.record.after for one in last_by_subject(found).values()}
    seen = {one.kind: one.state for one in (several or [[]])[-1]}
    assert last.get("certification", "no rule") == seen.get("certification", "no rule")
    assert (last.get("policy") == "violated") == (seen.get("policy") == "violated")
    open_ = [one for one in policy_findings(found) if one.until is None]
    assert len(open_) <= 1
    if seen.get("policy") == "violated":
        assert open_
    if "policy" not in seen:
        assert not open_


def test_a_violation_is_one_finding_until_it_is_over() -> None:
    found = recorded([policy("violated")], [policy("not evaluated", blocks=False)], [policy("violated")], [])
    assert [one.record.after for one in found] == ["violated", "not evaluated", "violated", "ok"]
    (one,) = policy_findings(found)
    assert (one.kind, one.since, one.until, one.notify) == (FindingKind.POLICY, 1_000_000, 4_000_000, "ticket")
    assert recorded([policy("not evaluated", blocks=False)]) == []
    assert [one.record.blocks for one in recorded([policy("not evaluated")])] == [True]


def test_a_policy_that_was_ended_or_not_read() -> None:
    last = last_by_subject(recorded([policy("violated")]))
    (ended,) = find_new_transitions([], last, 9_000_000, ())
    assert ended.record.after == "ended"
    assert list(find_new_transitions([], last, 9_000_000, HELD, are_all=False)) == []


def test_a_lapse_begins_with_the_end_of_a_certification() -> None:
    never = recorded([certification("not certified")], [certification("not evaluated")])
    assert list(certification_findings(never, ())) == []
    lapsed = recorded([certification("certified")], [certification("not evaluated")], [certification("not certified")])
    (one,) = certification_findings(lapsed, ())
    assert (one.since, one.until, one.notify) == (2_000_000, None, "ticket")
    assert certifications_of(lapsed) == {MART: "not certified"}
    (wrong,) = policy_findings(recorded([policy("violated")]))
    (explained,) = certification_findings(lapsed, [wrong])
    assert explained.notify is None
    closed = recorded([certification("certified")], [certification("not certified")], [])
    assert [one.until for one in certification_findings(closed, ())] == [3_000_000]
    assert certifications_of(closed) == {}


def test_families_do_not_explain_one_another() -> None:
    (violated,) = policy_findings(recorded([policy("violated")]))
    (lapsed,) = certification_findings(recorded([certification("certified")], [certification("not certified")]), ())
    assert len({violated.family, lapsed.family, ""}) == 3
