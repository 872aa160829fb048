"""The types of the documents of changes, histories, runs and measurements. Nodes are node ids, times ISO 8601 UTC."""

from typing import Literal

from typing_extensions import TypedDict

from whence.query.rendering.documents import AssertingEvent, RunSeen, Transformation

ChangeKind = Literal["added", "removed", "changed"]


class FieldType(TypedDict):
    """The type of a field."""

    type: str


ChangeSide = str | list[Transformation] | list[FieldType] | None
"""One side of a change: for an edge its transformations, for a field or column its type."""


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
        "event": AssertingEvent | None,
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
    """The differences between two states."""

    before: State
    after: State
    counts: dict[str, dict[str, int]]
    changes: list[Change]


class Commit(TypedDict):
    """The location of source code, and its version."""

    version: str
    url: str
    branch: str


class RunReached(TypedDict):
    """A run upstream or downstream."""

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
    """A dataset that one run wrote and another run read."""

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


class Measurement(TypedDict):
    """A number that a run or a dataset event (`run` is null) reported of a dataset or of one of its columns; or the
    `duration` of a run in seconds.
    """

    time: str
    dataset: str | None
    column: str | None
    facet: str | None
    role: str | None
    metric: str
    value: float
    run: str | None
    job: str | None


class Measurements(TypedDict):
    """The measurements of a node, the newest first."""

    node: str
    measurements: list[Measurement]
