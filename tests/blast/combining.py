"""The shares of a count added up in plain numpy: what Spark does with them in column expressions."""

from dataclasses import dataclass

import numpy as np

from whence.derive.blast_radius.count import UNKNOWN, Prepared, count_share
from whence.derive.blast_radius.reachable_sets import SCALE
from whence.model.blast_radius import COUNTED


@dataclass(frozen=True)
class Combined:
    """By node: its counts, and which of them are estimates."""

    counts: dict[int, tuple[int, ...]]
    estimated: dict[int, frozenset[str]]


def combined(prepared: Prepared, shares: int) -> Combined:
    """The counts of all nodes."""
    parts = [count_share(prepared, share, shares) for share in range(shares)]
    sums = np.sum([part.sums for part in parts], axis=0)
    small = np.max([part.small for part in parts], axis=0)
    ranked = parts[0].ranked
    estimates = np.floor((prepared.effort.registers - 1) * SCALE / np.maximum(sums, 1) + 0.5).astype(np.int64)
    known = np.where(ranked, np.where(small != UNKNOWN, small, estimates), sums)
    estimated = ranked & (small == UNKNOWN)
    found = np.maximum(known - prepared.own, 0)
    nodes = prepared.nodes.tolist()
    names = [frozenset(name for name, is_ in zip(COUNTED, row, strict=True) if is_) for row in estimated.tolist()]
    return Combined(dict(zip(nodes, map(tuple, found.tolist()), strict=True)), dict(zip(nodes, names, strict=True)))
