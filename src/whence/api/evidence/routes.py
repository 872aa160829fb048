"""Routes for evidence packs: a pack as a ZIP file, and the public keys that verify packs (http-evidence.md)."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import BoundedSemaphore
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Engine
from typing_extensions import TypedDict

from whence.api.auth.guard import answered, secret_of, viewer_of
from whence.api.auth.permissions import needs
from whence.api.catalog.assertions import now_micros
from whence.api.http.response_types import All
from whence.api.http.responses import MISSING, answer
from whence.api.lineage.parameters import MOST_NODES, Name, Time
from whence.api.requests.catalog import View, commit_reader
from whence.errors import EvidenceError, QuestionsBusyError, StoreError
from whence.govern.access_document import AuditEntry
from whence.govern.evidence.archive import zip_files
from whence.govern.evidence.content.raw_events import EventReader
from whence.govern.evidence.content.sources import ReadAudit, Sources, read_changes
from whence.govern.evidence.heads import Head
from whence.govern.evidence.installation import heads_of
from whence.govern.evidence.pack import Signer, make_pack
from whence.govern.evidence.signing.key_files import current_key, keys_document, list_keys
from whence.model.access import Action
from whence.query.answers.instants import instant
from whence.query.answers.values import TYPES, Question
from whence.query.lookup.resolve import resolve
from whence.store.security.database import read_security

_log = logging.getLogger(__name__)
AT_ONCE = 2
"""The most packs that are made at a time: each holds its files in memory."""

_ZIP: dict[int | str, dict[str, Any]] = {
    200: {"description": "the files of the pack", "content": {"application/zip": {"schema": {"type": "string"}}}}
}


class EvidenceKey(TypedDict):
    """A public key of this Whence, and from when until when it signed packs."""

    id: str
    algorithm: Literal["ed25519", "p256"]
    created_at: str
    retired_at: str | None
    pem: str


class Evidence(BaseModel):
    """The node of a pack, and the range of its lineage."""

    model_config = ConfigDict(extra="forbid")

    node: Name
    as_of: Time | None = Field(None, description="As it was then: `2026-11-20T06:00`, `2h ago` (UTC); now if not given")
    types: Literal["direct", "indirect", "both"] | None = Field(
        None, description="Edges to follow; for a field: direct, else both"
    )
    depth: int | None = Field(None, ge=0, le=1_000_000, description="Hops; all if not given")
    max_nodes: int = Field(100_000, ge=1, le=MOST_NODES, description="Stop after so many nodes")
    max_edges: int = Field(1_000_000, ge=1, le=10_000_000, description="Stop after so many edges")

    def question(self, at: int) -> Question:
        """The question at a time (µs)."""
        types = None if self.types is None else TYPES[self.types]
        return Question(at=at, types=types, depth=self.depth, max_nodes=self.max_nodes, max_edges=self.max_edges)


def router(keys: Path, heads: Path) -> APIRouter:
    """Create the routes, under `/api/v2`. `keys` is the directory of the keys that sign, `heads` the file of the signed
    heads.
    """
    routes = APIRouter(prefix="/api/v2", tags=["evidence"], responses=MISSING)
    places = BoundedSemaphore(AT_ONCE)

    @routes.get("/evidence", response_class=Response, responses=_ZIP)
    def get_evidence(request: Request, view: View, query: Annotated[Evidence, Query()]) -> Response:
        """Make the evidence pack of a node: a ZIP file with its lineage, and the events that prove each edge."""
        now = now_micros()
        at = now if query.as_of is None else instant(query.as_of, now)
        with _place_in(places):
            root = resolve(view.graph, query.node)
            sources = Sources(
                graph=view.graph,
                catalog=view.catalog,
                whole=view.whole,
                whole_graph=view.graph if view.visible_ids is None else view.visible_ids.graph,
                events=EventReader(
                    read_records=request.app.state.log.read_records,
                    visible_ids=view.visible_ids,
                    secret=secret_of(request),
                ),
                read_commits=commit_reader(request, view.graph),
                read_audit=_audit_of(request),
                heads=_heads_in(heads),
            )
            files = make_pack(sources, root, query.question(at), at, _signer(keys))
            answered(request, len(files), export=True)
            headers = {"Content-Disposition": 'attachment; filename="whence-evidence.zip"'}
            return Response(zip_files(files), 200, headers, "application/zip")

    @routes.get("/evidence/keys", response_model=All[EvidenceKey])
    @needs(Action.PUBLIC)
    def list_evidence_keys() -> Response:
        """List the public keys that verify packs of this Whence, the oldest first. For everybody."""
        return answer({"data": keys_document(_signer(keys).published), "page": None})

    return routes


def _signer(keys: Path) -> Signer:
    """What signs packs. Raises StoreError, which does not name the path."""
    try:
        return Signer(key=current_key(keys), published=list_keys(keys))
    except EvidenceError as error:
        _log.error("evidence packs cannot be signed: %s", error)
        raise StoreError("the key that signs evidence packs cannot be read; the server's log says why") from None


def _heads_in(file: Path) -> Sequence[Head]:
    """The signed heads. Raises StoreError, which does not name the path."""
    try:
        return heads_of(file)
    except EvidenceError as error:
        _log.error("the signed heads cannot be in packs: %s", error)
        raise StoreError("the signed heads cannot be read; the server's log says why") from None


@contextmanager
def _place_in(places: BoundedSemaphore) -> Iterator[None]:
    """Take one of the places, or raise QuestionsBusyError."""
    if not places.acquire(blocking=False):
        raise QuestionsBusyError
    try:
        yield
    finally:
        places.release()


def _audit_of(request: Request) -> ReadAudit | None:
    """What reads the audit log, if the caller may: an administrator of everything."""
    engine: Engine | None = request.app.state.security
    if engine is None or not viewer_of(request).is_allowed(Action.ADMIN, "*"):
        return None
    return partial(_read_audit, engine)


def _read_audit(engine: Engine, nodes: Sequence[str], until: int) -> list[AuditEntry]:
    with read_security(engine) as connection:
        return read_changes(connection, nodes, until)
