"""The types of the lineage graphs that clients of Marquez read."""

from typing import Literal

from typing_extensions import TypedDict

from whence.api.marquez.response_types import DatasetHead, InputField, JobHead, Name, TransformationOfAll


class GraphEdge(TypedDict):
    """An edge between two nodes of a graph, as node ids."""

    origin: str
    destination: str


class HiddenNode(TypedDict):
    """A node that the viewer may not see: a pseudonym in place of its name, and nothing else about it."""

    id: Name
    namespace: str
    name: str
    description: None


class HiddenDataset(HiddenNode):
    """A dataset that the viewer may not see."""

    type: Literal["DB_TABLE"]
    fields: list[str]
    tags: list[str]
    physicalName: str
    sourceName: str


class HiddenJob(HiddenNode):
    """A job that the viewer may not see."""

    type: Literal["BATCH"]
    inputs: list[Name]
    outputs: list[Name]
    latestRun: None
    simpleName: str


class GraphNode(TypedDict):
    """A dataset or job with its edges."""

    id: str
    type: Literal["DATASET", "JOB"]
    data: DatasetHead | JobHead | HiddenDataset | HiddenJob
    inEdges: list[GraphEdge]
    outEdges: list[GraphEdge]


class LineageGraph(TypedDict):
    """The datasets and jobs connected with a node, at most `depthReached` jobs away."""

    graph: list[GraphNode]
    complete: bool
    depthReached: int


class ColumnData(TransformationOfAll):
    """A column, and the columns that it is computed from."""

    namespace: str
    dataset: str
    datasetVersion: str | None
    field: str
    fieldType: str | None
    inputFields: list[InputField]


class ColumnNode(TypedDict):
    """A column with its edges."""

    id: str
    type: Literal["DATASET_FIELD"]
    data: ColumnData
    inEdges: list[GraphEdge]
    outEdges: list[GraphEdge]


class ColumnGraph(TypedDict):
    """The columns upstream (and downstream) of a column, dataset or job."""

    graph: list[ColumnNode]
    complete: bool


class JobOfStep(Name):
    """The job of a run, and its version."""

    version: str | None


class RunOfStep(TypedDict):
    """A run, in short."""

    id: str
    start: str | None
    end: str | None
    status: str


class InputOfStep(Name):
    """A dataset that a run read, and the run that had written it."""

    version: str | None
    producedByRunId: str | None


class RunStep(TypedDict):
    """A run, its job and the datasets that it read."""

    job: JobOfStep
    run: RunOfStep
    inputs: list[InputOfStep]


class UpstreamRuns(TypedDict):
    """A run and its upstream runs, nearest first."""

    runs: list[RunStep]
    complete: bool
