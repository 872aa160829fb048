"""The values in answers. Nodes and runs are node ids (`dataset:…`, `run:…`), times ISO 8601 in UTC."""

from typing import Any

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


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A node, column or edge (`what`) that was added, removed or changed.

    `before` and `after`: transformations of an edge, `{"type": …}` of a field, the type of a column.
    """

    change: str
    what: str
    node: str | None
    source: str | None
    target: str | None
    owner: str | None
    before: Any
    after: Any


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """A version of the lineage or the schema of a node, its validity interval, and its changes. `size`: edges, or
    columns.
    """

    kind: str
    since: str = msgspec.field(name="from")
    until: str | None
    said_by: str
    aspect: str
    confirmed: bool
    run: RunSeen | None
    event: AssertingEvent | None
    size: int
    changes: tuple[Change, ...]


class State(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison."""

    as_of: str | None
    graph_version: str


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """The location of source code, and its version."""

    version: str
    url: str
    branch: str


class ReachedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run, `depth` hops from the requested one."""

    run: str
    job: str
    depth: int
    state: str
    began_at: str | None
    ended_at: str | None
    commit: Commit | None
    reads: tuple[str, ...]
    writes: tuple[str, ...]


class Handover(msgspec.Struct, frozen=True, kw_only=True):
    """`reader` read what `writer` wrote."""

    writer: str
    reader: str
    dataset: str
    at: str


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """A number that a run or a dataset event (`run` is None) reported of a dataset or of one of its columns; or the
    `duration` of a run in seconds.
    """

    time: str
    dataset: str | None
    column: str | None
    facet: str | None
    role: str | None
    metric: str
    value: int | float
    run: str | None
    job: str | None


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a run found of an assertion on a dataset or on one of its columns. `severity` `warn` is not an error."""

    time: str
    dataset: str
    assertion: str
    column: str | None
    held: bool
    severity: str | None
    expected: str | None
    actual: str | None
    failures: int | None
    run: str | None
    job: str | None


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


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """An owner of a dataset or job."""

    name: str
    role: str


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is asserted of a dataset or job. `types`: what it says that it is (VIEW, DASHBOARD).

    `certification`: tags by hand; `certification_status`: what rules of certification say, None without one.
    """

    node: str
    types: tuple[str, ...]
    owners: tuple[Owner, ...]
    certification: tuple[str, ...]
    tier: int | None
    contract_version: str | None = None
    certification_status: str | None = None
    aliases: tuple[str, ...] = ()


class KnownField(msgspec.Struct, frozen=True):
    """A column in a schema."""

    name: str
    type: str | None = None


class KnownFields(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a dataset."""

    fields: tuple[KnownField, ...]


class DatasetEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question about one dataset."""

    data: KnownFields


class KnownCheck(msgspec.Struct, frozen=True, kw_only=True):
    """An assertion about a dataset or one of its columns, and its latest result. `severity` `warn` is not an error."""

    assertion: str
    held: bool
    column: str | None = None
    severity: str | None = None
    expected: str | None = None
    actual: str | None = None
    failures: int | None = None


class CheckedDataset(msgspec.Struct, frozen=True, kw_only=True):
    """The checks of a dataset in the latest run of one job that checks it."""

    dataset: str
    run: str
    job: str
    time: str
    checks: tuple[KnownCheck, ...]


class ChecksPage(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question about checks."""

    data: tuple[CheckedDataset, ...]


class KnownJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job, what it writes, and its facets."""

    node: str
    outputs: tuple[str, ...]
    facets: dict[str, Any]


class JobsPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some jobs, and where the next ones are."""

    data: tuple[KnownJob, ...]
    page: dict[str, Any] | None


class FactsPage(msgspec.Struct, frozen=True, kw_only=True):
    """What is asserted of several nodes."""

    data: tuple[NodeFacts, ...]


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """A role in the namespaces that match a pattern."""

    role: str
    namespaces: str


class CurrentUser(msgspec.Struct, frozen=True, kw_only=True):
    """The current user: `key:NAME` or `user:SUBJECT`, their highest role, and all roles granted to them."""

    name: str
    role: str | None
    grants: tuple[Grant, ...]


class SignedIn(msgspec.Struct, frozen=True, kw_only=True):
    """The current user, if known. `open`: the server needs no keys."""

    open: bool
    me: CurrentUser | None
