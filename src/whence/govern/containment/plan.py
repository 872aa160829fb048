"""A plan of containment: from broken data to the schedules whose jobs depend on it, the nearest first.

A plan is a pure function of the graph. It follows columns, so a job that reads other columns of a broken dataset is not
in it. Nothing is guessed: what starts a job, and which columns a job reads, is what runs reported. If they did not, the
plan lists the job as one of which this is not known.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from whence.govern.containment.scheduled import Schedule, Started, find_starts
from whence.model.events import RunState
from whence.model.graph import Direction, Grain, RunRow
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import JobName, Node
from whence.query.answers.values import BOTH, Completeness, Filter, Question
from whence.query.ports.catalog import Catalog
from whence.query.questions.impact import Affected, LastRuns, impact
from whence.query.questions.lineage import grain_of, walked
from whence.query.traversal.column_gaps import read_gaps
from whence.query.traversal.node_order import NodeOrder

_CHECKED_FOR_GAPS = 1_000
"""The number of nearest affected nodes at which jobs without columns are looked for."""
_JOBS = Filter(kinds=("job",))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSchedule:
    """A schedule to pause. `jobs`: those of its jobs that depend on the broken data, `distance`: of the nearest.

    `running`: a run of it, or of one of the jobs, goes on: pausing does not stop that. `writes_root`: it also starts a
    job that writes the broken data, so a fix cannot run while it is paused.
    """

    schedule: Schedule
    distance: int
    jobs: tuple[JobName, ...]
    running: bool
    writes_root: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependent:
    """A job that depends on the broken data, with the schedules that start it. Without any: why none is known."""

    affected: Affected
    job: JobName
    schedules: tuple[Schedule, ...]
    reason: str
    outermost: JobName


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainmentPlan:
    """What to pause so that broken data goes no further.

    `uncertain`: jobs that read affected data and do not report which columns; none of them is to be paused. `hidden`:
    how many jobs depend on the broken data, or are uncertain, and are hidden from the viewer.
    """

    root: Node
    grain: Grain
    schedules: tuple[PlannedSchedule, ...]
    dependents: tuple[Dependent, ...]
    uncertain: tuple[JobName, ...]
    hidden: int
    completeness: Completeness


def make_plan(graph: LastRuns, catalog: Catalog, root: Node, question: Question) -> ContainmentPlan:
    """The plan for a broken column, dataset or job. Of `question` only the budgets and types count."""
    of_jobs = Question(types=question.types, only=_JOBS, max_nodes=question.max_nodes, max_edges=question.max_edges)
    found = impact(graph, root, of_jobs)
    affected = found.nodes()
    hidden = graph.hidden(node_id(one.name) for one in affected)
    seen = [one for one in affected if node_id(one.name) not in hidden]
    jobs = [one.name for one in seen if isinstance(one.name, JobName)]
    writers = _writers(graph, found.root)
    starts = find_starts(graph, catalog, [*jobs, *writers])
    unknown = _find_uncertain(graph, root, of_jobs)
    uncertain = sorted({one for one in unknown.values() if isinstance(one, JobName)} - set(jobs))
    hidden_unknown = graph.hidden(unknown)
    return ContainmentPlan(
        root=found.root,
        grain=found.grain,
        schedules=tuple(_plan_schedules(graph, seen, starts, writers)),
        dependents=tuple(_dependent(one, one.name, starts) for one in seen if isinstance(one.name, JobName)),
        uncertain=tuple(one for one in uncertain if node_id(one) not in hidden_unknown),
        hidden=len(hidden | hidden_unknown),
        completeness=found.completeness,
    )


def _dependent(one: Affected, job: JobName, starts: Mapping[JobName, Started]) -> Dependent:
    start = starts[job]
    schedules = tuple(sorted(start.schedules))
    reason = "" if schedules else start.reason
    return Dependent(affected=one, job=job, schedules=schedules, reason=reason, outermost=start.outermost)


def _plan_schedules(
    graph: LastRuns, affected: Sequence[Affected], starts: Mapping[JobName, Started], writers: Iterable[JobName]
) -> Sequence[PlannedSchedule]:
    by_schedule: dict[Schedule, list[Affected]] = {}
    for one in affected:
        start = starts.get(one.name) if isinstance(one.name, JobName) else None
        for schedule in start.schedules if start else ():
            by_schedule.setdefault(schedule, []).append(one)
    last = graph.last_runs([node_id(one.job) for one in by_schedule], None) if by_schedule else {}
    writing = {schedule for job in writers for schedule in starts[job].schedules}
    planned = [
        PlannedSchedule(
            schedule=schedule,
            distance=min(one.distance for one in several),
            jobs=tuple(sorted(one.name for one in several if isinstance(one.name, JobName))),
            running=_goes_on(run.run if (run := last.get(node_id(schedule.job))) else None) or any(map(_runs, several)),
            writes_root=schedule in writing,
        )
        for schedule, several in by_schedule.items()
    ]
    return sorted(planned, key=lambda one: (one.distance, one.schedule))


def _goes_on(run: RunRow | None) -> bool:
    return run is not None and run.state in (RunState.START, RunState.RUNNING)


def _runs(one: Affected) -> bool:
    return one.last_run is not None and one.last_run.state in (RunState.START, RunState.RUNNING)


def _writers(graph: LastRuns, root: Node) -> Sequence[JobName]:
    """The visible jobs that write the broken data."""
    if isinstance(root, JobName):
        return [root]
    question = Question(depth=1, only=_JOBS)
    _, chosen = walked(graph, root, question, Direction.UPSTREAM, BOTH)
    ids = sorted(id_ for id_ in chosen if kind_of(id_) is Kind.JOB)
    names = graph.nodes(set(ids) - graph.hidden(ids))
    return sorted(one for one in names.values() if isinstance(one, JobName))


def _find_uncertain(graph: LastRuns, root: Node, of_jobs: Question) -> Mapping[int, Node]:
    """What reads affected data without reporting columns, by id."""
    if grain_of(root) is not Grain.FIELD:
        return {}
    question = Question(types=of_jobs.types, max_nodes=of_jobs.max_nodes, max_edges=of_jobs.max_edges)
    walk, _ = walked(graph, root, question, Direction.DOWNSTREAM, of_jobs.types or BOTH)
    nearest = NodeOrder(walk, walk.others())[:_CHECKED_FOR_GAPS]
    walk.fetch(nearest)
    return graph.nodes({key.owner for key in read_gaps(walk, {walk.root, *nearest}) if kind_of(key.owner) is Kind.JOB})
