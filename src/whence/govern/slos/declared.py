"""The declared objectives in a store: how they are evaluated at a time, and which transitions are to be recorded."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whence.govern.contracts.evaluation.observations import Observed
from whence.govern.slos.evaluation.facts import Facts
from whence.govern.slos.evaluation.judge import Judgement, judge
from whence.govern.slos.evaluation.observations import observe_datasets
from whence.govern.slos.objectives import Objective
from whence.govern.slos.recording import find_new_transitions
from whence.govern.slos.records import (
    Declaration,
    Transition,
    last_transitions,
    list_declarations,
    list_transitions,
    transition_event,
)
from whence.model.names import DatasetName
from whence.query.ports.catalog import Catalog

Json = dict[str, Any]
_AT_ONCE = 50
"""Datasets whose facts are in memory at one time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedSlo:
    """A declared objective, and what it says at a time. `judgement`: None if this version of Whence cannot read it."""

    declaration: Declaration
    judgement: Judgement | None


def evaluate_declared(
    catalog: Catalog, graph: Observed, declarations: Iterable[Declaration], at: int
) -> Iterator[EvaluatedSlo]:
    """Evaluate declarations at a time (µs), in the order of their datasets, by everything that is in the store."""
    for some in _batches(declarations):
        facts = observe_datasets(catalog, graph, list(_objectives(some)), at, at)
        yield from (_evaluated(one, facts, at) for one in some)


def evaluate_series(
    catalog: Catalog, graph: Observed, declaration: Declaration, at: int, points: int, moments: Iterable[int]
) -> Iterator[Judgement]:
    """Evaluate an objective at so many times, evenly over the time window until `at` (µs), that included, and at the
    `moments` (µs) in it: what is shorter than the step between two points is seen if its moments are given.
    """
    one = declaration.objective
    if one is None or not points:
        return
    facts = observe_datasets(catalog, graph, [one], at - one.window, at)[one.dataset]
    even = {at - one.window + one.window * number // points for number in range(1, points + 1)}
    within = {moment for moment in moments if at - one.window < moment <= at}
    yield from (judge(one, facts, moment) for moment in sorted(even | within))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """All objectives that hold at a time `at` (µs), and the events of the transitions until then that the store lacks:
    of each objective in order.
    """

    at: int
    slos: tuple[EvaluatedSlo, ...] = ()
    events: tuple[Json, ...] = ()


def evaluate_all(catalog: Catalog, graph: Observed, now: int) -> Evaluation:
    """Evaluate all declared objectives at a time (µs)."""
    declared = list_declarations(catalog, now)
    last = last_transitions(list_transitions(catalog))
    open_ones = {id_: some for id_, some in declared.items() if not _is_over(some, last.get(id_))}
    slos, events = list[EvaluatedSlo](), list[Json]()
    for batch in _batches(one for some in open_ones.values() for one in some[-1:]):
        several = {one.id: open_ones[one.id] for one in batch}
        objectives = list(_objectives(one for some in several.values() for one in some))
        facts: Mapping[DatasetName, Facts] = observe_datasets(catalog, graph, objectives, now, now)
        for id_, some in several.items():
            current = _evaluated(some[-1], facts, now)
            if not some[-1].record.ended:
                slos.append(current)
            changes = find_new_transitions(some, last.get(id_), facts, now, current.judgement)
            events += (transition_event(one.record, some[-1].dataset.namespace, one.time) for one in changes)
    return Evaluation(at=now, slos=tuple(slos), events=tuple(events))


def _evaluated(one: Declaration, facts: Mapping[DatasetName, Facts], at: int) -> EvaluatedSlo:
    found = None if one.objective is None else judge(one.objective, facts[one.dataset], at)
    return EvaluatedSlo(declaration=one, judgement=found)


def _is_over(some: Sequence[Declaration], last: Transition | None) -> bool:
    return some[-1].record.ended and last is not None and last.record.after == "ended" and last.time >= some[-1].time


def _objectives(some: Iterable[Declaration]) -> Iterator[Objective]:
    return (one.objective for one in some if one.objective is not None)


def _batches(declarations: Iterable[Declaration]) -> Iterator[list[Declaration]]:
    """By dataset, so that the facts of each are read once."""
    batch, datasets = list[Declaration](), set[DatasetName]()
    for one in sorted(declarations, key=lambda one: (one.dataset, one.id)):
        if len(datasets) == _AT_ONCE and one.dataset not in datasets:
            yield batch
            batch, datasets = [], set()
        batch.append(one)
        datasets.add(one.dataset)
    if batch:
        yield batch
