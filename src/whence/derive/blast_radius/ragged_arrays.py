"""Lists of different lengths in flat numpy arrays."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def expand_spans(starts: Ints, sizes: Ints) -> Ints:
    """The indices starts[0], starts[0] + 1, … of each list in turn, `sizes` of each."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(total)


def compute_offsets(sizes: Ints) -> Ints:
    """The start of each list, and the end of the last one."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def split_runs(bounds: Ints, low: int, high: int, most: int) -> list[tuple[int, int]]:
    """Split the lists from `low` to `high` into runs of at most `most` values, or of one list. `bounds` are offsets."""
    if bounds[high] - bounds[low] <= most:
        return [(low, high)] if low < high else []
    runs = []
    while low < high:
        fitting = int(np.searchsorted(bounds[: high + 1], bounds[low] + most, side="right")) - 1
        runs.append((low, max(fitting, low + 1)))
        low = runs[-1][1]
    return runs


def distinct_pairs(first: Ints, second: Ints, width: int) -> tuple[Ints, Ints]:
    """The distinct pairs, sorted. All of `second` is below `width`."""
    keys = np.unique(first.astype(np.int64) * max(width, 1) + second)
    return np.divmod(keys, max(width, 1))
