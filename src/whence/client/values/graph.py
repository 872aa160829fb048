"""Nodes, edges and their evidence: values of answers."""

import msgspec


class Completeness(msgspec.Struct, frozen=True, kw_only=True):
    """The completeness of an answer: if it is incomplete, what stopped it, and the nearest nodes beyond which there is
    more (`frontier`).
    """

    complete: bool
    stopped_by: str | None
    depth_reached: int
    frontier: tuple[str, ...]
    frontier_nodes: int
    hidden_nodes: int
    as_of: str | None
    graph_version: str
    forgotten_before: str | None
    recorded_from: str | None


class Transformation(msgspec.Struct, frozen=True, order=True):
    """A transformation of data."""

    type: str = "UNKNOWN"
    subtype: str = ""
    masking: bool = False
    description: str = ""


class AssertingEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event: its time, its key, its position in the log, its producer."""

    time: str
    event: str
    position: int | None
    producer: str


class RunSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A run that asserted lineage."""

    run: str
    job: str
    state: str
    started_at: str | None
    ended_at: str | None
    last_seen: str | None
    said_at: str


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """The events and runs that prove an edge. `digest` identifies the lineage set."""

    digest: str = msgspec.field(name="set")
    origin: str
    reader: str | None
    first_seen: AssertingEvent
    last_seen: AssertingEvent
    runs: tuple[RunSeen, ...]


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """Data or influence flows from source to target, as `owner` asserts."""

    source: str
    target: str
    owner: str
    transformations: tuple[Transformation, ...]
    origins: tuple[str, ...]
    inferred: bool
    parsed: bool
    confirmed: bool
    evidence: tuple[Evidence, ...]


class ReachedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A reached node. `parent` and `edge` (an index into the answer's edges) are the last hop of one shortest path to
    it, `via` is the composed transformation along that path. `role` is `check` for a job that only checks data.
    """

    node: str
    kind: str
    depth: int
    aliases: tuple[str, ...]
    parent: str | None
    edge: int | None
    via: Transformation | None
    shown: bool
    more: bool
    role: str | None = None


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A node where a traversal of fields ends, because `owner` reports whole datasets only, or not this column."""

    at: str
    owner: str
    datasets: tuple[str, ...]
    reason: str


class LastRun(msgspec.Struct, frozen=True, kw_only=True):
    """The last run of a job."""

    run: str
    state: str
    state_at: str
    started_at: str | None


class Affected(msgspec.Struct, frozen=True, kw_only=True):
    """A node downstream, and one shortest path to it, both ends included. `owners` and `tier` of a field are those of
    its dataset. `influence`: DIRECT if values flow into it, INDIRECT if every way has an indirect edge, else UNKNOWN.
    Of a job: its last run, and the jobs whose runs contained that, an Airflow DAG for example (`parent`, `root`).
    """

    node: str
    kind: str
    distance: int
    influence: str
    type: str
    owners: tuple[str, ...]
    tier: str
    path: tuple[str, ...]
    parent: str | None
    root: str | None
    last_run: LastRun | None


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of affected nodes. An empty owner or tier counts nodes without one. `checks`: the jobs that only
    check data, which no other number counts.
    """

    nodes: int
    jobs: int
    by_kind: dict[str, int]
    by_type: dict[str, int]
    by_owner: dict[str, int]
    by_tier: dict[str, int]
    by_distance: dict[str, int]
    by_influence: dict[str, int]
    checks: int = 0


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One hop of a path: all parallel edges."""

    source: str
    target: str
    edges: tuple[Edge, ...]


class Path(msgspec.Struct, frozen=True, kw_only=True):
    """A path, and its composed transformation (None if it has no step)."""

    steps: tuple[Step, ...]
    via: Transformation | None


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """A count; `relative_error` is 0 if it is exact."""

    count: int
    relative_error: float


class BlastRadius(msgspec.Struct, frozen=True, kw_only=True):
    """The latest blast radius of a node. `current`: no event has arrived since."""

    datasets: Count
    fields: Count
    jobs: Count
    dashboards: Count
    models: Count
    computed_at: str
    current: bool
