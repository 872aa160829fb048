"""The envelopes of answers and the one shape of errors, for the API's description; tests hold answers to them."""

from typing import Generic, NotRequired, TypeVar

from typing_extensions import TypedDict

from whence.query.rendering.documents import Completeness


class Problem(TypedDict):
    """Why a request failed (RFC 9457). `pointer` is a JSON pointer into the request, `position` that of the body in
    quarantine; `candidates` are names that may have been meant. `code` and `message` only under `/api/v1`.
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
    """Which part of all rows this is; `next` is the cursor of the part after it."""

    total: int
    limit: int | None
    next: str | None


Data = TypeVar("Data")


class Envelope(TypedDict, Generic[Data]):
    """Every answer: what was asked for, how much of the truth it is, and which part of the rows."""

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
    """A page of rows that an object contains, beside their counts."""

    data: Data
    page: PageCursor


class All(TypedDict, Generic[Data]):
    """All rows; there are no pages."""

    data: list[Data]
    page: None


class One(TypedDict, Generic[Data]):
    """One object."""

    data: Data
    page: None
