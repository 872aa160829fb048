"""Keys, roles and the audit log over HTTP, for administrators; the same operations as `whence keys`, `access`, `audit`.

Each change and its row of the audit log are one transaction. A role is granted and revoked by an administrator of all
its namespaces. Keys and the audit log are for administrators of everything.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal, get_args

from fastapi import APIRouter, Query, Request, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from sqlalchemy import Connection, Engine

from whence.api.auth.guard import Asker, recorded, viewer_of
from whence.api.auth.permissions import needing
from whence.api.auth.sessions import RUNS_OPEN
from whence.api.http.path_names import Plain, Segment
from whence.api.http.response_types import All, One
from whence.api.http.responses import PROBLEMS, answer
from whence.errors import AccessError
from whence.govern.access_document import (
    GrantDocument,
    GrantsDocument,
    HidingDocument,
    KeyDocument,
    NewKey,
    grants_document,
    key_document,
    new_key_document,
)
from whence.govern.api_keys import revoke_key, rotate_key
from whence.govern.grants import (
    EVERYWHERE,
    KeyRequest,
    give_role,
    hide_fields,
    is_last_administrator,
    make_key,
    require_grant,
    show_fields,
    take_role,
)
from whence.model.access import Action, Grant, Hiding, Role, Viewer
from whence.query.answers.instants import duration
from whence.store.security.api_key_rows import read_keys
from whence.store.security.audit import Entry, append_entries
from whence.store.security.database import read_security, write_security
from whence.store.security.grants import read_grants, read_hidings
from whence.store.security.restrictions import read_restrictions

_RESPONSES = {
    **PROBLEMS,
    404: {"description": "there is no such key or grant"},
    409: {"description": "it has a key already, is the last administrator, or Whence runs open"},
}


def _line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("use a single line without control characters")
    return text


def _age(text: str) -> str:
    duration(text)  # raises ValueError, whose text is the correct form
    return text


Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_line)]
Pattern = Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_line)]
Age = Annotated[str, Field(max_length=40), AfterValidator(_age)]
RoleName = Literal["reader", "writer", "steward", "admin"]
Scope = Literal["read", "write", "steward", "admin"]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KeyCreation(_Body):
    """A new key, optionally with a role. `expires_in`: 90d, 12h."""

    name: Name
    role: RoleName | None = None
    namespaces: Pattern = EVERYWHERE
    scopes: list[Scope] = Field(default_factory=lambda: list(get_args(Scope)), min_length=1)
    expires_in: Age | None = None


class Rotation(_Body):
    """How long the old key remains valid, and when the new one expires."""

    overlap: Age = "24h"
    expires_in: Age | None = None


class RoleGiven(_Body):
    """A role of `key:NAME`, `user:SUBJECT` or `group:NAME` in the namespaces that match."""

    subject: Pattern
    role: RoleName
    namespaces: Pattern = EVERYWHERE


class GrantKept(_Body):
    """A grant that stays, and why."""

    subject: Pattern
    namespaces: Pattern
    reason: Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_line)]


class FieldsHidden(_Body):
    """Fields that are hidden from somebody (`*`: everybody), unless they are a steward there."""

    subject: Pattern
    namespaces: Pattern = EVERYWHERE
    datasets: Pattern = EVERYWHERE
    fields: Pattern


_DAY = Rotation()
routes = APIRouter(prefix="/api/v2", tags=["access"], responses=_RESPONSES)


def administration() -> APIRouter:
    """The routes, for administrators only."""
    return needing(Action.ADMIN, routes)


@routes.get("/keys", response_model=All[KeyDocument])
def list_keys(request: Request, viewer: Asker) -> Response:
    """List all API keys with their scopes, expiry and last use, without their secrets."""
    _everywhere(viewer)
    with read_security(security_of(request)) as connection:
        found, now = read_keys(connection), _now()
    return answer({"data": [key_document(one, now) for one in found], "page": None}, headers=_PRIVATE)


@routes.post("/keys", status_code=201, response_model=One[NewKey])
def create_key(request: Request, viewer: Asker, body: KeyCreation) -> Response:
    """Create an API key. The answer is the only one that shows the key: only its hash is stored."""
    _everywhere(viewer)
    lifetime = None if body.expires_in is None else duration(body.expires_in)
    wanted = KeyRequest(
        name=body.name,
        role=None if body.role is None else Role[body.role.upper()],
        namespaces=body.namespaces,
        scopes=frozenset(map(Action, body.scopes)),
        lifetime=lifetime,
    )
    with _recorded(request, "keys", 201, f"key:{body.name}") as connection:
        key = make_key(connection, wanted, _now())
    return answer({"data": new_key_document(key, f"key:{body.name}"), "page": None}, 201, _PRIVATE)


@routes.post("/keys/{name}/rotation", status_code=201, response_model=One[NewKey])
def rotate(request: Request, viewer: Asker, name: Segment, body: Rotation = _DAY) -> Response:
    """Rotate an API key. The new key has the grants and scopes of the old one, and is shown this once."""
    _everywhere(viewer)
    now, subject = _now(), f"key:{name}"
    expires = None if body.expires_in is None else now + duration(body.expires_in)
    with _recorded(request, "keys", 201, subject) as connection:
        key = rotate_key(connection, name, now, duration(body.overlap), expires)
    return answer({"data": new_key_document(key, subject), "page": None}, 201, _PRIVATE)


@routes.delete("/keys/{key}", response_model=All[KeyDocument])
def revoke(request: Request, viewer: Asker, key: Segment) -> Response:
    """Revoke a key by its id, or all keys of a name. It takes effect within a second, also for their sessions."""
    _everywhere(viewer)
    now = _now()
    with _recorded(request, "keys", 200, key) as connection:
        gone = {one.id for one in revoke_key(connection, key, now)}
        left = [one for one in read_keys(connection) if one.id in gone]
    return answer({"data": [key_document(one, now) for one in left], "page": None}, headers=_PRIVATE)


@routes.get("/grants", response_model=One[GrantsDocument])
def list_grants(request: Request, viewer: Asker) -> Response:
    """List the grants and hidden fields of the namespaces that you administer."""
    with read_security(security_of(request)) as connection:
        document = grants_document(read_grants(connection), read_hidings(connection), read_restrictions(connection))
    own: GrantsDocument = {
        "grants": [one for one in document["grants"] if viewer.is_allowed(Action.ADMIN, one["namespaces"])],
        "hidings": [one for one in document["hidings"] if viewer.is_allowed(Action.ADMIN, one["namespaces"])],
        "restrictions": [one for one in document["restrictions"] if viewer.is_allowed(Action.ADMIN, one["namespace"])],
    }
    return answer({"data": own, "page": None}, headers=_PRIVATE)


@routes.put("/grants", response_model=One[GrantDocument])
def put_grant(request: Request, viewer: Asker, body: RoleGiven) -> Response:
    """Grant a role in the namespaces that match a pattern. It replaces a grant with the same pattern."""
    _require_administrator(viewer, body.namespaces)
    role = Role[body.role.upper()]
    with _recorded(request, "access", 200, body.subject, f"{body.role} in {body.namespaces}") as connection:
        if role < Role.ADMIN and is_last_administrator(connection, body.subject, body.namespaces):
            raise _last(body.subject)
        give_role(connection, body.subject, Grant(role, body.namespaces))
    return answer({"data": body.model_dump(), "page": None}, headers=_PRIVATE)


@routes.delete("/grants", status_code=204)
def delete_grant(
    request: Request, viewer: Asker, subject: Annotated[Plain, Query()], namespaces: Annotated[Plain, Query()]
) -> Response:
    """Revoke the grant that has exactly this pattern."""
    _require_administrator(viewer, namespaces)
    with _recorded(request, "access", 204, subject, namespaces) as connection:
        if is_last_administrator(connection, subject, namespaces):
            raise _last(subject)
        take_role(connection, subject, namespaces)
    return Response(status_code=204)


@routes.put("/grants/kept", response_model=One[GrantDocument])
def keep_grant(request: Request, viewer: Asker, body: GrantKept) -> Response:
    """Record the decision of an access review to keep a grant, with the reason. It changes no access."""
    _require_administrator(viewer, body.namespaces)
    with _recorded(request, "access", 200, body.subject, body.namespaces, body.reason) as connection:
        grant = require_grant(connection, body.subject, body.namespaces)
    data: GrantDocument = {
        "subject": body.subject,
        "role": grant.role.name.lower(),
        "namespaces": grant.namespaces,
    }
    return answer({"data": data, "page": None}, headers=_PRIVATE)


@routes.put("/hidings", response_model=One[HidingDocument])
def put_hiding(request: Request, viewer: Asker, body: FieldsHidden) -> Response:
    """Hide fields from all but the stewards of their namespace."""
    _require_administrator(viewer, body.namespaces)
    with _recorded(request, "access", 200, body.subject, _rule(body)) as connection:
        hide_fields(connection, body.subject, Hiding(body.namespaces, body.datasets, body.fields))
    return answer({"data": body.model_dump(), "page": None}, headers=_PRIVATE)


@routes.delete("/hidings", status_code=204)
def delete_hiding(request: Request, viewer: Asker, hiding: Annotated[FieldsHidden, Query()]) -> Response:
    """Show hidden fields again."""
    _require_administrator(viewer, hiding.namespaces)
    with _recorded(request, "access", 204, hiding.subject, _rule(hiding)) as connection:
        show_fields(connection, hiding.subject, Hiding(hiding.namespaces, hiding.datasets, hiding.fields))
    return Response(status_code=204)


_PRIVATE = {"Cache-Control": "no-store"}


def security_of(request: Request) -> Engine:
    """The security database. Raises AccessError if Whence runs open, since there is none."""
    engine: Engine | None = request.app.state.security
    if engine is None:
        raise AccessError(RUNS_OPEN, 409)
    return engine


def administrator_of_all(viewer: Viewer) -> None:
    """Raises AccessError (403) if somebody administers some namespaces only."""
    _require_administrator(viewer, EVERYWHERE)


_everywhere = administrator_of_all


def _require_administrator(viewer: Viewer, namespaces: str) -> None:
    # A pattern that matches a wider one as text contains no name that the wider one does not match.
    if not viewer.is_allowed(Action.ADMIN, namespaces):
        raise AccessError(f"{viewer.name} is not an administrator of all namespaces that match {namespaces}", 403)


@contextmanager
def _recorded(request: Request, action: str, status: int, *nodes: str) -> Iterator[Connection]:
    """Open a transaction that includes its row of the audit log. Raises StoreError, AccessError."""
    what = f"{request.method} {request.scope['route'].path}"
    who = viewer_of(request).name
    with write_security(security_of(request)) as connection:
        yield connection
        append_entries(connection, [Entry(at=_now(), who=who, action=action, what=what, nodes=nodes, status=status)])
    request.app.state.expire_policy()
    recorded(request)


def _rule(one: FieldsHidden) -> str:
    return f"fields {one.fields} of {one.datasets} in {one.namespaces}"


def _last(subject: str) -> AccessError:
    return AccessError(
        f"{subject} is the only administrator of all namespaces: grant that role to another subject first", 409
    )


def _now() -> int:
    return time.time_ns() // 1_000
