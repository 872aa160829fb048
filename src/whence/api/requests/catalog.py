"""The catalog snapshot of a request, restricted to what the caller may see (`query/visibility/catalog.py`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy import Connection

from whence.api.auth.guard import secret_of, viewer_of, viewer_tag
from whence.api.pending.assertions import Pending
from whence.api.pending.catalog import PendingCatalog
from whence.api.pending.graph import PendingGraph
from whence.api.requests.logged_owners import LoggedOwners
from whence.api.requests.raw_events import raw_events
from whence.govern.run_events.run_commits import read_run_commits
from whence.model.catalog import EventEntry
from whence.query.history.changes.code import ReadCommits
from whence.query.history.changes.owners import ReadOwners
from whence.query.ports.catalog import Catalog
from whence.query.visibility.catalog import VisibleCatalog, scope_of
from whence.query.visibility.events import shown_event
from whence.query.visibility.expressions import Expressions
from whence.query.visibility.graph import VisibleGraph
from whence.query.visibility.pseudonyms import Pseudonyms
from whence.query.visibility.visible_ids import QuestionGraph, VisibleIds
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph


@dataclass(frozen=True, slots=True)
class CatalogView:
    """The catalog and the graph in one snapshot, restricted to what the caller may see.

    `whole` is not restricted: a change reads from it what it must keep; it must not appear in answers.
    """

    catalog: Catalog
    graph: QuestionGraph
    whole: Catalog
    visible_ids: VisibleIds | None = None
    pending: Pending = field(default_factory=Pending)
    """Assertions that the store does not have yet; not restricted either."""
    viewer: str = ""
    """The viewer's part of the ETag (`viewer_tag`)."""

    def bodies(self, request: Request, events: Sequence[EventEntry]) -> list[bytes]:
        """The JSON of events of this catalog. Raises LogError."""
        found = raw_events(request.app.state.log, events)
        return found if self.visible_ids is None else list(map(partial(shown_event, self.visible_ids), found))


def open_view(request: Request) -> Iterator[CatalogView]:
    """Open the snapshot of a request, until it is answered. Raises StoreError."""
    with snapshot(request.app.state.engine) as connection:
        yield _build_view(request, connection, Pending())


def open_pending_view(request: Request) -> Iterator[CatalogView]:
    """Open the snapshot of a request, including the pending assertions. Raises StoreError, LogError."""
    with snapshot(request.app.state.engine) as connection:
        yield _build_view(request, connection, request.app.state.pending.since(StoreCatalog(connection).reached()))


def open_newest_view(request: Request) -> Iterator[CatalogView]:
    """Open it including the pending assertions that this process knows, for readers. Raises StoreError, LogError."""
    with snapshot(request.app.state.engine) as connection:
        yield _build_view(
            request, connection, request.app.state.pending.known_since(StoreCatalog(connection).reached())
        )


def _build_view(request: Request, connection: Connection, pending: Pending) -> CatalogView:
    viewer, graph = viewer_of(request), _graph(request, connection, pending)
    received = request.app.state.received
    whole = StoreCatalog(connection, read_received=received)
    if pending.noted:
        whole = PendingCatalog(connection, read_received=received, pending=pending)
    if viewer.can_see_all:
        return CatalogView(whole, graph, whole, pending=pending)
    visible_ids = VisibleIds(graph, Pseudonyms.of(viewer, secret_of(request)))
    scoped = replace(whole, scope=scope_of(viewer, whole.every_namespace()))
    hiding = VisibleCatalog(visible_ids, scoped), VisibleGraph(visible_ids, Expressions(visible_ids))
    return CatalogView(*hiding, whole, visible_ids, pending, viewer_tag(request))


def catalog_over(request: Request, graph: QuestionGraph) -> Catalog:
    """The catalog in the snapshot of a request's graph, restricted as the graph is."""
    if isinstance(graph, VisibleGraph):
        whole = _store_catalog(graph.visible_ids.graph)
        scoped = replace(whole, scope=scope_of(viewer_of(request), whole.every_namespace()))
        return VisibleCatalog(graph.visible_ids, scoped)
    return _store_catalog(graph)


def whole_catalog_of(graph: QuestionGraph) -> StoreCatalog:
    """The catalog in the same snapshot, not restricted: it must not appear in answers."""
    return _store_catalog(graph.visible_ids.graph if isinstance(graph, VisibleGraph) else graph)


def _store_catalog(graph: QuestionGraph) -> StoreCatalog:
    assert isinstance(graph, StoreGraph)
    return StoreCatalog(graph.connection)


def _graph(request: Request, connection: Connection, pending: Pending) -> StoreGraph:
    if pending.noted:
        return PendingGraph.over(connection, pending)
    return StoreGraph(connection, request.app.state.arrays.over(connection))


View = Annotated[CatalogView, Depends(open_view)]
"""The parameter of routes that read the catalog."""
NewestView = Annotated[CatalogView, Depends(open_newest_view)]
"""The parameter of routes that read one dataset or job that people change."""


def commit_reader(request: Request, graph: QuestionGraph) -> ReadCommits:
    """Reads the commits of runs in the snapshot of a graph, from the server's log."""
    return partial(read_run_commits, whole_catalog_of(graph).connection, request.app.state.log)


def owner_reader(request: Request, graph: QuestionGraph) -> ReadOwners:
    """Reads what events said of owners in the snapshot of a graph, from the server's log."""
    return LoggedOwners(whole_catalog_of(graph).connection, request.app.state.log)
