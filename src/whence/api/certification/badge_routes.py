"""Badges of datasets (http-certification.md): JSON of the form that shields.io reads, and SVG. Who may not see a
dataset gets no badge of it either.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Response
from typing_extensions import TypedDict

from whence.api.catalog.assertions import now_micros
from whence.api.certification.routes import graph_of
from whence.api.http.path_names import Segment
from whence.api.http.responses import MISSING, answer
from whence.api.requests.catalog import CatalogView, View
from whence.errors import NodeNotFoundError
from whence.govern.certification.badges import Badge, certification_badge, draw, lineage_badge, objectives_badge
from whence.govern.certification.coverage import coverage_of
from whence.govern.certification.current import certify
from whence.govern.certification.observations import read_lineage
from whence.govern.contracts.evaluation.observations import ids_of
from whence.govern.slos.declared import evaluate_declared
from whence.govern.slos.records import held_declarations
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.query.lookup.resolve import resolve

routes = APIRouter(prefix="/api/v2/badges", tags=["badges"], responses=MISSING)

SVG: dict[int | str, dict[str, Any]] = {
    200: {"description": "the badge", "content": {"image/svg+xml": {"schema": {"type": "string"}}}}
}
_GUARDS = {"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff"}
"""Whoever opens the file itself gets a picture, and nothing that runs."""


class BadgeKind(StrEnum):
    """What a badge is about."""

    CERTIFICATION = "certification"
    LINEAGE = "lineage"
    OBJECTIVES = "objectives"


class BadgeDocument(TypedDict):
    """A badge in the form of the endpoint badges of shields.io."""

    schemaVersion: Literal[1]
    label: str
    message: str
    color: str


def read_badge(view: View, badge: BadgeKind, node: Segment) -> Badge:
    """The badge of a dataset. Raises NodeNotFoundError, AmbiguousNodeError."""
    name = resolve(view.graph, node)
    if not isinstance(name, DatasetName):
        raise NodeNotFoundError(f"dataset {node}", (str(name),))
    return badge_of(view, badge, name)


def badge_of(view: CatalogView, badge: BadgeKind, name: DatasetName) -> Badge:
    """The badge of a dataset, as a view shows it."""
    match badge:
        case BadgeKind.CERTIFICATION:
            (found,) = certify(view.whole, graph_of(view), [name], now_micros())
            return certification_badge(found.found.status)
        case BadgeKind.LINEAGE:
            known, canonical = read_lineage(graph_of(view), ids_of(graph_of(view), [name]), None)
            return lineage_badge(coverage_of(known, canonical[name]).share)
        case BadgeKind.OBJECTIVES:
            return _objectives(view, name)


ReadBadge = Annotated[Badge, Depends(read_badge)]


@routes.get("/{badge}/{node}", response_model=BadgeDocument)
def get_badge(badge_of_node: ReadBadge) -> Response:
    """Show a badge of a dataset as JSON that shields.io reads."""
    return answer(badge_document(badge_of_node))


@routes.get("/{badge}/{node}/svg", response_class=Response, responses=SVG)
def draw_badge(badge_of_node: ReadBadge) -> Response:
    """Draw a badge of a dataset, for a README or a dashboard."""
    return badge_picture(badge_of_node)


def badge_document(badge: Badge) -> BadgeDocument:
    """A badge as JSON."""
    return {"schemaVersion": 1, "label": badge.label, "message": badge.message, "color": badge.colour}


def badge_picture(badge: Badge) -> Response:
    """A badge as SVG."""
    return Response(draw(badge), 200, _GUARDS, "image/svg+xml")


def _objectives(view: CatalogView, name: DatasetName) -> Badge:
    """The badge of the objectives that the caller may see, by all names of the dataset."""
    at, graph = now_micros(), graph_of(view)
    (ids,) = ids_of(graph, [name]).values()
    visible = {id_ for id_, one in held_declarations(view.catalog, at).items() if node_id(one.dataset) in ids}
    whole = [one for id_, one in held_declarations(view.whole, at).items() if id_ in visible]
    judged = (one.judgement for one in evaluate_declared(view.whole, graph, whole, at))
    return objectives_badge([None if one is None else one.outcome for one in judged])
