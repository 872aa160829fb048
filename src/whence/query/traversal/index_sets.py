"""Places of nodes in arrays (`ports.Adjacency`): sets of them, and what a walk notes of them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whence.query.ports.graph import Ints

SPARE = 4
"""Blank slates that are kept."""


@dataclass(slots=True)
class VisitedMap:
    """What a walk notes of nodes, by place.

    It is wiped where it was written and used again: a walk costs what it touches, not what there is.
    """

    count: int
    _depth: NDArray[np.int32]
    """One more than the distance; 0: not reached."""
    _probed: NDArray[np.bool_]
    _marked: NDArray[np.bool_]
    _at: NDArray[np.int32]
    _reached: list[Ints] = field(default_factory=list)
    _asked: list[Ints] = field(default_factory=list)

    @classmethod
    def blank(cls, count: int) -> "VisitedMap":
        """For so many places."""
        marks = np.zeros((2, count), bool)
        return cls(count, np.zeros(count, np.int32), marks[0], marks[1], np.empty(count, np.int32))

    def fit(self, count: int) -> None:
        """Have room for so many places."""
        if count > self.count:
            more = VisitedMap.blank(max(count, 2 * self.count) - self.count)
            self._depth = np.concatenate([self._depth, more._depth])
            self._probed = np.concatenate([self._probed, more._probed])
            self._marked = np.concatenate([self._marked, more._marked])
            self._at = np.concatenate([self._at, more._at])
            self.count += more.count

    def reach(self, places: Ints, distance: int) -> None:
        """These nodes are so far away; they were not reached before."""
        self._depth[places] = distance + 1
        self._reached.append(places)

    def distances(self, places: Ints) -> NDArray[np.int32]:
        """How far nodes are; -1: they were not reached."""
        found: NDArray[np.int32] = self._depth[places] - 1
        return found

    def reached(self) -> Ints:
        """All nodes that were reached, the nearest first."""
        return np.concatenate(self._reached)

    def probe(self, places: Ints) -> None:
        """The edges at these nodes are known."""
        self._probed[places] = True
        self._asked.append(places)

    def probed(self, places: Ints) -> NDArray[np.bool_]:
        """At which nodes the edges are known."""
        found: NDArray[np.bool_] = self._probed[places]
        return found

    def first(self, places: Ints) -> NDArray[np.int32]:
        """By place: where it is first among some places; of others, anything. Until the next call."""
        self._at[places[::-1]] = np.arange(len(places), dtype=np.int32)[::-1]
        return self._at

    def once(self, places: Ints) -> Ints:
        """Each place once, in their order."""
        is_first: NDArray[np.bool_] = self.first(places)[places] == np.arange(len(places))
        return places[is_first]

    def among(self, places: Ints, others: Ints) -> NDArray[np.bool_]:
        """Which places are among others."""
        self._marked[others] = True
        found: NDArray[np.bool_] = self._marked[places]
        self._marked[others] = False
        return found

    def wipe(self) -> None:
        """Forget all."""
        for places in self._reached:
            self._depth[places] = 0
        for places in self._asked:
            self._probed[places] = False
        self._reached.clear()
        self._asked.clear()


_spare: list[VisitedMap] = []


@contextmanager
def visited_map(count: int) -> Iterator[VisitedMap]:
    """A blank slate for so many places. After an error it is thrown away."""
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
    """Which numbers are among those that ascend."""
    if not len(ordered):
        return np.zeros(len(numbers), bool)
    found: NDArray[np.bool_] = ordered[np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)] == numbers
    return found


def distinct(numbers: Ints) -> Ints:
    """Each number once, ascending. numpy's `unique` hashes first, which takes thirty times as long."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def joined(parts: Iterable[Ints]) -> Ints:
    """Arrays as one, without repeats, ascending."""
    several = list(parts)
    return distinct(np.concatenate(several)) if several else np.zeros(0, np.int64)
