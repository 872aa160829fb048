"""Badges that anybody may read, without a key (http-certification.md): of the datasets that a setting names.

Everything else is answered as if it did not exist: a dataset of another namespace, one that is not there, and one that
is not certified. Only node ids are understood, so that no answer says which names there are.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock

from fastapi import APIRouter, Request, Response

from whence.api.auth.permissions import needs
from whence.api.certification.badge_routes import (
    SVG,
    BadgeDocument,
    BadgeKind,
    badge_document,
    badge_of,
    badge_picture,
)
from whence.api.http.path_names import Segment
from whence.api.http.responses import MISSING, answer
from whence.api.requests.catalog import CatalogView
from whence.errors import ThingNotFoundError
from whence.govern.certification.badges import Badge
from whence.govern.rule_states.records import certifications_at
from whence.model.access import Action, matches_pattern
from whence.model.ids import node_id
from whence.model.names import DatasetName, parse_node
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

CERTIFIED = "certified"
"""The word for the datasets that the rules of certification certify."""
KEPT_SECONDS = 60.0
"""How long a badge is kept, so that many readers without keys ask the store once."""
_MOST_KEPT = 1_000


@dataclass(slots=True)
class PublicBadges:
    """The badges that anybody may read. `names`: patterns of namespaces, and `certified`. One is computed at a time."""

    names: tuple[str, ...]
    clock: Callable[[], float] = time.monotonic
    _lock: Lock = field(default_factory=Lock)
    _kept: dict[tuple[BadgeKind, str], tuple[float, Badge | None]] = field(default_factory=dict)

    def read(self, request: Request, badge: BadgeKind, node: str) -> Badge:
        """The badge of a dataset, by its node id. Raises ThingNotFoundError if it is not public, or not there."""
        key = (badge, node)
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept[0] <= self.clock():
                kept = (self.clock() + KEPT_SECONDS, self._compute(request, badge, node))
                if len(self._kept) >= _MOST_KEPT:
                    self._kept.clear()
                self._kept[key] = kept
        if kept[1] is None:
            raise ThingNotFoundError("Public badge", node)
        return kept[1]

    def _compute(self, request: Request, badge: BadgeKind, node: str) -> Badge | None:
        name = parse_node(node)
        if not isinstance(name, DatasetName) or not self.names:
            return None
        with snapshot(request.app.state.engine) as connection:
            catalog = StoreCatalog(connection)
            if not catalog.entries([node_id(name)]) or not self._is_public(catalog, name):
                return None
            return badge_of(CatalogView(catalog, StoreGraph(connection), catalog), badge, name)

    def _is_public(self, catalog: StoreCatalog, name: DatasetName) -> bool:
        if any(matches_pattern(one, name.namespace) for one in self.names if one != CERTIFIED):
            return True
        return CERTIFIED in self.names and certifications_at(catalog).get(name) == CERTIFIED


def router(names: Iterable[str]) -> APIRouter:
    """Create the routes. `names`: patterns of the namespaces whose badges are public, and `certified`."""
    routes = APIRouter(prefix="/api/v2/public-badges", tags=["badges"], responses=MISSING)
    public = PublicBadges(tuple(names))

    @routes.get("/{badge}/{node}", response_model=BadgeDocument)
    @needs(Action.PUBLIC)
    def get_public_badge(request: Request, badge: BadgeKind, node: Segment) -> Response:
        """Show a badge of a dataset to anybody, if a setting makes it public."""
        return answer(badge_document(public.read(request, badge, node)))

    @routes.get("/{badge}/{node}/svg", response_class=Response, responses=SVG)
    @needs(Action.PUBLIC)
    def draw_public_badge(request: Request, badge: BadgeKind, node: Segment) -> Response:
        """Draw a badge of a dataset for anybody, if a setting makes it public."""
        return badge_picture(public.read(request, badge, node))

    return routes
