"""What the routes of incidents read: everything that is in the store, at a time."""

from typing import Annotated

from fastapi import Query

from whence.api.catalog.assertions import now_micros
from whence.api.http.path_names import Plain
from whence.api.requests.catalog import CatalogView
from whence.errors import EventError
from whence.query.answers.instants import past_instant
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

AsOf = Annotated[Plain | None, Query(description="at this time: `2026-11-20T06:00`, `2h ago`")]


def whole_catalog(view: CatalogView) -> StoreCatalog:
    """The catalog, not restricted."""
    assert isinstance(view.whole, StoreCatalog)
    return view.whole


def whole_graph(view: CatalogView) -> StoreGraph:
    """The graph, not restricted."""
    graph = view.graph if view.visible_ids is None else view.visible_ids.graph
    assert isinstance(graph, StoreGraph)
    return graph


def instant_of(text: str | None) -> int:
    """A time (µs), now if none is given. Raises EventError."""
    try:
        return now_micros() if text is None else past_instant(text, now_micros())
    except (ValueError, OverflowError) as error:
        raise EventError("/query/as_of", str(error), 400) from None
