"""The shapes of answers, for the API's description; tests hold answers to them. Nodes are node ids, times ISO 8601."""

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """An object that has these members and no others."""

    model_config = ConfigDict(extra="forbid")


class Problem(Shape):
    """What went wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    reason: str
    pointer: str
    position: str | None
    candidates: list[str] | None = None


class Extent(Shape):
    """How much of the truth an answer holds: if it is not complete, what stopped it, and the nearest of the nodes
    beyond which there is more.
    """

    complete: bool
    stopped_by: Literal["depth", "nodes", "edges", "paths", "retention", "beginning", "columns"] | None
    depth_reached: int
    frontier: list[str]
    frontier_nodes: int
    hidden_nodes: int
    as_of: str | None
    graph_version: str
    forgotten_before: str | None
    recorded_from: str | None


class PageInfo(Shape):
    """Which part of all rows this is; `next` is the cursor of the part after it."""

    total: int
    limit: int | None
    next: str | None


class Transformation(Shape):
    """What happens to data on its way."""

    type: str
    subtype: str
    masking: bool
    description: str


class Said(Shape):
    """An event: its key, and its position in the log."""

    time: str
    event: str
    position: int | None
    producer: str


class RunSeen(Shape):
    """A run that said something."""

    run: str
    job: str
    state: str
    started_at: str | None
    ended_at: str | None
    said_at: str


class Evidence(Shape):
    """The events and runs that prove an edge."""

    set: str
    origin: str
    reader: str | None
    first_seen: Said
    last_seen: Said
    runs: list[RunSeen]


class Edge(Shape):
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


class NodeReached(Shape):
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
    direction: str | None = None


class Gap(Shape):
    """Where a walk over fields ends, because `owner` reports whole datasets only, or not this column."""

    at: str
    owner: str
    datasets: list[str]
    reason: Literal["no column lineage", "column not reported"]


class Lineage(Shape):
    """Nodes upstream or downstream of a root."""

    root: str
    direction: str
    grain: str
    types: list[str] | dict[str, list[str]]
    nodes: list[NodeReached]
    edges: list[Edge]
    gaps: list[Gap]


class Affected(Shape):
    """A node downstream, and one shortest path to it."""

    node: str
    kind: str
    distance: int
    type: str
    owners: list[str]
    tier: str
    path: list[str]


class Counts(Shape):
    """How many nodes are affected."""

    nodes: int
    jobs: int
    by_kind: dict[str, int]
    by_type: dict[str, int]
    by_owner: dict[str, int]
    by_tier: dict[str, int]
    by_distance: dict[str, int]


class Impact(Shape):
    """What breaks if the root changes."""

    root: str
    grain: str
    types: list[str]
    counts: Counts
    nodes: list[Affected]


class Step(Shape):
    """One hop of a path."""

    source: str
    target: str
    edges: list[Edge]


class Path(Shape):
    """A path, and what happens on it in one transformation."""

    steps: list[Step]
    via: Transformation | None


class Paths(Shape):
    """Paths between two nodes."""

    source: str
    target: str
    grain: str
    types: list[str]
    paths: list[Path]


class WhyNot(Shape):
    """Why nothing leads from source to target; if something does (`connected`), `path`."""

    source: str
    target: str
    connected: bool
    reason: Literal["no event", "name mismatch", "no column lineage", "pruned", "superseded", "hidden"] | None
    detail: str
    nearest: list[str]
    until: str | None
    path: Path | None


class Change(Shape):
    """A node, column or edge that was added, removed or changed."""

    change: Literal["added", "removed", "changed"]
    what: str
    node: str | None
    source: str | None = None
    target: str | None = None
    owner: str | None = None
    before: Any
    after: Any


class Version(Shape):
    """What held of a node for a time, and what that changed."""

    kind: Literal["lineage", "schema"]
    from_: str
    until: str | None
    said_by: str
    aspect: str
    confirmed: bool
    run: RunSeen | None
    event: Said | None
    size: int
    changes: list[Change]

    model_config = ConfigDict(extra="forbid", alias_generator=lambda name: name.rstrip("_"))


class History(Shape):
    """The versions of a node."""

    node: str
    kind: str
    versions: list[Version]


class State(Shape):
    """One side of a comparison."""

    as_of: str | None
    graph_version: str


class Diff(Shape):
    """What changed."""

    before: State
    after: State
    counts: dict[str, dict[str, int]]
    changes: list[Change]


class Commit(Shape):
    """Where source code is, and its version."""

    version: str
    url: str
    branch: str


class RunReached(Shape):
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


class Handover(Shape):
    """That one run read what another wrote."""

    writer: str
    reader: str
    dataset: str
    at: str


class Runs(Shape):
    """Runs upstream or downstream of a run."""

    root: str
    job: str
    direction: str
    origins: list[str]
    runs: list[RunReached]
    handovers: list[Handover]


class Named(Shape):
    """A name that was found: by its `name`, or a `tag`, the `owner` or `description` that it has."""

    node: str
    kind: str
    by: str


class Found(Shape):
    """What a search found."""

    text: str
    complete: bool
    nodes: list[Named]


class Count(Shape):
    """A count, and by how much it may be wrong."""

    count: int
    relative_error: float


class Radius(Shape):
    """How much is downstream."""

    datasets: Count
    fields: Count
    jobs: Count
    dashboards: Count
    models: Count
    computed_at: str
    current: bool


class Blast(Shape):
    """A node and its blast radius."""

    node: str
    radius: Radius | None


Data = TypeVar("Data")


class Envelope(Shape, Generic[Data]):
    """Every answer: what was asked for, how much of the truth it is, and which part of the rows."""

    data: Data
    extent: Extent | None
    page: PageInfo | None
