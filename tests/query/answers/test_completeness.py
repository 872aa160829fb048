"""Completeness of several answers as one."""

from dataclasses import replace

from whence.model.names import DatasetName
from whence.query.answers.completeness import combine_completeness
from whence.query.answers.values import Completeness

WHOLE = Completeness(
    complete=True,
    stopped_by=None,
    depth_reached=2,
    frontier=(),
    frontier_nodes=0,
    as_of=None,
    graph_version="1:16",
    hidden_nodes=0,
)
ORDERS, DAILY = DatasetName("prod", "orders"), DatasetName("prod", "daily")


def test_answers_are_complete_together_if_all_are() -> None:
    cut = replace(WHOLE, complete=False, stopped_by="nodes", frontier=(ORDERS,), frontier_nodes=1)
    assert combine_completeness([WHOLE, WHOLE]) == WHOLE
    assert combine_completeness([WHOLE, cut]) == cut


def test_a_node_in_two_frontiers_is_counted_once_where_all_are_named() -> None:
    one = replace(WHOLE, complete=False, stopped_by="depth", frontier=(ORDERS, DAILY), frontier_nodes=2)
    other = replace(one, frontier=(ORDERS,), frontier_nodes=1)
    assert combine_completeness([one, other]).frontier_nodes == 2
    assert combine_completeness([one, replace(other, frontier_nodes=5)]).frontier_nodes == 7


def test_the_reason_that_the_past_is_unknown_is_kept_whichever_answer_has_it() -> None:
    early = replace(WHOLE, complete=False, stopped_by="beginning", recorded_from=7)
    purged = replace(WHOLE, complete=False, stopped_by="retention", forgotten_before=9)
    assert combine_completeness([WHOLE, early]).recorded_from == 7
    assert combine_completeness([WHOLE, purged]).forgotten_before == 9
