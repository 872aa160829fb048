"""Reachable sets of components, computed layer by layer: as bits, as minimum ranks, and as lists if small."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.derive.blast_radius.condensation import Dag
from whence.derive.blast_radius.elements import Elements
from whence.derive.blast_radius.ragged_arrays import Ints, expand_spans, split_runs

WIDTH = 8
"""Registers or words processed together: a row of them is half a cache line, or a whole one."""
GATHERED = 1 << 19
"""Values gathered from successors at a time, so that they stay in the processor's cache."""
SCALE = 1 << 40
"""Ranks are fixed-point integers, so that their sum is the same in any order."""
LISTED = 1 << 22
"""Elements of small sets processed together."""


def bit_counts(dag: Dag, elements: Elements, words: range) -> Ints:
    """How many of the elements 64 × words.start … 64 × words.stop - 1 each component reaches, exactly."""
    counts = np.zeros(dag.size, np.int64)
    for block in _split_blocks(words):
        reached = np.zeros((dag.size, len(block)), np.uint64)
        low, high = np.searchsorted(elements.element, (block.start * 64, block.stop * 64))
        word, bit = np.divmod(elements.element[low:high] - block.start * 64, 64)
        np.bitwise_or.at(reached, (elements.at[low:high], word), np.uint64(1) << bit.astype(np.uint64))
        _propagate(dag, reached, np.bitwise_or)
        counts += np.bitwise_count(reached).sum(axis=1, dtype=np.int64)
    return counts


def rank_sums(dag: Dag, elements: Elements, registers: range) -> Ints:
    """For each component the sum, over registers, of the least rank among the elements that it reaches.

    Ranks are exponentially distributed with mean SCALE, a function of an element's id and the register. Cohen,
    "Size-estimation framework with applications to transitive closure and reachability", 1997.
    """
    sums = np.zeros(dag.size, np.int64)
    by_place = np.argsort(elements.at, kind="stable")
    at, element = elements.at[by_place], elements.element[by_place]
    first = np.flatnonzero(np.diff(at, prepend=-1))
    for block in _split_blocks(registers):
        least = np.full((dag.size, len(block)), 2**32 - 1, np.uint32)
        if len(at):
            least[at[first]] = np.minimum.reduceat(_random_bits(elements.ids, block)[element], first, axis=0)
        _propagate(dag, least, np.minimum)
        sums += np.rint(-SCALE * np.log1p(-(least + 0.5) / 2**32)).astype(np.int64).sum(axis=1)
    return sums


def standard_error(registers: int) -> float:
    """The relative standard error of (registers - 1) × SCALE / sum, which estimates how many elements a component
    reaches (Cohen 1997, section 5).
    """
    return float((registers - 2) ** -0.5)


def small_counts(dag: Dag, elements: Elements, most: int) -> Ints:
    """The exact number of elements that each component reaches if it is at most `most`, otherwise -1."""
    sets = _Sets(dag, elements, most)
    for low, high in zip(dag.layers[:-1], dag.layers[1:], strict=True):
        sets.add(int(low), int(high))
    return sets.sizes


class _Sets:
    """The small sets found so far: `sizes`, and their places in `pool`. Size -1 means too large."""

    def __init__(self, dag: Dag, elements: Elements, most: int) -> None:
        self._dag, self._elements, self._most = dag, elements, most
        by_place = np.argsort(elements.at, kind="stable")
        self._own = elements.element[by_place]
        self._own_bounds = np.searchsorted(elements.at[by_place], np.arange(dag.size + 1))
        self.sizes = np.full(dag.size, -1, np.int64)
        self._starts = np.zeros(dag.size, np.int64)
        self._pool = np.empty(1 << 16, np.int32)
        self._used = 0

    def add(self, low: int, high: int) -> None:
        """Find the sets of the components of a layer."""
        bounds, successors = self._dag.bounds, self._dag.successors
        own = np.diff(self._own_bounds[low : high + 1])
        below = self.sizes[successors[bounds[low] : bounds[high]]]
        sums, most = _sum_lists(below, bounds[low : high + 1] - bounds[low])
        rows = low + np.flatnonzero(most >= 0)
        candidates = (own + sums)[rows - low]
        ends = np.concatenate([[0], np.cumsum(candidates)])
        for start, stop in split_runs(ends, 0, len(rows), LISTED):
            self._find(rows[start:stop])

    def _find(self, rows: Ints) -> None:
        dag, width = self._dag, max(len(self._elements.ids), 1)
        degrees = dag.bounds[rows + 1] - dag.bounds[rows]
        below = dag.successors[expand_spans(dag.bounds[rows], degrees)]
        sizes = self.sizes[below]
        owned = self._own_bounds[rows + 1] - self._own_bounds[rows]
        row = np.concatenate(
            [np.repeat(np.repeat(np.arange(len(rows)), degrees), sizes), np.repeat(np.arange(len(rows)), owned)]
        )
        element = np.concatenate(
            [
                self._pool[expand_spans(self._starts[below], sizes)],
                self._own[expand_spans(self._own_bounds[rows], owned)],
            ]
        )
        row, element = np.divmod(np.unique(row * width + element), width)
        found = np.bincount(row, minlength=len(rows))
        small = found <= self._most
        self._store(rows[small], found[small], element[small[row]])

    def _store(self, rows: Ints, found: Ints, element: Ints) -> None:
        if self._used + len(element) > len(self._pool):
            grown = np.empty(max(2 * len(self._pool), self._used + len(element)), np.int32)
            grown[: self._used] = self._pool[: self._used]
            self._pool = grown
        self._pool[self._used : self._used + len(element)] = element
        self.sizes[rows] = found
        self._starts[rows] = self._used + np.cumsum(found) - found
        self._used += len(element)


def _sum_lists(values: Ints, bounds: Ints) -> tuple[Ints, Ints]:
    """The sum of each list, and its minimum if that is negative, otherwise 0."""
    sums, least = np.zeros(len(bounds) - 1, np.int64), np.zeros(len(bounds) - 1, np.int64)
    if len(values):
        some = np.flatnonzero(np.diff(bounds))
        sums[some] = np.add.reduceat(values, bounds[some])
        least[some] = np.minimum(np.minimum.reduceat(values, bounds[some]), 0)
    return sums, least


def _split_blocks(all_of: range) -> Iterator[range]:
    for start in range(all_of.start, all_of.stop, WIDTH):
        yield range(start, min(start + WIDTH, all_of.stop))


def _propagate(dag: Dag, values: NDArray[Any], merge: np.ufunc) -> None:
    """Merge into each component's row the rows of all components that it reaches."""
    for low, high in zip(dag.layers[1:-1], dag.layers[2:], strict=True):
        for start, stop in split_runs(dag.bounds, int(low), int(high), GATHERED // values.shape[1]):
            begin, end = dag.bounds[start], dag.bounds[stop]
            below = values.take(dag.successors[begin:end], axis=0)
            merged = merge.reduceat(below, dag.bounds[start:stop] - begin, axis=0)
            merge(values[start:stop], merged, out=values[start:stop])


def _random_bits(ids: Ints, registers: range) -> NDArray[np.uint32]:
    """32 random bits for each id and register: splitmix64 (Steele, Lea, Flood 2014) of both."""
    salt = _mix(np.arange(registers.start + 1, registers.stop + 1, dtype=np.uint64))
    return (_mix(ids.view(np.uint64)[:, None] ^ salt) >> np.uint64(32)).astype(np.uint32)


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
