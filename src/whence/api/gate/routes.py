"""Routes of gates: verdicts that a gate recorded, and the approvals and waivers of people (http-gate.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, TypeVar

import msgspec
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from whence.api.auth.guard import viewer_of
from whence.api.catalog.assertions import Asserted, Now, producer_of, read, scribe_of
from whence.api.catalog.fact_routes import Text
from whence.api.gate.response_types import ApprovalRow, RecordedVerdict, VerdictRow, VerdictWritten, WaiverRow
from whence.api.gate.rows import (
    RECORD_KEY,
    approval_rows,
    record_key,
    recorded_verdict,
    verdict_rows,
    waiver_rows,
)
from whence.api.http.path_names import Plain, Segment
from whence.api.http.response_types import All, One, Rows
from whence.api.http.responses import MISSING, answer
from whence.api.requests.catalog import NewestView
from whence.api.requests.pages import Cursor, PageLimit, paged, window
from whence.errors import AccessError, EventError
from whence.govern.assertions import assert_facets
from whence.govern.gate.records import (
    approval_facets,
    approvals_in,
    approvals_of,
    is_transition,
    list_records,
    shortened,
    verdict_facets,
    waiver_facets,
    waivers_in,
    waivers_of,
)
from whence.model.access import OPEN
from whence.model.catalog import RegistryKind
from whence.model.gate_records import (
    VERDICT,
    PromotionRecord,
    VerdictRecord,
    WaiverRecord,
    approval_dataset,
    verdict_dataset,
    waiver_dataset,
)
from whence.openlineage.redaction.redact import redact_body

Json = dict[str, Any]
Record = TypeVar("Record", VerdictRecord, PromotionRecord)

reads = APIRouter(prefix="/api/v2/gate", tags=["gate"], responses=MISSING)
writes = APIRouter(
    prefix="/api/v2/gate",
    tags=["gate"],
    responses={
        **MISSING,
        409: {"description": "Whence runs open: nobody has a name to approve or waive with"},
    },
)


def durable(shape: Any) -> dict[int | str, dict[str, Any]]:
    """The answer to a write that is not in the store yet."""
    return {202: {"model": shape, "description": "it is durable, and not yet in the store"}}


Repository = Annotated[Plain, Query(description="only of this repository, such as `github.com/shop/pipeline`")]
Commit = Annotated[Plain, Query(description="only of this commit")]
MOST_DAYS = 366
"""How long a waiver may last."""


class WaiverBody(BaseModel):
    """Why a change may pass, and its last day (UTC). Who sends it is its owner."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    reason: Annotated[Text, Field(min_length=1, max_length=1_000)]
    expires: date


@reads.get("/verdicts", response_model=Rows[VerdictRow])
def list_verdicts(
    view: NewestView, repository: Repository = "", limit: PageLimit = 50, cursor: Cursor = ""
) -> Response:
    """List the recorded verdicts of readable repositories, the latest first: of each commit, the last one."""
    found = list_records(view.catalog, RegistryKind.VERDICT, repository, window(limit, cursor, RECORD_KEY))
    return paged(view, found, limit, record_key, verdict_rows)


@reads.get("/verdicts/{repository}/{commit}", response_model=One[RecordedVerdict])
def get_verdict(view: NewestView, repository: Segment, commit: Segment) -> Response:
    """Show the verdict on a commit and its approvals. Nodes that the caller may not see are counted, not named."""
    return answer({"data": recorded_verdict(view.catalog, repository, commit), "page": None})


@reads.get("/approvals", response_model=Rows[ApprovalRow])
def list_approvals(
    view: NewestView, repository: Repository = "", limit: PageLimit = 100, cursor: Cursor = ""
) -> Response:
    """List approvals of commits, the latest first."""
    found = list_records(view.catalog, RegistryKind.APPROVAL, repository, window(limit, cursor, RECORD_KEY))
    return paged(view, found, limit, record_key, lambda some: approval_rows(approvals_in(some)))


@reads.get("/verdicts/{repository}/{commit}/approvals", response_model=All[ApprovalRow])
def list_approvals_of_commit(view: NewestView, repository: Segment, commit: Segment) -> Response:
    """List the approvals of a commit, also of one without a verdict."""
    return answer({"data": approval_rows(approvals_of(view.catalog, repository, commit)), "page": None})


@reads.get("/waivers", response_model=Rows[WaiverRow])
def list_waivers(
    view: NewestView, repository: Repository = "", limit: PageLimit = 100, cursor: Cursor = ""
) -> Response:
    """List waivers, the latest first, expired ones among them. Those in `gate.yaml` are in the repository alone."""
    found = list_records(view.catalog, RegistryKind.WAIVER, repository, window(limit, cursor, RECORD_KEY))
    today = datetime.now(UTC).date()
    return paged(view, found, limit, record_key, lambda some: waiver_rows(waivers_in(some), today))


