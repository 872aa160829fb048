"""The envelopes of answers and the shape of errors, for the OpenAPI document; tests compare answers with them."""

from typing import Generic, NotRequired, TypeVar

from typing_extensions import TypedDict

from whence.query.rendering.documents import Completeness


class Problem(TypedDict):
    """Why a request failed (RFC 9457). `pointer` is a JSON pointer into the request, `position` that of the body in
    quarantine, and `candidates` are possible names. `code` and `message` exist only under `/api/v1`.
    """

    type: str
    title: str
    status: int
    detail: str
    reason: str
    pointer: str
    position: str | None
    candidates: NotRequired[list[str]]
    name: NotRequired[str]
    code: NotRequired[int]
    message: NotRequired[str]


class PageInfo(TypedDict):
    """The range of rows on this page; `next` is the cursor of the next page."""

    total: int
    limit: int | None
    next: str | None


Data = TypeVar("Data")


class Envelope(TypedDict, Generic[Data]):
    """An answer: its data, its completeness, and its page."""

    data: Data
    completeness: Completeness | None
    page: PageInfo | None


class PageCursor(TypedDict):
    """A page of at most `limit` rows; `next` is the cursor of the page after it."""

    next: str | None
    limit: int


class Rows(TypedDict, Generic[Data]):
    """A page of rows."""

    data: list[Data]
    page: PageCursor


class PageOf(TypedDict, Generic[Data]):
    """A page of rows inside an object, with their counts."""

    data: Data
    page: PageCursor


class All(TypedDict, Generic[Data]):
    """All rows, without pages."""

    data: list[Data]
    page: None


class One(TypedDict, Generic[Data]):
    """One object."""

    data: Data
    page: None
