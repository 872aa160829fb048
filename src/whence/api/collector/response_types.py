"""The types of the collector's answers."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class Accepted(TypedDict):
    """A durable event: its position in the log, its key, and whether the log had it already."""

    position: str
    key: str
    duplicate: bool
    warnings: list[str]
    restricted: NotRequired[bool]


class FailedEvent(TypedDict):
    """An event of a batch that was rejected."""

    index: int
    reason: str
    retriable: bool


class BatchSummary(TypedDict):
    """The number of accepted events of a batch."""

    received: int
    successful: int
    failed: int
    retriable: int
    non_retriable: int


class RestrictedEvent(TypedDict):
    """An event of a batch of which a part is not applied."""

    index: int
    warnings: list[str]


class BatchAccepted(TypedDict):
    """The result of a batch, as OpenLineage defines it; every accepted event is durable."""

    status: Literal["success", "partial_success"]
    summary: BatchSummary
    failed_events: list[FailedEvent]
    restricted: NotRequired[list[RestrictedEvent]]
