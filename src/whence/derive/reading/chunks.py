"""Chunks of a stream, bounded by several measures, such as rows and bytes."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

Bound = tuple[Callable[[T], int], int]
"""The measure of an item, and the total that fills a chunk."""


def split_chunks(items: Iterable[T], *bounds: Bound[T]) -> Iterator[list[T]]:
    """Split consecutive items into lists. A list ends with the item that fills it by one of the bounds.

    >>> list(split_chunks("aabbbc", (len, 4)))
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
