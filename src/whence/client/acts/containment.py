"""Plans of containment: values. A plan is also a file, which `whence contain apply` reads."""

from typing import ClassVar

import msgspec

from whence.client.answers.answer import Answer
from whence.client.values.graph import Completeness, LastRun
from whence.client.values.history import Commit


class ScheduleToPause(msgspec.Struct, frozen=True, kw_only=True):
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
    jobs: tuple[str, ...]


class DependentJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job that depends on the broken data, with the schedules that start it. Without any: the `reason`, and the
    `outermost` job that contained a run of it.
    """

    node: str
    distance: int
    influence: str
    path: tuple[str, ...]
    owners: tuple[str, ...]
    schedules: tuple[str, ...]
    reason: str | None
    outermost: str
    last_run: LastRun | None


class ContainmentPlan(Answer, frozen=True, kw_only=True):
    """What to pause so that broken data goes no further, the nearest schedules first.

    `uncertain`: jobs that read affected data without reporting which columns. `hidden`: how many jobs this key may not
    see.
    """

    _rows: ClassVar[str] = "jobs"
    _columns: ClassVar[tuple[str, ...]] = (
        *("node", "distance", "influence", "path", "owners", "schedules"),
        *("reason", "outermost", "last_run"),
    )

    node: str
    grain: str
    schedules: tuple[ScheduleToPause, ...]
    uncertain: tuple[str, ...]
    hidden: int
    completeness: Completeness
    jobs: tuple[DependentJob, ...]

    def _title(self) -> str:
        return f"{len(self.schedules):,} schedules to pause for {self.node}"


class ContainmentStep(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded step of an act of containment, and who did it."""

    incident: str
    step: str
    system: str
    namespace: str
    id: str
    phase: str
    orchestrator: str
    node: str
    plan: str
    reason: str
    receipt: str
    person: str
    recorded_at: str


class ContainmentSteps(msgspec.Struct, frozen=True, kw_only=True):
    """Steps in their order; `hidden`: how many are in namespaces that this key may not read."""

    steps: tuple[ContainmentStep, ...]
    hidden: int


class StepsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer about steps."""

    data: ContainmentSteps


class RunToClear(msgspec.Struct, frozen=True, kw_only=True):
    """A run to clear in a schedule: of Airflow, the task and the run of the DAG; None if they are not reported."""

    schedule: str
    system: str
    namespace: str
    id: str
    task: str | None
    dag_run: str | None
    began: str


class JobToRerun(msgspec.Struct, frozen=True, kw_only=True):
    """A job to run again, in its layer. `dbt`: the dbt model that it builds, None if it builds none."""

    node: str
    layer: int
    cyclic: bool
    dbt: str | None
    runs: tuple[RunToClear, ...]


class JobNotToRerun(msgspec.Struct, frozen=True, kw_only=True):
    """A job between that need not run again."""

    node: str
    reason: str


class RerunPlan(Answer, frozen=True, kw_only=True):
    """What to run again after a fix, the first layer first. Jobs of one layer may run together."""

    _rows: ClassVar[str] = "jobs"
    _columns: ClassVar[tuple[str, ...]] = ("node", "layer", "cyclic", "dbt", "runs")

    node: str
    targets: tuple[str, ...]
    since: str | None
    skipped: tuple[JobNotToRerun, ...]
    hidden: int
    completeness: Completeness
    jobs: tuple[JobToRerun, ...]

    def _title(self) -> str:
        return f"{len(self.jobs):,} jobs to run again after a fix of {self.node}"


class TrustedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that can be trusted. `version`: of the dataset that it wrote; None if the run did not report it: then there
    is the commit only. `reads`: the runs that wrote its inputs; `origins`: its inputs that no known run wrote.
    """

    run: str
    job: str
    dataset: str
    written_at: str
    commit: Commit | None
    version: str | None
    reads: tuple[str, ...]
    origins: tuple[str, ...]


class RejectedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A newer run that cannot be trusted."""

    run: str
    job: str
    written_at: str
    reason: str


class RollbackPoint(Answer, frozen=True, kw_only=True):
    """Where to roll a dataset back to, and all runs that this rests on, the nearest first. `rejected`: newer runs, the
    latest first. `checked`: whether this key may read the results of checks; `hidden`: inputs that it may not see.
    """

    node: str
    since: str
    point: str | None
    runs: tuple[TrustedRun, ...]
    rejected: tuple[RejectedRun, ...]
    checked: bool
    hidden: int
    completeness: Completeness

    def _title(self) -> str:
        return f"rollback point of {self.node}"
