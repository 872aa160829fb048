"""Routes of incidents (http-incidents.md). What people do about them are events, as all facts are.

Incidents are computed by everything that is in the store, so that every caller reads the same states. A caller reads
the names of the datasets that they may see; all others are counted.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from typing_extensions import TypedDict

from whence.api.auth.guard import Asker
from whence.api.http.path_names import Plain, Segment
from whence.api.http.response_types import One, PageCursor
from whence.api.http.responses import MISSING
from whence.api.incidents.newest import NewestIncidents
from whence.api.incidents.views import AsOf, instant_of, whole_catalog, whole_graph
from whence.api.requests.catalog import CatalogView, View
from whence.api.requests.pages import Cursor, PageLimit, after, cut, enveloped, window
from whence.errors import ThingNotFoundError
from whence.govern.incidents.current import ReadIncidents, read_all_traits, read_incidents, read_streaks
from whence.govern.incidents.detail.documents import IncidentDocument, detail_document
from whence.govern.incidents.detail.gathering import DetailSources, gather_detail
from whence.govern.incidents.documents import IncidentList, is_visible, list_document
from whence.govern.incidents.fold import find_incident
from whence.govern.incidents.incident import Incident
from whence.govern.run_events.run_commits import read_run_commits
from whence.govern.run_events.run_reports import read_run_reports
from whence.model.access import Viewer
from whence.model.records.incidents import IncidentStateText
from whence.model.traits import NO_TRAITS
from whence.query.visibility.graph import VisibleGraph
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.snapshots.graph import StoreGraph

routes = APIRouter(prefix="/api/v2", tags=["incidents"], responses=MISSING)

UNRESOLVED: tuple[IncidentStateText, ...] = ("open", "acknowledged", "mitigated")
_KEY = (int, str)

States = Annotated[list[IncidentStateText], Query(description="only those in one of these states")]


class IncidentPage(TypedDict):
    """A page of incidents."""

    data: IncidentList
    page: PageCursor


@routes.get("/incidents", response_model=IncidentPage)
def list_incidents(
    request: Request,
    view: View,
    viewer: Asker,
    as_of: AsOf = None,
    state: States = list(UNRESOLVED),  # noqa: B006 - FastAPI copies it
    dataset: Annotated[Plain, Query(description="only those with findings of this dataset: its node id")] = "",
    limit: PageLimit = 100,
    cursor: Cursor = "",
) -> Response:
    """List incidents, those that began last first. Resolved ones are listed for 30 days."""
    read = read_view(request, view, as_of)
    wanted = [one for one in read.incidents if one.state in state]
    visible = [one for one in wanted if is_visible(one, viewer)]
    wanted_rows = sorted((one for one in visible if _has(one, dataset, viewer)), key=_key)
    shown, page = cut(after(wanted_rows, window(limit, cursor, _KEY), _key), limit, _key)
    traits = read_all_traits(whole_graph(view), {one.root for one in shown})
    data = list_document(read, shown, len(wanted) - len(visible), traits, viewer)
    return enveloped(view, data, page)


@routes.get("/incidents/{incident}", response_model=One[IncidentDocument])
def get_incident(request: Request, view: View, viewer: Asker, incident: Segment, as_of: AsOf = None) -> Response:
    """Show an incident: what is wrong since when, its possible causes, whom it affects, and what people did.

    The id of an incident that was merged leads to the one that it is part of.
    """
    read = read_view(request, view, as_of)
    found = find_incident(read.incidents, incident)
    if found is None or not is_visible(found, viewer):
        raise ThingNotFoundError("Incident", incident)
    whole = whole_catalog(view)
    sources = DetailSources(
        catalog=view.catalog,
        graph=_question_graph(view),
        whole=whole,
        whole_graph=whole_graph(view),
        viewer=viewer,
        read_commits=partial(read_run_commits, whole.connection, request.app.state.log),
        read_reports=partial(read_run_reports, whole.connection, request.app.state.log),
        at=read.at,
        past=None if as_of is None else read.at,
    )
    traits = read_all_traits(whole_graph(view), [found.root]).get(found.root, NO_TRAITS)
    return enveloped(view, detail_document(read, gather_detail(found, sources), traits, viewer))


def read_view(request: Request, view: CatalogView, as_of: str | None = None) -> ReadIncidents:
    """Read the incidents of a snapshot, at a time or now. Those of now are computed once for a position of the store,
    unless the snapshot has pending assertions. Raises EventError.
    """
    at = instant_of(as_of)
    compute = partial(_compute, view, at, is_past=as_of is not None)
    if as_of is not None or view.pending.noted:
        return compute()
    newest: NewestIncidents = request.app.state.newest_incidents
    return newest.read(view.whole.reached(), at, compute)


def _compute(view: CatalogView, at: int, *, is_past: bool) -> ReadIncidents:
    whole = whole_catalog(view)
    streaks = read_streaks(whole.connection, at)
    return read_incidents(whole, whole_graph(view), streaks, at, is_past=is_past)


def _question_graph(view: CatalogView) -> QuestionGraph:
    assert isinstance(view.graph, StoreGraph | VisibleGraph)
    return view.graph


def _has(one: Incident, dataset: str, viewer: Viewer) -> bool:
    names: Sequence[str] = [str(each.dataset) for each in one.findings if viewer.can_see(each.dataset)]
    return not dataset or dataset in names


def _key(one: Incident) -> tuple[int, str]:
    return -one.since, one.id
