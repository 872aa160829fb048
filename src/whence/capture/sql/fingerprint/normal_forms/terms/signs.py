"""Negative and absolute values."""

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.shapes import Shapes
from whence.capture.sql.provenance.formulas import Formula, Formulas


def minus(store: Formulas, value: Formula) -> Formula:
    """The negative of a value: of each part of a sum."""
    match value.op:
        case "number" if integer_of(value) == 0:
            return value
        case "number":
            text = str(value.args[0])
            return store.make("number", text[1:] if text.startswith("-") else f"-{text}")
        case "neg":
            return formulas_of(value)[0]
        case "add":
            return store.make("add", *(_minus_part(store, part) for part in formulas_of(value)))
    return store.make("neg", value)


def absolute(store: Formulas, value: Formula) -> Formula:
    """`abs(x)`, which is `abs(-x)`."""
    opposite, shapes = minus(store, value), Shapes()
    return store.make("abs", "this", min(value, opposite, key=lambda one: (_minus_signs(one), shapes.of(one))))


def _minus_signs(value: Formula) -> int:
    return sum(one.op == "neg" for one in (value, *formulas_of(value)))


def _minus_part(store: Formulas, part: Formula) -> Formula:
    """The negative of a part of a sum. A sum in a sum is a long one, which stays as it is."""
    return store.make("neg", part) if part.op == "add" else minus(store, part)
