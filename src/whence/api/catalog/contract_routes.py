"""Routes for data contracts, under `/api/v2` (http-catalog.md). `whence contract apply` writes them, as events."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from whence.api.catalog.assertions import now_micros
from whence.api.http.path_names import Plain, Segment
from whence.api.http.response_types import One, Rows
from whence.api.http.responses import MISSING, answer
from whence.api.requests.catalog import NewestView, View
from whence.api.requests.pages import Cursor, PageLimit, after, paged, window
from whence.errors import EventError, NodeNotFoundError
from whence.govern.contracts.evaluation import answers
from whence.model.catalog import entry_sort_key
from whence.model.names import DatasetName
from whence.query.answers.instants import past_instant
from whence.query.lookup.resolve import resolve
from whence.query.rendering.contracts import ContractHistory, DatasetContract

routes = APIRouter(prefix="/api/v2", tags=["contracts"], responses=MISSING)

_NAMED = (str, str, int)


@routes.get("/contracts", response_model=Rows[DatasetContract])
def list_contracts(view: View, limit: PageLimit = 100, cursor: Cursor = "") -> Response:
    """List the contracts of datasets, by namespace and name of the dataset.

    A page may have fewer rows than requested: models of dbt without an enforced contract are left out.
    """
    page = window(limit, cursor, _NAMED)
    entries = answers.contracted_entries(view.catalog)
    return paged(
        view,
        after(entries, page, entry_sort_key),
        limit,
        entry_sort_key,
        lambda some: answers.list_contracts(view.catalog, view.graph, some, now_micros()),
    )


@routes.get("/nodes/{node}/contract", response_model=One[ContractHistory])
def get_contract(
    view: NewestView,
    node: Segment,
    as_of: Annotated[Plain | None, Query(description="the contract at this time: `2026-11-20T06:00`, `2h ago`")] = None,
    transitions: Annotated[bool, Query(description="also when rules began and ceased to be violated")] = False,
) -> Response:
    """Show the contract of a dataset with its text, its violations, and its versions."""
    name = resolve(view.graph, node)
    if not isinstance(name, DatasetName):
        raise NodeNotFoundError(f"dataset {node}", (str(name),))
    at = _instant(as_of)
    found = answers.contract_history(view.catalog, view.graph, name, at, now_micros(), transitions=transitions)
    return answer({"data": found, "page": None})


def _instant(text: str | None) -> int | None:
    try:
        return None if text is None else past_instant(text, now_micros())
    except (ValueError, OverflowError) as error:
        raise EventError("/query/as_of", str(error), 400) from None
