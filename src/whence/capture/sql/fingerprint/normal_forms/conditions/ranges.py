"""Whole numbers one after the other as a range: `x IN (1, 2, 3)` and `x BETWEEN 1 AND 3`."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.whole_numbers import is_whole, limits_of, whole_bound
from whence.capture.sql.provenance.formulas import Formula, Formulas


def with_ranges(store: Formulas, op: str, parts: Sequence[Formula]) -> list[Formula]:
    """The operands of OR, or of AND, in which a value is compared with numbers that have no gap as one range."""
    wanted = "eq" if op == "or" else "neq"
    parts = _widened(store, op, parts)
    found: dict[Formula, dict[int, Formula]] = {}
    for part in parts:
        pair = _compared(part) if part.op == wanted else None
        if pair is not None and is_whole(pair[0]):
            found.setdefault(pair[0], {})[pair[1]] = part
    kept = list(parts)
    for value, numbers in found.items():
        first, last = min(numbers), max(numbers)
        if len(numbers) > 1 and last - first == len(numbers) - 1:
            kept = [one for one in kept if one not in numbers.values()]
            kept.append(_range(store, op, value, first, last))
    return kept


def _compared(part: Formula) -> tuple[Formula, int] | None:
    for value, number in (formulas_of(part), reversed(formulas_of(part))):
        if (found := integer_of(number)) is not None and value.op != "number":
            return value, found
    return None


def _range(store: Formulas, op: str, value: Formula, first: int, last: int) -> Formula:
    """From the first to the last number; outside of them for AND. No number is below or above its limits."""
    least, greatest = limits_of(value)
    is_first, is_last = first == least, last == greatest
    if is_first and is_last:
        is_first = is_last = False
    if op == "or":
        low, high = (store.make("number", str(one)) for one in (first, last))
        bounds = [*([] if is_first else [(low, value)]), *([] if is_last else [(value, high)])]
        return store.connect("and", [store.make("lte", *bound) for bound in bounds])
    low, high = (store.make("number", str(one)) for one in (first - 1, last + 1))
    bounds = [*([] if is_first else [(value, low)]), *([] if is_last else [(high, value)])]
    return store.connect("or", [store.make(*whole_bound(store, "lte", *bound)) for bound in bounds])


def _widened(store: Formulas, op: str, parts: Sequence[Formula]) -> Sequence[Formula]:
    """`i <= 3` for `i <= 2 OR i = 3`, and `i <= 2` for `i <= 3 AND i <> 3`."""
    wanted = "eq" if op == "or" else "neq"
    points = {pair: part for part in parts if part.op == wanted and (pair := _compared(part)) is not None}
    bounds = [part for part in parts if part.op == "lte"] if points else []
    for bound in bounds:
        pair = _compared(bound)
        if pair is None or not is_whole(pair[0]):
            continue
        value, number = pair
        is_upper = bound.args[0] is value
        step = 1 if is_upper == (op == "or") else -1
        point = points.get((value, number + step if op == "or" else number))
        if point is None:
            continue
        moved = store.make("number", str(number + step))
        sides = (value, moved) if is_upper else (moved, value)
        rest = [part for part in parts if part not in (bound, point)]
        return _widened(store, op, [*rest, store.make(*whole_bound(store, "lte", *sides))])
    return parts
