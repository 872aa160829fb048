"""KPIs over time, and the coverage of each namespace (docs/reference/dashboards.md)."""

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Engine

from whence.api.auth.guard import Asker
from whence.api.dashboards.stale_nodes import mentioned, visible
from whence.api.http.cached_counts import CachedCount
from whence.api.http.dashboard_types import Coverage, Kpis, Lacking, answered_with
from whence.api.http.path_names import Plain
from whence.api.http.responses import MISSING, answer
from whence.api.requests.pages import Cursor, PageLimit, after, cut, window
from whence.derive.kpis.series import Measured, kpis, read_series
from whence.model.access import Action, Viewer
from whence.model.catalog import Entry, Window, entry_sort_key
from whence.store.snapshots.catalog import snapshot
from whence.store.status import coverage as store

KPI_SECONDS = 30
MOST_MEASURED = 400
"""The most measurements of one KPI in an answer, latest first."""

KpiSeries = dict[str, tuple[Measured, ...]]
What = Literal["lineage", "columns", "owner", "description", "upstream"]

routes = APIRouter(prefix="/api/v2", tags=["dashboards"], responses=MISSING)


@routes.get("/kpis", responses=answered_with(Kpis))
def list_kpis(
    request: Request,
    name: Annotated[list[Plain], Query(description="only these; all if not given")] = [],  # noqa: B006  # copied
) -> Response:
    """List the lineage KPIs as `whence publish` measured them, each with its definition and measurements.

    `measured_at` and all values are null if nothing was measured yet.
    """
    series: CachedCount[KpiSeries] = request.app.state.kpi_series
    kpis = _kpis_document(series.get())
    return answer({"data": [one for one in kpis if not name or one["name"] in name], "page": None})


@routes.get("/coverage", responses=answered_with(Coverage))
def coverage(request: Request, viewer: Asker, limit: PageLimit = 100, cursor: Cursor = "") -> Response:
    """Count the datasets of each namespace with known lineage, columns, owner or description.

    `hidden`: the number of namespaces that the caller may not read.
    """
    covered: CachedCount[Sequence[store.NamespaceCoverage]] = request.app.state.coverage
    every = covered.get()
    seen = [one for one in every if _may_read(viewer, one.namespace)]
    shown, page = cut(after(seen, window(limit, cursor, (str,)), _by_name), limit, _by_name)
    return answer(
        {
            "data": {"namespaces": [one._asdict() for one in shown], "hidden": len(every) - len(seen)},
            "page": page,
        }
    )


@routes.get("/coverage/lacking", responses=answered_with(Lacking))
def list_lacking(
    request: Request,
    viewer: Asker,
    what: What = "lineage",
    namespace: Annotated[Plain | None, Query(description="only of this namespace")] = None,
    limit: PageLimit = 100,
    cursor: Cursor = "",
) -> Response:
    """List the datasets that lack lineage, columns, an owner or a description, by name.

    `upstream`: datasets with downstream nodes, but without known upstream lineage.
    """
    wanted = window(limit, cursor, (str, str, int))
    found = _visible(request.app.state.engine, viewer, what, namespace, wanted)
    shown, page = cut(found, limit, entry_sort_key)
    return answer({"data": [mentioned(one) for one in shown], "page": page})


def cached_kpis(tables: str) -> CachedCount[KpiSeries]:
    """The measurements of each KPI in the published tables."""
    return CachedCount(partial(read_series, tables), least_seconds=KPI_SECONDS)


def cached_coverage(engine: Engine) -> CachedCount[Sequence[store.NamespaceCoverage]]:
    """The coverage of all namespaces; visibility is checked later."""
    return CachedCount(partial(_covered, engine))


def _visible(engine: Engine, viewer: Viewer, what: str, namespace: str | None, wanted: Window) -> Sequence[Entry]:
    with snapshot(engine) as connection:
        return visible(
            viewer, wanted, partial(store.list_lacking, connection, what, namespace), entry_sort_key, attrgetter("name")
        )


def _may_read(viewer: Viewer, namespace: str) -> bool:
    return viewer.is_allowed(Action.READ, namespace)


def _by_name(one: store.NamespaceCoverage) -> tuple[str | int, ...]:
    return (one.namespace,)


def _covered(engine: Engine) -> Sequence[store.NamespaceCoverage]:
    with snapshot(engine) as connection:
        return store.read_coverage(connection)


def _kpis_document(series: KpiSeries) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "unit": one.unit,
            "definition": one.definition,
            **_latest(series.get(one.name, ())),
        }
        for one in kpis()
    ]


def _latest(measured: tuple[Measured, ...]) -> dict[str, Any]:
    last = measured[-1] if measured else None
    return {
        "value": last and last.value,
        "numerator": last and last.numerator,
        "denominator": last and last.denominator,
        "measured_at": last and last.measured_at.isoformat(),
        "series": [{"at": one.measured_at.isoformat(), "value": one.value} for one in measured[-MOST_MEASURED:]],
    }
