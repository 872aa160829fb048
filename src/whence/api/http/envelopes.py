"""The envelope of answers, `{data, completeness, page}`, or all rows as CSV; pages, cursors and entity tags."""

import base64
import binascii
import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import msgspec
from fastapi import Request, Response

from whence.errors import CursorError
from whence.query.rendering.answers import completeness_document
from whence.query.rendering.listings import Key, Listing, Whole
from whence.query.traversal.node_order import Keys

CSV, JSON = "text/csv; charset=utf-8", "application/json"
PAGE = 100
"""The default number of rows on a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    """The requested rows of an answer: `limit` rows after `cursor`; without a limit, all of them."""

    cursor: str = ""
    limit: int | None = PAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The requested form of an answer. `question` is a hash of the parameters without those of the page."""

    form: str = JSON
    question: str = ""
    tags: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def of(cls, request: Request) -> "Wanted":
        """From a request: `format=csv`, or else its Accept header."""
        given = sorted((key, value) for key, value in request.query_params.multi_items() if key not in _OF_THE_PAGE)
        digest = blake2b(json.dumps([request.url.path, given]).encode(), digest_size=6).hexdigest()
        named = request.query_params.get("format", "")
        accepts_csv = request.headers.get("accept", "").partition(",")[0].partition(";")[0].strip() == "text/csv"
        tags = frozenset(tag.strip() for tag in request.headers.get("if-none-match", "").split(",") if tag.strip())
        return cls(form=CSV if named == "csv" or (not named and accepts_csv) else JSON, question=digest, tags=tags)

    def has(self, tag: str) -> bool:
        """Whether the caller already has the answer with this tag."""
        return "*" in self.tags or tag in self.tags or tag.removeprefix("W/") in self.tags

    def unchanged(self, tag: str) -> Response:
        """The response 304."""
        return Response(status_code=304, headers=_headers(tag))


_OF_THE_PAGE = frozenset({"cursor", "limit", "wait_for", "timeout"})


def answer_response(answer: Listing | Whole, paging: Paging, wanted: Wanted, tag: str | None) -> Response:
    """An answer in the requested form. CSV has all rows. Raises CursorError."""
    headers = _headers(tag)
    if wanted.form == CSV:
        rows, completeness = answer.csv(), answer.completeness
        complete = answer.head.get("complete") if completeness is None else completeness.complete
        completeness_header = {} if complete is None else {"Whence-Complete": "true" if complete else "false"}
        return Response(rows, 200, headers | completeness_header, CSV)
    return Response(msgspec.json.encode(envelope(answer, paging, wanted.question)), 200, headers, JSON)


def envelope(answer: Listing | Whole, paging: Paging, question: str) -> dict[str, Any]:
    """One page of an answer. Raises CursorError."""
    match answer:
        case Whole(head, completeness):
            return {"data": head, "completeness": completeness and completeness_document(completeness), "page": None}
        case Listing():
            return _page(answer, paging, question)


def _page(listing: Listing, paging: Paging, question: str) -> dict[str, Any]:
    start, end = page_of(listing.keys, paging, question)
    more = end < len(listing.keys)
    part, completeness = listing.part(start, end), listing.completeness
    return {
        "data": {**listing.head, **part},
        "completeness": None if completeness is None else completeness_document(completeness),
        "page": {
            "total": len(listing.keys),
            "limit": paging.limit,
            "next": _cursor(question, listing.keys[end - 1]) if more and end else None,
        },
    }


def page_of(keys: Sequence[Key], paging: Paging, question: str) -> tuple[int, int]:
    """The indices of a page's rows. Rows that were added or removed since the cursor do not shift the others."""
    try:
        start = _place(keys, _key_in(paging.cursor, question)) if paging.cursor else 0
    except (TypeError, IndexError):
        raise CursorError from None
    end = len(keys) if paging.limit is None else min(start + paging.limit, len(keys))
    return start, end


def _place(keys: Sequence[Key], key: Key) -> int:
    return keys.after(key) if isinstance(keys, Keys) else bisect_right(keys, key)


def _cursor(question: str, key: Key) -> str:
    return base64.urlsafe_b64encode(json.dumps([question, list(key)], ensure_ascii=False).encode()).decode().rstrip("=")


def _key_in(cursor: str, question: str) -> Key:
    """The key in a cursor, after which its page begins."""
    try:
        digest, key = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if digest == question and isinstance(key, list):
            return tuple(key)
    except (ValueError, binascii.Error, TypeError, RecursionError):
        pass
    raise CursorError


def _headers(tag: str | None) -> dict[str, str]:
    headers = {"Cache-Control": "private, no-cache", "Vary": "Accept, Authorization, Cookie"}
    return headers if tag is None else {**headers, "ETag": tag}
