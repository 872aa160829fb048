"""The arrays of a graph as one viewer may see it: walks go the same ways, and get tokens where a name is hidden.

Places stay as they are, for they say nothing; ids are those that the viewer knows, so that whatever is sorted by them
comes in the same order as over tables.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whence.model.graph import Direction, EdgeRow, Grain
from whence.model.traits import Traits
from whence.query.ports.graph import Adjacency, Ints
from whence.query.visibility.visible_ids import VisibleIds

_NOTHING_SAID, _NOT_KNOWN = -1, -2


@dataclass(slots=True)
class VisibleAdjacency:
    """`Adjacency` over another one. Each method is as in the port."""

    visible_ids: VisibleIds
    arrays: Adjacency
    told: Callable[[Sequence[EdgeRow], Direction], Sequence[EdgeRow]]
    """What the viewer may know of edges."""
    _shown: dict[int, int] = field(default_factory=dict)
    """Real id of a canonical node → the id of the name that it goes by; of those that were met."""

    @property
    def count(self) -> int:
        """As many as there are."""
        return self.arrays.count

    @property
    def has_all_fields(self) -> bool:
        """Nothing to hide."""
        return self.arrays.has_all_fields

    def ids(self, places: Ints) -> Ints:
        """Those of names and tokens."""
        real = self.arrays.ids(places).tolist()
        self.visible_ids.meet(real)
        return np.fromiter(map(self.visible_ids.shown, real), np.int64, len(real))

    def canonical_ids(self, places: Ints) -> Ints:
        """Likewise: a name that may be seen stands for the others."""
        real = self.arrays.ids(places)
        self._learn(places, real)
        return np.fromiter(map(self._shown.__getitem__, real.tolist()), np.int64, len(real))

    def kinds(self, places: Ints) -> NDArray[np.int8]:
        """Tokens are of their nodes' kinds."""
        return self.arrays.kinds(places)

    def place(self, id_: int) -> int:
        """Of a name that may be seen, or of a token; where another name stands for it, that one's."""
        real = self.visible_ids.real([id_]).get(id_)
        if real is None:
            return -1
        known = (self.arrays.place(one) for one in (real, *self.visible_ids.cousins(real)))
        place = next((one for one in known if one >= 0), -1)
        return place if place < 0 else int(self.arrays.canonical(np.array([place]))[0])

    def canonical(self, places: Ints) -> Ints:
        """Nothing to hide."""
        return self.arrays.canonical(places)

    def datasets(self, places: Ints) -> Ints:
        """Nothing to hide."""
        return self.arrays.datasets(places)

    def is_grouped(self, places: Ints) -> NDArray[np.bool_]:
        """Nothing to hide."""
        return self.arrays.is_grouped(places)

    def by_name(self, places: Ints) -> Ints:
        """Of names that may be seen."""
        return np.where(self._is_plain(places), self.arrays.by_name(places), -1)

    def classes(self, places: Ints) -> Ints:
        """Of hidden nodes nothing is said; of those with names of both sorts it is not known here."""
        found = np.where(self._is_plain(places), self.arrays.classes(places), _NOTHING_SAID)
        several = np.flatnonzero(self.arrays.is_grouped(places))
        found[several] = _NOT_KNOWN
        return found

    def traits(self, class_: int) -> Traits:
        """Nothing to hide."""
        return self.arrays.traits(class_)

    def members(self, places: Ints) -> tuple[Ints, Ints]:
        """Names that may be seen before those that may not."""
        which, names = self.arrays.members(places)
        if len(which) == len(places):
            return which, names
        whole = self.arrays.datasets(names)
        seen = np.ones(len(names), bool)
        seen[whole >= 0] = self._is_seen(whole[whole >= 0])
        order = np.lexsort((~seen, which))
        return which[order], names[order]

    def fields(self, places: Ints) -> tuple[Ints, Ints]:
        """By the ids that the viewer knows."""
        which, found = self.arrays.fields(places)
        order = np.lexsort((self.ids(found), which))
        return which[order], found[order]

    def edges(
        self, probes: Ints, direction: Direction, grain: Grain, limit: int
    ) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """All edges."""
        return self.arrays.edges(probes, direction, grain, limit)

    def rows(self, keys: Ints, direction: Direction) -> Sequence[EdgeRow]:
        """All edges, between names and tokens."""
        return self.told(self.arrays.rows(keys, direction), direction)

    def _is_plain(self, places: Ints) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.canonical_ids(places) == self.arrays.ids(places)
        return found

    def _is_seen(self, places: Ints) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.ids(places) == self.arrays.ids(places)
        return found

    def _learn(self, places: Ints, real: Ints) -> None:
        new = np.array([id_ not in self._shown for id_ in real.tolist()], bool)
        if new.any():
            # A field that stands for others may be a name that nothing says: it is known from them.
            self.visible_ids.meet(self.arrays.ids(self.arrays.members(places[new])[1]).tolist())
            self._shown |= {id_: self._chosen(id_) for id_ in real[new].tolist()}

    def _chosen(self, real: int) -> int:
        cousins = self.visible_ids.cousins(real)
        return self.visible_ids.shown(cousins[0] if cousins else real)
