"""Routes of certification (http-certification.md). `whence certification apply` declares rules, as events.

Datasets are judged by everything that is in the store, so that every caller reads the same status. A caller reads of
the datasets that they may see.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from typing_extensions import TypedDict

from whence.api.catalog.assertions import now_micros
from whence.api.http.path_names import Plain, Segment
from whence.api.http.response_types import One, PageCursor
from whence.api.http.responses import MISSING
from whence.api.requests.catalog import CatalogView, NewestView
from whence.api.requests.pages import Cursor, PageLimit, after, cut, enveloped, window
from whence.errors import EventError, NodeNotFoundError
from whence.govern.certification.current import certify, list_named, rules_by_namespace
from whence.govern.certification.documents import (
    Certification,
    CertificationList,
    CertificationRuleRow,
    certification_document,
    rule_row,
)
from whence.govern.certification.records import CERTIFICATION
from whence.govern.contracts.evaluation.observations import Observed
from whence.govern.declared_rules import held_rules
from whence.model.catalog import Entry, entry_sort_key
from whence.model.names import DatasetName
from whence.query.answers.instants import iso, past_instant
from whence.query.lookup.resolve import resolve

routes = APIRouter(prefix="/api/v2", tags=["certification"], responses=MISSING)

_NAMED = (str, str, int)
AsOf = Annotated[Plain | None, Query(description="at this time: `2026-11-20T06:00`, `2h ago`")]
Status = Literal["certified", "not certified", "not evaluated"]


class CertificationPage(TypedDict):
    """A page of datasets."""

    data: CertificationList
    page: PageCursor


@routes.get("/certifications", response_model=CertificationPage)
def list_certifications(
    view: NewestView,
    namespace: Annotated[Plain, Query(description="only the datasets of this namespace")] = "",
    status: Annotated[Status | None, Query(description="only the datasets with this status")] = None,
    as_of: AsOf = None,
    limit: PageLimit = 100,
    cursor: Cursor = "",
) -> Response:
    """List the datasets that have a rule of certification, by namespace and name, with what it says of each.

    A page may have fewer rows than requested: datasets without a rule, or with another status, are left out.
    """
    at, now = _instant(as_of), now_micros()
    until = now if at is None else at
    ruled = rules_by_namespace(held_rules(CERTIFICATION, view.whole, until))
    wanted = [one for one in ruled if namespace in ("", one)]
    entries = after(list_named(view.catalog, wanted, until), window(limit, cursor, _NAMED), entry_sort_key)
    shown, page = cut(entries, limit, entry_sort_key)
    rows = certify(view.whole, graph_of(view), [name for one in shown if (name := _dataset(one))], now, at)
    found = [one for one in rows if one.found.rules and status in (None, one.found.status)]
    data: CertificationList = {
        "at": iso(until),
        "datasets": [certification_document(one, is_whole=view.visible_ids is None) for one in found],
    }
    return enveloped(view, data, page)


@routes.get("/nodes/{node}/certification", response_model=One[Certification])
def get_certification(view: NewestView, node: Segment, as_of: AsOf = None) -> Response:
    """Show the certification of a dataset: each requirement of each rule that applies, with what it follows from."""
    name = resolve(view.graph, node)
    if not isinstance(name, DatasetName):
        raise NodeNotFoundError(f"dataset {node}", (str(name),))
    (found,) = certify(view.whole, graph_of(view), [name], now_micros(), _instant(as_of))
    return enveloped(view, certification_document(found, is_whole=view.visible_ids is None))


class RulesAnswer(TypedDict):
    """All rules that hold in namespaces that the caller may read."""

    data: list[CertificationRuleRow]
    page: None


@routes.get("/certification-rules", response_model=RulesAnswer)
def list_certification_rules(view: NewestView) -> Response:
    """List the rules of certification that hold now, by namespace and name."""
    return enveloped(view, [rule_row(one) for one in held_rules(CERTIFICATION, view.catalog, now_micros())])


def graph_of(view: CatalogView) -> Observed:
    """The whole graph: what decides a status, and must not appear in answers."""
    return view.graph if view.visible_ids is None else view.visible_ids.graph


def _dataset(one: Entry) -> DatasetName | None:
    return one.name if isinstance(one.name, DatasetName) else None


def _instant(text: str | None) -> int | None:
    try:
        return None if text is None else past_instant(text, now_micros())
    except (ValueError, OverflowError) as error:
        raise EventError("/query/as_of", str(error), 400) from None
