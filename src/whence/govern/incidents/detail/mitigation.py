"""What limits an incident until it is mended: the run to roll its root back to, and what to pause.

Both are about now. Nothing is rolled back or paused by reading them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from whence.govern.containment.plan import PlannedSchedule, make_plan
from whence.govern.containment.rollback import TrustedRun, find_rollback_point
from whence.govern.containment.rollback_documents import Reported
from whence.govern.incidents.incident import Incident
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, RunName
from whence.query.answers.values import Question
from whence.query.ports.catalog import Catalog
from whence.query.runs.commits import Commit
from whence.query.visibility.visible_ids import QuestionGraph

ReadReports = Callable[[Sequence[int]], Mapping[int, Reported]]
"""Ids of runs → what each reported itself."""
MOST_SCHEDULES = 20
"""Schedules of a suggestion that are named: the nearest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackRun:
    """The newest run that wrote the root before the incident and can be trusted, when it did (µs), its commit, and the
    version of the dataset that it wrote; empty: not reported. `checked`: whether the results of checks could be read;
    `hidden`: how many of its inputs the viewer may not see.
    """

    run: RunName
    time: int
    commit: Commit | None
    version: str
    checked: bool
    hidden: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedPause:
    """What to pause so that the broken data goes no further: the nearest of `total` schedules.

    `node`: the broken column, or the whole root. `unscheduled`: jobs that depend on it of which no schedule is known;
    `uncertain`: those that do not report which columns they read; `hidden`: those that the viewer may not see.
    """

    node: DatasetName | FieldName
    schedules: tuple[PlannedSchedule, ...]
    total: int
    unscheduled: int
    uncertain: int
    hidden: int
    complete: bool


def find_rollback(
    graph: QuestionGraph, catalog: Catalog, read_reports: ReadReports, one: Incident
) -> RollbackRun | None:
    """Where to roll the root of an incident back to. A run that wrote when the incident began is part of it."""
    found = find_rollback_point(graph, catalog, one.root, one.since - 1)
    if (point := found.point) is None:
        return None
    reported = _report_of(graph, read_reports, point)
    return RollbackRun(
        run=point.run,
        time=point.written_at,
        commit=reported.commit,
        version=_version(graph, reported, one.root),
        checked=found.checked,
        hidden=found.hidden,
    )


def _report_of(graph: QuestionGraph, read_reports: ReadReports, point: TrustedRun) -> Reported:
    id_ = node_id(point.run)
    reports = {} if graph.hidden([id_]) else read_reports([id_])
    return reports.get(id_, Reported(versions={}))


def _version(graph: QuestionGraph, reported: Reported, root: DatasetName) -> str:
    """The version of the dataset, under any of its names."""
    names = graph.groups([node_id(root)]).get(node_id(root), (root,))
    return next((reported.versions[name] for name in (root, *names) if name in reported.versions), "")


def suggest_pause(graph: QuestionGraph, catalog: Catalog, node: DatasetName | FieldName) -> SuggestedPause:
    """What to pause until a node is mended, by the lineage that holds now."""
    plan = make_plan(graph, catalog, node, Question())
    return SuggestedPause(
        node=node,
        schedules=plan.schedules[:MOST_SCHEDULES],
        total=len(plan.schedules),
        unscheduled=sum(not each.schedules for each in plan.dependents),
        uncertain=len(plan.uncertain),
        hidden=plan.hidden,
        complete=plan.completeness.stopped_by in (None, "columns"),
    )


def find_broken_node(graph: QuestionGraph, one: Incident, at: int) -> DatasetName | FieldName:
    """The column of the root that is wrong, if all of its open findings are about one that the graph has; else the
    root.
    """
    columns = {each.column for each in one.findings if each.dataset == one.root and each.is_open_at(at)}
    if len(columns) != 1 or not (column := columns.pop()):
        return one.root
    field = FieldName(one.root, column)
    return field if graph.nodes([node_id(field)]) else one.root
