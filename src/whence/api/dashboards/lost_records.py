"""Lost records: the pipeline passed them, and no ledger has them. Their number must be 0."""

from fastapi import APIRouter, Request, Response

from whence.api.http.dashboard_types import LostRecords, answered_with
from whence.api.http.responses import MISSING, answer
from whence.api.requests.pages import Cursor, Key, PageLimit, cut, going_on, window
from whence.govern.lost_records import find_lost
from whence.log import Log, Position
from whence.query.answers.instants import iso
from whence.store.snapshots.catalog import snapshot

routes = APIRouter(prefix="/api/v2", tags=["dashboards"], responses=MISSING)


@routes.get("/lost-records", responses=answered_with(LostRecords))
def list_lost(request: Request, limit: PageLimit = 50, cursor: Cursor = "") -> Response:
    """List the records that are in the log and in no ledger. `looked` counts the checked records. `whence rebuild`
    derives them again.

    A page checks at most 100,000 of the records that the log still has, from after the last retention. So it may
    have fewer rows than requested, or none, and still a next page.
    """
    log: Log = request.app.state.log
    after = window(limit, cursor, (int,)).after
    with snapshot(request.app.state.engine) as connection:
        lost = find_lost(log, connection, Position.from_int(int(after[0])).after if after else None)
    shown, page = cut(lost.positions, limit, _key)
    if lost.until and page["next"] is None:
        page = going_on((lost.until.as_int - 1,), limit)
    times = [record and record.received_at for record in log.read_records(shown)]
    rows = [
        {"position": str(at), "received_at": None if time is None else iso(time)}
        for at, time in zip(shown, times, strict=True)
    ]
    return answer({"data": {"records": rows, "looked": lost.looked}, "page": page})


def _key(one: Position) -> Key:
    return (one.as_int,)
