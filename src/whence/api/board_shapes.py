"""The shapes of what dashboards show, for the API's description; tests hold answers to them."""

from typing import Any, Generic, Literal, TypeVar

from whence.api.shapes import Commit, Shape


class Cut(Shape):
    """Which part of all rows this is; `next` is the cursor of the part after it."""

    next: str | None
    limit: int


Row = TypeVar("Row")


class Rows(Shape, Generic[Row]):
    """A page of rows."""

    data: list[Row]
    page: Cut


class Point(Shape):
    """One measurement."""

    at: str
    value: float | None


class Kpi(Shape):
    """A KPI: what it is, its latest value, and all that was measured."""

    name: str
    unit: str
    definition: str
    value: float | None
    numerator: float | None
    denominator: float | None
    measured_at: str | None
    series: list[Point]


class Kpis(Shape):
    """All of them."""

    data: list[Kpi]
    page: None


class Covered(Shape):
    """A namespace: how many datasets it has, and of how many something is known."""

    namespace: str
    datasets: int
    lineage: int
    columns: int
    owner: int
    description: int


class Covering(Shape):
    """Namespaces that may be seen, and how many may not."""

    namespaces: list[Covered]
    hidden: int


class Coverage(Shape):
    """A page of namespaces."""

    data: Covering
    page: Cut


class Seen(Shape):
    """A dataset, and when events spoke of it."""

    node: str
    first_seen: str
    last_seen: str


Lacking = Rows[Seen]


class Unfinished(Shape):
    """A run that never said how it began, or how it ended, and when its events were."""

    run: str
    job: str
    state: str
    first_seen: str
    last_seen: str


UnfinishedRuns = Rows[Unfinished]


class FailedCheck(Shape):
    """An assertion that did not hold, and of which column, if of one. `severity`: `warn` is no error."""

    assertion: str
    column: str | None
    severity: str | None


class FailedIn(Shape):
    """What a run found wrong with a dataset that it read; `held`: how many assertions held."""

    dataset: str
    run: str
    job: str
    time: str
    failed: list[FailedCheck]
    held: int


FailedChecks = Rows[FailedIn]


class LostRecord(Shape):
    """A record that is in no ledger: where the log has it, and since when."""

    position: str
    received_at: str | None


class Losing(Shape):
    """Lost records among those looked at."""

    records: list[LostRecord]
    looked: int


class LostRecords(Shape):
    """A page of them."""

    data: Losing
    page: Cut


class RunOf(Shape):
    """A run of a job in trouble. `error` is null for those who may not read everything."""

    run: str
    state: str
    started_at: str | None
    ended_at: str | None
    error: str | None
    commit: Commit | None


class Downstream(Shape):
    """How much is downstream, as it was counted last (docs/blast.md)."""

    datasets: int
    fields: int
    jobs: int
    dashboards: int
    models: int


class Trouble(Shape):
    """A job that fails, or that is late."""

    job: str
    trouble: Literal["failing", "late"]
    since: str
    failures: int
    longest_pause: float | None
    last: RunOf | None
    last_good: RunOf | None
    outputs: list[str]
    downstream: Downstream | None


class Troubling(Shape):
    """Jobs that may be seen, and how many may not."""

    jobs: list[Trouble]
    failing: int
    late: int
    hidden: int


class Troubles(Shape):
    """A page of jobs in trouble."""

    data: Troubling
    page: Cut


class Refused(Shape):
    """A body in quarantine: where it is in the log, and why. `received_at` is null where the log has it no more."""

    position: str
    reason: str
    refusal: str
    received_at: str | None
    bytes: int | None


Quarantine = Rows[Refused]


class Body(Refused):
    """With what was refused, without secrets; `body` is null where the log has it no more."""

    pointer: str
    body: str | None
    cut: bool


class OneBody(Shape):
    """A body in quarantine."""

    data: Body
    page: None


class Taken(Shape):
    """Where the log has what was sent again."""

    position: str


class Replayed(Shape):
    """What became of it."""

    data: Taken
    page: None


class Retyped(Shape):
    """A column of another type than before."""

    column: str
    before: str
    after: str


class SchemaChange(Shape):
    """A schema of a dataset that was said for the first time, beside the one before it."""

    dataset: str
    time: str
    first: bool
    added: list[str]
    removed: list[str]
    retyped: list[Retyped]


SchemaChanges = Rows[SchemaChange]


class Tagged(Shape):
    """A tag of a dataset, job or field."""

    key: str
    value: str
    field: str


class Written(Shape):
    """The run that wrote a dataset last."""

    run: str
    job: str
    time: str


class Latest(Shape):
    """The run that spoke last of how it is made, however it ended."""

    run: str
    job: str
    state: str
    time: str


class Checked(Shape):
    """What the last data quality checks found. `warned`: did not hold, and only warn; not among `failed`."""

    run: str
    time: str
    held: int
    failed: int
    warned: int


class Traits(Shape):
    """What is said and known of a node, for colouring a graph."""

    node: str
    owners: list[str]
    tags: list[Tagged]
    types: list[str]
    tier: str
    written: Written | None
    latest: Latest | None
    quality: Checked | None
    first_seen: str | None
    deleted: bool


class TraitsOf(Shape):
    """Of several nodes; those that nothing has, or that may not be seen, are left out."""

    data: list[Traits]
    page: None


def answered_with(shape: Any) -> dict[int | str, dict[str, Any]]:
    """What the API's description says of a good answer."""
    return {200: {"model": shape, "description": "The answer"}}
