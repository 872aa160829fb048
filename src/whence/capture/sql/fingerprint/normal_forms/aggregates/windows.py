"""Frames and directions of windows."""

import re
from collections.abc import Sequence

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, type_of
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce
from whence.capture.sql.fingerprint.row_identity import change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

_UNORDERED = frozenset({"sum", "count", "min", "max", "avg", "logicalor", "logicaland"})
"""Aggregates for which the order of their values says nothing."""


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
    least or the greatest one.
    """
    order = [_without_sign(one) for one in order]
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
    default = _own_default(function, order)
    if default is not None:
        function = store.make("lag", *function.args[:2])
    made = store.make("window", *function.args, function.op, keys, store.make("list", *order), *specs, *rest)
    return made if default is None else make_coalesce(store, [made, default])


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


def without_frames(store: Formulas, keys: Sequence[Sequence[Formula]], value: Formula) -> Formula:
    """A value whose running windows have no frame, if no two rows of a partition are equal in their order.

    `keys`: columns that no two rows share.
    """

    def change(part: Formula) -> Formula:
        if part.op != "window":
            return part
        frames = [spec for spec in formulas_of(part) if spec.op == "frame" and spec.args == ("running",)]
        partition, order = (one for one in formulas_of(part) if one.op in ("set", "list"))
        fixed = {*formulas_of(partition), *(formulas_of(one)[-1] for one in formulas_of(order))}
        if not frames or not any(fixed.issuperset(columns) for columns in keys):
            return part
        return store.make("window", *(arg for arg in part.args if arg is not frames[0]))

    return change_everywhere(store, change)(value)


def turn_lead(store: Formulas, function: Formula, order: Sequence[Formula]) -> tuple[Formula, list[Formula]]:
    """LEAD as LAG over the opposite order."""
    if function.op != "lead" or not order or any(one.op != "ordered" for one in order):
        return function, list(order)
    return store.make("lag", *function.args), [_opposite(one) for one in order]


def _opposite(ordered: Formula) -> Formula:
    flags = [flag for flag in ("desc", "nulls_first") if flag not in ordered.args]
    return ordered.store.make("ordered", *flags, *formulas_of(ordered))
