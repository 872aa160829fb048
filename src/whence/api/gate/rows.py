"""Recorded verdicts, approvals and waivers as rows of answers."""

from collections.abc import Iterable, Sequence
from datetime import date

from whence.api.gate.response_types import ApprovalRow, PromotionRow, RecordedVerdict, VerdictRow, WaiverRow
from whence.api.requests.pages import Key
from whence.errors import ThingNotFoundError
from whence.govern.gate.records import (
    RecordedApproval,
    RecordedWaiver,
    approvals_of,
    find_verdict,
    person_of,
)
from whence.model.catalog import RegisteredFacet
from whence.model.gate_records import PromotionRecord, VerdictRecord, keys_of
from whence.query.answers.instants import iso
from whence.query.ports.catalog import Catalog
from whence.query.visibility.gate_records import read_record

RECORD_KEY = (int, str)
"""The types of a cursor's parts: time (µs) and name."""


def record_key(one: RegisteredFacet) -> Key:
    """The place of a record in a list."""
    return one.time, one.name.name


def recorded_verdict(catalog: Catalog, repository: str, commit: str) -> RecordedVerdict:
    """The verdict on a commit with its approvals. Raises ThingNotFoundError."""
    found = find_verdict(catalog, repository, commit)
    verdict = read_record(found.payload, VerdictRecord) if found else None
    if found is None or verdict is None:
        raise ThingNotFoundError("Verdict", f"{repository} {commit}")
    return {
        "repository": repository,
        "recorded_at": iso(found.time),
        "recorded_by": _recorder(found),
        "verdict": verdict,
        "approvals": approval_rows(approvals_of(catalog, repository, commit)),
    }


def verdict_rows(found: Sequence[RegisteredFacet]) -> list[VerdictRow]:
    """Verdicts as rows. What has another form than a verdict is left out."""
    read = ((one, read_record(one.payload, VerdictRecord)) for one in found)
    return [_verdict_row(one, verdict) for one, verdict in read if verdict is not None]


def _verdict_row(one: RegisteredFacet, verdict: VerdictRecord) -> VerdictRow:
    commit, repository = keys_of(one.name)
    return {
        "repository": repository,
        "commit": commit,
        "verdict": verdict.verdict,
        "pull": verdict.pull,
        "recorded_at": iso(one.time),
        "recorded_by": _recorder(one),
        "changes": len(verdict.changes) + verdict.more_changes + verdict.hidden_changes,
        "affected": len(verdict.affected) + verdict.more,
        "hidden": verdict.hidden,
    }


def approval_rows(found: Iterable[RecordedApproval]) -> list[ApprovalRow]:
    """Approvals as rows."""
    return [
        {
            "repository": one.repository,
            "commit": one.commit,
            "person": one.person,
            "recorded_at": iso(one.time),
        }
        for one in found
    ]


def waiver_rows(found: Iterable[RecordedWaiver], today: date) -> list[WaiverRow]:
    """Waivers as rows; `today`: in UTC."""
    return [
        {
            "repository": one.repository,
            "change": one.change,
            "owner": one.owner,
            "reason": one.reason,
            "expires": one.expires.isoformat(),
            "is_expired": today > one.expires,
            "recorded_at": iso(one.time),
        }
        for one in found
    ]


def promotion_rows(found: Iterable[RegisteredFacet]) -> list[PromotionRow]:
    """Verdicts on promotions as rows. What has another form is left out."""
    return [row for row in map(promotion_row, found) if row is not None]


def promotion_row(one: RegisteredFacet) -> PromotionRow | None:
    """A verdict on a promotion; None if it has another form."""
    if (promotion := read_record(one.payload, PromotionRecord)) is None:
        return None
    node = keys_of(one.name)[0]
    return {"node": node, "recorded_at": iso(one.time), "recorded_by": _recorder(one), "promotion": promotion}


def _recorder(one: RegisteredFacet) -> str:
    return person_of(one.producer) or one.producer
