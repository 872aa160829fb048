"""Further answers as JSON: impact, runs, history, diff, why not."""

from collections.abc import Iterable, Iterator

from whence.query.answers.instants import iso
from whence.query.answers.values import kind
from whence.query.history.diff import Diff, Retyped
from whence.query.history.edge_changes import EdgeChange
from whence.query.history.history import History, LineageVersion, SchemaVersion
from whence.query.history.schemas import ColumnChange
from whence.query.questions.impact import Affected, Counts, Impact, LastRun
from whence.query.questions.measurements import Measurement
from whence.query.questions.why_not import WhyNot
from whence.query.rendering import documents, report_documents
from whence.query.rendering.answers import Json, event_document, path_document, run_document, transformation_document
from whence.query.runs.commits import Commit
from whence.query.runs.run_lineage import AnswerRun, Handover, RunLineage


def impact_head(found: Impact) -> Json:
    """The head of an impact: its question, and the counts."""
    return {
        "root": str(found.root),
        "grain": found.grain,
        "types": sorted(found.types),
        "counts": counts_document(found.counts),
        "jobs": [affected_document(one) for one in found.jobs],
        "checks": [affected_document(one) for one in found.checks],
    }


def counts_document(counts: Counts) -> documents.Counts:
    """The numbers of nodes, by kind."""
    return {
        "nodes": counts.nodes,
        "jobs": counts.jobs,
        "checks": counts.checks,
        "by_kind": dict(counts.by_kind),
        "by_type": dict(counts.by_type),
        "by_owner": dict(counts.by_owner),
        "by_tier": dict(counts.by_tier),
        "by_distance": {str(distance): count for distance, count in counts.by_distance.items()},
        "by_influence": {influence.value: count for influence, count in counts.by_influence.items()},
    }


def affected_document(one: Affected) -> documents.Affected:
    """An affected node, with the path to it."""
    return {
        "node": str(one.name),
        "kind": kind(one.name),
        "distance": one.distance,
        "influence": one.influence.value,
        "type": one.type,
        "owners": list(one.owners),
        "tier": one.tier,
        "path": [str(name) for name in one.path],
        "parent": None if one.parent is None else str(one.parent),
        "root": None if one.root is None else str(one.root),
        "last_run": None if one.last_run is None else last_run_document(one.last_run),
    }


def last_run_document(run: LastRun) -> documents.LastRun:
    """The last run of a job."""
    started = None if run.started_at is None else iso(run.started_at)
    return {"run": str(run.name), "state": run.state.name, "state_at": iso(run.state_at), "started_at": started}


def measurement_document(one: Measurement) -> report_documents.Measurement:
    """A measurement."""
    return {
        "time": iso(one.time),
        "dataset": None if one.dataset is None else str(one.dataset),
        "column": one.column or None,
        "facet": one.facet or None,
        "role": one.role or None,
        "metric": one.metric,
        "value": one.value,
        "run": None if one.run is None else str(one.run),
        "job": None if one.run is None else str(one.run.job),
    }


def runs_head(found: RunLineage) -> Json:
    """The head of a lineage of runs: its question."""
    return {
        "root": str(found.root),
        "job": str(found.root.job),
        "direction": found.direction,
        "origins": [str(name) for name in found.origins],
    }


def answer_run_document(one: AnswerRun) -> report_documents.RunReached:
    """A run upstream or downstream."""
    commit = one.commit
    return {
        "run": str(one.name),
        "job": str(one.name.job),
        "depth": one.depth,
        "state": one.state.name,
        "began_at": None if one.began is None else iso(one.began),
        "ended_at": None if one.ended is None else iso(one.ended),
        "commit": None if commit is None else commit_document(commit),
        "reads": [str(name) for name in one.reads],
        "writes": [str(name) for name in one.writes],
    }


def commit_document(commit: Commit) -> report_documents.Commit:
    """The location of source code."""
    return {"version": commit.version, "url": commit.url, "branch": commit.branch}


def handover_document(one: Handover) -> report_documents.Handover:
    """A dataset that one run wrote and another run read."""
    return {"writer": str(one.writer), "reader": str(one.reader), "dataset": str(one.dataset), "at": iso(one.at)}


def history_head(found: History) -> Json:
    """The head of a history: its node."""
    return {"node": str(found.node), "kind": kind(found.node)}


