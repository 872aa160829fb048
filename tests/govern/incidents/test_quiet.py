"""A finding of an objective is quiet while its data is good again and an alert is still open."""

from typing import Any

from whence.govern.incidents.sources import slo_findings
from whence.govern.slos.records import Transition
from whence.model.names import DatasetName
from whence.model.slo_records import StateText, TransitionRecord, transition_id

ORDERS = DatasetName("postgres://prod:5432", "shop.orders")


def transitions(*several: tuple[int, Any, Any]) -> list[Transition]:
    """Times, states, and how urgent the open alert is."""
    found, notify_before = list[Transition](), None
    before: StateText = "holds"
    for time, after, notify in several:
        record = TransitionRecord(
            slo="ab", service="shop", name="fresh", dataset=str(ORDERS), before=before, after=after,
            notify_before=notify_before, notify=notify,
        )  # fmt: skip
        found.append(Transition(id=transition_id(record), time=time, record=record))
        before, notify_before = after, notify
    return found


def test_it_is_quiet_from_the_end_of_a_violation_until_the_next() -> None:
    (one,) = slo_findings(
        transitions(
            (1, "violated", None),
            (2, "violated", "page"),
            (5, "holds", "page"),
            (6, "holds", "ticket"),
            (8, "violated", "ticket"),
            (9, "holds", "ticket"),
            (12, "holds", None),
        )
    )
    assert (one.since, one.until, one.page_since, one.quiet) == (1, 12, 2, ((5, 8), (9, None)))


def test_that_nothing_is_measured_any_more_is_not_quiet() -> None:
    (one,) = slo_findings(transitions((1, "violated", "ticket"), (3, "not evaluated", None)))
    assert (one.until, one.quiet) == (None, ())
