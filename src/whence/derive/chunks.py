"""Chunks of a stream, bounded by every measure that matters: rows and bytes."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

Bound = tuple[Callable[[T], int], int]
"""How much one item counts, and how much fills a chunk."""


def chunks(items: Iterable[T], *bounds: Bound[T]) -> Iterator[list[T]]:
    """Consecutive items in lists. A list ends with the item that fills it by one of the bounds.

    >>> list(chunks("aabbbc", (len, 4)))
    [['a', 'a', 'b', 'b'], ['b', 'c']]
    """
    held: list[T] = []
    filled = [0] * len(bounds)
    for item in items:
        held.append(item)
        filled = [so_far + size(item) for so_far, (size, _) in zip(filled, bounds, strict=True)]
        if any(so_far >= most for so_far, (_, most) in zip(filled, bounds, strict=True)):
            yield held
            held, filled = [], [0] * len(bounds)
    if held:
        yield held
