"""Routes of containment (http-containment.md). A server pauses nothing: `whence contain` does, and records each step
here, so that who may do it is decided before it is done.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from whence.api.auth.guard import viewer_of
from whence.api.catalog.assertions import Now, producer_of, scribe_of
from whence.api.catalog.fact_routes import Text
from whence.api.http.path_names import Plain, Segment
from whence.api.http.response_types import One
from whence.api.http.responses import MISSING, answer
from whence.api.requests.catalog import CatalogView, open_pending_view
from whence.errors import AccessError, EventError
from whence.govern.assertions import assert_facets
from whence.govern.containment.steps import Step, list_steps, step_facets
from whence.govern.gate.records import person_of
from whence.model.access import OPEN
from whence.model.records.containment import StepRecord, step_dataset, step_of
from whence.query.answers.instants import iso

Json = dict[str, Any]
PhaseText = Literal["intended", "paused", "unchanged", "resuming", "resumed", "released", "failed"]
LONGEST = 2_000
LONGEST_ID = 200
"""Of an incident, and of a step."""
_Short = Annotated[Text, Field(max_length=LONGEST)]
_Filled = Annotated[Text, Field(min_length=1, max_length=LONGEST)]
Newest = Annotated[CatalogView, Depends(open_pending_view)]
"""With the steps that only the log has: an act must know every step before it."""

reads = APIRouter(prefix="/api/v2/containment", tags=["containment"], responses=MISSING)
writes = APIRouter(
    prefix="/api/v2/containment",
    tags=["containment"],
    responses={**MISSING, 409: {"description": "Whence runs open: nobody has a name to contain with"}},
)


class ContainmentStepBody(BaseModel):
    """A step: what is about to be done, or what was done."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    system: _Filled
    namespace: _Filled
    id: _Filled
    phase: PhaseText
    orchestrator: _Short = ""
    node: _Short = ""
    plan: _Short = ""
    reason: _Short = ""
    receipt: _Short = ""


class ContainmentStep(TypedDict):
    """A recorded step of an act of containment (`model/records/containment.py`). `person`: who did it."""

    incident: str
    step: str
    system: str
    namespace: str
    id: str
    phase: PhaseText
    orchestrator: str
    node: str
    plan: str
    reason: str
    receipt: str
    person: str
    recorded_at: str


class ContainmentSteps(TypedDict):
    """Steps in their order; `hidden`: how many are in namespaces that the caller may not read."""

    steps: list[ContainmentStep]
    hidden: int


@reads.get("/steps", response_model=One[ContainmentSteps])
def list_containment_steps(
    view: Newest,
    incident: Annotated[Plain, Query(description="only of this incident")] = "",
) -> Response:
    """List the recorded steps of containment in their order, also those that the store does not have yet."""
    found, every = list_steps(view.catalog, incident), list_steps(view.whole, incident)
    data: ContainmentSteps = {"steps": [_row(one) for one in found], "hidden": len(every) - len(found)}
    return answer({"data": data, "page": None})


@writes.put("/incidents/{incident}/steps/{step}", response_model=One[ContainmentStepBody])
async def put_containment_step(
    request: Request, incident: Segment, step: Segment, body: ContainmentStepBody
) -> Response:
    """Record a step of an incident, as the caller, who needs to be a steward of the schedule's namespace.

    `step`: an id that the sender chooses. It is durable when this answers.
    """
    if viewer_of(request) == OPEN:
        raise AccessError("Whence runs open, so callers have no name; start it with keys to contain", 409)
    for name, text in (("incident", incident), ("step", step)):
        if len(text) > LONGEST_ID:
            raise EventError(f"/{name}", f"it may have {LONGEST_ID} characters")
    record = StepRecord(**body.model_dump())
    subject = step_dataset(incident, step, record.namespace)

    def events(now: Now) -> Sequence[Json]:
        latest = max((one.time for one in list_steps(now.view.whole)), default=0)
        at = max(now.at, latest + 1)  # steps have an order, whatever the clocks of servers are
        return [assert_facets(subject, at, producer_of(request), step_facets(record))]

    asserted = await scribe_of(request).change(request, subject, events)
    headers = {"Whence-Position": ",".join(map(str, asserted.positions))} if asserted.positions else {}
    return answer({"data": body.model_dump(), "page": None}, 200, headers)


def _row(one: Step) -> ContainmentStep:
    record = one.record
    return {
        "incident": one.incident,
        "step": step_of(one.name),
        "system": record.system,
        "namespace": record.namespace,
        "id": record.id,
        "phase": record.phase,
        "orchestrator": record.orchestrator,
        "node": record.node,
        "plan": record.plan,
        "reason": record.reason,
        "receipt": record.receipt,
        "person": person_of(one.producer) or one.producer,
        "recorded_at": iso(one.time),
    }
