"""Tests for NULL."""

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import Formula


def null_source(value: Formula) -> Formula:
    """What decides whether a value is NULL."""
    while value.op in ("lower", "upper", "neg") and len(formulas_of(value)) == 1:
        (value,) = formulas_of(value)
    return value


def is_null(value: Formula) -> Formula:
    """IS NULL."""
    store = value.store
    return store.make("is", "expression", store.make("null"), "this", null_source(value))


def null_tested(condition: Formula) -> Formula | None:
    """The value that IS NULL tests."""
    if condition.op != "is":
        return None
    parts = formulas_of(condition)
    rest = [part for part in parts if part.op != "null"]
    return rest[0] if len(parts) == 2 and len(rest) == 1 else None
