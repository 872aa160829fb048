"""Values that a filter holds equal: which pairs of them are written does not matter."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.normal_forms.terms.literals import LITERALS, formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import has_other_digits, type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas


def merge_equalities(store: Formulas, conditions: Sequence[Formula]) -> list[Formula]:
    """`a = b AND b = c` as one condition on all three, if they are columns or literals."""
    found = [one for one in dict.fromkeys(conditions) if _is_link(one)]
    classes: list[set[Formula]] = []
    for one in found:
        touched = [own for own in classes if not own.isdisjoint(formulas_of(one))]
        classes = [own for own in classes if own not in touched] + [set(formulas_of(one)).union(*touched)]
    large = [own for own in classes if len(own) > 2]
    rest = [one for one in conditions if not (_is_link(one) and any(own.issuperset(one.args) for own in large))]
    return [*rest, *(store.make("equal", store.make("set", *own)) for own in large)]


def _is_link(condition: Formula) -> bool:
    parts = formulas_of(condition) if condition.op == "eq" else []
    is_plain = len(parts) == 2 and all(map(_is_column_or_literal, parts))
    is_column = is_plain and not any(one.op in LITERALS for one in parts)
    return is_plain and not (is_column and has_other_digits(type_of(parts[0]), type_of(parts[1])))


def _is_column_or_literal(value: Formula) -> bool:
    if value.op in LITERALS:
        return True
    return value.op == "of" and not (value.has_aggregate or value.has_window)
