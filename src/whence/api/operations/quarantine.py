"""Quarantined bodies: list them with their reasons, show one, and replay one, corrected if necessary."""

import asyncio
from collections.abc import Iterator
from typing import Annotated, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from whence.api.auth.guard import Asker, wrote
from whence.api.collector.collect import Collector, authority_of
from whence.api.http.dashboard_types import Body, OneBody, Quarantine, Refused, Replayed, answered_with
from whence.api.http.responses import MISSING, answer
from whence.api.requests.pages import Cursor, PageLimit, cut, window
from whence.errors import AccessError, EventError, LogCorruptError, ThingNotFoundError
from whence.log import Kind, Log, Position, Record
from whence.model.access import Viewer
from whence.openlineage.accept import accept
from whence.openlineage.authority.restrictions import Authority, Need
from whence.openlineage.validation.rejection_reasons import REFUSALS, classify_refusal
from whence.query.answers.instants import iso
from whence.store.snapshots.catalog import snapshot
from whence.store.status.ledger import list_quarantined_before

MOST_SHOWN = 256 << 10
"""The most bytes of a body in an answer."""
_READ = 1_000

Place = Annotated[str, Path(pattern=r"^[0-9]{1,9}(:|%3[Aa])[0-9]{1,11}$", description="its position in the log")]
Class = Annotated[Literal[REFUSALS] | None, Query(description="only those refused for this")]  # type: ignore[valid-type]


class Mended(BaseModel):
    """The corrected body."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    body: Annotated[str, Field(min_length=1)] | None = None


_AS_IT_IS = Mended()

reads = APIRouter(prefix="/api/v2", tags=["dashboards"], responses=MISSING)
"""Routes to read the quarantine. A body may contain any name, so they require access to everything."""
writes = APIRouter(prefix="/api/v2", tags=["dashboards"], responses=MISSING)
"""The route to replay a body."""


@reads.get("/quarantine", responses=answered_with(Quarantine))
def list_refused(
    viewer: Asker, request: Request, reason: Class = None, limit: PageLimit = 50, cursor: Cursor = ""
) -> Response:
    """List quarantined bodies with their reason, latest first."""
    _check(viewer)
    wanted = window(limit, cursor, (int,))
    with snapshot(request.app.state.engine) as connection:
        found = []
        for row in _rows(connection, int(wanted.after[0]) if wanted.after else None):
            if reason in (None, classify_refusal(row[1])):
                found.append(row)
            if len(found) >= wanted.limit:
                break
    shown, page = cut(found, limit, lambda row: (row[0],))
    log: Log = request.app.state.log
    records = log.read_records([Position.from_int(at) for at, _ in shown])
    rows = [_refused(at, why, record) for (at, why), record in zip(shown, records, strict=True)]
    return answer({"data": rows, "page": page})


@reads.get("/quarantine/{position}", responses=answered_with(OneBody))
def get_refused(viewer: Asker, request: Request, position: Place) -> Response:
    """Show one quarantined body, secrets masked."""
    _check(viewer)
    record = _record(request, position)
    shown = record.payload[:MOST_SHOWN].decode("utf-8", "replace")
    why = f"{record.pointer}: {record.reason}" if record.pointer else record.reason
    document = _refused(record.position.as_int, why, record)
    cut = len(record.payload) > MOST_SHOWN
    body: Body = {**document, "pointer": record.pointer, "body": shown, "cut": cut}
    return answer({"data": body, "page": None})


@writes.post("/quarantine/{position}/replay", responses=answered_with(Replayed))
async def replay(viewer: Asker, request: Request, position: Place, mended: Mended = _AS_IT_IS) -> Response:
    """Replay a quarantined body, or its corrected form. If it is still invalid, the answer has the reason (422).

    The rejected body stays in quarantine, since the log is append-only.
    """
    _check(viewer)
    authority = authority_of(viewer)
    body, (action, namespace) = await asyncio.to_thread(lambda: _mended(_record(request, position), mended, authority))
    if not viewer.is_allowed(action, namespace):
        raise AccessError(f"{viewer.name} may not {action} in {namespace}", 403)
    collector: Collector = request.app.state.collector
    (taken,) = await collector.take([body], authority)
    wrote(request, namespace, 1)
    return answer({"data": {"position": str(taken)}, "page": None})


def _check(viewer: Viewer) -> None:
    if not viewer.can_see_all:
        raise AccessError("the quarantine requires permission to read all namespaces", 403)


def _mended(record: Record, mended: Mended, authority: Authority) -> tuple[bytes, Need]:
    """The body to replay, and the permissions that it requires. Raises EventError if it is invalid."""
    body = record.payload if mended.body is None else mended.body.encode()
    return body, accept(body, authority=authority).need


def _rows(connection: Connection, before: int | None) -> Iterator[tuple[int, str]]:
    while rows := list_quarantined_before(connection, before, _READ):
        yield from rows
        before = rows[-1][0]


def _record(request: Request, text: str) -> Record:
    log: Log = request.app.state.log
    try:
        position = Position.parse(unquote(text))
    except ValueError as error:
        raise EventError("/path/position", str(error), 422) from None
    try:
        (record,) = log.read_records([position])
        sealed = [one for one in log.list_seals() if one.begin <= position < one.end and one.state == "sealed"]
        if record is None and sealed:
            raise LogCorruptError(f"the record at {position} is damaged; see `whence log repair`")
    except LogCorruptError:
        # A record cannot be read from its middle either. If the store knows a body here, it is damaged.
        if _is_refused(request, position.as_int):
            raise
        record = None
    if record is None or record.kind is not Kind.QUARANTINED:
        raise ThingNotFoundError("Refused body", text)
    return record


def _is_refused(request: Request, at: int) -> bool:
    with snapshot(request.app.state.engine) as connection:
        return any(place == at for place, _ in list_quarantined_before(connection, at + 1, 1))


def _refused(at: int, why: str, record: Record | None) -> Refused:
    return {
        "position": str(Position.from_int(at)),
        "reason": why,
        "refusal": classify_refusal(why),
        "received_at": None if record is None else iso(record.received_at),
        "bytes": None if record is None else len(record.payload),
    }
