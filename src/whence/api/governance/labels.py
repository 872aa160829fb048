"""The route of sensitivity labels by domain or namespace (http-governance.md)."""

from typing import Annotated, Literal

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
from whence.query.sensitivity.label_counts import LabelGroup

Grouping = Literal["domain", "namespace"]
routes = APIRouter(prefix="/api/v2", tags=["governance"], responses=MISSING)


class GradeCounts(TypedDict):
    """How many columns have each grade."""

    full: int
    pseudonymous: int
    partial: int
    statistic: int
    influenced: int


class LabelledGroup(TypedDict):
    """The columns of a domain or namespace with a label, by their grade. `name`: empty for the datasets without a
    domain. `assumed`: of so many labels a step was not read.
    """

    name: str
    columns: GradeCounts
    datasets: int
    assumed: int


class GroupedLabels(TypedDict):
    """Columns with a label of a category, by domain or namespace. `unknown`: how many more may have one, because of
    what is not known. `complete`: all lineage was read. `hidden`: the number of namespaces that the caller may not
    read. `at`: when it was counted.
    """

    category: Category
    by: Grouping
    at: str
    complete: bool
    columns: GradeCounts
    unknown: int
    groups: list[LabelledGroup]
    hidden: int


@routes.get("/labels", response_model=PageOf[GroupedLabels])
def list_labels(
    request: Request,
    view: View,
    viewer: Asker,
    category: Annotated[Category, Query(description="the category of the labels")] = "pii",
    by: Annotated[
        Grouping | None, Query(description="how to group them; by default by domain, if a labelled dataset has one")
    ] = None,
    limit: PageLimit = 100,
    cursor: Cursor = "",
) -> Response:
    """Count the columns of each domain or namespace that have a sensitivity label of a category, by grade.

    A dataset's domain is its tag `domain`. `columns` has those of all that the caller may read. Counts are kept for
    fifty times as long as counting took.
    """
    recent = recent_labels(request)
    counts = recent.counts
    chosen = by or ("domain" if any(one.name for one in counts.domains) else "namespace")
    every = counts.domains if chosen == "domain" else counts.namespaces
    of_category = [one for one in every if one.category == category]
    shown, page = cut(after(of_category, window(limit, cursor, (str,)), _by_name), limit, _by_name)
    data: GroupedLabels = {
        "category": category,
        "by": chosen,
        "at": iso(recent.at),
        "complete": counts.complete,
        "columns": _totals(of_category),
        "unknown": counts.unknown[category],
        "groups": [_row(one) for one in shown],
        "hidden": _count_hidden(view, viewer),
    }
    return enveloped(view, data, page)


def _by_name(one: LabelGroup) -> Key:
    return (one.name,)


def _row(one: LabelGroup) -> LabelledGroup:
    return {
        "name": one.name,
        "columns": _totals([one]),
        "datasets": one.datasets,
        "assumed": one.assumed,
    }


def _totals(several: list[LabelGroup]) -> GradeCounts:
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
