"""What changed upstream of a node, as JSON and as rows."""

from typing import Literal

from typing_extensions import TypedDict

from whence.query.answers.instants import iso
from whence.query.history.changes.values import NotKnown, Part, UpstreamChange, UpstreamChanges
from whence.query.rendering import documents
from whence.query.rendering.answers import event_document
from whence.query.rendering.listings import Listing

Kind = Literal["schema", "lineage", "contract", "objective", "quality", "run", "code", "owners"]
Change = Literal["added", "removed", "changed", "renamed", "failed", "recovered", "violated", "fulfilled"]
Reason = Literal[
    "hidden",
    "no column lineage",
    "no schema",
    "checks withheld",
    "older checks",
    "older contract evaluations",
    "older runs",
    "older commits",
    "older owners",
]


class ChangedPart(TypedDict):
    """One thing that changed: a column, a check, a rule, a version, the state of a run; or an edge, from `end`."""

    change: Change
    name: str | None
    end: str | None
    before: str | None
    after: str | None


class ChangeUpstream(TypedDict):
    """A change, `distance` hops upstream of the requested node (0: at the node itself), with what proves it."""

    time: str
    kind: Kind
    change: Change
    node: str
    distance: int
    parts: list[ChangedPart]
    job: str | None
    run: str | None
    event: documents.AssertingEvent | None


class ChangesNotKnown(TypedDict):
    """Why changes may be missing: at how many nodes (0: it is not about nodes), and the nearest of them."""

    reason: Reason
    total: int
    nodes: list[str]


class ChangesUpstream(TypedDict):
    """What changed at a node and upstream of it after `since` and not after `until`, the newest first.

    `datasets` and `jobs`: how many were searched, the node included.
    """

    node: str
    since: str
    until: str
    datasets: int
    jobs: int
    not_known: list[ChangesNotKnown]
    changes: list[ChangeUpstream]


def changes_listing(found: UpstreamChanges) -> Listing:
    """Changes, the newest first."""
    several = found.changes
    return Listing(
        head={
            "node": str(found.node),
            "since": iso(found.since),
            "until": iso(found.until),
            "datasets": found.datasets,
            "jobs": found.jobs,
            "not_known": [not_known_document(one) for one in found.not_known],
        },
        get_completeness=lambda: found.completeness,
        name="changes",
        columns=("time", "kind", "change", "node", "distance", "parts", "job", "run", "event"),
        keys=[(-one.time, one.distance, one.kind.value, str(one.node), place) for place, one in enumerate(several)],
        part=lambda start, end: {"changes": [_change(one) for one in several[start:end]]},
    )


def _change(one: UpstreamChange) -> ChangeUpstream:
    return {
        "time": iso(one.time),
        "kind": one.kind.value,
        "change": one.change.value,
        "node": str(one.node),
        "distance": one.distance,
        "parts": [_part(part) for part in one.parts],
        "job": None if one.job is None else str(one.job),
        "run": None if one.run is None else str(one.run),
        "event": None if one.event is None else event_document(one.event),
    }


def _part(one: Part) -> ChangedPart:
    return {
        "change": one.change.value,
        "name": one.name or None,
        "end": None if one.end is None else str(one.end),
        "before": one.before or None,
        "after": one.after or None,
    }


def not_known_document(one: NotKnown) -> ChangesNotKnown:
    """Why changes may be missing."""
    return {"reason": one.reason.value, "total": one.total, "nodes": [str(name) for name in one.nodes]}
