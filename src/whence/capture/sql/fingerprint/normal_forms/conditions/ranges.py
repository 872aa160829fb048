"""Whole numbers one after the other as a range: `x IN (1, 2, 3)` and `x BETWEEN 1 AND 3`."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.whole_numbers import is_whole
from whence.capture.sql.provenance.formulas import Formula, Formulas


def with_ranges(store: Formulas, op: str, parts: Sequence[Formula]) -> list[Formula]:
    """The operands of OR, or of AND, in which a value is compared with numbers that have no gap as one range."""
    wanted = "eq" if op == "or" else "neq"
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
    """From the first to the last number; outside of them for AND."""
    if op == "or":
        low, high = (store.make("number", str(one)) for one in (first, last))
        return store.connect("and", [store.make("lte", low, value), store.make("lte", value, high)])
    low, high = (store.make("number", str(one)) for one in (first - 1, last + 1))
    return store.connect("or", [store.make("lte", value, low), store.make("lte", high, value)])
