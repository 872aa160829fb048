"""Where a request gets its snapshot of the catalog: what of it who asks may see (`query/hiding_catalog.py`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import Depends, Request

from whence.api.access import secret_of, viewer_of, viewer_tag
from whence.api.raw import raw_events
from whence.model.catalog import EventEntry
from whence.query.catalog import Catalog
from whence.query.cloak import Cloak
from whence.query.expressions import Expressions
from whence.query.hiding import HidingGraph
from whence.query.hiding_catalog import HidingCatalog, scope_of
from whence.query.ports import Graph
from whence.query.shown_events import shown_event
from whence.query.veil import Veil
from whence.store.catalog import StoreCatalog, snapshot
from whence.store.graph import StoreGraph


@dataclass(frozen=True, slots=True)
class Catalogued:
    """What is known of each thing and how things depend on each other, in one snapshot, as far as who asks may see it.

    `whole` hides nothing: what a change must keep is read from it, and nothing that is answered.
    """

    catalog: Catalog
    graph: Graph
    whole: Catalog
    veil: Veil | None = None
    viewer: str = ""
    """Whose answer it is, for its tag (`viewer_tag`)."""

    def bodies(self, request: Request, events: Sequence[EventEntry]) -> list[bytes]:
        """The JSON of events of this catalog. Raises LogError."""
        found = raw_events(request.app.state.log, events)
        return found if self.veil is None else list(map(partial(shown_event, self.veil), found))


def open_catalogued(request: Request) -> Iterator[Catalogued]:
    """The snapshot of a request, until it is answered. Raises StoreError."""
    viewer = viewer_of(request)
    with snapshot(request.app.state.engine) as connection:
        arrays = request.app.state.arrays.over(connection)
        graph, whole = StoreGraph(connection, arrays), StoreCatalog(connection)
        if viewer.sees_all:
            yield Catalogued(whole, graph, whole)
            return
        veil = Veil(graph, Cloak.of(viewer, secret_of(request)))
        scoped = StoreCatalog(connection, scope_of(viewer, whole.every_namespace()))
        yield Catalogued(
            HidingCatalog(veil, scoped), HidingGraph(veil, Expressions(veil)), whole, veil, viewer_tag(request)
        )


Asked = Annotated[Catalogued, Depends(open_catalogued)]
"""A route that reads the catalog takes this."""
