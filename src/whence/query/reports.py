"""The further answers as JSON: impact, runs, history, what changed, why not."""

from collections.abc import Iterable, Iterator

from whence.query.changes import EdgeChange
from whence.query.diff import Diff, Retyped
from whence.query.document import (
    Json,
    kind,
    path_document,
    run_document,
    said_document,
    transformation_document,
)
from whence.query.history import History, LineageVersion, SchemaVersion
from whence.query.impact import Affected, Counts, Impact
from whence.query.instants import iso
from whence.query.runs import AnswerRun, Handover, RunLineage
from whence.query.schemas import ColumnChange
from whence.query.why import WhyNot


def impact_head(found: Impact) -> Json:
    """Which question an impact answers, and the counts."""
    return {
        "root": str(found.root),
        "grain": found.grain,
        "types": sorted(found.types),
        "counts": counts_document(found.counts),
    }


def counts_document(counts: Counts) -> Json:
    """How many nodes, by what they are."""
    return {
        "nodes": counts.nodes,
        "jobs": counts.jobs,
        "by_kind": dict(counts.by_kind),
        "by_type": dict(counts.by_type),
        "by_owner": dict(counts.by_owner),
        "by_tier": dict(counts.by_tier),
        "by_distance": {str(distance): count for distance, count in counts.by_distance.items()},
    }


def affected_document(one: Affected) -> Json:
    """An affected node, with the way to it."""
    return {
        "node": str(one.name),
        "kind": kind(one.name),
        "distance": one.distance,
        "type": one.type,
        "owners": list(one.owners),
        "tier": one.tier,
        "path": [str(name) for name in one.path],
    }


def runs_head(found: RunLineage) -> Json:
    """Which question the lineage of runs answers."""
    return {
        "root": str(found.root),
        "job": str(found.root.job),
        "direction": found.direction,
        "origins": [str(name) for name in found.origins],
    }


def answer_run_document(one: AnswerRun) -> Json:
    """A run on the way."""
    commit = one.commit
    return {
        "run": str(one.name),
        "job": str(one.name.job),
        "depth": one.depth,
        "state": one.state.name,
        "began_at": None if one.began is None else iso(one.began),
        "ended_at": None if one.ended is None else iso(one.ended),
        "commit": commit and {"version": commit.version, "url": commit.url, "branch": commit.branch},
        "reads": [str(name) for name in one.reads],
        "writes": [str(name) for name in one.writes],
    }


def handover_document(one: Handover) -> Json:
    """That one run read what another wrote."""
    return {"writer": str(one.writer), "reader": str(one.reader), "dataset": str(one.dataset), "at": iso(one.at)}


def history_head(found: History) -> Json:
    """Whose history it is."""
    return {"node": str(found.node), "kind": kind(found.node)}


def versions_of(found: History) -> list[LineageVersion | SchemaVersion]:
    """Versions of lineage and of the schema in one list, the newest first."""
    return sorted([*found.lineage, *found.schemas], key=version_key)


def version_key(one: LineageVersion | SchemaVersion) -> tuple[int, str, str, str]:
    """Sorts versions, the newest first."""
    match one:
        case LineageVersion():
            return (-one.valid_from, "lineage", str(one.owner), one.aspect)
        case SchemaVersion():
            return (-one.first_seen, "schema", str(one.dataset), "" if one.event is None else one.event.key)


def version_document(one: LineageVersion | SchemaVersion) -> Json:
    """A version of either kind."""
    match one:
        case LineageVersion():
            return {
                "kind": "lineage",
                "from": iso(one.valid_from),
                "until": None if one.valid_to is None else iso(one.valid_to),
                "said_by": str(one.owner),
                "aspect": one.aspect,
                "confirmed": one.confirmed,
                "run": None if one.run is None else run_document(one.run),
                "event": None if one.event is None else said_document(one.event),
                "size": one.edges,
                "changes": [edge_change_document(*change) for change in _changes(one)],
            }
        case SchemaVersion():
            return {
                "kind": "schema",
                "from": iso(one.first_seen),
                "until": iso(one.last_seen),
                "said_by": str(one.dataset),
                "aspect": "declared",
                "confirmed": True,
                "run": None,
                "event": None if one.event is None else said_document(one.event),
                "size": one.columns,
                "changes": [column_change_document(change) for change in one.changes],
            }


def _changes(one: LineageVersion) -> Iterator[tuple[str, EdgeChange]]:
    for word, several in (
        ("added", one.changes.added),
        ("removed", one.changes.removed),
        ("changed", one.changes.changed),
    ):
        yield from ((word, change) for change in several)


def edge_change_document(word: str, one: EdgeChange) -> Json:
    """An edge that was added, removed or changed."""
    return {
        "change": word,
        "what": "edge",
        "node": None,
        "source": str(one.source),
        "target": str(one.target),
        "owner": str(one.owner),
        "before": [transformation_document(said) for said in one.before],
        "after": [transformation_document(said) for said in one.after],
    }


def column_change_document(one: ColumnChange) -> Json:
    """A column that was added or removed, or has another type."""
    word = "added" if one.before is None else "removed" if one.after is None else "changed"
    return {"change": word, "what": "column", "node": one.name, "before": one.before, "after": one.after}


def diff_head(found: Diff, changes: Iterable[Json]) -> Json:
    """How much changed."""
    counts: dict[str, dict[str, int]] = {}
    for one in changes:
        of = counts.setdefault(one["what"], {"added": 0, "removed": 0, "changed": 0})
        of[one["change"]] += 1
    return {
        "before": {"as_of": _time(found.before.as_of), "graph_version": found.before.graph_version},
        "after": {"as_of": _time(found.after.as_of), "graph_version": found.after.graph_version},
        "counts": dict(sorted(counts.items())),
    }


def changes_of(found: Diff) -> list[Json]:
    """All changes as one list: nodes by name, columns whose type changed, then edges by their ends."""
    nodes = [
        *(node_change_document("added", str(node), kind(node)) for node in found.added),
        *(node_change_document("removed", str(node), kind(node)) for node in found.removed),
        *(_retyped(one) for one in found.retyped),
    ]
    edges = [edge_change_document(word, one) for word, several in _words(found) for one in several]
    return [*sorted(nodes, key=change_key), *sorted(edges, key=change_key)]


def change_key(one: Json) -> tuple[str, ...]:
    """Sorts changes: nodes before edges."""
    if one["what"] == "edge":
        return ("~edge", one["target"], one["source"], one["owner"], one["change"])
    return (one["what"], one["node"], one["change"])


def node_change_document(word: str, node: str, what: str) -> Json:
    """A dataset, field or job that came or went."""
    none = dict.fromkeys(("source", "target", "owner"))
    return {"change": word, "what": what, "node": node, **none, "before": [], "after": []}


def _retyped(one: Retyped) -> Json:
    types = {"before": [{"type": one.before}], "after": [{"type": one.after}]}
    return {**node_change_document("changed", str(one.field), "field"), **types}


def _words(found: Diff) -> Iterable[tuple[str, tuple[EdgeChange, ...]]]:
    return (("added", found.edges.added), ("removed", found.edges.removed), ("changed", found.edges.changed))


def why_not_document(found: WhyNot) -> Json:
    """A reason of the closed list, or the path that there is."""
    return {
        "source": found.source,
        "target": found.target,
        "connected": found.reason is None,
        "reason": found.reason,
        "detail": found.detail,
        "nearest": list(found.nearest),
        "until": _time(found.until),
        "path": None if found.path is None else path_document(found.path),
    }


def _time(at: int | None) -> str | None:
    return None if at is None else iso(at)
