"""Changes, versions and runs: values of answers."""

from typing import Any

import msgspec

from whence.client.values.graph import AssertingEvent, RunSeen


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
