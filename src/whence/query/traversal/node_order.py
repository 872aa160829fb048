"""The nodes of a traversal by distance and name. Names are read on demand, for all nodes of one distance, or only for
the requested ones if the adjacency has their order.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, overload

import numpy as np

from whence.model.names import Node
from whence.query.ports.graph import Ints
from whence.query.traversal.edges import names_of
from whence.query.traversal.traversal import Traversal


class NodeOrder(Sequence[int]):
    """A sorted sequence of nodes; `names` caches the names that were read."""

    def __init__(self, walk: Traversal, nodes: Iterable[int] | Ints) -> None:
        """`nodes` are canonical nodes that the traversal reached."""
        self._walk = walk
        ids = nodes if isinstance(nodes, np.ndarray) else np.fromiter(nodes, np.int64)
        depths = walk.distances(ids)
        counts = np.bincount(depths)
        self._depths: list[int] = np.flatnonzero(counts).tolist()
        self._ends: list[int] = [0, *np.cumsum(counts[self._depths]).tolist()]
        self._at = dict(zip(self._depths, np.split(ids[np.argsort(depths)], self._ends[1:-1]), strict=False))
        self._sorted: dict[int, list[int]] = {}
        self.names: dict[int, Node] = {}

    def __len__(self) -> int:
        return self._ends[-1]

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> list[int]: ...
    def __getitem__(self, place: int | slice) -> int | list[int]:
        if isinstance(place, slice):
            return self._slice(*place.indices(len(self)))
        at = range(len(self))[place]
        level = bisect_right(self._ends, at) - 1
        return self._level(self._depths[level])[at - self._ends[level]]

    def name(self, id_: int) -> Node:
        """The name of a node that was read, or that is the parent of one."""
        if id_ not in self.names:
            self.know([id_])
        return self.names[id_]

    def know(self, ids: Iterable[int]) -> None:
        """Read the names of nodes in one query."""
        if new := {id_ for id_ in ids if id_ not in self.names}:
            self.names |= names_of(self._walk, new)

    def key(self, place: int) -> tuple[int, str]:
        """The sort key of a node."""
        id_ = self[place]
        return self._walk.depth[id_], str(self.name(id_))

    def after(self, key: Sequence[Any]) -> int:
        """The number of nodes up to and including a key. Raises TypeError if it is not a key."""
        if not isinstance(key[0], int):
            raise TypeError(key)
        level = bisect_right(self._depths, key[0]) - 1
        if level < 0 or self._depths[level] < key[0]:
            return self._ends[level + 1]
        if not isinstance(key[1], str):
            raise TypeError(key)
        return self._ends[level] + bisect_right(self._level(self._depths[level]), key[1], key=self._text)

    def _slice(self, start: int, stop: int, step: int) -> list[int]:
        found: list[int] = []
        for depth, begin, end in zip(self._depths, self._ends, self._ends[1:], strict=False):
            if begin < stop and start < end:
                found += self._level(depth)[max(start - begin, 0) : stop - begin]
        self.know(found[::step])
        return found[::step]

    def _level(self, depth: int) -> list[int]:
        if depth not in self._sorted:
            self._sorted[depth] = self._in_order(self._at[depth])
        return self._sorted[depth]

    def _in_order(self, ids: Ints) -> list[int]:
        """Sort by name. If the adjacency has the order, few names are read."""
        places = self._walk.by_name(ids)
        known = ids[places >= 0][np.argsort(places[places >= 0])].tolist()
        new = ids[places < 0].tolist()
        if len(new) * len(known).bit_length() >= len(known):
            return self._by_text(ids.tolist())
        return self._inserted(known, self._by_text(new))

    def _by_text(self, ids: Sequence[int]) -> list[int]:
        self.know(ids)
        return sorted(ids, key=self._text)

    def _inserted(self, ordered: list[int], new: Sequence[int]) -> list[int]:
        """Insert further nodes into a sorted list; all positions are searched together, to read names in
        few queries.
        """
        low, high = [0] * len(new), [len(ordered)] * len(new)
        while apart := {one: (low[one] + high[one]) // 2 for one in range(len(new)) if low[one] < high[one]}:
            self.know(ordered[middle] for middle in apart.values())
            for one, middle in apart.items():
                if self._text(ordered[middle]) < self._text(new[one]):
                    low[one] = middle + 1
                else:
                    high[one] = middle
        for place, one in zip(reversed(low), reversed(new), strict=True):
            ordered.insert(place, one)
        return ordered

    def _text(self, id_: int) -> str:
        return str(self.name(id_))


class Keys(Sequence[tuple[Any, ...]]):
    """The sort keys of the nodes of one or several traversals, one after the other, each with its index."""

    def __init__(self, *orders: NodeOrder) -> None:
        self._orders = orders
        self._ends = [0, *accumulate(map(len, orders))]

    def __len__(self) -> int:
        return self._ends[-1]

    @overload
    def __getitem__(self, place: int) -> tuple[Any, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> list[tuple[Any, ...]]: ...
    def __getitem__(self, place: int | slice) -> tuple[Any, ...] | list[tuple[Any, ...]]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        which = bisect_right(self._ends, at) - 1
        key = self._orders[which].key(at - self._ends[which])
        return key if len(self._orders) == 1 else (which, *key)

    def after(self, key: Sequence[Any]) -> int:
        """The number of keys up to and including one. Raises TypeError or IndexError if it is not a key."""
        if len(self._orders) == 1:
            return self._orders[0].after(key)
        if not isinstance(key[0], int):
            raise TypeError(key)
        which = range(len(self._orders))[key[0]]
        return self._ends[which] + self._orders[which].after(key[1:])
