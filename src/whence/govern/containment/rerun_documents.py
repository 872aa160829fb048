"""A plan of what to run again: as JSON, as bodies for Airflow, and as arguments of dbt."""

from typing_extensions import TypedDict

from whence.govern.containment.documents import schedule_name
from whence.govern.containment.rerun import RerunJob, RerunPlan
from whence.govern.containment.scheduled import StartedRun
from whence.query.answers.instants import iso
from whence.query.rendering.listings import Listing


class RunToClear(TypedDict):
    """A run to clear in a schedule: of Airflow, the task and the run of the DAG; None if they are not reported."""

    schedule: str
    system: str
    namespace: str
    id: str
    task: str | None
    dag_run: str | None
    began: str


class JobToRerun(TypedDict):
    """A job to run again, in its layer. `dbt`: the dbt model that it builds, None if it builds none."""

    node: str
    layer: int
    cyclic: bool
    dbt: str | None
    runs: list[RunToClear]


class JobNotToRerun(TypedDict):
    """A job between that need not run again."""

    node: str
    reason: str


class RerunPlanDocument(TypedDict):
    """What to run again after a fix, the first layer first. Jobs of one layer may run together."""

    node: str
    targets: list[str]
    since: str | None
    skipped: list[JobNotToRerun]
    hidden: int
    jobs: list[JobToRerun]


def rerun_listing(found: RerunPlan) -> Listing:
    """The jobs by layer and name."""
    rows = [(place, one) for place, layer in enumerate(found.layers, 1) for one in layer]
    cyclic = {*found.cyclic}
    return Listing(
        head={
            "node": str(found.root),
            "targets": [str(one) for one in found.targets],
            "since": None if found.since is None else iso(found.since),
            "skipped": [{"node": str(one.job), "reason": one.reason} for one in found.skipped],
            "hidden": found.hidden,
        },
        get_completeness=lambda: found.completeness,
        name="jobs",
        columns=tuple(JobToRerun.__annotations__),
        keys=[(place, str(one.job)) for place, one in rows],
        part=lambda start, end: {
            "jobs": [_job(place, one, cyclic=one.job in cyclic) for place, one in rows[start:end]]
        },
    )


def _job(layer: int, one: RerunJob, *, cyclic: bool) -> JobToRerun:
    return {
        "node": str(one.job),
        "layer": layer,
        "cyclic": cyclic,
        "dbt": one.dbt or None,
        "runs": [_run(run) for run in one.runs],
    }


def _run(one: StartedRun) -> RunToClear:
    schedule = one.schedule
    return {
        "schedule": schedule_name(schedule),
        "system": schedule.system,
        "namespace": schedule.namespace,
        "id": schedule.id,
        "task": one.task or None,
        "dag_run": one.dag_run or None,
        "began": iso(one.began),
    }
