"""Routes of reports (http-reports.md)."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Engine

from whence.api.auth.guard import Asker
from whence.api.http.clock import now_of
from whence.api.http.path_names import Plain
from whence.api.http.response_types import One
from whence.api.http.responses import MISSING, answer
from whence.api.requests.catalog import CatalogView, View
from whence.api.requests.pages import enveloped
from whence.errors import EventError
from whence.govern.reports.document_types import WeeklyDocument
from whence.govern.reports.documents import report_document
from whence.govern.reports.expirations import Expirations, ExpirationSources, list_expirations
from whence.govern.reports.gather import ReportSources, gather_report
from whence.govern.reports.period import ReportPeriod, read_report_period
from whence.govern.twins.reading import TwinsDocument, read_twins, twins_document
from whence.model.access import Action, Viewer
from whence.query.answers.instants import duration, instant, iso, past_instant
from whence.store.security.api_key_rows import StoredKey, read_keys
from whence.store.security.database import read_security
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

routes = APIRouter(prefix="/api/v2/reports", tags=["reports"], responses=MISSING)

Week = Annotated[Plain, Query(description="a week of ISO 8601, in UTC: `2026-W47`")]
Until = Annotated[Plain | None, Query(description="in place of a week: the end of seven days, `2026-11-20T06:00`")]
AsOf = Annotated[Plain | None, Query(description="what happened from this time on is not known")]
Within = Annotated[Plain, Query(description="from now on: `30d`, `2w`, `12h`")]
TwinsAsOf = Annotated[Plain | None, Query(description="the lineage at this time: `2026-11-20T06:00`, `2h ago`")]


@routes.get("/weekly", response_model=One[WeeklyDocument])
def weekly_report(
    request: Request, view: View, viewer: Asker, week: Week = "", until: Until = None, as_of: AsOf = None
) -> Response:
    """Report a week: coverage, incidents, downtime, budgets, violations, unknown upstreams, gates, unused datasets.

    Without a week or an end, it is the last week that is over. Figures are of everything, and the same for every
    caller; names that the caller may not see are counted. What cannot be known is null.
    """
    period = _period(week, until, as_of, now_of(request))
    sources = ReportSources(catalog=_whole(view), graph=_graph(view), log=request.app.state.log)
    return enveloped(view, report_document(gather_report(sources, period), viewer))


@routes.get("/twins", response_model=One[TwinsDocument])
def twins_report(request: Request, view: View, viewer: Asker, as_of: TwinsAsOf = None) -> Response:
    """List twins: datasets whose columns come from the same sources by the same formulas, and the models and dashboards
    that read one of them which is neither canonical nor certified, while another is.

    The groups follow from everything that is in the store; a caller reads of the datasets that they may see.
    """
    now = now_of(request)
    try:
        at = None if as_of is None else past_instant(as_of, now)
    except (ValueError, OverflowError) as error:
        raise EventError("/query/as_of", str(error), 400) from None
    return enveloped(view, twins_document(read_twins(_whole(view), _graph(view), at), viewer))


@routes.get("/expirations", response_model=One[Expirations])
def list_expirations_report(request: Request, view: View, viewer: Asker, within: Within = "30d") -> Response:
    """List what ends within a time: certifications, waivers, exceptions of policies, and API keys; the first first.

    Certifications are those that lapse if nothing more is reported. Keys are for administrators of everything.
    """
    now = now_of(request)
    try:
        until = now + duration(within)
        iso(until)
    except (ValueError, OverflowError) as error:
        raise EventError("/query/within", str(error), 400) from None
    sources = ExpirationSources(
        catalog=view.catalog, whole=view.whole, graph=_graph(view), keys=_keys_of(request, viewer)
    )
    return answer({"data": list_expirations(sources, now, until), "page": None})


def _keys_of(request: Request, viewer: Viewer) -> Sequence[StoredKey] | None:
    """The API keys, if the caller may see them."""
    engine: Engine | None = request.app.state.security
    if engine is None or not viewer.is_allowed(Action.ADMIN, "*"):
        return None
    with read_security(engine) as connection:
        return read_keys(connection)


def _period(week: str, until: str | None, as_of: str | None, now: int) -> ReportPeriod:
    try:
        end = None if until is None else instant(until, now)
        return read_report_period(week, end, None if as_of is None else instant(as_of, now), now)
    except (ValueError, OverflowError) as error:
        raise EventError("/query", str(error), 400) from None


def _whole(view: CatalogView) -> StoreCatalog:
    assert isinstance(view.whole, StoreCatalog)
    return view.whole


def _graph(view: CatalogView) -> StoreGraph:
    graph = view.graph if view.visible_ids is None else view.visible_ids.graph
    assert isinstance(graph, StoreGraph)
    return graph
