"""The route of sensitivity labels by namespace (http-governance.md)."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from typing_extensions import TypedDict

from whence.api.auth.guard import Asker
from whence.api.http.response_types import PageOf
from whence.api.http.responses import MISSING
from whence.api.lineage.node_traits import Category
from whence.api.requests.catalog import CatalogView, View, whole_catalog_of
from whence.api.requests.pages import Cursor, Key, PageLimit, after, cut, enveloped, window
from whence.api.requests.recent_labels import recent_labels
from whence.model.access import Action, Viewer
from whence.model.sensitivity import Grade
from whence.query.answers.instants import iso
from whence.query.sensitivity.label_counts import NamespaceLabels

routes = APIRouter(prefix="/api/v2", tags=["governance"], responses=MISSING)


class GradeCounts(TypedDict):
    """How many columns have each grade."""

    full: int
    pseudonymous: int
    partial: int
    statistic: int
    influenced: int


class LabelledNamespace(TypedDict):
    """The columns of a namespace with a label, by their grade. `assumed`: of so many labels a step was not read."""

    namespace: str
    columns: GradeCounts
    datasets: int
    assumed: int


class LabelsByNamespace(TypedDict):
    """Columns with a label of a category. `unknown`: how many more may have one, because of what is not known.
    `complete`: all lineage was read. `hidden`: the number of namespaces that the caller may not read. `at`: when it was
    counted.
    """

    category: Category
    at: str
    complete: bool
    columns: GradeCounts
    unknown: int
    namespaces: list[LabelledNamespace]
    hidden: int


@routes.get("/labels", response_model=PageOf[LabelsByNamespace])
def list_labels(
    request: Request,
    view: View,
    viewer: Asker,
    category: Annotated[Category, Query(description="the category of the labels")] = "pii",
    limit: PageLimit = 100,
    cursor: Cursor = "",
) -> Response:
    """Count the columns of each namespace that have a sensitivity label of a category, by grade.

    `columns` has those of all namespaces that the caller may read. Counts are kept for fifty times as long as counting
    took.
    """
    recent = recent_labels(request)
    of_category = [one for one in recent.counts.namespaces if one.category == category]
    shown, page = cut(after(of_category, window(limit, cursor, (str,)), _by_name), limit, _by_name)
    data: LabelsByNamespace = {
        "category": category,
        "at": iso(recent.at),
        "complete": recent.counts.complete,
        "columns": _totals(of_category),
        "unknown": recent.counts.unknown[category],
        "namespaces": [_row(one) for one in shown],
        "hidden": _count_hidden(view, viewer),
    }
    return enveloped(view, data, page)


def _by_name(one: NamespaceLabels) -> Key:
    return (one.namespace,)


def _row(one: NamespaceLabels) -> LabelledNamespace:
    return {
        "namespace": one.namespace,
        "columns": _totals([one]),
        "datasets": one.datasets,
        "assumed": one.assumed,
    }


def _totals(several: list[NamespaceLabels]) -> GradeCounts:
    def count(grade: Grade) -> int:
        return sum(one.columns.get(grade, 0) for one in several)

    return {
        "full": count(Grade.FULL),
        "pseudonymous": count(Grade.PSEUDONYMOUS),
        "partial": count(Grade.PARTIAL),
        "statistic": count(Grade.STATISTIC),
        "influenced": count(Grade.INFLUENCED),
    }


def _count_hidden(view: CatalogView, viewer: Viewer) -> int:
    """How many namespaces the caller may not read."""
    if view.visible_ids is None:
        return 0
    return sum(not viewer.is_allowed(Action.READ, one) for one in whole_catalog_of(view.graph).every_namespace())
