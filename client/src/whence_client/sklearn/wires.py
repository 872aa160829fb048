"""Wires: which input columns of a fitted estimator each of its outputs is made of, by their positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

_NONE: frozenset[int] = frozenset()
_NO_REASONS: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Wire:
    """How one output is made. Numbers are positions of input columns.

    `values` flow into it. `fitted` are those whose values in the training data made the parameters that it is computed
    with. `chosen_by` decided in training that it exists. `is_same`: it is a column as it is.
    """

    values: frozenset[int] = _NONE
    fitted: frozenset[int] = _NONE
    chosen_by: frozenset[int] = _NONE
    of_target: bool = False
    """Whether the target of the training data made the parameters, too."""
    chosen_by_target: bool = False
    is_same: bool = False
    reasons: frozenset[str] = _NO_REASONS

    @property
    def is_fitted(self) -> bool:
        """Whether training data have to do with it."""
        return bool(self.fitted or self.chosen_by or self.of_target or self.chosen_by_target)


def same(position: int) -> Wire:
    """A column as it is."""
    return Wire(frozenset((position,)), is_same=True)


def computed(positions: Iterable[int], *, fitted: bool = True, reason: str = "") -> Wire:
    """A value computed of columns; with `fitted` by parameters that were computed of the same columns."""
    values = frozenset(positions)
    return Wire(values, values if fitted else _NONE, reasons=frozenset((reason,)) if reason else _NO_REASONS)


def supervised(wire: Wire) -> Wire:
    """The same, with parameters that come from the target, too."""
    return replace(wire, of_target=True)


def chosen(wire: Wire, among: Iterable[int], *, by_target: bool) -> Wire:
    """The same, chosen in training among columns."""
    return replace(wire, chosen_by=wire.chosen_by | frozenset(among), chosen_by_target=by_target)


def join(outer: Sequence[Wire], inner: Sequence[Wire]) -> tuple[Wire, ...]:
    """The outputs of `outer`, whose inputs are the outputs of `inner`, in terms of the inputs of `inner`."""
    return tuple(_join_one(wire, inner) for wire in outer)


def place(wires: Sequence[Wire], positions: Sequence[int]) -> tuple[Wire, ...]:
    """The wires of a step that gets only some of the columns, in terms of all columns."""
    return join(wires, [same(one) for one in positions])


def _join_one(wire: Wire, inner: Sequence[Wire]) -> Wire:
    values = [inner[one] for one in wire.values]
    fitted = [inner[one] for one in wire.fitted]
    choosing = [inner[one] for one in wire.chosen_by]
    used = (*values, *fitted)
    return Wire(
        _all(one.values for one in values),
        _all(one.values | one.fitted for one in fitted) | _all(one.fitted for one in values),
        _all(one.chosen_by for one in used) | _all(one.values | one.fitted | one.chosen_by for one in choosing),
        wire.of_target or any(one.of_target for one in used),
        wire.chosen_by_target or any(one.chosen_by_target for one in (*used, *choosing)),
        wire.is_same and all(one.is_same for one in values),
        wire.reasons.union(*(one.reasons for one in used)),
    )


def _all(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    return _NONE.union(*sets)
