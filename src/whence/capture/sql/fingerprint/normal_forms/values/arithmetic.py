"""Sums and products: without order, with whole numbers computed. A difference is a sum with a negative value."""

from collections.abc import Sequence
from math import prod

from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import count_where
from whence.capture.sql.fingerprint.normal_forms.terms.literals import INTEGER, formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null
from whence.capture.sql.provenance.formulas import Formula, Formulas


def add(store: Formulas, parts: Sequence[Formula]) -> Formula:
    """A sum; sums in it are parts of it."""
    return fold_numbers(store, "add", _without_counts(store, parts))


def _without_counts(store: Formulas, parts: Sequence[Formula]) -> Sequence[Formula]:
    """`count(*) - count(x)` as the number of rows in which x is NULL."""
    rows = store.make("aggregate", "count", store.make("star"))
    for part in parts if rows in parts else ():
        match part.args:
            case (Formula(op="aggregate", args=("count", Formula() as value)),) if (
                part.op == "neg" and value.op not in ("star", "distinct", "case") and not value.is_volatile
            ):
                rest = [one for one in parts if one is not part]
                rest.remove(rows)
                return [*rest, count_where(store, is_null(value))]
    return parts


def minus(store: Formulas, value: Formula) -> Formula:
    """The negative of a value: of each part of a sum."""
    match value.op:
        case "number":
            text = str(value.args[0])
            return store.make("number", text[1:] if text.startswith("-") else f"-{text}")
        case "neg":
            return formulas_of(value)[0]
        case "add":
            return store.make("add", *(minus(store, part) for part in formulas_of(value)))
    return store.make("neg", value)


def fold_numbers(store: Formulas, operation: str, parts: Sequence[Formula]) -> Formula:
    """A sum or a product, flat, with whole numbers in it computed."""
    flat = [one for part in parts for one in (formulas_of(part) if part.op == operation else (part,))]
    numbers = [one for one in map(integer_of, flat) if one is not None]
    others = [part for part in flat if integer_of(part) is None]
    total = str((sum if operation == "add" else prod)(numbers))
    if len(flat) == 1:
        return flat[0]
    if len(numbers) < 2 or not INTEGER.fullmatch(total):
        return store.make(operation, *flat)
    number = store.make("number", total)
    return store.make(operation, *others, number) if others else number
