"""Asking for more and more until enough of it fits: of what may be seen, or of what a filter shows."""

from collections.abc import Callable, Sequence
from typing import TypeVar

One = TypeVar("One")

MOST_FOUND = 1_000_000
"""Candidates that are looked through for what fits."""
_STEP = 4


def until_enough(
    ask: Callable[[int], tuple[Sequence[One], bool]], fits: Callable[[Sequence[One]], list[One]], limit: int
) -> tuple[list[One], bool]:
    """At least `limit` of those that fit, if there are so many among the first million: (they, whether that is all).

    `ask` gives the first so many, and whether there is no other.
    """
    asked = limit
    while True:
        found, complete = ask(asked)
        fit = fits(found)
        if complete or len(fit) >= limit or asked >= MOST_FOUND:
            return fit, complete
        asked *= _STEP
