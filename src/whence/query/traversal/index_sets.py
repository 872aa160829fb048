"""Sets of node indices (`ports.Adjacency`), and the map of nodes that a traversal has visited."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whence.query.ports.graph import Ints

SPARE = 4
"""Unused visited maps to keep."""


@dataclass(slots=True)
class VisitedMap:
    """The distance of each visited node, by index.

    It is reset where it was written and then reused, so a traversal costs only what it visits.
    """

    count: int
    _depth: NDArray[np.int32]
    """Distance plus one; 0: not reached."""
    _probed: NDArray[np.bool_]
    _marked: NDArray[np.bool_]
    _at: NDArray[np.int32]
    _reached: list[Ints] = field(default_factory=list)
    _probes: list[Ints] = field(default_factory=list)

    @classmethod
    def blank(cls, count: int) -> "VisitedMap":
        """Create a map for `count` indices."""
        marks = np.zeros((2, count), bool)
        return cls(count, np.zeros(count, np.int32), marks[0], marks[1], np.empty(count, np.int32))

    def fit(self, count: int) -> None:
        """Grow to `count` indices."""
        if count > self.count:
            more = VisitedMap.blank(max(count, 2 * self.count) - self.count)
            self._depth = np.concatenate([self._depth, more._depth])
            self._probed = np.concatenate([self._probed, more._probed])
            self._marked = np.concatenate([self._marked, more._marked])
            self._at = np.concatenate([self._at, more._at])
            self.count += more.count

    def reach(self, places: Ints, distance: int) -> None:
        """Record the distance of new nodes."""
        self._depth[places] = distance + 1
        self._reached.append(places)

    def distances(self, places: Ints) -> NDArray[np.int32]:
        """The distances of nodes; -1: not reached."""
        found: NDArray[np.int32] = self._depth[places] - 1
        return found

    def reached(self) -> Ints:
        """All reached nodes, nearest first."""
        return np.concatenate(self._reached)

    def probe(self, places: Ints) -> None:
        """Record that the edges at these nodes were read."""
        self._probed[places] = True
        self._probes.append(places)

    def probed(self, places: Ints) -> NDArray[np.bool_]:
        """At which nodes the edges were read."""
        found: NDArray[np.bool_] = self._probed[places]
        return found

    def first(self, places: Ints) -> NDArray[np.int32]:
        """For each index, its first position in `places`; arbitrary for others. Valid until the next call."""
        self._at[places[::-1]] = np.arange(len(places), dtype=np.int32)[::-1]
        return self._at

    def once(self, places: Ints) -> Ints:
        """The distinct indices, in their order."""
        is_first: NDArray[np.bool_] = self.first(places)[places] == np.arange(len(places))
        return places[is_first]

    def among(self, places: Ints, others: Ints) -> NDArray[np.bool_]:
        """Which indices are among others."""
        self._marked[others] = True
        found: NDArray[np.bool_] = self._marked[places]
        self._marked[others] = False
        return found

    def wipe(self) -> None:
        """Reset the map."""
        for places in self._reached:
            self._depth[places] = 0
        for places in self._probes:
            self._probed[places] = False
        self._reached.clear()
        self._probes.clear()


_spare: list[VisitedMap] = []


@contextmanager
def visited_map(count: int) -> Iterator[VisitedMap]:
    """Borrow an empty map for `count` indices. After an error it is discarded."""
    try:
        found = _spare.pop()
    except IndexError:
        found = VisitedMap.blank(count)
    found.fit(count)
    yield found
    found.wipe()
    if len(_spare) < SPARE:
        _spare.append(found)


def contains(ordered: Ints, numbers: Ints) -> NDArray[np.bool_]:
    """Which numbers are in a sorted array."""
    if not len(ordered):
        return np.zeros(len(numbers), bool)
    found: NDArray[np.bool_] = ordered[np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)] == numbers
    return found


def distinct(numbers: Ints) -> Ints:
    """The distinct numbers, sorted. numpy's `unique` hashes first, which takes thirty times as long."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def joined(parts: Iterable[Ints]) -> Ints:
    """The union of arrays, sorted."""
    several = list(parts)
    return distinct(np.concatenate(several)) if several else np.zeros(0, np.int64)
