"""What the outbox sends: each notice once to each receiver of its routes, and nothing that is no longer news."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from govern.notifications.notices import MINUTE, NOW, OPEN, ORDERS, REVENUE
from govern.notifications.receivers import FILE
from govern.notifications.transitions import history
from whence.govern.incidents.findings import Finding, FindingKind
from whence.govern.incidents.incident import Act as IncidentAct
from whence.govern.incidents.incident import Change, Incident
from whence.govern.incidents.records import IncidentTransition
from whence.govern.notifications.incident_notices import list_notices
from whence.govern.notifications.notice import Act, Notice
from whence.govern.notifications.outbox import DAY, Delivery, Notices, find_alerts, find_deliveries
from whence.govern.notifications.receipts import Receipts, receipt_of, receipts_of
from whence.govern.notifications.receivers_file import read_receivers
from whence.govern.notifications.rendering.alertmanager import Alert
from whence.model.access import OPEN as WHOLE
from whence.model.access import Grant, Role, Viewer
from whence.model.names import DatasetName
from whence.model.records.incidents import IncidentActRecord
from whence.model.records.notifications import ReceiptRecord
from whence.model.traits import Traits

EVERYBODY = FILE.partition("route:")[0] + "route:\n  receiver: [pager, channel, alertmanager, hook, mail, tickets]\n"
RECEIVERS = read_receivers(EVERYBODY)
NOBODY = Receipts(references={})


def found(transitions: Sequence[IncidentTransition], receipts: Receipts = NOBODY, now: int = 0) -> list[Delivery]:
    at = now or max(one.time for one in transitions)
    return list(find_deliveries(list_notices((), transitions, {}, at), RECEIVERS, receipts, at))


def shape(deliveries: Sequence[Delivery]) -> list[tuple[str, str]]:
    return [(one.receiver.name, one.act.notice.state) for one in deliveries if isinstance(one.act, Act)]


def done(deliveries: Sequence[Delivery], before: Sequence[ReceiptRecord] = ()) -> list[ReceiptRecord]:
    return [*before, *(receipt_of(one.act, f"ref of {one.act.thread}", 1) for one in deliveries)]


def test_an_open_incident_is_sent_to_everybody_once() -> None:
    opened = history(1, ("open",))
    first = found(opened)
    assert [name for name, _ in shape(first)] == ["pager", "channel", "alertmanager", "hook", "mail", "tickets"]
    assert found(opened, receipts_of(done(first))) == []
    later = found(history(1, ("open", "acknowledged")), receipts_of(done(first)))
    assert {one.act.reference for one in later} == {f"ref of {one.act.thread}" for one in later}
    assert {state for _, state in shape(later)} == {"acknowledged"}


def test_nobody_is_woken_for_an_incident_that_is_over() -> None:
    """It was over before anybody could be notified: records have it, and whoever shows states does not."""
    whole = history(1)
    assert [*dict.fromkeys(name for name, _ in shape(found(whole)))] == ["hook", "mail", "tickets"]
    assert found(whole, now=NOW + 2 * DAY) == []


def test_who_knows_of_an_incident_learns_its_end_even_days_later() -> None:
    known = receipts_of(done(found(history(1, ("open",)))))
    ends = found(history(1, ("open", "resolved")), known, NOW + 2 * DAY)
    assert shape(ends) == [(one.name, "resolved") for one in RECEIVERS.receivers]
    assert found(history(1, ("open", "resolved")), known, NOW + 4 * DAY) == []


def test_who_shows_a_state_gets_only_the_last_one() -> None:
    assert shape(found(history(1, ("open", "acknowledged"))))[:4] == [
        ("pager", "acknowledged"),
        ("channel", "acknowledged"),
        ("alertmanager", "acknowledged"),
        ("hook", "open"),
    ]


def test_an_incident_that_nobody_needs_to_know_is_not_sent() -> None:
    assert found(history(1, notify=None)) == []


def test_an_incident_that_takes_the_place_of_others_goes_on_under_the_first_one() -> None:
    first, second = history(1, ("open",)), history(2, ("open",), start=NOW + MINUTE)
    known = receipts_of(done([*found(first), *found(second)]))
    wider = history(3, ("open",), start=NOW + 5 * MINUTE)
    into = wider[0].record.incident
    both = [*history(1, ("open", "merged"), into=into), *history(2, ("open", "merged"), into=into, start=NOW + MINUTE)]
    later = found([*both, *wider], known)
    pager = [one.act for one in later if one.receiver.name == "pager" and isinstance(one.act, Act)]
    threads = [found(one)[0].act.thread for one in (first, second)]
    assert [(one.notice.incident, one.thread, one.notice.is_over) for one in pager] == [
        (second[0].record.incident, threads[1], True),  # one page remains, under the first one's name
        (into, threads[0], False),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_whoever_is_killed_forgets_nothing(seed: int) -> None:
    """A sender is killed after any number of deliveries, with or without the last receipt, again and again."""
    chance = random.Random(seed)
    transitions = [one for number in range(8) for one in history(number, ("open",))]
    final = [one for number in range(8) for one in history(number)]
    receipts: list[ReceiptRecord] = []
    delivered: list[str] = []
    for step in range(200):
        known = final if step > 10 else transitions
        pending = found(known, receipts_of(receipts))
        if step > 10 and not pending:
            break
        for one in pending[: chance.randrange(4)]:
            delivered.append(one.act.id)
            if chance.random() < 0.7:  # else it is killed before the receipt
                receipts += done([one])
            else:
                break
    assert found(final, receipts_of(receipts)) == []
    hooks = {one.act.id for number in range(8) for one in found(history(number)) if one.receiver.name == "hook"}
    assert hooks <= set(delivered)
    assert len({one.act for one in receipts}) == len(receipts)


def incident(transitions: Sequence[IncidentTransition], *datasets: DatasetName, **changed: object) -> Incident:
    findings = [
        Finding(id=str(one), kind=FindingKind.SLO, rule="shop/fresh", dataset=one, since=NOW - MINUTE, reason="late")
        for one in datasets
    ]
    made = Incident(
        id=transitions[0].record.incident,
        root=datasets[0],
        opened_by=findings[0],
        roots=datasets[:1],
        findings=tuple(findings),
        changes=(Change(time=NOW, state="open", notify="page"),),
    )
    return replace(made, **changed)  # type: ignore[arg-type]  # checked by the class


def test_a_notice_has_symptoms_owners_and_a_runbook() -> None:
    opened = history(1, ("open",))
    root = DatasetName("postgres://prod", "shop.orders_1\x1b<!channel>")
    tags = frozenset({("runbook", "https://wiki.example.com", ""), ("domain", "sales", ""), ("domain", "x", "column")})
    traits = {root: Traits(owners=frozenset({"team:a"}), tier="1", tags=tags)}
    (one,) = list_notices([incident(opened, root, REVENUE)], opened, traits, NOW)
    shown = one.notices[0]
    assert (shown.owners, shown.tier, shown.domain, shown.runbook) == (
        ("team:a",),
        "1",
        "sales",
        "https://wiki.example.com",
    )
    assert [item.node for item in shown.symptoms] == [root, REVENUE]
    assert [link.path.partition("?")[0] for link in shown.links] == ["/ui/incident", "/ui/lineage", "/ui/changes"]
    assert all(link.path.isprintable() and "<" not in link.path for link in shown.links)
    assert shown.title.endswith("objective shop/fresh is violated, 1 dataset downstream")


@pytest.mark.parametrize("kind", [FindingKind.CHECK, FindingKind.CONTRACT])
def test_names_of_checks_are_for_those_who_see_everything(kind: FindingKind) -> None:
    opened = history(1, ("open",))
    root = DatasetName("postgres://prod", "shop.orders_1\x1b<!channel>")
    found = [
        Finding(id=rule, kind=kind, rule=rule, dataset=root, since=NOW - MINUTE, reason="12 rows")
        for rule in ("in_secret_table", "in_secret_column")
    ]
    one = incident(opened, root, opened_by=found[0], findings=tuple(found))
    (notices,) = list_notices([one], opened, {}, NOW)
    shown = notices.notices[0]
    assert "in_secret_table" in shown.title
    assert shown.seen_by(WHOLE) == shown
    limited = shown.seen_by(Viewer(name="receiver", grants=(Grant(Role.READER, "postgres://prod"),)))
    assert "secret" not in repr((limited.title, [(item.node, item.rule, item.text) for item in limited.symptoms]))
    assert limited.title.endswith({"check": "a check fails", "contract": "a rule of its contract is violated"}[kind])
    assert len(limited.symptoms) == 2


def test_a_silenced_incident_is_not_sent_until_the_silence_ends() -> None:
    opened = history(1, ("open", "acknowledged", "resolved"))
    record = IncidentActRecord(incident=opened[0].record.incident, dataset=str(ORDERS), act="silence", until=NOW + 90)
    silence = IncidentAct(id="a", time=NOW - 1, namespace=ORDERS.namespace, person="ann", record=record)
    (one,) = list_notices([incident(opened, ORDERS, acts=(silence,))], opened, {}, NOW)
    assert [shown.state for shown in one.notices] == ["acknowledged", "resolved"]


def repeated(notice: Notice, now: int, earlier: dict[str, list[Alert]]) -> dict[str, list[Alert]]:
    receiver = RECEIVERS.receivers[2]
    one = Notices(notices=(notice,), current=notice)
    (delivery,) = (each for each in find_deliveries([one], RECEIVERS, NOBODY, now) if each.receiver is receiver)
    known = receipts_of(done([delivery]))
    return find_alerts([one], receiver, known, now, "", earlier)


def test_alerts_are_sent_again_while_they_fire_and_ended_when_their_labels_change() -> None:
    first = repeated(OPEN, NOW, {})
    moved = repeated(replace(OPEN, owners=("team:other",)), NOW + MINUTE, first)
    (alerts,) = moved.values()
    owners = [(one["labels"]["owner"], one["endsAt"]) for one in alerts]
    assert owners == [
        ("team:other", "2026-11-27T06:01:00Z"),
        ("team:other", "2026-11-27T06:01:00Z"),
        ("team:orders", "2026-11-27T02:01:00Z"),
        ("team:orders", "2026-11-27T02:01:00Z"),
    ]
