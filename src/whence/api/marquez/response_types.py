"""The types of the answers that clients of Marquez read. Times are ISO 8601 UTC."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict


class Name(TypedDict):
    """The id of a dataset or job."""

    namespace: str
    name: str


class Versioned(Name):
    """The id of a version of a dataset or job; null where no version is known."""

    version: str | None


class FieldOfDataset(TypedDict):
    """A column."""

    name: str
    type: str | None
    tags: list[str]
    description: str | None


class FieldTransformation(TypedDict):
    """How a column enters another one."""

    type: str
    subtype: str
    description: str
    masking: bool


class TransformationOfAll(TypedDict):
    """The transformation that all inputs share; null where they differ."""

    transformationDescription: str | None
    transformationType: str | None


class InputField(TransformationOfAll):
    """A column that another one is computed from."""

    namespace: str
    name: str
    dataset: str
    field: str
    transformations: list[FieldTransformation]


class ColumnLineage(TransformationOfAll):
    """A column, and the columns that it is computed from."""

    name: str
    inputFields: list[InputField]


class StreamLocation(TypedDict):
    """Where the schema of a stream is; only streams have it."""

    schemaLocation: NotRequired[str]


class DatasetHead(StreamLocation):
    """A dataset as a node of a lineage graph."""

    id: Name
    type: Literal["DB_TABLE", "STREAM"]
    name: str
    physicalName: str
    createdAt: str
    updatedAt: str
    namespace: str
    sourceName: str
    fields: list[FieldOfDataset]
    tags: list[str]
    lastModifiedAt: str | None
    description: str | None
    lastLifecycleState: str | None


class MarquezDataset(DatasetHead):
    """A dataset in its current version."""

    currentVersion: str | None
    columnLineage: list[ColumnLineage] | None
    facets: dict[str, Any]
    deleted: bool


class TouchedVersion(TypedDict):
    """A dataset version that a run read or wrote, with the facets of this run."""

    datasetVersionId: Versioned
    facets: dict[str, Any]


class MarquezRun(TypedDict):
    """A run of a job."""

    id: str
    createdAt: str | None
    updatedAt: str | None
    nominalStartTime: str | None
    nominalEndTime: str | None
    state: Literal["NEW", "RUNNING", "COMPLETED", "ABORTED", "FAILED"]
    startedAt: str | None
    endedAt: str | None
    durationMs: int | None
    args: dict[str, Any]
    jobVersion: Versioned | None
    inputDatasetVersions: list[TouchedVersion]
    outputDatasetVersions: list[TouchedVersion]
    facets: dict[str, Any]


class DatasetVersion(StreamLocation):
    """A dataset as a run wrote it; of a dataset that no run wrote, as a schema describes it."""

    id: Versioned
    type: Literal["DB_TABLE", "STREAM"]
    name: str
    physicalName: str
    createdAt: str
    version: str
    namespace: str
    sourceName: str
    fields: list[FieldOfDataset]
    tags: list[str]
    currentSchemaVersion: str | None
    description: str | None
    lifecycleState: str | None
    createdByRun: MarquezRun | None
    facets: dict[str, Any]


class JobHead(TypedDict):
    """A job as a node of a lineage graph."""

    id: Name
    type: Literal["BATCH", "STREAM", "SERVICE"]
    name: str
    simpleName: str
    parentJobName: str | None
    parentJobUuid: None
    createdAt: str
    updatedAt: str
    namespace: str
    inputs: list[Name]
    outputs: list[Name]
    location: str | None
    description: str | None
    latestRun: MarquezRun | None


class MarquezJob(JobHead):
    """A job with its latest runs."""

    latestRuns: list[MarquezRun] | None
    facets: dict[str, Any]
    currentVersion: str | None
    tags: list[str]
    labels: list[str]


class JobVersion(TypedDict):
    """A job with one of the lineages that it reported."""

    id: Versioned
    name: str
    namespace: str
    version: str
    type: Literal["BATCH", "STREAM", "SERVICE"]
    location: str | None
    createdAt: str
    inputs: list[Name]
    outputs: list[Name]
    latestRun: MarquezRun | None
    facets: dict[str, Any]


class MarquezNamespace(TypedDict):
    """A namespace."""

    name: str
    createdAt: str
    updatedAt: str
    ownerName: str
    description: str | None
    isHidden: bool


class Source(TypedDict):
    """A data source."""

    type: str
    name: str
    createdAt: str
    updatedAt: str
    connectionUrl: str
    description: str | None


class MarquezTag(TypedDict):
    """A tag, and what it means."""

    name: str
    description: str | None


class Namespaces(TypedDict):
    """A page of namespaces; `totalCount` counts all of them."""

    namespaces: list[MarquezNamespace]
    totalCount: int


class Sources(TypedDict):
    """A page of data sources; `totalCount` counts all of them."""

    sources: list[Source]
    totalCount: int


class Datasets(TypedDict):
    """A page of datasets; `totalCount` counts all of them."""

    datasets: list[MarquezDataset]
    totalCount: int


class DatasetVersions(TypedDict):
    """A page of dataset versions; `totalCount` counts all of them."""

    versions: list[DatasetVersion]
    totalCount: int


class Jobs(TypedDict):
    """A page of jobs; `totalCount` counts all of them."""

    jobs: list[MarquezJob]
    totalCount: int


class JobVersions(TypedDict):
    """A page of job versions; `totalCount` counts all of them."""

    versions: list[JobVersion]
    totalCount: int


class MarquezRuns(TypedDict):
    """A page of runs; `totalCount` counts all of them."""

    runs: list[MarquezRun]
    totalCount: int


class RunFacets(TypedDict):
    """The facets of a run, or of its job."""

    runId: str
    facets: dict[str, Any]


class Tags(TypedDict):
    """A page of tags; `totalCount` counts all of them."""

    tags: list[MarquezTag]
    totalCount: int


class Events(TypedDict):
    """A page of events as they were sent, secrets masked; `totalCount` counts all of them."""

    events: list[dict[str, Any]]
    totalCount: int


class SearchResult(TypedDict):
    """A dataset or job that a search found."""

    type: Literal["DATASET", "JOB"]
    name: str
    updatedAt: str
    namespace: str
    nodeId: str


class SearchResults(TypedDict):
    """A page of search results; `totalCount` counts all of them."""

    totalCount: int
    results: list[SearchResult]


class LatestRun(TypedDict):
    """The latest run of a search hit."""

    run_id: str | None
    eventType: str | None
    runFacets: dict[str, Any]


class JobHit(JobHead, LatestRun):
    """A job that a search found, with its latest run."""

    facets: dict[str, Any]


class DatasetHit(DatasetHead, LatestRun):
    """A dataset that a search found, with the run that wrote it last."""

    facets: dict[str, Any]


class Highlight(TypedDict):
    """The name of a hit, the matching part between `<em>` and `</em>`."""

    name: list[str]


class JobHits(TypedDict):
    """The first ten jobs that a search found."""

    hits: list[JobHit]
    highlights: list[Highlight]


class DatasetHits(TypedDict):
    """The first ten datasets that a search found."""

    hits: list[DatasetHit]
    highlights: list[Highlight]


class Interval(TypedDict):
    """An hour or a day."""

    startInterval: str
    endInterval: str


class EventCounts(Interval):
    """How many run events arrived in an hour or a day, by their type."""

    fail: int
    start: int
    complete: int
    abort: int


class CountAtEnd(Interval):
    """How many datasets, jobs or data sources were known at the end of an hour or a day."""

    count: int
