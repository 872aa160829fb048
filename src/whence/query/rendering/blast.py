"""The numbers of downstream nodes, as JSON."""

from typing_extensions import TypedDict


class Count(TypedDict):
    """A count, and its error."""

    count: int
    relative_error: float


class DownstreamCounts(TypedDict):
    """The numbers of downstream nodes."""

    datasets: Count
    fields: Count
    jobs: Count
    dashboards: Count
    models: Count
    computed_at: str
    current: bool


class Blast(TypedDict):
    """A node and its blast radius."""

    node: str
    radius: DownstreamCounts | None
