"""Answers as a head and a list of rows, one for each answer: the API pages through it, CSV and CLI print it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from whence.csv_text import csv_text
from whence.model.ids import node_id
from whence.query.answers.completeness import combine_completeness
from whence.query.answers.instants import iso
from whence.query.answers.values import Completeness, Path, Paths
from whence.query.history.diff import Diff
from whence.query.history.history import History
from whence.query.lookup.search import Found
from whence.query.questions.check_results import CheckResults
from whence.query.questions.impact import Impact
from whence.query.questions.measurements import Measurements
from whence.query.questions.why_not import WhyNot
from whence.query.rendering import reports
from whence.query.rendering.answers import (
    Json,
    answer_part,
    completeness_document,
    hit_documents,
    path_document,
    paths_head,
)
from whence.query.rendering.checks import check_result_document
from whence.query.runs.run_lineage import RunLineage
from whence.query.traversal.node_order import Keys
from whence.query.traversal.result import TraversalResult

Key = tuple[Any, ...]
"""The sort key of a row: distinct, and comparable with the other keys of its list."""


@dataclass(frozen=True, slots=True)
class Listing:
    """An answer: its head, its completeness, and its rows in the order of their keys.

    `part(start, end)` returns the rows as JSON under `name`, with the members that belong to just these rows.
    """

    head: Json
    get_completeness: Callable[[], Completeness | None]
    """The completeness. Reading a part may reach a budget, so it is requested afterwards."""
    name: str
    columns: tuple[str, ...]
    keys: Sequence[Key]
    part: Callable[[int, int | None], Json]

    @property
    def completeness(self) -> Completeness | None:
        """The completeness, as far as the parts were read."""
        return self.get_completeness()

    def document(self) -> Json:
        """The complete answer as one document."""
        part, completeness = self.part(0, None), self.completeness
        return {**self.head, **({} if completeness is None else completeness_document(completeness)), **part}

    def csv(self) -> str:
        """All rows as CSV (RFC 4180), with a header line."""
        return csv_text(self.columns, self.part(0, None)[self.name])


@dataclass(frozen=True, slots=True)
class Whole:
    """An answer that is not a list."""

    head: Json
    completeness: Completeness | None

    def document(self) -> Json:
        """The complete answer as one document."""
        return {**self.head, **({} if self.completeness is None else completeness_document(self.completeness))}

    def csv(self) -> str:
        """A header line and one row."""
        return csv_text(tuple(self.head), [self.head])


def lineage_listing(found: TraversalResult, dropped_at: int | None = None) -> Listing:
    """Nodes upstream or downstream, by distance and name. Edges and gaps are read with their part.

    `dropped_at` (µs): when the dataset in the question was dropped, if it was.
    """
    return Listing(
        head=reached_head(found, dropped_at),
        get_completeness=found.completeness,
        name="nodes",
        columns=("node", "kind", "depth", "parent", "aliases", "via", "shown", "more", "role"),
        keys=Keys(found.order),
        part=lambda start, end: answer_part(found.answer(start, end)),
    )


def both_listing(up: TraversalResult, down: TraversalResult, dropped_at: int | None = None) -> Listing:
    """Nodes in both directions, upstream first; each has its direction."""
    sides = (up, down)
    count, all_ = len(up.order), len(up.order) + len(down.order)

    def part(start: int, end: int | None) -> Json:
        stop = all_ if end is None else end
        cuts = ((min(start, count), min(stop, count)), (max(start - count, 0), max(stop - count, 0)))
        parts = [answer_part(side.answer(*cut)) for side, cut in zip(sides, cuts, strict=True)]
        shift = len(parts[0]["edges"])
        return {
            "nodes": [
                {**node, "direction": side.walk.spec.direction, "edge": _shifted(node["edge"], shift * place)}
                for place, (side, one) in enumerate(zip(sides, parts, strict=True))
                for node in one["nodes"]
            ],
            "edges": [edge for one in parts for edge in one["edges"]],
            "gaps": [gap for one in parts for gap in one["gaps"]],
        }

    head = reached_head(up, dropped_at) | {
        "direction": "both",
        "types": {one.walk.spec.direction: sorted(one.walk.spec.types) for one in sides},
    }
    return Listing(
        head=head,
        get_completeness=lambda: combine_completeness([side.completeness() for side in sides]),
        name="nodes",
        columns=("node", "kind", "direction", "depth", "parent", "aliases", "via", "shown", "more", "role"),
        keys=Keys(up.order, down.order),
        part=part,
    )


def reached_head(found: TraversalResult, dropped_at: int | None) -> Json:
    """The head of a lineage answer: its question."""
    spec = found.walk.spec
    root = str(found.order.name(found.root))
    dropped = None if dropped_at is None else iso(dropped_at)
    return {
        "root": root,
        "direction": spec.direction,
        "grain": found.grain,
        "types": sorted(spec.types),
        "dropped_at": dropped,
    }


def _shifted(place: int | None, by: int) -> int | None:
    return None if place is None else place + by


def impact_listing(found: Impact, dropped_at: int | None = None) -> Listing:
    """Affected nodes, by distance and name."""
    head = reports.impact_head(found) | {"dropped_at": None if dropped_at is None else iso(dropped_at)}

    def part(start: int, end: int | None) -> Json:
        limit = None if end is None else end - start
        return {"nodes": [reports.affected_document(one) for one in found.nodes(start, limit)]}

    columns = ("node", "kind", "distance", "influence", "type", "owners", "tier", "path", "parent", "root", "last_run")
    return Listing(head, lambda: found.completeness, "nodes", columns, Keys(found.order), part)


def measurements_listing(found: Measurements) -> Listing:
    """Measurements, the newest first."""
    several = found.measurements
    return Listing(
        head={"node": str(found.node)},
        get_completeness=lambda: found.completeness,
        name="measurements",
        columns=("time", "dataset", "column", "facet", "role", "metric", "value", "run", "job"),
        keys=[(*one.order, place) for place, one in enumerate(several)],
        part=lambda start, end: {"measurements": [reports.measurement_document(one) for one in several[start:end]]},
    )


def check_results_listing(found: CheckResults) -> Listing:
    """Results of checks, the newest first."""
    several = found.results
    return Listing(
        head={"node": str(found.node)},
        get_completeness=lambda: found.completeness,
        name="checks",
        columns=(
            *("time", "dataset", "column", "assertion", "held", "severity"),
            *("expected", "actual", "failures", "run", "job"),
        ),
        keys=[(*one.order, place) for place, one in enumerate(several)],
        part=lambda start, end: {"checks": [check_result_document(one) for one in several[start:end]]},
    )


def paths_listing(found: Paths) -> Listing:
    """Paths, the shortest first."""
    return Listing(
        head=paths_head(found),
        get_completeness=lambda: found.completeness,
        name="paths",
        columns=("steps", "via"),
        keys=[_key(path) for path in found.paths],
        part=lambda start, end: {"paths": [path_document(path) for path in found.paths[start:end]]},
    )


def _key(path: Path) -> Key:
    """The order of the search: short paths first, then node by node from the target back."""
    back = path.steps[::-1]
    return (len(back), *(node_id(step.target) for step in back), *(node_id(step.source) for step in back[-1:]))


def runs_listing(found: RunLineage) -> Listing:
    """Runs, by distance and id; with the handovers to or from them."""

    def part(start: int, end: int | None) -> Json:
        runs = found.runs[start:end]
        here = {one.name for one in runs}
        upstream = found.direction == "upstream"
        handovers = [one for one in found.handovers if (one.writer if upstream else one.reader) in here]
        return {
            "runs": [reports.answer_run_document(one) for one in runs],
            "handovers": [reports.handover_document(one) for one in handovers],
        }

    columns = ("run", "job", "depth", "state", "began_at", "ended_at", "commit", "reads", "writes")
    keys = [(one.depth, str(one.name), str(one.name.job)) for one in found.runs]
    return Listing(reports.runs_head(found), lambda: found.completeness, "runs", columns, keys, part)


def history_listing(found: History) -> Listing:
    """Versions, the newest first."""
    versions = reports.versions_of(found)
    return Listing(
        head=reports.history_head(found),
        get_completeness=lambda: found.completeness,
        name="versions",
        columns=("kind", "from", "until", "said_by", "aspect", "confirmed", "run", "event", "size", "changes"),
        keys=[(*reports.version_key(one), place) for place, one in enumerate(versions)],
        part=lambda start, end: {"versions": [reports.version_document(one) for one in versions[start:end]]},
    )


def diff_listing(found: Diff) -> Listing:
    """Changes: nodes by name, then edges by their ends."""
    changes = reports.changes_of(found)
    return Listing(
        head=reports.diff_head(found, changes),
        get_completeness=lambda: combine_completeness([found.after, found.before]),
        name="changes",
        columns=("change", "what", "node", "source", "target", "owner", "before", "after"),
        keys=[reports.change_key(one) for one in changes],
        part=lambda start, end: {"changes": changes[start:end]},
    )


def found_listing(found: Found) -> Listing:
    """Names, the best first."""
    return Listing(
        head={"text": found.text, "complete": found.complete, "not_labelled": found.not_labelled},
        get_completeness=lambda: None,
        name="nodes",
        columns=("node", "kind", "by", "labels", "standings"),
        keys=found.ranks,
        part=lambda start, end: {"nodes": hit_documents(found, start, end)},
    )


def why_not_answer(found: WhyNot) -> Whole:
    """One reason."""
    return Whole({**reports.why_not_document(found)}, found.completeness)
