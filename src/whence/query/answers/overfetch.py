"""Overfetching: fetches more and more candidates until enough of them pass a check (visibility, or a filter)."""

from collections.abc import Callable, Sequence
from typing import TypeVar

One = TypeVar("One")

MOST_FOUND = 1_000_000
"""The most candidates to check."""
_STEP = 4


def until_enough(
    fetch: Callable[[int], tuple[Sequence[One], bool]], fits: Callable[[Sequence[One]], list[One]], limit: int
) -> tuple[list[One], bool]:
    """At least `limit` matching candidates, if the first million contain them: (matches, whether there are no others).

    `fetch` returns the first n candidates, and whether there are no others.
    """
    count = limit
    while True:
        found, complete = fetch(count)
        fit = fits(found)
        if complete or len(fit) >= limit or count >= MOST_FOUND:
            return fit, complete
        count *= _STEP
