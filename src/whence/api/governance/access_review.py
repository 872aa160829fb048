"""The route of the access review, for administrators of everything (http-governance.md)."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from typing_extensions import TypedDict

from whence.api.auth.admin import administrator_of_all, security_of
from whence.api.auth.guard import Asker
from whence.api.http.clock import now_of
from whence.api.http.response_types import One
from whence.api.http.responses import PROBLEMS, answer
from whence.api.requests.recent_labels import recent_labels
from whence.govern.access_document import ReviewedGrantDocument, review_document
from whence.govern.access_facts import read_access_facts
from whence.govern.access_review import review_access
from whence.query.answers.instants import iso
from whence.store.security.database import read_security

routes = APIRouter(prefix="/api/v2", tags=["access"], responses=PROBLEMS)
_PRIVATE = {"Cache-Control": "no-store"}
_DAY = timedelta(days=1) // timedelta(microseconds=1)


class AccessReview(TypedDict):
    """All grants, those with the most concerns first. `columns`: how many columns with sensitive data are known.
    `reviewed_at`: when the last decision to keep a grant was made; null: never.
    """

    grants: list[ReviewedGrantDocument]
    window_days: int
    columns: int
    reviewed_at: str | None


@routes.get("/access-review", response_model=One[AccessReview])
def get_access_review(
    request: Request,
    viewer: Asker,
    window: Annotated[int, Query(ge=1, le=3_650, description="days without use that are too many")] = 90,
) -> Response:
    """List every grant with its last use, the sensitive columns that it shows, and what speaks against keeping it."""
    administrator_of_all(viewer)
    columns = recent_labels(request).columns
    with read_security(security_of(request)) as connection:
        facts = read_access_facts(connection, columns)
    found = review_access(facts, now_of(request), window * _DAY)
    last = max((one.at for one in facts.kept), default=None)
    data: AccessReview = {
        "grants": [review_document(one) for one in found],
        "window_days": window,
        "columns": len(columns),
        "reviewed_at": None if last is None else iso(last),
    }
    return answer({"data": data, "page": None}, headers=_PRIVATE)
