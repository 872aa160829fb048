"""Routes of promotions: the last verdict on each dataset, model or job, for the hook of a registry (http-gate.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response

from whence.api.catalog.assertions import Now, producer_of, scribe_of
from whence.api.gate.response_types import PromotionRow, PromotionWritten
from whence.api.gate.routes import durable, redacted, written
from whence.api.gate.rows import RECORD_KEY, promotion_row, promotion_rows, record_key
from whence.api.http.path_names import Segment
from whence.api.http.response_types import One, Rows
from whence.api.http.responses import MISSING, answer
from whence.api.requests.catalog import NewestView
from whence.api.requests.pages import Cursor, PageLimit, paged, window
from whence.errors import EventError, ThingNotFoundError
from whence.govern.assertions import assert_facets
from whence.govern.gate.records import find_promotion, is_new_promotion, list_records, promotion_facets
from whence.model.catalog import RegistryKind
from whence.model.gate_records import PROMOTION, PromotionRecord, promotion_dataset
from whence.model.names import DatasetName, JobName, parse_node

Json = dict[str, Any]

reads = APIRouter(prefix="/api/v2/gate", tags=["gate"], responses=MISSING)
writes = APIRouter(prefix="/api/v2/gate", tags=["gate"], responses=MISSING)


@reads.get("/promotions", response_model=Rows[PromotionRow])
def list_promotions(view: NewestView, limit: PageLimit = 50, cursor: Cursor = "") -> Response:
    """List the last verdict on each promoted dataset, model and job that the caller may read, the latest first."""
    found = list_records(view.catalog, RegistryKind.PROMOTION, "", window(limit, cursor, RECORD_KEY))
    return paged(view, found, limit, record_key, promotion_rows)


@reads.get("/promotions/{node}", response_model=One[PromotionRow])
def get_promotion(view: NewestView, node: Segment) -> Response:
    """Show the last verdict on the promotion of a dataset, model or job. `node`: its node id."""
    found = find_promotion(view.catalog, _named(node))
    row = promotion_row(found) if found else None
    if row is None:
        raise ThingNotFoundError("Promotion", node)
    return answer({"data": row, "page": None})


@writes.put("/promotions/{node}", response_model=One[PromotionWritten], responses=durable(One[PromotionWritten]))
async def put_promotion(request: Request, node: Segment, body: PromotionRecord) -> Response:
    """Record the verdict on a promotion. The same verdict again is not written; a new graph alone is no change."""
    name = _named(node)
    promotion = redacted(replace(body, node=str(name)))
    subject, transition = promotion_dataset(name), False

    def events(now: Now) -> Sequence[Json]:
        nonlocal transition
        transition = is_new_promotion(_known(now.facets), promotion)
        facets = promotion_facets(msgspec.to_builtins(promotion))
        return [assert_facets(subject, now.at, producer_of(request), facets)] if transition else ()

    asserted = await scribe_of(request).change(request, subject, events)
    return written({"transition": transition, "promotion": promotion}, asserted)


def _named(node: str) -> DatasetName | JobName:
    name = parse_node(node)
    if not isinstance(name, DatasetName | JobName):
        raise EventError("/node", "a promotion is of a dataset or a job: `dataset:namespace:name`")
    return name


def _known(facets: Mapping[str, Any]) -> PromotionRecord | None:
    try:
        return msgspec.convert(facets[PROMOTION], PromotionRecord)
    except (KeyError, msgspec.ValidationError):
        return None
