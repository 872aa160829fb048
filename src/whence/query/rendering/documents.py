"""The types of answers as JSON documents. Nodes are node ids, times ISO 8601 UTC.

mypy holds the functions that make documents to them, and the API derives its schemas from them.
"""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from whence.query.answers.values import GapReason
from whence.query.questions.why import Reason

StoppedBy = Literal["depth", "nodes", "edges", "paths", "retention", "beginning", "columns"]
ChangeKind = Literal["added", "removed", "changed"]


class Completeness(TypedDict):
    """How much of the truth an answer holds: if it is not complete, what stopped it, and the nearest of the nodes
    beyond which there is more.
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
    """What happens to data on its way."""

    type: str
    subtype: str
    masking: bool
    description: str


class Said(TypedDict):
    """An event: its key, and its position in the log."""

    time: str
    event: str
    position: int | None
    producer: str


class RunSeen(TypedDict):
    """A run that said something."""

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
    first_seen: Said
    last_seen: Said
    runs: list[RunSeen]


class Edge(TypedDict):
    """Data or influence flows from source to target, as `owner` says."""

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
    """A node of a walk. `parent` and `edge` (a place in `edges`) are the last hop of one shortest path to it."""

    node: str
    kind: str
    depth: int
    aliases: list[str]
    parent: str | None
    edge: int | None
    via: Transformation | None
    shown: bool
    more: bool
    direction: NotRequired[str | None]


class Gap(TypedDict):
    """Where a walk over fields ends, because `owner` reports whole datasets only, or not this column."""

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


class Affected(TypedDict):
    """A node downstream, and one shortest path to it."""

    node: str
    kind: str
    distance: int
    type: str
    owners: list[str]
    tier: str
    path: list[str]


class Counts(TypedDict):
    """How many nodes are affected."""

    nodes: int
    jobs: int
    by_kind: dict[str, int]
    by_type: dict[str, int]
    by_owner: dict[str, int]
    by_tier: dict[str, int]
    by_distance: dict[str, int]


class Impact(TypedDict):
    """What breaks if the root changes."""

    root: str
    grain: str
    types: list[str]
    counts: Counts
    dropped_at: str | None
    nodes: list[Affected]


class Step(TypedDict):
    """One hop of a path."""

    source: str
    target: str
    edges: list[Edge]


class Path(TypedDict):
    """A path, and what happens on it in one transformation."""

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
    """Why nothing leads from source to target; if something does (`connected`), `path`."""

    source: str
    target: str
    connected: bool
    reason: Reason | None
    detail: str
    nearest: list[str]
    until: str | None
    path: Path | None


class FieldType(TypedDict):
    """The type of a field."""

    type: str


ChangeSide = str | list[Transformation] | list[FieldType] | None
"""One side of a change: of an edge its transformations, of a field or column its type."""


class Change(TypedDict):
    """A node, column or edge that was added, removed or changed."""

    change: ChangeKind
    what: str
    node: str | None
    source: str | None
    target: str | None
    owner: str | None
    before: ChangeSide
    after: ChangeSide


Version = TypedDict(
    "Version",
    {
        "kind": Literal["lineage", "schema"],
        "from": str,
        "until": str | None,
        "said_by": str,
        "aspect": str,
        "confirmed": bool,
        "run": RunSeen | None,
        "event": Said | None,
        "size": int,
        "changes": list[Change],
    },
)
"""A version of the lineage or the schema of a node, its validity interval, and what it changed."""


class History(TypedDict):
    """The versions of a node."""

    node: str
    kind: str
    versions: list[Version]


class State(TypedDict):
    """One side of a comparison."""

    as_of: str | None
    graph_version: str


class Diff(TypedDict):
    """What changed."""

    before: State
    after: State
    counts: dict[str, dict[str, int]]
    changes: list[Change]


class Commit(TypedDict):
    """Where source code is, and its version."""

    version: str
    url: str
    branch: str


class RunReached(TypedDict):
    """A run on the way."""

    run: str
    job: str
    depth: int
    state: str
    began_at: str | None
    ended_at: str | None
    commit: Commit | None
    reads: list[str]
    writes: list[str]


class Handover(TypedDict):
    """That one run read what another wrote."""

    writer: str
    reader: str
    dataset: str
    at: str


class RunLineage(TypedDict):
    """Runs upstream or downstream of a run."""

    root: str
    job: str
    direction: str
    origins: list[str]
    runs: list[RunReached]
    handovers: list[Handover]


class Named(TypedDict):
    """A name that was found: by its `name`, or a `tag`, the `owner` or `description` that it has."""

    node: str
    kind: str
    by: str


class Found(TypedDict):
    """What a search found."""

    text: str
    complete: bool
    nodes: list[Named]


class Count(TypedDict):
    """A count, and by how much it may be wrong."""

    count: int
    relative_error: float


class DownstreamCounts(TypedDict):
    """How much is downstream."""

    datasets: Count
    fields: Count
    jobs: Count
    dashboards: Count
    models: Count
    computed_at: str
    current: bool


class Blast(TypedDict):
    """A node and its blast radius."""

    node: str
    radius: DownstreamCounts | None
