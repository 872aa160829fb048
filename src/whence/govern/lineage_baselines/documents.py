"""Lineage baselines as JSON, for the API and the command line alike, as one viewer may read them."""

from collections.abc import Mapping, Sequence

from typing_extensions import TypedDict

from whence.govern.gate.records import person_of
from whence.govern.lineage_baselines.current import ComparedBaseline
from whence.govern.lineage_baselines.drift import EdgeDrift
from whence.model.access import Viewer
from whence.model.names import DatasetName
from whence.model.records.certification import CertificationText
from whence.query.answers.instants import iso

MOST_CHANGES = 500
"""Changes that a document names; the others are counted."""


class LineageChange(TypedDict):
    """An edge that differs (`added`, `removed` or `changed`), with its transformations before and after. `source`: null
    if a job does not report what the target is made of. `before` and `after` are for callers who may see everything.
    """

    change: str
    source: str | None
    target: str
    before: list[str]
    after: list[str]


class LineageBaselineRow(TypedDict):
    """The baseline of a dataset: whether the lineage is still the accepted one (`ok`, `drifted`, `not evaluated`, `no
    baseline`), who accepted it, and how many edges it has, and how many differ. `certification`: null without a rule.
    """

    node: str
    state: str
    certification: str | None
    accepted_at: str | None
    accepted_by: str | None
    edges: int
    differing: int


class LineageBaselineDocument(LineageBaselineRow):
    """A baseline with what differs. `reason` and `digest` are for callers who may see everything, `hidden`: changes of
    edges that the caller may not see; `more`: changes beyond the named ones; `forgotten`: removed edges that the store
    does not know any more. `position`: what had been read of the log.
    """

    at: str
    reason: str | None
    digest: str | None
    position: str | None
    changes: list[LineageChange]
    hidden: int
    more: int
    forgotten: int


class LineageBaselineList(TypedDict):
    """The baselines of visible datasets, and the certified datasets that have none."""

    at: str
    baselines: list[LineageBaselineRow]
    without: list[str]


Certified = Mapping[DatasetName, CertificationText]


def baseline_row(name: DatasetName, found: ComparedBaseline | None, certified: Certified) -> LineageBaselineRow:
    """The baseline of a visible dataset; None: it has none."""
    base: LineageBaselineRow = {
        "node": str(name),
        "state": "no baseline",
        "certification": certified.get(name),
        "accepted_at": None,
        "accepted_by": None,
        "edges": 0,
        "differing": 0,
    }
    if found is None:
        return base
    one, drift = found.baseline, found.drift
    return {
        **base,
        "state": drift.state,
        "accepted_at": iso(one.time),
        "accepted_by": person_of(one.producer) or None,
        "edges": len(one.record.edges),
        "differing": len(drift.changes) + drift.forgotten,
    }


def baseline_document(
    name: DatasetName, found: ComparedBaseline | None, certified: Certified, at: int, viewer: Viewer
) -> LineageBaselineDocument:
    """The baseline of a visible dataset with what differs, as a viewer may read it."""
    record = found.baseline.record if found and viewer.can_see_all else None
    changes = found.drift.changes if found else ()
    shown = [one for one in changes if _is_visible(one, viewer)]
    return {
        **baseline_row(name, found, certified),
        "at": iso(at),
        "reason": (record.reason or None) if record else None,
        "digest": record.digest if record else None,
        "position": (found.baseline.record.position or None) if found else None,
        "changes": [_change(one, viewer) for one in shown[:MOST_CHANGES]],
        "hidden": len(changes) - len(shown),
        "more": max(0, len(shown) - MOST_CHANGES),
        "forgotten": found.drift.forgotten if found else 0,
    }


def baselines_document(
    compared: Sequence[ComparedBaseline], certified: Certified, at: int, viewer: Viewer
) -> LineageBaselineList:
    """All baselines of datasets that a viewer may see."""
    held = {one.baseline.dataset for one in compared}
    without = (name for name, status in certified.items() if status == "certified" and name not in held)
    return {
        "at": iso(at),
        "baselines": [
            baseline_row(one.baseline.dataset, one, certified)
            for one in compared
            if viewer.can_see(one.baseline.dataset)
        ],
        "without": sorted(str(name) for name in without if viewer.can_see(name)),
    }


def _is_visible(one: EdgeDrift, viewer: Viewer) -> bool:
    edge = one.edge
    return viewer.can_see(edge.target) and (edge.source is None or viewer.can_see(edge.source))


def _change(one: EdgeDrift, viewer: Viewer) -> LineageChange:
    is_whole = viewer.can_see_all
    return {
        "change": one.change,
        "source": None if one.edge.source is None else str(one.edge.source),
        "target": str(one.edge.target),
        "before": list(one.before) if is_whole else [],
        "after": list(one.after) if is_whole else [],
    }
