"""The route by which people act on incidents (http-incidents.md): each act becomes an event."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from whence.api.auth.guard import viewer_of
from whence.api.catalog.assertions import now_micros, producer_of, read, scribe_of
from whence.api.catalog.fact_routes import Text
from whence.api.http.path_names import Segment
from whence.api.http.response_types import One
from whence.api.http.responses import MISSING, answer
from whence.api.incidents.routes import read_view
from whence.api.requests.catalog import CatalogView
from whence.errors import AccessError, EventError, ThingNotFoundError
from whence.govern.gate.records import person_of
from whence.govern.incidents.documents import IncidentAct, act_document, is_visible
from whence.govern.incidents.fold import find_incident
from whence.govern.incidents.incident import Act, Incident
from whence.govern.incidents.records import act_event
from whence.govern.incidents.states import possible_acts
from whence.model.access import Viewer
from whence.model.names import parse_node
from whence.model.records.incidents import ActText, IncidentActRecord, incident_act_id

LONGEST = 2_000
LONGEST_SILENCE = 30 * 86_400
"""Seconds."""

writes = APIRouter(
    prefix="/api/v2",
    tags=["incidents"],
    responses={
        **MISSING,
        202: {"model": One[IncidentAct], "description": "it is durable, and not yet in the store"},
        409: {"description": "the state of the incident does not allow the act"},
    },
)

_Short = Annotated[Text, Field(max_length=LONGEST)]
_REQUIRED: Mapping[ActText, str] = {"assign": "assignee", "silence": "seconds", "confirm": "cause", "comment": "text"}
"""The members without which an act says nothing."""


class IncidentActBody(BaseModel):
    """What a person does. `text`: their words; `assignee`: of `assign`; `seconds`: how long to `silence` it; `cause`: a
    node id to `confirm`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    act: ActText
    text: _Short = ""
    assignee: _Short = ""
    seconds: Annotated[int | None, Field(ge=60, le=LONGEST_SILENCE)] = None
    cause: _Short = ""


@writes.post("/incidents/{incident}/acts", response_model=One[IncidentAct])
async def act_on_incident(request: Request, incident: Segment, body: IncidentActBody) -> Response:
    """Act on an incident as the caller, who needs to be a steward of the namespace of its root.

    The id of an incident that was merged acts on the one that it is part of.
    """
    _check_members(body)
    viewer = viewer_of(request)
    found = await read(request, lambda view: _find(request, view, incident, viewer))
    if body.act not in possible_acts(found.state):
        raise EventError("/act", f"the incident is {found.state}, so {body.act} would change nothing", 409)
    at, producer, namespace = now_micros(), producer_of(request), found.root.namespace
    record = IncidentActRecord(
        incident=found.id,
        dataset=str(found.root),
        act=body.act,
        text=body.text,
        assignee=body.assignee,
        until=None if body.seconds is None else at + body.seconds * 1_000_000,
        cause=body.cause,
    )
    asserted = await scribe_of(request).say(request, [act_event(record, namespace, at, producer)])
    id_ = incident_act_id(record, at, producer)
    done = Act(id=id_, time=at, namespace=namespace, person=person_of(producer), record=record)
    headers = {"Whence-Position": ",".join(map(str, asserted.positions))}
    return answer({"data": act_document(done, viewer), "page": None}, 200 if asserted.reached else 202, headers)


def _check_members(body: IncidentActBody) -> None:
    required = _REQUIRED.get(body.act)
    if required and not getattr(body, required):
        raise EventError(f"/{required}", f"{body.act} needs it")
    for member in ("assignee", "seconds", "cause"):
        if getattr(body, member) and member != required:
            raise EventError(f"/{member}", f"{body.act} has no such member")
    if body.cause and parse_node(body.cause) is None:
        raise EventError("/cause", "it is no node id; write one, such as dataset:postgres://db:5432:shop.orders")


def _find(request: Request, view: CatalogView, id_: str, viewer: Viewer) -> Incident:
    """The incident, for a viewer who may see its root. Raises ThingNotFoundError, AccessError."""
    found = find_incident(read_view(request, view).incidents, id_)
    if found is None or not is_visible(found, viewer):
        raise ThingNotFoundError("Incident", id_)
    if not viewer.can_see(found.root):
        raise AccessError("you may not see the root of the incident, so you may not act on it", 403)
    return found
