"""The types of answers as JSON documents. Nodes are node ids, times ISO 8601 UTC.

mypy checks the functions that build documents against these types, and the API derives its schemas from them.
"""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from whence.model.sensitivity import GradeWord
from whence.query.answers.values import GapReason
from whence.query.questions.why_not import Reason

StoppedBy = Literal[
    "depth",
    "nodes",
    "edges",
    "paths",
    "retention",
    "beginning",
    "columns",
    "measurements",
    "checks",
    "access",
    "changes",
    "contracts",
    "runs",
]
Influence = Literal["DIRECT", "UNKNOWN", "INDIRECT"]


class Completeness(TypedDict):
    """The completeness of an answer: if it is incomplete, what stopped it, and the nearest nodes beyond which there is
    more.
    """

    complete: bool
    stopped_by: StoppedBy | None
    depth_reached: int
    frontier: list[str]
    frontier_nodes: int
    hidden_nodes: int
    as_of: str | None
    graph_version: str
    forgotten_before: str | None
    recorded_from: str | None


class Transformation(TypedDict):
    """A transformation of data."""

    type: str
    subtype: str
    masking: bool
    description: str


class AssertingEvent(TypedDict):
    """An event: its key, and its position in the log."""

    time: str
    event: str
    position: int | None
    producer: str


class RunSeen(TypedDict):
    """A run that asserted an edge."""

    run: str
    job: str
    state: str
    started_at: str | None
    ended_at: str | None
    last_seen: str | None
    said_at: str


class Evidence(TypedDict):
    """The events and runs that prove an edge."""

    set: str
    origin: str
    reader: str | None
    first_seen: AssertingEvent
    last_seen: AssertingEvent
    runs: list[RunSeen]


class Edge(TypedDict):
    """Data or influence flows from source to target, as asserted by `owner`."""

    source: str
    target: str
    owner: str
    transformations: list[Transformation]
    origins: list[str]
    inferred: bool
    parsed: bool
    confirmed: bool
    evidence: list[Evidence]


class NodeReached(TypedDict):
    """A reached node. `parent` and `edge` (an index into `edges`) are the last hop of one shortest path to it. `role`:
    `check` for a job that only checks data.
    """

    node: str
    kind: str
    depth: int
    aliases: list[str]
    parent: str | None
    edge: int | None
    via: Transformation | None
    shown: bool
    more: bool
    role: Literal["check"] | None
    direction: NotRequired[str | None]


class Gap(TypedDict):
    """A node where a traversal ends, because `owner` reports whole datasets only, not this column, or that it does not
    know all sources.
    """

    at: str
    owner: str
    datasets: list[str]
    reason: GapReason


class Lineage(TypedDict):
    """Nodes upstream or downstream of a root."""

    root: str
    direction: str
    grain: str
    types: list[str] | dict[str, list[str]]
    dropped_at: str | None
    nodes: list[NodeReached]
    edges: list[Edge]
    gaps: list[Gap]


class LastRun(TypedDict):
    """The last run of a job."""

    run: str
    state: str
    state_at: str
    started_at: str | None


class Affected(TypedDict):
    """A downstream node, and one shortest path to it. `influence`: DIRECT if values flow into it, INDIRECT if every
    way has an indirect edge, UNKNOWN if that is not known. Of a job: its last run, and the jobs whose runs contained
    that (`parent`, `root`).
    """

    node: str
    kind: str
    distance: int
    influence: Influence
    type: str
    owners: list[str]
    tier: str
    path: list[str]
    parent: str | None
    root: str | None
    last_run: LastRun | None


class Counts(TypedDict):
    """The numbers of affected nodes. `checks`: the jobs that only check data; no other number counts them."""

    nodes: int
    jobs: int
    checks: int
    by_kind: dict[str, int]
    by_type: dict[str, int]
    by_owner: dict[str, int]
    by_tier: dict[str, int]
    by_distance: dict[str, int]
    by_influence: dict[str, int]


class Impact(TypedDict):
    """The affected nodes if the root changes. `jobs`: the nearest 100 jobs that derive one of the nodes, or are one.
    `checks`: the nearest 100 jobs that only check one of the nodes or the root.
    """

    root: str
    grain: str
    types: list[str]
    counts: Counts
    jobs: list[Affected]
    checks: list[Affected]
    dropped_at: str | None
    nodes: list[Affected]


class Step(TypedDict):
    """One hop of a path."""

    source: str
    target: str
    edges: list[Edge]


class Path(TypedDict):
    """A path, and its composed transformation."""

    steps: list[Step]
    via: Transformation | None


class Paths(TypedDict):
    """Paths between two nodes."""

    source: str
    target: str
    grain: str
    types: list[str]
    paths: list[Path]


class WhyNot(TypedDict):
    """Why no path leads from source to target; if one does (`connected`), `path`."""

    source: str
    target: str
    connected: bool
    reason: Reason | None
    detail: str
    nearest: list[str]
    until: str | None
    path: Path | None


class FoundLabel(TypedDict):
    """A sensitivity label that the search asked for. `assumed`: it may be less."""

    category: str
    grade: GradeWord
    assumed: bool


class Named(TypedDict):
    """A search result: its matching part is its `name`, a `tag`, its `owner` or `description`, or its `label`.

    `by` is `standing` if the search asked for certified or canonical datasets alone. `labels`: the sensitivity labels
    that the search asked for. `standings`: `certified`, `canonical`; a column has those of its dataset.
    """

    node: str
    kind: str
    by: str
    labels: list[FoundLabel]
    standings: list[str]


class Found(TypedDict):
    """Search results. `not_labelled`: how many more columns may have the labels, because of what is not known."""

    text: str
    complete: bool
    not_labelled: int
    nodes: list[Named]
