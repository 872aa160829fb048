"""What a gate records, as facets of OpenLineage events and back.

Who approved or waived is the producer of the event, so that nobody does it for others: the collector replaces the
producer of an event whose sender is somebody else.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from urllib.parse import unquote

from whence.model.catalog import RegisteredFacet, RegisteredFilter, RegistryKind, Window
from whence.model.gate_records import (
    APPROVAL,
    PROMOTION,
    VERDICT,
    WAIVER,
    PromotionRecord,
    VerdictRecord,
    WaiverRecord,
    keys_of,
    promotion_dataset,
    verdict_dataset,
)
from whence.model.names import DatasetName, JobName
from whence.openlineage.authority.restrictions import PERSON
from whence.openlineage.write import own_facet
from whence.query.ports.catalog import Catalog
from whence.query.visibility.gate_records import read_record

Json = dict[str, Any]
Facets = Mapping[str, Json]

_FACETS = {
    RegistryKind.VERDICT: VERDICT,
    RegistryKind.APPROVAL: APPROVAL,
    RegistryKind.WAIVER: WAIVER,
    RegistryKind.PROMOTION: PROMOTION,
}
MOST_ROWS = 500
"""Changes, and affected nodes, in one record; the rest is counted. The worst and the leading ones come first."""


def verdict_facets(verdict: Json) -> Facets:
    """The facets that record a verdict."""
    return {VERDICT: own_facet("GateVerdictDatasetFacet", **verdict)}


def promotion_facets(promotion: Json) -> Facets:
    """The facets that record the verdict on a promotion."""
    return {PROMOTION: own_facet("GatePromotionDatasetFacet", **promotion)}


def approval_facets(*, approves: bool) -> Facets:
    """The facets by which a person approves a commit, or withdraws the approval."""
    return {APPROVAL: own_facet("GateApprovalDatasetFacet", **({} if approves else {"_deleted": True}))}


def waiver_facets(waiver: WaiverRecord | None) -> Facets:
    """The facets that waive a change; None: that end its waiver."""
    if waiver is None:
        return {WAIVER: own_facet("GateWaiverDatasetFacet", _deleted=True)}
    return {WAIVER: own_facet("GateWaiverDatasetFacet", reason=waiver.reason, expires=waiver.expires)}


def shortened(verdict: VerdictRecord) -> VerdictRecord:
    """The verdict with at most `MOST_ROWS` changes and affected nodes."""
    return replace(
        verdict,
        changes=verdict.changes[:MOST_ROWS],
        more_changes=verdict.more_changes + max(0, len(verdict.changes) - MOST_ROWS),
        affected=verdict.affected[:MOST_ROWS],
        more=verdict.more + max(0, len(verdict.affected) - MOST_ROWS),
    )


def is_transition(before: VerdictRecord | None, after: VerdictRecord) -> bool:
    """Whether a verdict differs from the one that is recorded. A new state of the graph alone is no difference."""
    return before is None or replace(before, graph_version="") != replace(after, graph_version="")


def is_new_promotion(before: PromotionRecord | None, after: PromotionRecord) -> bool:
    """Whether a verdict on a promotion differs from the one that is recorded, but for the state of the graph."""
    return before is None or replace(before, graph_version="") != replace(after, graph_version="")


def person_of(producer: str) -> str:
    """The name of the person who is an event's producer; empty if that is no person, or not verified."""
    return unquote(producer.removeprefix(PERSON)) if producer.startswith(PERSON) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedApproval:
    """Who approved which commit, at `time` (µs)."""

    repository: str
    commit: str
    person: str
    time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedWaiver:
    """A change that may pass until the end of a day (UTC). `owner` recorded it, at `time` (µs)."""

    repository: str
    change: str
    owner: str
    reason: str
    expires: date
    time: int


def list_records(
    catalog: Catalog, kind: RegistryKind, repository: str, window: Window | None = None, begins: str = ""
) -> Sequence[RegisteredFacet]:
    """Records of a kind, the latest first; of one repository unless that is empty; all without a window."""
    wanted = RegisteredFilter(kind, _FACETS[kind], begins, repository, limit=window.limit if window else None)
    if window and window.after is not None:
        time, name = window.after
        wanted = wanted._replace(before=(int(time), str(name)))
    found = catalog.registered_facets(wanted)
    return [one for one in found if not repository or keys_of(one.name)[-1] == repository]


def find_verdict(catalog: Catalog, repository: str, commit: str) -> RegisteredFacet | None:
    """The record of the verdict on a commit."""
    wanted = verdict_dataset(repository, commit)
    found = list_records(catalog, RegistryKind.VERDICT, repository, begins=begin_of(commit))
    return next((one for one in found if one.name == wanted), None)


def find_promotion(catalog: Catalog, node: DatasetName | JobName) -> RegisteredFacet | None:
    """The record of the verdict on a promotion."""
    wanted = promotion_dataset(node)
    begins = wanted.name.partition("/")[2]
    found = list_records(catalog, RegistryKind.PROMOTION, node.namespace, begins=begins)
    return next((one for one in found if one.name == wanted), None)


def approvals_of(catalog: Catalog, repository: str, commit: str) -> Sequence[RecordedApproval]:
    """Who approved a commit."""
    return list(approvals_in(list_records(catalog, RegistryKind.APPROVAL, repository, begins=begin_of(commit))))


def waivers_of(catalog: Catalog, repository: str) -> Sequence[RecordedWaiver]:
    """The waivers of a repository, expired ones among them."""
    return list(waivers_in(list_records(catalog, RegistryKind.WAIVER, repository)))


def approvals_in(found: Iterable[RegisteredFacet]) -> Iterator[RecordedApproval]:
    """The approvals among records. One that was written for somebody else does not count."""
    for one in found:
        commit, person, repository = keys_of(one.name)
        if person and person == person_of(one.producer):
            yield RecordedApproval(repository=repository, commit=commit, person=person, time=one.time)


def waivers_in(found: Iterable[RegisteredFacet]) -> Iterator[RecordedWaiver]:
    """The waivers among records. One without a person or a last day does not count."""
    for one in found:
        waiver, owner = read_record(one.payload, WaiverRecord), person_of(one.producer)
        expires = _day(waiver.expires) if waiver else None
        if waiver and owner and expires:
            change, repository = keys_of(one.name)
            yield RecordedWaiver(
                repository=repository,
                change=change,
                owner=owner,
                reason=waiver.reason,
                expires=expires,
                time=one.time,
            )


def begin_of(commit: str) -> str:
    """How the names of all records of a commit begin, after their kind."""
    return verdict_dataset("", commit).name.partition("/")[2]


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
