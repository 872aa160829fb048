"""The verdict on a head: which rule says what, who must approve, and what waivers and approvals lift."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from govern.gate.cases import (
    BOARD,
    DAY,
    HEAD,
    NOW,
    ORDERS,
    REVENUE,
    STAGING,
    affected,
    approval,
    assessment,
    change,
    many,
    reader,
)
from whence.govern.gate.impact import Assessment, Facts, Impact
from whence.govern.gate.judge import change_id, judge
from whence.govern.gate.judgement import Approval, Head, Judgement
from whence.govern.gate.policy import DEFAULT_RULES, Reaction, Rules, Verdict, Waiver
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import Node

TODAY = date(2027, 1, 15)


def verdict_on(
    one: ColumnChange, impact: Impact, rules: Rules = DEFAULT_RULES, approvals: tuple[Approval, ...] = ()
) -> Judgement:
    return judge(assessment((one, impact)), rules, HEAD, approvals, now=NOW)


def rules_of(judgement: Judgement) -> list[str]:
    return [reason.rule for one in judgement.changes for reason in one.reasons]


@pytest.mark.parametrize("kind", [ChangeKind.ADDED, ChangeKind.METADATA, ChangeKind.ORDER])
def test_a_harmless_change_passes_whatever_is_downstream(kind: ChangeKind) -> None:
    judged = verdict_on(change(kind), Impact(affected=affected(REVENUE, *many(9)), readers=(reader(),)))
    assert (judged.verdict, rules_of(judged), judged.required) == (Verdict.PASS, [], ())


def test_no_change_passes() -> None:
    assert judge(Assessment(changes=()), DEFAULT_RULES, HEAD, now=NOW).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("count", "verdict"), [(0, Verdict.PASS), (1, Verdict.NOTE), (5, Verdict.NOTE), (6, Verdict.APPROVAL_NEEDED)]
)
def test_more_than_five_downstream_nodes_need_an_approval(count: int, verdict: Verdict) -> None:
    judged = verdict_on(change(), Impact(affected=affected(*many(count))))
    assert judged.verdict is verdict
    assert [one.owner for one in judged.required] == (["shop-team"] if count > 5 else [])


def test_a_certified_dataset_of_tier_1_needs_the_approval_of_its_owner() -> None:
    judged = verdict_on(change(), Impact(affected=affected(REVENUE, BOARD)))
    assert (judged.verdict, rules_of(judged)) == (Verdict.APPROVAL_NEEDED, ["certified", "tier"])
    assert [(one.owner, one.people) for one in judged.required] == [("finance", ("finance",))]


def test_a_change_of_a_certified_dataset_itself_needs_one_too() -> None:
    judged = verdict_on(replace(change(), dataset=REVENUE, column="total"), Impact())
    assert rules_of(judged) == ["certified", "tier"]


@pytest.mark.parametrize("kind", [ChangeKind.REMOVED, ChangeKind.RENAMED, ChangeKind.TYPE])
def test_a_breaking_change_is_judged_by_who_reads_the_column(kind: ChangeKind) -> None:
    impact = Impact(affected=affected(STAGING), readers=(reader(STAGING),))
    assert rules_of(verdict_on(change(kind), impact)) == ["breaking"]
    assert verdict_on(change(kind), impact).verdict is Verdict.APPROVAL_NEEDED


def test_a_removed_column_that_nobody_read_for_90_days_is_unused() -> None:
    old = Impact(affected=affected(REVENUE, *many(9)), readers=(reader(days_ago=91),))
    judged = verdict_on(change(ChangeKind.REMOVED), old)
    assert (judged.verdict, rules_of(judged)) == (Verdict.NOTE, ["unused"])
    longer = verdict_on(change(ChangeKind.REMOVED), old, Rules(readers_within_days=92))
    assert rules_of(longer)[0] == "breaking"


def test_a_search_that_a_budget_stopped_never_says_that_a_column_is_unused() -> None:
    judged = verdict_on(change(ChangeKind.REMOVED), Impact(incomplete="a budget of nodes stopped the search"))
    assert (judged.verdict, rules_of(judged)) == (Verdict.UNKNOWN, ["incomplete"])


def test_a_renamed_contracted_column_is_blocked_if_somebody_reads_it() -> None:
    facts: dict[Node, Facts] = {ORDERS: replace(assessment().facts_of(ORDERS), contract="2.1.0")}
    renamed = change(ChangeKind.RENAMED, before="amount", after="total")
    read = replace(assessment((renamed, Impact(affected=affected(STAGING), readers=(reader(STAGING),)))), facts=facts)
    judged = judge(read, DEFAULT_RULES, HEAD, (approval("shop-team"),), now=NOW)
    assert (judged.verdict, rules_of(judged)) == (Verdict.BLOCKED, ["contract", "breaking"])
    unread = replace(assessment((renamed, Impact())), facts=facts)
    assert judge(unread, DEFAULT_RULES, HEAD, now=NOW).verdict is Verdict.NOTE


def test_what_could_not_be_compared_is_unknown_and_never_a_pass() -> None:
    judged = verdict_on(change(ChangeKind.UNKNOWN, None), Impact())
    assert (judged.verdict, rules_of(judged)) == (Verdict.UNKNOWN, ["unknown"])
    assert verdict_on(change(ChangeKind.UNKNOWN, None), Impact(), Rules(on_unknown=Reaction.BLOCK)).verdict.text == (
        "blocked"
    )


def test_a_broken_reference_blocks() -> None:
    assert verdict_on(change(ChangeKind.BROKEN_REFERENCE), Impact()).verdict is Verdict.BLOCKED


def test_the_worst_change_decides() -> None:
    both = assessment((change(ChangeKind.ADDED, "new"), Impact()), (change(ChangeKind.UNKNOWN), Impact()))
    judged = judge(both, DEFAULT_RULES, HEAD, now=NOW)
    assert [one.verdict for one in judged.changes] == [Verdict.UNKNOWN, Verdict.PASS]
    assert judged.verdict is Verdict.UNKNOWN


def test_a_consequence_is_not_judged_beside_its_cause() -> None:
    consequence = replace(change(), dataset=STAGING, inherited=True)
    cause = (change(), Impact(affected=affected(STAGING)))
    judged = judge(assessment(cause, (consequence, Impact())), DEFAULT_RULES, HEAD, now=NOW)
    assert [one.change.dataset for one in judged.changes] == [ORDERS]
    alone = judge(assessment((consequence, Impact())), DEFAULT_RULES, HEAD, now=NOW)
    assert [one.change.dataset for one in alone.changes] == [STAGING]


def test_a_column_that_goes_away_elsewhere_is_judged_though_it_is_a_consequence() -> None:
    lost = replace(change(ChangeKind.REMOVED), dataset=STAGING, inherited=True)
    judged = judge(
        assessment((change(), Impact(affected=affected(STAGING))), (lost, Impact(readers=(reader(),)))),
        DEFAULT_RULES,
        HEAD,
        now=NOW,
    )
    assert {one.change.dataset for one in judged.changes} == {ORDERS, STAGING}


CERTIFIED = Impact(affected=affected(REVENUE))
FINANCE = Rules(approvers={"finance": frozenset({"bob"})})


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ((), Verdict.APPROVAL_NEEDED),
        ((approval("bob"),), Verdict.NOTE),
        ((approval("BOB"),), Verdict.NOTE),
        ((approval("carol"),), Verdict.APPROVAL_NEEDED),
        ((approval("bob", "0ld" * 10),), Verdict.APPROVAL_NEEDED),
        ((approval("carol"), approval("bob")), Verdict.NOTE),
    ],
)
def test_only_a_required_person_on_this_commit_approves(given: tuple[Approval, ...], verdict: Verdict) -> None:
    judged = verdict_on(change(), CERTIFIED, FINANCE, given)
    assert judged.verdict is verdict
    assert [one.commit for one in judged.stale] == [one.commit for one in given if one.commit != HEAD.commit]


def test_nobody_approves_their_own_change() -> None:
    rules = Rules(approvers={"finance": frozenset({"Ann"})})
    assert verdict_on(change(), CERTIFIED, rules, (approval("Ann"),)).verdict is Verdict.APPROVAL_NEEDED


def test_an_approval_without_a_commit_approves_nothing() -> None:
    nameless = judge(assessment((change(), CERTIFIED)), FINANCE, Head(), (approval("bob", ""),), now=NOW)
    assert nameless.verdict is Verdict.APPROVAL_NEEDED


def test_all_owners_must_approve() -> None:
    board = Rules(tiers=frozenset({1}), downstream_nodes=0)
    judged = verdict_on(change(), CERTIFIED, board, (approval("finance"),))
    assert [(one.owner, one.approved_by) for one in judged.required] == [("finance", "finance"), ("shop-team", "")]
    assert judged.verdict is Verdict.APPROVAL_NEEDED
    both = verdict_on(change(), CERTIFIED, board, (approval("finance"), approval("shop-team")))
    assert both.verdict is Verdict.NOTE


def test_what_nobody_owns_is_approved_by_those_of_the_star_or_by_anybody_else() -> None:
    one = replace(change(), dataset=STAGING)
    impact = Impact(affected=affected(*many(6)))
    assert verdict_on(one, impact, approvals=(approval("zoe"),)).verdict is Verdict.NOTE
    assert verdict_on(one, impact, approvals=(approval("ann"),)).verdict is Verdict.APPROVAL_NEEDED
    listed = Rules(approvers={"*": frozenset({"dora"})})
    assert verdict_on(one, impact, listed, (approval("zoe"),)).verdict is Verdict.APPROVAL_NEEDED
    assert verdict_on(one, impact, listed, (approval("dora"),)).verdict is Verdict.NOTE


def test_a_person_may_lift_what_is_unknown_and_not_what_is_blocked() -> None:
    unknown = verdict_on(change(ChangeKind.UNKNOWN), Impact(), approvals=(approval("shop-team"),))
    assert unknown.verdict is Verdict.NOTE
    blocked = verdict_on(change(ChangeKind.BROKEN_REFERENCE), Impact(), approvals=(approval("shop-team"),))
    assert blocked.verdict is Verdict.BLOCKED


def waived(one: ColumnChange, days: int) -> Rules:
    waiver = Waiver(change=change_id(one), reason="known", owner="bob", expires=TODAY + timedelta(days))
    return Rules(waivers=(waiver,))


@pytest.mark.parametrize(("days", "verdict"), [(1, Verdict.NOTE), (0, Verdict.NOTE), (-1, Verdict.BLOCKED)])
def test_a_waiver_lasts_until_the_end_of_its_day(days: int, verdict: Verdict) -> None:
    one = change(ChangeKind.BROKEN_REFERENCE)
    judged = verdict_on(one, Impact(), waived(one, days))
    assert judged.verdict is verdict
    assert len(judged.lapsed) == (1 if days < 0 else 0)


def test_a_waiver_is_of_one_change() -> None:
    rules = waived(change(ChangeKind.REMOVED, before="a + 1"), 1)
    other = change(ChangeKind.REMOVED, before="a + 2")
    assert verdict_on(other, Impact(readers=(reader(),)), rules).verdict is Verdict.APPROVAL_NEEDED


def test_the_name_of_a_change_stays_where_its_line_moves() -> None:
    assert change_id(change(line=1)) == change_id(change(line=900, file="elsewhere.sql"))
    others = [change(), change(column=None), change(ChangeKind.ROWS), change(before="x"), change(after="x")]
    assert len({change_id(one) for one in others}) == 5


def test_a_change_in_a_file_that_is_left_out_is_counted() -> None:
    judged = verdict_on(change(ChangeKind.BROKEN_REFERENCE), Impact(), Rules(ignored_paths=("models/*",)))
    assert (judged.verdict, judged.skipped) == (Verdict.PASS, 1)


def test_time_decides_about_readers_and_waivers_alone() -> None:
    judged = [
        judge(assessment((change(), CERTIFIED)), DEFAULT_RULES, HEAD, now=NOW + days * DAY)
        for days in range(0, 900, 90)
    ]
    assert len({one.verdict for one in judged}) == 1


def test_what_is_not_confirmed_may_pass_and_is_a_note_where_something_is_promised() -> None:
    one = change(ChangeKind.NOT_CONFIRMED)
    plain, lenient = Impact(affected=affected(*many(9))), Rules(on_not_confirmed=Reaction.PASS)
    assert verdict_on(one, plain).verdict is Verdict.APPROVAL_NEEDED
    assert verdict_on(one, plain, lenient).verdict is Verdict.PASS
    assert verdict_on(one, Impact(affected=affected(REVENUE)), lenient).verdict is Verdict.NOTE
    assert verdict_on(one, plain, Rules(on_not_confirmed=Reaction.NOTE)).verdict is Verdict.NOTE
    strict = verdict_on(one, plain, Rules(on_not_confirmed=Reaction.APPROVAL))
    assert (strict.verdict, [need.owner for need in strict.required]) == (Verdict.APPROVAL_NEEDED, ["shop-team"])


def test_a_confirmed_change_behind_one_that_is_not_is_judged_by_itself() -> None:
    cause = change(ChangeKind.NOT_CONFIRMED)
    behind = ColumnChange(dataset=REVENUE, column="total", kind=ChangeKind.VALUES, inherited=True)
    judged = judge(
        assessment((cause, Impact(affected=affected(REVENUE))), (behind, Impact())), DEFAULT_RULES, HEAD, now=NOW
    )
    assert judged.verdict is Verdict.APPROVAL_NEEDED
    assert {one.change for one in judged.changes} == {cause, behind}