@writes.put(
    "/verdicts/{repository}/{commit}", response_model=One[VerdictWritten], responses=durable(One[VerdictWritten])
)
async def put_verdict(request: Request, repository: Segment, commit: Segment, body: VerdictRecord) -> Response:
    """Record the verdict on a commit. The same verdict again is not written; a new state of the graph is no change."""
    verdict = redacted(shortened(replace(body, commit=commit)))
    subject, transition = verdict_dataset(repository, commit), False

    def events(now: Now) -> Sequence[Json]:
        nonlocal transition
        transition = is_transition(_known_verdict(now.facets), verdict)
        facets = verdict_facets(msgspec.to_builtins(verdict))
        return [assert_facets(subject, now.at, producer_of(request), facets)] if transition else ()

    asserted = await scribe_of(request).change(request, subject, events)
    return written({"transition": transition, "verdict": verdict}, asserted)


@writes.put(
    "/verdicts/{repository}/{commit}/approval", response_model=All[ApprovalRow], responses=durable(All[ApprovalRow])
)
async def put_approval(request: Request, repository: Segment, commit: Segment) -> Response:
    """Approve a commit that has a verdict, as the caller. It counts for this commit alone, at the next gate run."""
    return await _approve(request, repository, commit, approves=True)


@writes.delete(
    "/verdicts/{repository}/{commit}/approval", response_model=All[ApprovalRow], responses=durable(All[ApprovalRow])
)
async def delete_approval(request: Request, repository: Segment, commit: Segment) -> Response:
    """Withdraw the caller's approval of a commit."""
    return await _approve(request, repository, commit, approves=False)


@writes.put("/waivers/{repository}/{change}", response_model=All[WaiverRow], responses=durable(All[WaiverRow]))
async def put_waiver(request: Request, repository: Segment, change: Segment, body: WaiverBody) -> Response:
    """Waive a change of a repository until the end of a day (UTC), at most a year away. Its owner is the caller."""
    today = datetime.now(UTC).date()
    if not today <= body.expires <= today + timedelta(days=MOST_DAYS):
        raise EventError("/expires", f"a waiver ends today or within {MOST_DAYS} days")
    waiver = WaiverRecord(reason=body.reason, expires=body.expires.isoformat())
    return await _waive(request, repository, change, waiver)


@writes.delete("/waivers/{repository}/{change}", response_model=All[WaiverRow], responses=durable(All[WaiverRow]))
async def delete_waiver(request: Request, repository: Segment, change: Segment) -> Response:
    """End the waiver of a change."""
    return await _waive(request, repository, change, None)


async def _approve(request: Request, repository: str, commit: str, *, approves: bool) -> Response:
    subject = approval_dataset(repository, commit, _named_caller(request))

    def events(now: Now) -> Sequence[Json]:
        recorded_verdict(now.view.catalog, repository, commit)  # there is one
        return [assert_facets(subject, now.at, producer_of(request), approval_facets(approves=approves))]

    asserted = await scribe_of(request).change(request, subject, events)
    found = await read(request, lambda view: approvals_of(view.catalog, repository, commit))
    return written(approval_rows(found), asserted)


async def _waive(request: Request, repository: str, change: str, waiver: WaiverRecord | None) -> Response:
    _named_caller(request)
    subject, facets = waiver_dataset(repository, change), waiver_facets(waiver)
    asserted = await scribe_of(request).change(
        request, subject, lambda now: [assert_facets(subject, now.at, producer_of(request), facets)]
    )
    found = await read(request, lambda view: waivers_of(view.catalog, repository))
    mine = (one for one in found if one.change == change)
    return written(waiver_rows(mine, datetime.now(UTC).date()), asserted)


def _named_caller(request: Request) -> str:
    """The caller's name. Raises AccessError if callers have none."""
    viewer = viewer_of(request)
    if viewer == OPEN:
        raise AccessError("Whence runs open, so callers have no name; start it with keys to approve or waive", 409)
    return viewer.name


def redacted(record: Record) -> Record:
    """The record as the log will have it, so that it can be compared with the one that is there."""
    return msgspec.json.decode(redact_body(msgspec.json.encode(record)), type=type(record))


def _known_verdict(facets: Mapping[str, Any]) -> VerdictRecord | None:
    try:
        return msgspec.convert(facets[VERDICT], VerdictRecord)
    except (KeyError, msgspec.ValidationError):
        return None


def written(data: object, asserted: Asserted) -> Response:
    """The answer to a write."""
    headers = {"Whence-Position": ",".join(map(str, asserted.positions))} if asserted.positions else {}
    return answer({"data": data, "page": None}, 200 if asserted.reached else 202, headers)
