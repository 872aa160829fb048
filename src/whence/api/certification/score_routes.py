"""The route of quality scores (http-certification.md)."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from whence.api.auth.guard import Asker
from whence.api.catalog.assertions import now_micros
from whence.api.certification.routes import graph_of
from whence.api.http.path_names import Plain, Segment
from whence.api.http.response_types import One
from whence.api.http.responses import MISSING
from whence.api.requests.catalog import View
from whence.api.requests.pages import enveloped
from whence.errors import EventError, NodeNotFoundError
from whence.govern.quality_scores.documents import QualityScoreDocument, score_document
from whence.govern.quality_scores.reading import read_score
from whence.model.names import DatasetName
from whence.query.answers.instants import past_instant
from whence.query.lookup.resolve import resolve

routes = APIRouter(prefix="/api/v2", tags=["certification"], responses=MISSING)


@routes.get("/nodes/{node}/quality-score", response_model=One[QualityScoreDocument])
def get_quality_score(
    view: View,
    viewer: Asker,
    node: Segment,
    as_of: Annotated[Plain | None, Query(description="at this time: `2026-11-20T06:00`, `2h ago`")] = None,
) -> Response:
    """Show the quality score of a dataset: the weakest of what is known of it and of all that its values are made of.

    It follows from everything that is in the store, for all callers alike.
    """
    name = resolve(view.graph, node)
    if not isinstance(name, DatasetName):
        raise NodeNotFoundError(f"dataset {node}", (str(name),))
    now = now_micros()
    try:
        at = None if as_of is None else past_instant(as_of, now)
    except (ValueError, OverflowError) as error:
        raise EventError("/query/as_of", str(error), 400) from None
    found = read_score(view.whole, graph_of(view), name, now, at)
    return enveloped(view, score_document(found, name, now if at is None else at, viewer))
