"""The audit log over HTTP: list, filter, export, verify. For administrators of everything."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Engine
from typing_extensions import TypedDict

from whence.api.auth.admin import administrator_of_all, security_of
from whence.api.auth.guard import Asker, answered
from whence.api.auth.permissions import needing
from whence.api.http.envelopes import CSV, Wanted
from whence.api.http.path_names import Plain
from whence.api.http.response_types import One
from whence.api.http.responses import PROBLEMS, answer
from whence.csv_text import csv_text
from whence.errors import AuditError, EventError
from whence.govern.access_document import AuditEntry, entry_document
from whence.model.access import Action
from whence.query.answers.instants import instant
from whence.store.security.audit import AuditFilter, read_audit, verify_log
from whence.store.security.database import read_security

_ROWS = 10_000
"""Rows of an export that are read at a time."""
_COLUMNS = ("number", "at", "who", "action", "what", "nodes", "count", "status")
routes = APIRouter(prefix="/api/v2", tags=["access"], responses=PROBLEMS)
_PRIVATE = {"Cache-Control": "no-store"}


class Filter(BaseModel):
    """Filter of entries, newest first. In `who`, `action` and `what`, `*` matches any text."""

    model_config = ConfigDict(extra="forbid")

    who: Plain = ""
    action: Plain = ""
    what: Plain = ""
    node: Annotated[Plain, Field(description="a node id or a namespace that is named")] = ""
    refused: Annotated[bool, Field(description="only what was refused")] = False
    after: Annotated[Plain, Field(description="2026-11-20T06:00, or 2h")] = ""
    before: Plain = ""
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    cursor: Annotated[int | None, Field(ge=0, lt=1 << 63, description="`page.next` of the page before")] = None
    format: Annotated[str, Field(description="`csv`: all entries that fit, not a page of them")] = ""

    def sought(self) -> AuditFilter:
        """The filter for the log. Raises EventError."""
        return AuditFilter(
            who=self.who,
            action=self.action,
            what=self.what,
            node=self.node,
            refused=self.refused,
            after=_instant("after", self.after),
            before=_instant("before", self.before),
            below=self.cursor,
            limit=self.limit,
        )


class NextEntry(TypedDict):
    """A page of at most `limit` entries; `next` is the number below which the next page begins."""

    next: int | None
    limit: int


class AuditEntries(TypedDict):
    """A page of the audit log."""

    data: list[AuditEntry]
    page: NextEntry


class Verification(TypedDict):
    """Whether the log is intact; if not, `wrong` is the number of the first wrong row, and `problem` its fault."""

    intact: bool
    wrong: int | None
    problem: str | None
    rows: int | None
    head: str | None


def audit_log() -> APIRouter:
    """The routes, for administrators only."""
    return needing(Action.ADMIN, routes)


@routes.get(
    "/audit", response_model=AuditEntries, responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}
)
def list_audit(request: Request, viewer: Asker, query: Annotated[Filter, Query()]) -> Response:
    """List entries of the audit log, newest first. As CSV, all entries that match."""
    administrator_of_all(viewer)
    engine, sought = security_of(request), query.sought()
    if Wanted.of(request).form == CSV:
        headers = _PRIVATE | {"Content-Disposition": 'attachment; filename="whence-audit.csv"'}
        return StreamingResponse(_exported(request, engine, sought), headers=headers, media_type=CSV)
    with read_security(engine) as connection:
        found = read_audit(connection, replace(sought, limit=query.limit + 1))
    shown = found[: query.limit]
    answered(request, len(shown))
    following = shown[-1][0] if len(found) > len(shown) else None
    page = {"next": following, "limit": query.limit}
    return answer({"data": [entry_document(*one) for one in shown], "page": page}, headers=_PRIVATE)


@routes.get("/audit/verification", response_model=One[Verification])
def verify_audit(request: Request, viewer: Asker) -> Response:
    """Verify the hash chain of the whole audit log. `whence audit sign` keeps its head, signed.

    If it is not intact, `wrong` is the number of the first wrong row, and `problem` its fault.
    """
    administrator_of_all(viewer)
    with read_security(security_of(request)) as connection:
        try:
            head = verify_log(connection)
            document: Verification = {
                "intact": True,
                "wrong": None,
                "problem": None,
                "rows": head.number,
                "head": head.hash,
            }
        except AuditError as error:
            document = {"intact": False, "wrong": error.number, "problem": str(error), "rows": None, "head": None}
    return answer({"data": document, "page": None}, headers=_PRIVATE)


def _exported(request: Request, engine: Engine, sought: AuditFilter) -> Iterator[str]:
    """One page of rows at a time, each in its own transaction: an export of millions of rows blocks nothing."""
    count = 0
    yield csv_text(_COLUMNS, ())
    while True:
        with read_security(engine) as connection:
            found = read_audit(connection, replace(sought, limit=_ROWS))
        count += len(found)
        answered(request, count, export=True)
        yield csv_text(_COLUMNS, (entry_document(*one) for one in found)).partition("\r\n")[2]
        if len(found) < _ROWS:
            return
        sought = replace(sought, below=found[-1][0])


def _instant(name: str, text: str) -> int | None:
    try:
        return instant(text, time.time_ns() // 1_000) if text else None
    except (ValueError, OverflowError) as error:
        raise EventError(f"/query/{name}", str(error), 400) from None
