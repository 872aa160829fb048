"""One occurrence that an objective counts."""

from dataclasses import dataclass

from whence.model.names import RunName


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One occurrence at a time (µs), with what was observed. `good` is None if that is not known, with the reason.

    `is_unknown`: nobody knows, because the source is silent. `ended`: when a bad one was mended without a later
    occurrence, such as by a late delivery.
    """

    time: int
    good: bool | None
    observed: str = ""
    expected: str = ""
    reason: str = ""
    run: RunName | None = None
    is_learning: bool = False
    is_unknown: bool = False
    ended: int | None = None
