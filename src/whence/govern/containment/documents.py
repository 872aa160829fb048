"""A plan of containment as JSON. The same graph gives the same bytes."""

from typing_extensions import TypedDict

from whence.govern.containment.plan import ContainmentPlan, Dependent, PlannedSchedule
from whence.govern.containment.scheduled import Schedule
from whence.query.rendering import documents
from whence.query.rendering.listings import Listing
from whence.query.rendering.reports import last_run_document


class ScheduleToPause(TypedDict):
    """A schedule whose jobs depend on the broken data: a DAG of Airflow, or another job of an orchestrator by its id.

    `distance`: of the nearest of its `jobs`. `running`: a run goes on, which pausing does not stop. `writes_root`: it
    also writes the broken data, so a fix cannot run while it is paused.
    """

    schedule: str
    system: str
    namespace: str
    id: str
    job: str
    distance: int
    running: bool
    writes_root: bool
    jobs: list[str]


class DependentJob(TypedDict):
    """A job that depends on the broken data, with the schedules that start it. Without any: the `reason`, and the
    `outermost` job that contained a run of it.
    """

    node: str
    distance: int
    influence: documents.Influence
    path: list[str]
    owners: list[str]
    schedules: list[str]
    reason: str | None
    outermost: str
    last_run: documents.LastRun | None


class ContainmentPlanDocument(TypedDict):
    """What to pause so that broken data goes no further, the nearest schedules first.

    `uncertain`: jobs that read affected data without reporting which columns. `hidden`: how many jobs the caller may
    not see.
    """

    node: str
    grain: str
    schedules: list[ScheduleToPause]
    uncertain: list[str]
    hidden: int
    jobs: list[DependentJob]


def plan_listing(found: ContainmentPlan) -> Listing:
    """The dependent jobs, by distance and name."""
    several = found.dependents
    return Listing(
        head={
            "node": str(found.root),
            "grain": found.grain.value,
            "schedules": [_schedule(one) for one in found.schedules],
            "uncertain": [str(one) for one in found.uncertain],
            "hidden": found.hidden,
        },
        get_completeness=lambda: found.completeness,
        name="jobs",
        columns=tuple(DependentJob.__annotations__),
        keys=[(place, str(one.job)) for place, one in enumerate(several)],
        part=lambda start, end: {"jobs": [_dependent(one) for one in several[start:end]]},
    )


def schedule_name(one: Schedule) -> str:
    """A schedule as one text, unique in a plan."""
    return f"{one.system}:{one.namespace}:{one.id}"


def _schedule(one: PlannedSchedule) -> ScheduleToPause:
    return {
        "schedule": schedule_name(one.schedule),
        "system": one.schedule.system,
        "namespace": one.schedule.namespace,
        "id": one.schedule.id,
        "job": str(one.schedule.job),
        "distance": one.distance,
        "running": one.running,
        "writes_root": one.writes_root,
        "jobs": [str(job) for job in one.jobs],
    }


def _dependent(one: Dependent) -> DependentJob:
    affected = one.affected
    return {
        "node": str(one.job),
        "distance": affected.distance,
        "influence": affected.influence.value,
        "path": [str(step) for step in affected.path],
        "owners": list(affected.owners),
        "schedules": [schedule_name(schedule) for schedule in one.schedules],
        "reason": one.reason or None,
        "outermost": str(one.outermost),
        "last_run": None if affected.last_run is None else last_run_document(affected.last_run),
    }
