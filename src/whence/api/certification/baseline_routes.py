"""Routes of lineage baselines (http-certification.md): what lineage of a dataset a person accepted, and what differs.

All callers read the same state. Edges that a caller may not see are counted.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from whence.api.auth.guard import Asker, viewer_of
from whence.api.catalog.assertions import now_micros, producer_of, read, scribe_of
from whence.api.catalog.fact_routes import Text
from whence.api.certification.routes import graph_of
from whence.api.http.path_names import Plain, Segment
from whence.api.http.response_types import One
from whence.api.http.responses import MISSING, answer
from whence.api.requests.catalog import CatalogView, NewestView
from whence.api.requests.pages import enveloped
from whence.errors import EventError, NodeNotFoundError
from whence.govern.lineage_baselines.current import ComparedBaseline, accept_upstream, compare_baselines, compare_one
from whence.govern.lineage_baselines.documents import (
    LineageBaselineDocument,
    LineageBaselineList,
    baseline_document,
    baselines_document,
)
from whence.govern.lineage_baselines.drift import Drift
from whence.govern.lineage_baselines.records import LineageBaseline, baseline_event
from whence.govern.rule_states.records import certifications_at
from whence.model.names import DatasetName
from whence.model.records.lineage_baselines import LineageBaselineRecord
from whence.query.answers.instants import past_instant
from whence.query.lookup.resolve import resolve

routes = APIRouter(prefix="/api/v2", tags=["certification"], responses=MISSING)
writes = APIRouter(
    prefix="/api/v2",
    tags=["certification"],
    responses={
        **MISSING,
        202: {"model": One[LineageBaselineDocument], "description": "it is durable, and not yet in the store"},
        409: {"description": "it has no baseline to end, or its lineage has too many edges"},
    },
)

AsOf = Annotated[Plain | None, Query(description="at this time: `2026-11-20T06:00`, `2h ago`")]


class LineageBaselineBody(BaseModel):
    """Why the lineage is accepted. `end`: the dataset is to have no baseline any more."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    reason: Annotated[Text, Field(min_length=1, max_length=2_000)]
    end: bool = False


@routes.get("/lineage-baselines", response_model=One[LineageBaselineList])
def list_lineage_baselines(view: NewestView, viewer: Asker, as_of: AsOf = None) -> Response:
    """List the datasets whose lineage somebody accepted, with whether it still is as accepted, and the certified
    datasets without a baseline.
    """
    now, at = now_micros(), _instant(as_of)
    compared = list(compare_baselines(view.whole, graph_of(view), now, at))
    until = now if at is None else at
    return enveloped(view, baselines_document(compared, certifications_at(view.whole, until), until, viewer))


@routes.get("/nodes/{node}/lineage-baseline", response_model=One[LineageBaselineDocument])
def get_lineage_baseline(view: NewestView, viewer: Asker, node: Segment, as_of: AsOf = None) -> Response:
    """Show the accepted lineage upstream of a dataset, and each edge that was added, removed or changed since."""
    name, now, at = _dataset(view, node), now_micros(), _instant(as_of)
    found = compare_one(view.whole, graph_of(view), name, now, at)
    until = now if at is None else at
    return enveloped(view, baseline_document(name, found, certifications_at(view.whole, until), until, viewer))


@writes.post("/nodes/{node}/lineage-baseline", response_model=One[LineageBaselineDocument])
async def accept_lineage(request: Request, node: Segment, body: LineageBaselineBody) -> Response:
    """Accept the current lineage upstream of a dataset as the caller, who needs to be a steward of its namespace. What
    the store has read of the log counts.
    """
    name, record = await read(request, lambda view: _record(view, node, body))
    at, producer = now_micros(), producer_of(request)
    asserted = await scribe_of(request).say(request, [baseline_event(record, name.namespace, at, producer)])
    accepted = LineageBaseline(dataset=name, time=at, producer=producer, record=record)
    found = None if record.ended else ComparedBaseline(baseline=accepted, drift=Drift(state="ok"))
    certified = await read(request, lambda view: certifications_at(view.whole))
    document = baseline_document(name, found, certified, at, viewer_of(request))
    headers = {"Whence-Position": ",".join(map(str, asserted.positions))}
    return answer({"data": document, "page": None}, 200 if asserted.reached else 202, headers)


def _record(view: CatalogView, node: str, body: LineageBaselineBody) -> tuple[DatasetName, LineageBaselineRecord]:
    name = _dataset(view, node)
    if not body.end:
        return name, accept_upstream(graph_of(view), name, body.reason)
    held = compare_one(view.whole, graph_of(view), name, now_micros())
    if held is None:
        raise EventError("/end", f"{name} has no lineage baseline", 409)
    return held.baseline.dataset, LineageBaselineRecord(
        dataset=str(held.baseline.dataset), reason=body.reason, ended=True
    )


def _dataset(view: CatalogView, node: str) -> DatasetName:
    name = resolve(view.graph, node)
    if not isinstance(name, DatasetName):
        raise NodeNotFoundError(f"dataset {node}", (str(name),))
    return name


def _instant(text: str | None) -> int | None:
    try:
        return None if text is None else past_instant(text, now_micros())
    except (ValueError, OverflowError) as error:
        raise EventError("/query/as_of", str(error), 400) from None
