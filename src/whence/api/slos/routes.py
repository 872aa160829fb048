"""Routes of service level objectives (http-slos.md). `whence slo apply` declares them, as events.

They are evaluated by everything that is in the store, so that every caller reads the same states. Which objectives a
caller reads is decided by the namespace of the dataset; all others are counted.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response
from typing_extensions import TypedDict

from whence.api.catalog.assertions import now_micros
from whence.api.http.path_names import Plain, Segment
from whence.api.http.response_types import One, PageCursor
from whence.api.http.responses import MISSING
from whence.api.requests.catalog import CatalogView, NewestView
from whence.api.requests.pages import Cursor, PageLimit, after, cut, enveloped, window
from whence.errors import AmbiguousNodeError, EventError, ThingNotFoundError
from whence.govern.contracts.evaluation.observations import Observed
from whence.govern.slos.declared import evaluate_declared, evaluate_series
from whence.govern.slos.documents import SloDetail, SloList, SloRow, point_of, slo_row, transition_rows
from whence.govern.slos.records import Declaration, list_declarations, list_transitions
from whence.query.answers.instants import iso, past_instant

routes = APIRouter(prefix="/api/v2", tags=["slos"], responses=MISSING)

_KEY = (str, str, str)
MOST_TRANSITIONS = 500
MOST_MOMENTS = 100
"""Transitions whose moments are points of the series, too."""

AsOf = Annotated[Plain | None, Query(description="at this time: `2026-11-20T06:00`, `2h ago`")]


class SloPage(TypedDict):
    """A page of objectives."""

    data: SloList
    page: PageCursor


@routes.get("/slos", response_model=SloPage)
def list_slos(
    view: NewestView,
    as_of: AsOf = None,
    dataset: Annotated[Plain, Query(description="only those of this dataset: its node id")] = "",
    limit: PageLimit = 100,
    cursor: Cursor = "",
) -> Response:
    """List the declared objectives by service and name, with their states, budgets and burn rates."""
    at = _instant(as_of)
    every = _held(view, at, dataset, is_whole=True)
    shown = sorted(_held(view, at, dataset, is_whole=False), key=_key)
    found, page = cut(after(shown, window(limit, cursor, _KEY), _key), limit, _key)
    data: SloList = {"at": iso(at), "slos": _rows(view, found, at), "hidden": len(every) - len(shown)}
    return enveloped(view, data, page)


@routes.get("/slos/{slo}", response_model=One[SloDetail])
def get_slo(
    view: NewestView,
    slo: Segment,
    as_of: AsOf = None,
    series: Annotated[int, Query(ge=0, le=200, description="so many points of the time window, evenly")] = 0,
) -> Response:
    """Show an objective with its transitions. `slo`: its name, `service/name`, or its id."""
    at = _instant(as_of)
    declared = _find(list_declarations(view.catalog, at).values(), slo)
    last = list_declarations(view.whole, at)[declared[-1].id][-1]
    is_whole = view.visible_ids is None
    transitions = list_transitions(view.catalog, last.id, at)[-MOST_TRANSITIONS:]
    moments = [one.time for one in transitions[-MOST_MOMENTS:]]
    points = evaluate_series(view.whole, _graph(view), last, at, series, moments)
    data: SloDetail = {
        "at": iso(at),
        "slo": _rows(view, [last], at)[0],
        "text": last.record.text or None if is_whole else None,
        "declared": [iso(one.time) for one in declared],
        "transitions": transition_rows(transitions),
        "series": [point_of(last.objective, point) for point in points if last.objective],
    }
    return enveloped(view, data)


def _held(view: CatalogView, at: int, dataset: str, *, is_whole: bool) -> Sequence[Declaration]:
    catalog = view.whole if is_whole else view.catalog
    last = (some[-1] for some in list_declarations(catalog, at).values())
    return [one for one in last if not one.record.ended and dataset in ("", one.record.dataset)]


def _rows(view: CatalogView, found: Sequence[Declaration], at: int) -> list[SloRow]:
    every = list_declarations(view.whole, at)
    whole = [every[one.id][-1] for one in found]
    rows = {
        one.declaration.id: slo_row(one, is_whole=view.visible_ids is None)
        for one in evaluate_declared(view.whole, _graph(view), whole, at)
    }
    return [rows[one.id] for one in found]


def _graph(view: CatalogView) -> Observed:
    return view.graph if view.visible_ids is None else view.visible_ids.graph


def _find(declared: Iterable[Sequence[Declaration]], text: str) -> Sequence[Declaration]:
    """The declarations of the objective that a text names. Raises ThingNotFoundError, AmbiguousNodeError."""
    several = list(declared)
    by_id = [some for some in several if some[-1].id == text]
    named = [some for some in several if text in (some[-1].record.name, _name(some[-1]))]
    current = [some for some in named if not some[-1].record.ended]
    found = by_id or current or named
    if len(found) > 1:
        raise AmbiguousNodeError(text, tuple(f"{some[-1].id}: {_name(some[-1])}" for some in found))
    if not found:
        raise ThingNotFoundError("SLO", text)
    return found[0]


def _name(one: Declaration) -> str:
    return f"{one.record.service}/{one.record.name}"


def _key(one: Declaration) -> tuple[str, str, str]:
    return one.record.service, one.record.name, one.id


def _instant(text: str | None) -> int:
    try:
        return now_micros() if text is None else past_instant(text, now_micros())
    except (ValueError, OverflowError) as error:
        raise EventError("/query/as_of", str(error), 400) from None
