"""The options of questions, as keyword arguments and as parameters of requests."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, TypedDict

Types = Literal["direct", "indirect", "both"]
Time = str | datetime
"""`2026-11-20T06:00` (UTC), `2h ago`, `yesterday`, or a datetime (without a zone: UTC)."""


class Narrowing(TypedDict, total=False):
    """A filter of nodes: in one of these namespaces (may contain `*`), with one of these tags, of one of these owners,
    of one of these kinds (dataset, field, job, or a type such as view).
    """

    namespaces: Sequence[str]
    tags: Sequence[str]
    owners: Sequence[str]
    kinds: Sequence[str]


class Bounds(TypedDict, total=False):
    """The range of a traversal: edges of these types, at most this number of nodes, at a time."""

    types: Types | None
    as_of: Time | None
    max_nodes: int


class Walk(Bounds, Narrowing, total=False):
    """A traversal from a node: hops (all by default), at most this number of edges; only nodes that one of these jobs
    reads or writes; `within`: not through nodes that the filter excludes.
    """

    depth: int | None
    max_edges: int
    jobs: Sequence[str]
    within: bool


class Reach(TypedDict, total=False):
    """The range of a plan: edges of these types, and the most nodes and edges."""

    types: Types | None
    max_nodes: int
    max_edges: int


class Rerun(Reach, total=False):
    """What is wanted again after a fix (all that depends on it by default), and since when the data was broken."""

    targets: Sequence[str]
    since: Time | None


class EvidenceWalk(TypedDict, total=False):
    """The range of the lineage in an evidence pack: edges of these types, hops, and the most nodes and edges."""

    types: Types | None
    depth: int | None
    max_nodes: int
    max_edges: int


_NAMES = {
    "namespaces": "namespace",
    "tags": "tag",
    "owners": "owner",
    "kinds": "kind",
    "jobs": "job",
    "targets": "target",
}
"""The API's names of the options that are lists."""


def parameters_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Convert options to parameters of a request. Raises TypeError for an unknown option."""
    written = {_NAMES.get(name, name): value for name, value in options.items()}
    return {name: iso_text(value) if name in ("as_of", "since") else value for name, value in written.items()}


def iso_text(time: Time | None) -> str | None:
    """Convert a time to text."""
    if not isinstance(time, datetime):
        return time
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()