def versions_of(found: History) -> list[LineageVersion | SchemaVersion]:
    """Versions of lineage and of the schema in one list, the newest first."""
    return sorted([*found.lineage, *found.schemas], key=version_key)


def version_key(one: LineageVersion | SchemaVersion) -> tuple[int, str, str, str]:
    """The sort key of versions, the newest first."""
    match one:
        case LineageVersion():
            return (-one.valid_from, "lineage", str(one.owner), one.aspect)
        case SchemaVersion():
            return (-one.first_seen, "schema", str(one.dataset), "" if one.event is None else one.event.key)


def version_document(one: LineageVersion | SchemaVersion) -> report_documents.Version:
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
                "event": None if one.event is None else event_document(one.event),
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
                "event": None if one.event is None else event_document(one.event),
                "size": one.columns,
                "changes": [column_change_document(change) for change in one.changes],
            }


def _changes(one: LineageVersion) -> Iterator[tuple[report_documents.ChangeKind, EdgeChange]]:
    changes = one.changes
    several: tuple[tuple[report_documents.ChangeKind, tuple[EdgeChange, ...]], ...] = (
        ("added", changes.added),
        ("removed", changes.removed),
        ("changed", changes.changed),
    )
    for word, some in several:
        yield from ((word, change) for change in some)


def edge_change_document(word: report_documents.ChangeKind, one: EdgeChange) -> report_documents.Change:
    """An edge that was added, removed or changed."""
    return {
        "change": word,
        "what": "edge",
        "node": None,
        "source": str(one.source),
        "target": str(one.target),
        "owner": str(one.owner),
        "before": [transformation_document(transformation) for transformation in one.before],
        "after": [transformation_document(transformation) for transformation in one.after],
    }


def column_change_document(one: ColumnChange) -> report_documents.Change:
    """A column that was added or removed, or has another type."""
    word: report_documents.ChangeKind = "added" if one.before is None else "removed" if one.after is None else "changed"
    return {
        "change": word,
        "what": "column",
        "node": one.name,
        "source": None,
        "target": None,
        "owner": None,
        "before": one.before,
        "after": one.after,
    }


def diff_head(found: Diff, changes: Iterable[report_documents.Change]) -> Json:
    """The head of a diff: the counts."""
    counts: dict[str, dict[str, int]] = {}
    for one in changes:
        of = counts.setdefault(one["what"], {"added": 0, "removed": 0, "changed": 0})
        of[one["change"]] += 1
    return {
        "before": {"as_of": _time(found.before.as_of), "graph_version": found.before.graph_version},
        "after": {"as_of": _time(found.after.as_of), "graph_version": found.after.graph_version},
        "counts": dict(sorted(counts.items())),
    }


def changes_of(found: Diff) -> list[report_documents.Change]:
    """All changes as one list: nodes by name, columns whose type changed, then edges by their ends."""
    nodes = [
        *(node_change_document("added", str(node), kind(node)) for node in found.added),
        *(node_change_document("removed", str(node), kind(node)) for node in found.removed),
        *(_retyped(one) for one in found.retyped),
    ]
    edges = [edge_change_document(word, one) for word, several in _words(found) for one in several]
    return [*sorted(nodes, key=change_key), *sorted(edges, key=change_key)]


def change_key(one: report_documents.Change) -> tuple[str, ...]:
    """The sort key of changes: nodes before edges."""
    if one["what"] == "edge":
        return ("~edge", str(one["target"]), str(one["source"]), str(one["owner"]), one["change"])
    return (one["what"], str(one["node"]), one["change"])


def node_change_document(word: report_documents.ChangeKind, node: str, what: str) -> report_documents.Change:
    """A dataset, field or job that was added or removed."""
    return {
        "change": word,
        "what": what,
        "node": node,
        "source": None,
        "target": None,
        "owner": None,
        "before": [],
        "after": [],
    }


def _retyped(one: Retyped) -> report_documents.Change:
    changed = node_change_document("changed", str(one.field), "field")
    before: list[report_documents.FieldType] = [{"type": one.before}]
    after: list[report_documents.FieldType] = [{"type": one.after}]
    return {**changed, "before": before, "after": after}


def _words(found: Diff) -> Iterable[tuple[report_documents.ChangeKind, tuple[EdgeChange, ...]]]:
    return (("added", found.edges.added), ("removed", found.edges.removed), ("changed", found.edges.changed))


def why_not_document(found: WhyNot) -> documents.WhyNot:
    """A reason from the closed list, or the path that exists."""
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
