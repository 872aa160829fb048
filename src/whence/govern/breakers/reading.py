"""The circuit breaker of a node in a store at a time: reads lineage, incidents and what watches datasets."""

from collections.abc import Iterator

from whence.govern.breakers.breaker import Breaker, Known, judge_breaker
from whence.govern.incidents.current import Streaks, read_incidents
from whence.govern.slos.records import held_declarations
from whence.model.ids import node_id
from whence.model.names import Node
from whence.query.answers.values import Question
from whence.query.history.changes.scope import scope_of
from whence.query.lookup.contracts import CARRIERS
from whence.query.ports.catalog import Catalog
from whence.query.visibility.visible_ids import QuestionGraph


def read_breaker(
    catalog: Catalog, graph: QuestionGraph, streaks: Streaks, node: Node, at: int, *, is_past: bool
) -> Breaker:
    """The breaker of a node. `streaks`: as read for the same time (µs); `is_past`: by the lineage at the time."""
    read = read_incidents(catalog, graph, streaks, at, is_past=is_past)
    then = at if is_past else None
    scope = scope_of(graph, node, Question(at=then), [then])
    watched = frozenset(_watched(catalog, streaks, at))
    known = Known(at=at, incidents=read.incidents, are_all=read.are_all, watched=watched)
    return judge_breaker(scope, known)


def _watched(catalog: Catalog, streaks: Streaks, at: int) -> Iterator[int]:
    yield from (one.dataset_id for one in streaks.checks.results)
    yield from (node_id(one.dataset) for one in held_declarations(catalog, at).values())
    for facet in CARRIERS:
        yield from catalog.carrying(facet)
