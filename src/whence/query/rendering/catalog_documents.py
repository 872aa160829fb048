"""The types of the catalog's JSON documents. Nodes are node ids, times ISO 8601 UTC."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

StateName = Literal["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER"]


class Owner(TypedDict):
    """An owner of a dataset or job, and the role in which they own it."""

    name: str
    role: str


class Tag(TypedDict):
    """A tag of a dataset or job, or of the `field` that it names."""

    key: str
    value: str
    field: str
    source: str


class Asserted(TypedDict):
    """What people and events assert of a dataset or job beside its lineage. `certification`: tags by hand.

    `certification_status`: in lists of facts, what the rules of certification say of a dataset that has one.
    """

    first_seen: str
    last_seen: str
    deleted: bool
    description: str | None
    owners: list[Owner]
    tags: list[Tag]
    certification: list[str]
    certification_status: NotRequired[str]
    tier: int | None


class RunOfJob(TypedDict):
    """A run, and its job."""

    run: str
    job: str


class LastWrite(RunOfJob):
    """The run that wrote a dataset last."""

    time: str


class Field(TypedDict):
    """A column of a dataset."""

    name: str
    type: str
    description: str


class Dataset(Asserted):
    """A dataset. `fields`: its reported schema; `lineage_columns`: of a dataset that is asked for alone and has
    none, the columns that lineage names.
    """

    node: str
    namespace: str
    name: str
    contract_version: str | None
    aliases: list[str]
    fields: list[Field]
    lineage_columns: list[str]
    last_write: LastWrite | None
    facets: dict[str, Any]


class DatasetOfRun(TypedDict):
    """A dataset that a run read or wrote, with the facets of this run."""

    dataset: str
    facets: dict[str, Any]


class Run(TypedDict):
    """A run of a job."""

    run: str
    job: str
    state: StateName
    started_at: str | None
    ended_at: str | None
    first_seen: str | None
    last_seen: str | None
    parent: RunOfJob | None
    inputs: list[DatasetOfRun]
    outputs: list[DatasetOfRun]
    error: str | None
    facets: dict[str, Any]


class SqlOfJob(TypedDict):
    """How a job's SQL was parsed, and on how many column edges parser and producer agree (null: not compared)."""

    reader: str | None
    dialect: str | None
    status: str | None
    problems: list[str] | None
    unmatched: list[str] | None
    agreed: int | None
    missing_in_report: int | None
    missing_in_parse: int | None


class Job(Asserted):
    """A job with its latest runs."""

    node: str
    namespace: str
    name: str
    inputs: list[str]
    outputs: list[str]
    latest_runs: list[Run]
    sql: SqlOfJob | None
    facets: dict[str, Any]


class Event(TypedDict):
    """An event, without its payload. `job` is the job of a run event's run."""

    event: str
    time: str
    kind: Literal["run", "dataset", "job"]
    state: StateName | None
    producer: str
    subject: str | None
    job: str | None


class EventWithPayload(Event):
    """An event with its payload as it was sent, secrets masked."""

    payload: Any


class JobFacts(Asserted):
    """What people and events assert of a job. `types`: what it says that it is, in upper case."""

    node: str
    types: list[str]


class DatasetFacts(JobFacts):
    """What people and events assert of a dataset, also under its aliases."""

    contract_version: str | None
    aliases: list[str]


Facts = DatasetFacts | JobFacts


class Namespace(TypedDict):
    """A namespace, and whether it contains datasets or jobs."""

    namespace: str
    first_seen: str
    datasets: bool
    jobs: bool
