"""The adjacency that one viewer sees: the same edges, with pseudonyms for hidden names.

Indices are unchanged, since they reveal nothing. Ids are those that the viewer may see, so that everything sorted by id
has the same order as over the tables.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whence.model.graph import Direction, EdgeRow, Grain
from whence.model.traits import Traits
from whence.query.ports.graph import Adjacency, Ints
from whence.query.visibility.visible_ids import VisibleIds

_NO_TRAITS, _NOT_KNOWN = -1, -2


@dataclass(slots=True)
class VisibleAdjacency:
    """An `Adjacency` over another one. The port documents the methods."""

    visible_ids: VisibleIds
    arrays: Adjacency
    to_visible: Callable[[Sequence[EdgeRow], Direction], Sequence[EdgeRow]]
    """Replaces real ids by the viewer's."""
    _shown: dict[int, int] = field(default_factory=dict)
    """Real id of a canonical node → the id of the name that the viewer sees, for nodes read so far."""

    @property
    def count(self) -> int:
        """Unchanged."""
        return self.arrays.count

    @property
    def has_all_fields(self) -> bool:
        """Unchanged."""
        return self.arrays.has_all_fields

    def ids(self, places: Ints) -> Ints:
        """The ids of names and pseudonyms."""
        real = self.arrays.ids(places).tolist()
        self.visible_ids.meet(real)
        return np.fromiter(map(self.visible_ids.shown, real), np.int64, len(real))

    def canonical_ids(self, places: Ints) -> Ints:
        """The same; a visible name represents the hidden ones."""
        real = self.arrays.ids(places)
        self._learn(places, real)
        return np.fromiter(map(self._shown.__getitem__, real.tolist()), np.int64, len(real))

    def kinds(self, places: Ints) -> NDArray[np.int8]:
        """A pseudonym has its node's kind."""
        return self.arrays.kinds(places)

    def place(self, id_: int) -> int:
        """The index of a visible name or a pseudonym; for an alias, that of the name that represents it."""
        real = self.visible_ids.real([id_]).get(id_)
        if real is None:
            return -1
        known = (self.arrays.place(one) for one in (real, *self.visible_ids.cousins(real)))
        place = next((one for one in known if one >= 0), -1)
        return place if place < 0 else int(self.arrays.canonical(np.array([place]))[0])

    def canonical(self, places: Ints) -> Ints:
        """Unchanged."""
        return self.arrays.canonical(places)

    def datasets(self, places: Ints) -> Ints:
        """Unchanged."""
        return self.arrays.datasets(places)

    def is_grouped(self, places: Ints) -> NDArray[np.bool_]:
        """Unchanged."""
        return self.arrays.is_grouped(places)

    def by_name(self, places: Ints) -> Ints:
        """The ranks of visible names."""
        return np.where(self._is_plain(places), self.arrays.by_name(places), -1)

    def classes(self, places: Ints) -> Ints:
        """Hidden nodes have no traits; nodes with both visible and hidden names are not known here."""
        found = np.where(self._is_plain(places), self.arrays.classes(places), _NO_TRAITS)
        several = np.flatnonzero(self.arrays.is_grouped(places))
        found[several] = _NOT_KNOWN
        return found

    def traits(self, class_: int) -> Traits:
        """Unchanged."""
        return self.arrays.traits(class_)

    def members(self, places: Ints) -> tuple[Ints, Ints]:
        """Visible names before hidden ones."""
        which, names = self.arrays.members(places)
        if len(which) == len(places):
            return which, names
        whole = self.arrays.datasets(names)
        seen = np.ones(len(names), bool)
        seen[whole >= 0] = self._is_seen(whole[whole >= 0])
        order = np.lexsort((~seen, which))
        return which[order], names[order]

    def fields(self, places: Ints) -> tuple[Ints, Ints]:
        """Sorted by the viewer's ids."""
        which, found = self.arrays.fields(places)
        order = np.lexsort((self.ids(found), which))
        return which[order], found[order]

    def edges(
        self, probes: Ints, direction: Direction, grain: Grain, limit: int
    ) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """All edges."""
        return self.arrays.edges(probes, direction, grain, limit)

    def rows(self, keys: Ints, direction: Direction) -> Sequence[EdgeRow]:
        """All edges, between names and pseudonyms."""
        return self.to_visible(self.arrays.rows(keys, direction), direction)

    def _is_plain(self, places: Ints) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.canonical_ids(places) == self.arrays.ids(places)
        return found

    def _is_seen(self, places: Ints) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.ids(places) == self.arrays.ids(places)
        return found

    def _learn(self, places: Ints, real: Ints) -> None:
        new = np.array([id_ not in self._shown for id_ in real.tolist()], bool)
        if new.any():
            # A representative field may be a computed name that no event has: it is known from the other names.
            self.visible_ids.meet(self.arrays.ids(self.arrays.members(places[new])[1]).tolist())
            self._shown |= {id_: self._chosen(id_) for id_ in real[new].tolist()}

    def _chosen(self, real: int) -> int:
        cousins = self.visible_ids.cousins(real)
        return self.visible_ids.shown(cousins[0] if cousins else real)
