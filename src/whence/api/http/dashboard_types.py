"""The shapes of what dashboards show, for the API's description; tests hold answers to them."""

from typing import Any, Literal

from typing_extensions import TypedDict

from whence.api.http.response_types import All, One, PageOf, Rows
from whence.query.rendering.documents import Commit


class Point(TypedDict):
    """One measurement."""

    at: str
    value: float | None


class Kpi(TypedDict):
    """A KPI: what it is, its latest value, and all that was measured."""

    name: str
    unit: str
    definition: str
    value: float | None
    numerator: float | None
    denominator: float | None
    measured_at: str | None
    series: list[Point]


Kpis = All[Kpi]


class NamespaceCoverage(TypedDict):
    """A namespace: how many datasets it has, and of how many something is known."""

    namespace: str
    datasets: int
    lineage: int
    columns: int
    owner: int
    description: int


class Covering(TypedDict):
    """Namespaces that may be seen, and how many may not."""

    namespaces: list[NamespaceCoverage]
    hidden: int


Coverage = PageOf[Covering]


class Seen(TypedDict):
    """A dataset, and when events spoke of it."""

    node: str
    first_seen: str
    last_seen: str


Lacking = Rows[Seen]


class UnfinishedRun(TypedDict):
    """A run that never said how it began, or how it ended, and when its events were."""

    run: str
    job: str
    state: str
    first_seen: str
    last_seen: str


UnfinishedRuns = Rows[UnfinishedRun]


class FailedCheck(TypedDict):
    """An assertion that did not hold, and of which column, if of one. `severity`: `warn` is no error."""

    assertion: str
    column: str | None
    severity: str | None


class FailedIn(TypedDict):
    """What a run found wrong with a dataset that it read; `held`: how many assertions held."""

    dataset: str
    run: str
    job: str
    time: str
    failed: list[FailedCheck]
    held: int


FailedChecks = Rows[FailedIn]


class LostRecord(TypedDict):
    """A record that is in no ledger: where the log has it, and since when."""

    position: str
    received_at: str | None


class Losing(TypedDict):
    """Lost records among those looked at."""

    records: list[LostRecord]
    looked: int


LostRecords = PageOf[Losing]


class RunOf(TypedDict):
    """A run of a job in trouble. `error` is null for those who may not read everything."""

    run: str
    state: str
    started_at: str | None
    ended_at: str | None
    error: str | None
    commit: Commit | None


class Downstream(TypedDict):
    """How much is downstream, as it was counted last (docs/explanation/blast-radius.md)."""

    datasets: int
    fields: int
    jobs: int
    dashboards: int
    models: int


class Trouble(TypedDict):
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


class Troubling(TypedDict):
    """Jobs that may be seen, and how many may not."""

    jobs: list[Trouble]
    failing: int
    late: int
    hidden: int


Troubles = PageOf[Troubling]


class Refused(TypedDict):
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


OneBody = One[Body]


class Taken(TypedDict):
    """Where the log has what was sent again."""

    position: str


Replayed = One[Taken]


class Retyped(TypedDict):
    """A column of another type than before."""

    column: str
    before: str
    after: str


class SchemaChange(TypedDict):
    """A schema of a dataset that was said for the first time, beside the one before it."""

    dataset: str
    time: str
    first: bool
    added: list[str]
    removed: list[str]
    retyped: list[Retyped]


SchemaChanges = Rows[SchemaChange]


class Tagged(TypedDict):
    """A tag of a dataset, job or field."""

    key: str
    value: str
    field: str


class Written(TypedDict):
    """The run that wrote a dataset last."""

    run: str
    job: str
    time: str


class Latest(TypedDict):
    """The run that spoke last of how it is made, however it ended."""

    run: str
    job: str
    state: str
    time: str


class Checked(TypedDict):
    """What the last data quality checks found. `warned`: did not hold, and only warn; not among `failed`."""

    run: str
    time: str
    held: int
    failed: int
    warned: int


class Traits(TypedDict):
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


TraitsOf = All[Traits]


def answered_with(shape: Any) -> dict[int | str, dict[str, Any]]:
    """What the API's description says of a good answer."""
    return {200: {"model": shape, "description": "The answer"}}
