"""Envelopes and cursors of `/api/v2`: each page has an opaque cursor for the next one."""

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Annotated, Any, TypeVar

from fastapi import Query, Response

from whence.api.http.responses import answer
from whence.api.requests.catalog import CatalogView
from whence.errors import EventError
from whence.log.position import Position, format_positions
from whence.model.catalog import Window

T = TypeVar("T")
Key = tuple[str | int, ...]

PageLimit = Annotated[int, Query(alias="limit", ge=1, le=1_000, description="how many at most")]
Cursor = Annotated[str, Query(max_length=4_000, description="`page.next` of the page before; empty: the first page")]


def window(limit: int, cursor: str, shape: tuple[type, ...]) -> Window:
    """The rows of a page and one more, which shows whether another page follows. Raises EventError for a bad cursor.

    `shape` has the types of the parts of the sort key.
    """
    return Window(limit=limit + 1, after=_key(cursor, shape) if cursor else None)


def paged(
    view: CatalogView,
    found: Sequence[T],
    limit: int,
    key: Callable[[T], Key],
    documents: Callable[[Sequence[T]], Sequence[Any]],
) -> Response:
    """A page of the rows of a `window`."""
    shown, page = cut(found, limit, key)
    return enveloped(view, documents(shown), page)


def cut(found: Sequence[T], limit: int, key: Callable[[T], Key]) -> tuple[Sequence[T], dict[str, object]]:
    """The rows of a page, and its `page` member."""
    shown = found[:limit]
    if len(found) > limit:
        return shown, going_on(key(shown[-1]), limit)
    return shown, {"next": None, "limit": limit}


def going_on(key: Key, limit: int) -> dict[str, object]:
    """The `page` member if the search stopped early: the next page continues after a key."""
    return {"next": _cursor(key), "limit": limit}


def after(found: Iterable[T], window: Window, key: Callable[[T], Key]) -> Sequence[T]:
    """The rows of a sorted list that `window` asks for."""
    rest = (one for one in found if window.after is None or key(one) > window.after)
    return list(islice(rest, window.limit))


def enveloped(view: CatalogView, data: object, page: object = None) -> Response:
    """An answer with `data` and `page`. The ETag is the version of the graph and of the viewer's visibility."""
    version = format_positions(map(Position.from_int, view.catalog.reached()))
    tag = f"{version}-{view.viewer}" if view.viewer else version
    return answer({"data": data, "page": page}, headers={"ETag": f'"{tag}"'})


def _cursor(key: Key) -> str:
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def _key(cursor: str, shape: tuple[type, ...]) -> Key:
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        parts = None
    if not isinstance(parts, list) or tuple(type(part) for part in parts) != shape or not all(map(_fits, parts)):
        raise EventError("/query/cursor", "is none that an answer gave", 400)
    return tuple(parts)


def _fits(part: str | int) -> bool:
    if isinstance(part, str):
        return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in part)
    return -(1 << 63) <= part < 1 << 63
