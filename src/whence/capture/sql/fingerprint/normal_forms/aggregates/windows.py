"""Frames and directions of windows."""

import re
from collections.abc import Callable, Sequence

from whence.capture.sql.fingerprint.normal_forms.aggregates.monotone import extreme_inside
from whence.capture.sql.fingerprint.normal_forms.aggregates.parts import change_aggregates
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, type_of
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce
from whence.capture.sql.fingerprint.normal_forms.values.rebuilding import rebuild
from whence.capture.sql.fingerprint.row_identity import Change
from whence.capture.sql.provenance.formulas import Argument, Formula, Formulas

_OF_ONE_ROW = frozenset({"min", "max", "anyvalue", "firstvalue", "lastvalue"})
"""Functions that give the value of a frame of one row, which may be NULL."""
_UNORDERED = frozenset({"sum", "count", "min", "max", "avg", "logicalor", "logicaland"})
"""Aggregates for which the order of their values says nothing."""

_OF_VALUES = frozenset({"sum", "min", "max", "avg"})
"""Aggregates that are not NULL if one of their values is not."""


def is_default_frame(spec_text: str, has_order: bool) -> bool:
    """Whether a window has the same frame without its clause."""
    text = re.sub(r"\s+", " ", spec_text.upper()).strip()
    if has_order:
        return text in ("RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "RANGE UNBOUNDED PRECEDING")
    return re.fullmatch(r"(ROWS|RANGE) BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", text) is not None


def frame_of(store: Formulas, spec_text: str) -> Formula | None:
    """A frame that is written in several ways: all rows of the partition, or those up to the current one."""
    text = re.sub(r"\s+", " ", spec_text.upper()).strip()
    if re.fullmatch(r"(ROWS|RANGE) BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", text):
        return store.make("frame", "whole")
    row = re.fullmatch(r"ROWS BETWEEN (\d{1,6}) (PRECEDING|FOLLOWING) AND \1 \2", text)
    if row is not None:
        return store.make("frame", "row", int(row[1]) * (1 if row[2] == "PRECEDING" else -1))
    is_running = text in ("ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "ROWS UNBOUNDED PRECEDING")
    return store.make("frame", "running") if is_running else None


def make_window(
    store: Formulas,
    function: Formula,
    keys: Formula,
    order: Sequence[Formula],
    specs: Sequence[Formula],
    rest: Sequence[str],
) -> Formula:
    """A window function. The order says nothing about all rows of a partition together, and its first value is the
    least or the greatest one. Rows of a partition have one value of its keys, so an order by one of them says nothing.
    """
    order = _needed_order(keys, order)
    function, order, specs = _one_row(store, function, order, specs)
    name = function.args[0] if function.op == "aggregate" else ""
    is_whole = [spec.args for spec in specs] == [("whole",)]
    if name in _UNORDERED and is_whole:
        order, specs = [], []
    match function.args:
        case ("firstvalue", "this", Formula() as value) if order and value is order[0].args[-1] and _starts(specs):
            flags = order[0].args[:-1]
            if order[0].op == "ordered" and "nulls_first" not in flags:
                function = store.make("aggregate", "max" if "desc" in flags else "min", "this", value)
                order, specs = [], []
    inside = extreme_inside(store, function)
    if inside is not function:
        return change_aggregates(store, lambda one: make_window(store, one, keys, order, specs, rest))(inside)
    default = _own_default(function, order)
    if default is not None:
        function = store.make("lag", *function.args[:2])
    made = store.make("window", *function.args, function.op, keys, store.make("list", *order), *specs, *rest)
    return made if default is None else make_coalesce(store, [made, default])


def _needed_order(keys: Formula, order: Sequence[Formula]) -> list[Formula]:
    """An order without the keys of the partition, and without values that it has already."""
    found: dict[object, Formula] = {}
    for one in map(_without_sign, order):
        if one.args[-1] not in keys.args:
            found.setdefault(one.args[-1], one)
    return list(found.values())


def _one_row(
    store: Formulas, function: Formula, order: list[Formula], specs: Sequence[Formula]
) -> tuple[Formula, list[Formula], Sequence[Formula]]:
    """Values of one row of the partition: LAG for a frame of one row, and FIRST_VALUE, for which it does not matter
    where a frame ends that begins with the partition. `count(*)` of the rows so far numbers the rows.
    """
    frame = specs[0].args if len(specs) == 1 and specs[0].op == "frame" else ("default",) if not specs else ()
    match (*function.args, *frame):
        case (str() as name, "this", Formula() as value, "row", int() as distance) if name in _OF_ONE_ROW and distance:
            if all(one.op == "ordered" for one in order):
                turned = [*order] if distance > 0 else [_opposite(one) for one in order]
                return store.make("lag", value, store.make("number", str(abs(distance)))), turned, []
        case ("firstvalue", "this", Formula(), "running" | "whole"):
            return function, order, []
        case ("lastvalue", "this", Formula() as value, "whole") if all(one.op == "ordered" for one in order):
            return store.make(function.op, "firstvalue", "this", value), [_opposite(one) for one in order], []
        case ("count", Formula(op="star"), "running"):
            return store.make("rownumber"), order, []
    return function, order, specs


def _own_default(function: Formula, order: Sequence[Formula]) -> Formula | None:
    """The value itself as the default of LAG, in an order by it with NULLs last: the row before lacks no value that
    this one has, so that `coalesce(lag(x), x)` is the same.
    """
    parts = formulas_of(function)
    if function.op != "lag" or len(parts) != 3 or parts[2] is not parts[0] or (integer_of(parts[1]) or 0) < 1:
        return None
    is_by_value = bool(order) and order[0].op == "ordered" and order[0].args[-1] is parts[0]
    return parts[0] if is_by_value and "nulls_first" not in order[0].args else None


def _starts(specs: Sequence[Formula]) -> bool:
    """Whether frames begin with the partition."""
    return all(spec.op == "frame" for spec in specs)


def _without_sign(ordered: Formula) -> Formula:
    """`x DESC` for `-x`, of numbers of which each has a negative one."""
    value = ordered.args[-1]
    if ordered.op != "ordered" or not isinstance(value, Formula) or value.op != "neg":
        return ordered
    (inside,) = formulas_of(value)
    if not is_exact_type(type_of(inside)):
        return ordered
    flags = [flag for flag in ("desc", "nulls_first") if (flag in ordered.args) != (flag == "desc")]
    return ordered.store.make("ordered", *flags, inside)


def number_rows(store: Formulas, is_unique: Callable[[Sequence[Formula]], bool], value: Formula) -> Formula:
    """A value whose windows number rows instead of ranking or counting them, and whose running windows have no frame,
    if no two rows of a partition are equal in their order. A partition of one row gives what that row has.

    `is_unique`: whether no two rows share these values.
    """

    def change(part: Formula) -> Formula:
        if part.op != "window":
            return part
        alone = _value_of_one_row(store, part)
        if alone is not None and is_unique(_partition_and_order(part)[0]):
            return alone
        frames = [spec for spec in formulas_of(part) if spec.op in ("frame", "windowspec")]
        number = _numbering(store, part) if not frames else None
        is_running = [spec.args for spec in frames] == [("running",)]
        if number is None and not is_running:
            return part
        partition, order = _partition_and_order(part)
        if not is_unique([*partition, *(formulas_of(one)[-1] for one in order)]):
            return part
        if number is not None:
            return store.make("window", *number, *part.args[_place_of_partition(part) :])
        return store.make("window", *(arg for arg in part.args if arg is not frames[0]))

    return _rebuilt_everywhere(store, change)(value)


def _rebuilt_everywhere(store: Formulas, change: Change) -> Change:
    """A change of each window function, with what reads it in its normal form again."""
    memo: dict[Formula, Formula] = {}

    def visit(part: Formula) -> Formula:
        if not (part.is_open and part.has_window):
            return part
        if part not in memo:
            memo[part] = change(part) if part.op == "window" else rebuild(store, part, visit)
        return memo[part]

    return visit


def _place_of_partition(window: Formula) -> int:
    return next(place for place, arg in enumerate(window.args) if isinstance(arg, Formula) and arg.op == "set")


def _partition_and_order(window: Formula) -> tuple[list[Formula], list[Formula]]:
    place = _place_of_partition(window)
    partition, order = (formulas_of(one) for one in window.args[place : place + 2] if isinstance(one, Formula))
    return partition, order


def _value_of_one_row(store: Formulas, window: Formula) -> Formula | None:
    """What a window function gives in a partition of one row; None for others than numbers and values of the row."""
    place = _place_of_partition(window)
    frames = [one.args if isinstance(one, Formula) and one.op == "frame" else one for one in window.args[place + 2 :]]
    if not _partition_and_order(window)[0] or not all(one in ("OVER", ("running",), ("whole",)) for one in frames):
        return None
    match window.args[:place]:
        case ("rownumber" | "rank" | "denserank",) | ("rank" | "denserank" | "rownumber", "aggregate"):
            return store.make("number", "1")
        case ("count", Formula(op="star"), "aggregate"):
            return store.make("number", "1")
        case (str() as name, "this", Formula() as value, "aggregate") if name in _OF_ONE_ROW:
            return value
    return None


def _numbering(store: Formulas, window: Formula) -> tuple[Argument, ...] | None:
    """ROW_NUMBER for a function that gives the same in an order without ties."""
    match window.args:
        case ("rank" | "denserank", *_) | ("count", Formula(op="star"), *_):
            return (store.make("rownumber").op,)
    return None


def known_window(store: Formulas, window: Formula, is_known: Callable[[Formula], bool]) -> Formula:
    """A window function over rows in which some values are not NULL: where NULLs would stand does not matter, and what
    LAG finds is a value, so that `lag(x, 1, d)` is `coalesce(lag(x), d)`.
    """
    place = _place_of_partition(window)
    order = window.args[place + 1]
    assert isinstance(order, Formula)
    found = [
        store.make("ordered", *(arg for arg in one.args if arg != "nulls_first"))
        if "nulls_first" in one.args and is_known(formulas_of(one)[-1])
        else one
        for one in formulas_of(order)
    ]
    args = (*window.args[: place + 1], store.make("list", *found), *window.args[place + 2 :])
    match args[:place]:
        case (Formula() as value, Formula() as offset, Formula() as default, "lag") if is_known(value) and _keeps_type(
            value, default
        ):
            return make_coalesce(store, [store.make("window", value, offset, "lag", *args[place:]), default])
    return store.make("window", *args)


def value_of_own_row(window: Formula) -> Formula | None:
    """The value that an aggregate over a frame with the current row reads of it: where it is not NULL, neither is the
    aggregate. None for other frames and functions.
    """
    match window.args:
        case (str() as name, "this", Formula() as value, "aggregate", Formula(op="set"), Formula(op="list"), *specs):
            frames = [one.args if isinstance(one, Formula) and one.op == "frame" else one for one in specs]
            has_own_row = all(one in ("OVER", ("running",), ("whole",)) for one in frames)
            return value if window.op == "window" and name in _OF_VALUES and has_own_row else None
    return None


def _keeps_type(value: Formula, default: Formula) -> bool:
    """Whether `coalesce` of both has the type of the first one."""
    is_plain = default is value or default.op == "string" or integer_of(default) is not None
    return is_plain or type_of(value) == type_of(default) != ""


def turn_lead(store: Formulas, function: Formula, order: Sequence[Formula]) -> tuple[Formula, list[Formula]]:
    """LEAD as LAG over the opposite order."""
    if function.op != "lead" or not order or any(one.op != "ordered" for one in order):
        return function, list(order)
    return store.make("lag", *function.args), [_opposite(one) for one in order]


def _opposite(ordered: Formula) -> Formula:
    flags = [flag for flag in ("desc", "nulls_first") if flag not in ordered.args]
    return ordered.store.make("ordered", *flags, *formulas_of(ordered))
