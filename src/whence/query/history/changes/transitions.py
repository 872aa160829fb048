"""Transitions of what repeats: a check or a job that begins to fail, and that recovers."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from whence.model.events import RunState
from whence.model.graph import RunRow
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, RunName
from whence.openlineage.facets.assertions import WARN, Assertion, ChecksPage, RunChecks
from whence.query.history.changes.scope import Scope
from whence.query.history.changes.values import Change, ChangeKind, NotKnown, Part, Proof, Unknown, UpstreamChange
from whence.query.ports.graph import RunEnds
from whence.query.questions.measurements import Measured

MOST_RUNS = 10_000
"""Runs that one question reads: those that ended last."""

Found = tuple[list[UpstreamChange], list[NotKnown]]
Subject = TypeVar("Subject")
Result = TypeVar("Result")


class TimelineGraph(RunEnds, Measured, Protocol):
    """A graph with everything that a timeline is made of."""


def run_changes(graph: RunEnds, scope: Scope, since: int, until: int) -> Found:
    """When jobs of the scope began to fail, and when they recovered."""
    rows = graph.run_ends(scope.jobs, since, until, MOST_RUNS + 1)
    is_cut = sum(row.state_at > since for row in rows) > MOST_RUNS
    ends = ((node_id(row.name.job), row) for row in sorted(rows, key=lambda row: (row.state_at, row.id)))
    found = [_run_change(scope, *turn) for turn in _turns(ends, lambda row: row.state is RunState.COMPLETE)]
    return [one for one in found if one.time > since], [NotKnown(reason=Unknown.RUNS)] if is_cut else []


def _run_change(scope: Scope, job_id: int, before: RunRow | None, row: RunRow) -> UpstreamChange:
    change = Change.RECOVERED if row.state is RunState.COMPLETE else Change.FAILED
    part = Part(change=change, before="" if before is None else before.state.name, after=row.state.name)
    return UpstreamChange(
        time=row.state_at,
        kind=ChangeKind.RUN,
        change=change,
        node=row.name.job,
        distance=scope.distances[job_id],
        parts=(part,),
        job=row.name.job,
        run=row.name,
        proof=Proof(run_id=row.id, time=row.state_at),
    )


CheckKey = tuple[int, str, str]
"""Dataset, column (empty: none) and name of a check."""
CheckRun = tuple[RunChecks, Assertion]


def check_changes(graph: TimelineGraph, scope: Scope, since: int, until: int) -> Found:
    """When checks of datasets and columns of the scope began to fail, and when they held again."""
    page = graph.checks(scope.datasets, until)
    runs = {row.id: row.name for row in graph.runs({one.run_id for one in page.found})}
    found = [
        _check_change(scope, runs.get(row.run_id), *turn)
        for turn in _turns(_results(page, scope), lambda result: result[1].held)
        for row in (turn[2][0],)
        if row.time > since
    ]
    return found, list(_unknown_checks(page, since))


def _results(page: ChecksPage, scope: Scope) -> Iterator[tuple[CheckKey, CheckRun]]:
    for row in sorted(page.found, key=lambda row: (row.time, row.run_id)):
        for one in row.checks:
            if scope.has_column(row.dataset_id, one.column or ""):
                yield (row.dataset_id, one.column or "", one.name), (row, one)


def _check_change(
    scope: Scope, run: RunName | None, key: CheckKey, before: CheckRun | None, after: CheckRun
) -> UpstreamChange:
    (dataset_id, column, name), (row, result) = key, after
    dataset = scope.names[dataset_id]
    change = Change.RECOVERED if result.held else Change.FAILED
    part = Part(change=change, name=name, before="" if before is None else _outcome(before[1]), after=_outcome(result))
    return UpstreamChange(
        time=row.time,
        kind=ChangeKind.QUALITY,
        change=change,
        node=FieldName(dataset, column) if column and isinstance(dataset, DatasetName) else dataset,
        distance=scope.distances[dataset_id],
        parts=(part,),
        job=None if run is None else run.job,
        run=run,
        proof=Proof(run_id=row.run_id, time=row.time),
    )


def _outcome(one: Assertion) -> str:
    if one.held:
        return "held"
    state = "warned" if one.severity == WARN else "failed"
    details = (
        f"expected {one.expected}" if one.expected is not None else "",
        f"found {one.actual}" if one.actual else "",
    )
    return ", ".join(filter(None, (state, *details)))


def _unknown_checks(page: ChecksPage, since: int) -> Iterator[NotKnown]:
    if page.stopped_by == "access":
        yield NotKnown(reason=Unknown.CHECKS_WITHHELD)
    elif page.stopped_by is not None and min((row.time for row in page.found), default=since + 1) > since:
        yield NotKnown(reason=Unknown.CHECKS)


def _turns(
    results: Iterable[tuple[Subject, Result]], has_held: Callable[[Result], bool]
) -> Iterator[tuple[Subject, Result | None, Result]]:
    """The results, in order of time, at which a subject began to fail or recovered, each with the one before.

    The first known result of a subject is one if it failed.
    """
    last: dict[Subject, Result] = {}
    for subject, result in results:
        before = last.get(subject)
        if has_held(result) is not (before is None or has_held(before)):
            yield subject, before, result
        last[subject] = result
