"""The types of dashboard answers, for the OpenAPI document; tests compare answers with them."""

from typing import Any, Literal

from typing_extensions import TypedDict

from whence.api.http.response_types import All, One, PageOf, Rows
from whence.model.sensitivity import GradeWord
from whence.query.rendering.report_documents import Commit


class Point(TypedDict):
    """One measurement."""

    at: str
    value: float | None


class Kpi(TypedDict):
    """A KPI: its definition, its latest value, and its measurements."""

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
    """A namespace: the number of its datasets, and of those with lineage, columns, owner or description."""

    namespace: str
    datasets: int
    lineage: int
    columns: int
    owner: int
    description: int


class Covering(TypedDict):
    """Visible namespaces, and the number of hidden ones."""

    namespaces: list[NamespaceCoverage]
    hidden: int


Coverage = PageOf[Covering]


class Seen(TypedDict):
    """A dataset, with the times of its first and last event."""

    node: str
    first_seen: str
    last_seen: str


Lacking = Rows[Seen]


class UnfinishedRun(TypedDict):
    """A run that reported no start or no end, and the times of its events."""

    run: str
    job: str
    state: str
    first_seen: str
    last_seen: str


UnfinishedRuns = Rows[UnfinishedRun]


class FailedCheck(TypedDict):
    """A failed assertion, with its column if it has one. `severity` `warn` is not an error. What was expected and
    found, and the number of failed rows, if the producer reports them.
    """

    assertion: str
    column: str | None
    severity: str | None
    expected: str | None
    actual: str | None
    failures: int | None


class FailedIn(TypedDict):
    """The failed assertions of a run about a dataset that it read or wrote; `held`: how many held."""

    dataset: str
    run: str
    job: str
    time: str
    failed: list[FailedCheck]
    held: int


FailedChecks = Rows[FailedIn]


class LostRecord(TypedDict):
    """A record that is in no ledger: its position in the log, and its time."""

    position: str
    received_at: str | None


class Losing(TypedDict):
    """The lost records among those that were checked."""

    records: list[LostRecord]
    looked: int


LostRecords = PageOf[Losing]


class RunOf(TypedDict):
    """A run of a troubled job. `error` is null for callers who may not read everything."""

    run: str
    state: str
    started_at: str | None
    ended_at: str | None
    error: str | None
    commit: Commit | None


class Downstream(TypedDict):
    """The latest counts of downstream nodes (docs/explanation/blast-radius.md)."""

    datasets: int
    fields: int
    jobs: int
    dashboards: int
    models: int


class Trouble(TypedDict):
    """A failing or late job."""

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
    """Visible jobs, and the number of hidden ones."""

    jobs: list[Trouble]
    failing: int
    late: int
    hidden: int


Troubles = PageOf[Troubling]


class Refused(TypedDict):
    """A body in quarantine: its position in the log, and the reason. `received_at` is null if the log lost it to
    retention.
    """

    position: str
    reason: str
    refusal: str
    received_at: str | None
    bytes: int | None


Quarantine = Rows[Refused]


class Body(Refused):
    """A body in quarantine with its content, secrets masked; `body` is null if the log lost it to retention."""

    pointer: str
    body: str | None
    cut: bool


OneBody = One[Body]


class Taken(TypedDict):
    """The position in the log of a body that was sent again."""

    position: str


Replayed = One[Taken]


class Retyped(TypedDict):
    """A column with another type than before."""

    column: str
    before: str
    after: str


class SchemaChange(TypedDict):
    """A schema of a dataset that was reported for the first time, and the one before it."""

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
    """The latest run that reported lineage of the node, whatever its outcome."""

    run: str
    job: str
    state: str
    time: str


class Checked(TypedDict):
    """The results of the latest data quality checks. `warned`: failed with severity `warn`; not included in
    `failed`.
    """

    run: str
    time: str
    held: int
    failed: int
    warned: int


class TraitLabel(TypedDict):
    """The sensitivity label of a column, or of the dataset (`column` is empty): the highest of its columns.

    `possible`: the grade that it may have because of what is not known.
    """

    column: str
    grade: GradeWord
    assumed: bool
    possible: GradeWord


class Traits(TypedDict):
    """The attributes of a node, for colouring a graph. `labels`: those of the requested category; `columns`: all that
    may have one.
    """

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
    labels: list[TraitLabel]
    columns: list[str]


TraitsOf = All[Traits]


def answered_with(shape: Any) -> dict[int | str, dict[str, Any]]:
    """The description of a successful answer in the OpenAPI document."""
    return {200: {"model": shape, "description": "The answer"}}
