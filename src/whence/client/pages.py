"""Reads all pages of an answer, and joins them into one answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from whence.errors import ApiError

Json = dict[str, Any]


class PageInfo(msgspec.Struct, frozen=True):
    """The cursor of the next page; None on the last one."""

    next: str | None


class Envelope(msgspec.Struct, frozen=True):
    """One page of an answer."""

    data: Json
    completeness: Json | None
    page: PageInfo | None


Get = Callable[[str, Mapping[str, Any]], Envelope]

PAGE = 10_000
"""Rows in one request: the most that the API returns."""
TRIES = 3


def read_all(get: Get, path: str, parameters: Mapping[str, Any], rows: str, limit: int | None = None) -> Json:
    """All rows of an answer, or the first `limit`, at one version of the graph, with its head and `completeness`.

    `rows`: the member of `data` with the rows. Raises ApiError if the graph changes too fast, and the errors of `get`.
    """
    for _ in range(TRIES):
        if (pages := _read_pages(get, path, parameters, rows, limit)) is not None:
            return _put_together(pages, rows, limit)
    raise ApiError("the answer", "the graph changed during every attempt to read all pages; ask for fewer rows")


def _read_pages(
    get: Get, path: str, parameters: Mapping[str, Any], rows: str, limit: int | None
) -> Sequence[Envelope] | None:
    """The pages, or None if the graph changed between them."""
    pages: list[Envelope] = []
    cursor, left = None, limit
    while cursor is not None or not pages:
        wanted = PAGE if left is None else max(min(left, PAGE), 1)
        pages.append(get(path, {**parameters, "limit": wanted, "cursor": cursor}))
        if _version(pages[-1]) != _version(pages[0]):
            return None
        left = None if left is None else left - len(pages[-1].data.get(rows, ()))
        page = pages[-1].page
        cursor = page.next if page and (left is None or left > 0) else None
    return pages


def _version(page: Envelope) -> tuple[Any, ...] | None:
    """The state of the graph on a page, or None if the page does not have it."""
    completeness = page.completeness
    return None if completeness is None else (completeness.get("graph_version"), completeness.get("forgotten_before"))


def _put_together(pages: Sequence[Envelope], rows: str, limit: int | None) -> Json:
    """One document of all pages. Members that belong to rows are in the page of their row."""
    data: Json = {**pages[0].data, rows: [row for page in pages for row in page.data.get(rows, ())][:limit]}
    if len(pages) > 1 and "edges" in data:
        data |= _join_edges(pages)
    if len(pages) > 1 and "handovers" in data:
        handovers = (one for page in pages for one in page.data["handovers"])
        data["handovers"] = sorted(handovers, key=lambda one: (one["reader"], one["writer"], one["dataset"]))
    answers = [page.completeness for page in pages]
    return {**data, "completeness": next((one for one in answers if one and one.get("stopped_by")), answers[-1])}


def _join_edges(pages: Sequence[Envelope]) -> Json:
    """The edges, the gaps, and the nodes, whose edge indices refer to all edges."""
    placed = [(number, place) for number, page in enumerate(pages) for place in range(len(page.data["edges"]))]
    ordered = sorted(placed, key=lambda at: _ends(pages[at[0]].data["edges"][at[1]]))
    places = {at: place for place, at in enumerate(ordered)}
    gaps = (gap for page in pages for gap in page.data["gaps"])
    return {
        "nodes": [
            {**node, "edge": None if node["edge"] is None else places[number, node["edge"]]}
            for number, page in enumerate(pages)
            for node in page.data["nodes"]
        ],
        "edges": [pages[number].data["edges"][place] for number, place in ordered],
        "gaps": sorted(gaps, key=lambda gap: (gap["at"], gap["owner"], gap["reason"])),
    }


def _ends(edge: Json) -> tuple[str, str, str]:
    return edge["source"], edge["target"], edge["owner"]
