"""Records of a gate as one viewer may read them: hidden nodes are counted, and free texts that may name them are left
out.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TypeVar

import msgspec

from whence.model import gate_records
from whence.model.catalog import RegisteredFacet, RegisteredFilter
from whence.model.gate_records import (
    HIDDEN_NODE,
    AffectedRecord,
    ChangeRecord,
    FindingRecord,
    PromotionRecord,
    RequiredRecord,
    VerdictRecord,
    WaiverRecord,
)
from whence.model.names import DatasetName
from whence.model.records import containment
from whence.model.records.containment import StepRecord
from whence.query.ports.catalog import Catalog
from whence.query.visibility.incident_records import shown_incident_record
from whence.query.visibility.notification_records import shown_receipt_record
from whence.query.visibility.rule_records import shown_rule_record
from whence.query.visibility.slo_records import shown_slo_record

Record = TypeVar("Record", VerdictRecord, WaiverRecord, PromotionRecord)
Shown = AbstractSet[str]
"""The node ids that the viewer may see."""

FindVisible = Callable[[Shown], Shown]
"""Finds those among node ids."""


def list_visible_records(
    catalog: Catalog, wanted: RegisteredFilter, is_visible: Callable[[DatasetName], bool], find_visible: FindVisible
) -> Sequence[RegisteredFacet]:
    """The records of visible repositories, as many as are wanted. Records that cannot be read are left out."""
    found: list[RegisteredFacet] = []
    rest = wanted
    while True:
        page = catalog.registered_facets(rest)
        visible = ((one, _payload(one, wanted.facet, find_visible)) for one in page if is_visible(one.name))
        found += [one._replace(payload=payload) for one, payload in visible if payload]
        if wanted.limit is None or len(page) < wanted.limit or len(found) >= wanted.limit:
            return found[: wanted.limit]
        rest = rest._replace(before=(page[-1].time, page[-1].name.name))


def _payload(one: RegisteredFacet, facet: str, find_visible: FindVisible) -> str:
    """The JSON of a record as the viewer may read it; empty if it cannot be read."""
    match facet:
        case gate_records.APPROVAL:
            return "{}"
        case gate_records.VERDICT if verdict := read_record(one.payload, VerdictRecord):
            return write_record(visible_verdict(verdict, find_visible(nodes_of(verdict))))
        case gate_records.WAIVER if waiver := read_record(one.payload, WaiverRecord):
            return write_record(visible_waiver(waiver))
        case gate_records.PROMOTION if promotion := read_record(one.payload, PromotionRecord):
            shown = find_visible(nodes_of_promotion(promotion))
            return write_record(visible_promotion(promotion, shown)) if promotion.node in shown else ""
        case containment.CONTAINMENT if step := _read_step(one.payload):
            return msgspec.json.encode(visible_step(step, find_visible({step.node}))).decode()
    readers = (shown_slo_record, shown_incident_record, shown_receipt_record, shown_rule_record)
    return next((text for read in readers if (text := read(one.payload, facet))), "")


def nodes_of(verdict: VerdictRecord) -> AbstractSet[str]:
    """The ids of all nodes in a verdict."""
    reasons = (reason for change in verdict.changes for reason in change.why)
    return {
        *(change.node for change in verdict.changes),
        *(node for reason in reasons for node in reason.nodes),
        *(one.node for one in verdict.affected),
        *(node for one in verdict.affected for node in one.path),
    }


def read_record(payload: str, record: type[Record]) -> Record | None:
    """A record from the JSON of its facet; None if it has another form."""
    try:
        return msgspec.json.decode(payload, type=record)
    except msgspec.DecodeError:
        return None


def write_record(record: VerdictRecord | WaiverRecord | PromotionRecord) -> str:
    """The JSON of a record."""
    return msgspec.json.encode(record).decode()


def visible_verdict(verdict: VerdictRecord, shown: Shown) -> VerdictRecord:
    """A verdict without hidden nodes. A change of a hidden node is only counted."""
    changes = tuple(_change(one, shown) for one in verdict.changes if one.node in shown)
    ids = frozenset(one.id for one in changes)
    affected = tuple(_affected(one, shown, ids) for one in verdict.affected if one.node in shown)
    return VerdictRecord(
        verdict=verdict.verdict,
        commit=verdict.commit,
        base=verdict.base,
        pull=verdict.pull,
        graph_version=verdict.graph_version,
        changes=changes,
        more_changes=verdict.more_changes,
        affected=affected,
        more=verdict.more,
        hidden=verdict.hidden + len(verdict.affected) - len(affected),
        hidden_changes=verdict.hidden_changes + len(verdict.changes) - len(changes),
        hidden_notices=verdict.hidden_notices + len(verdict.notices) + len(verdict.unjudged),
        required_approvals=tuple(_required(one, verdict, shown, ids) for one in verdict.required_approvals),
        stale_approvals=verdict.stale_approvals,
        expired_waivers=tuple(one for one in verdict.expired_waivers if one.change in ids),
        skipped=verdict.skipped,
    )


def _read_step(payload: str) -> StepRecord | None:
    try:
        return msgspec.json.decode(payload, type=StepRecord)
    except msgspec.DecodeError:
        return None


def visible_step(step: StepRecord, shown: Shown) -> StepRecord:
    """A step of containment without the broken data, if that is hidden, and without texts of the orchestrator."""
    return replace(step, node=step.node if step.node in shown else "", reason="")


def visible_waiver(waiver: WaiverRecord) -> WaiverRecord:
    """A waiver without its reason, which is free text."""
    return replace(waiver, reason="")


def nodes_of_promotion(promotion: PromotionRecord) -> AbstractSet[str]:
    """The ids of all nodes in the verdict on a promotion."""
    found = {promotion.node, *promotion.outputs, *promotion.inputs}
    return found | {node for one in promotion.findings for node in one.nodes}


def visible_promotion(promotion: PromotionRecord, shown: Shown) -> PromotionRecord:
    """A verdict on a promotion without hidden nodes. Who may not see the node itself is not told its verdict."""
    return replace(
        promotion,
        outputs=_nodes(promotion.outputs, shown),
        inputs=_nodes(promotion.inputs, shown),
        findings=tuple(_finding(one, shown) for one in promotion.findings),
    )


def _finding(one: FindingRecord, shown: Shown) -> FindingRecord:
    """A text may quote the name of a check, in which any name may be."""
    return replace(one, text=one.text.partition(": ")[0], nodes=_nodes(one.nodes, shown))


def _change(one: ChangeRecord, shown: Shown) -> ChangeRecord:
    """`before`, `after` and `reason` are formulas and texts, in which any name may be."""
    why = tuple(replace(reason, nodes=_nodes(reason.nodes, shown)) for reason in one.why)
    waiver = one.waiver and visible_waiver(one.waiver)
    return replace(one, before="", after="", reason="", why=why, waiver=waiver)


def _affected(one: AffectedRecord, shown: Shown, ids: frozenset[str]) -> AffectedRecord:
    changes = tuple(id_ for id_ in one.changes if id_ in ids)
    return replace(one, path=_nodes(one.path, shown), changes=changes)


def _required(one: RequiredRecord, verdict: VerdictRecord, shown: Shown, ids: frozenset[str]) -> RequiredRecord:
    """An owner is named only if every node is visible whose owner it may be."""
    changes = [change for change in verdict.changes if change.id in one.changes]
    nodes = {node for change in changes for reason in change.why for node in (change.node, *reason.nodes)}
    kept = tuple(id_ for id_ in one.changes if id_ in ids)
    if nodes <= shown:
        return replace(one, changes=kept)
    return RequiredRecord(approved_by=HIDDEN_NODE if one.approved_by else None, changes=kept)


def _nodes(nodes: tuple[str, ...], shown: Shown) -> tuple[str, ...]:
    return tuple(one if one in shown else HIDDEN_NODE for one in nodes)
