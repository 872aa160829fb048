"""Operations whose arguments changed, in their normal form again."""

from whence.capture.sql.fingerprint.normal_forms.conditions.logic import COMPARISONS, compare, connect, negate
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null, null_tested
from whence.capture.sql.fingerprint.normal_forms.terms.signs import absolute, minus
from whence.capture.sql.fingerprint.normal_forms.values.arithmetic import add, divide, multiply
from whence.capture.sql.fingerprint.normal_forms.values.cases import coalesce_cases, make_case
from whence.capture.sql.fingerprint.normal_forms.values.casts import cast_to
from whence.capture.sql.fingerprint.normal_forms.values.text_cases import in_letters, trimmed
from whence.capture.sql.fingerprint.row_identity import Change
from whence.capture.sql.provenance.formulas import Formula, Formulas


def rebuild(store: Formulas, value: Formula, change: Change) -> Formula:
    """The value with changed arguments, as if it had been written with them."""
    before = formulas_of(value)
    parts = [change(part) for part in before]
    if parts == before:
        return value
    match value.op:
        case "case":
            return make_case(store, list(zip(parts[:-1:2], parts[1:-1:2], strict=True)), parts[-1])
        case "coalesce":
            return coalesce_cases(store, parts)
        case "and" | "or":
            return connect(store, value.op, parts)
        case "not":
            return negate(store, parts[0])
        case "is" if null_tested(value) is not None:
            tested = [part for part in parts if part.op != "null"]
            return is_null(tested[0]) if tested else store.make("boolean", "true")
        case "add":
            return add(store, parts)
        case "mul":
            return multiply(store, parts)
        case "neg":
            return minus(store, parts[0])
        case "abs":
            return absolute(store, parts[0])
        case "lower" | "upper" if value.args[0] == "this":
            return in_letters(store, value.op, parts[0])
        case "trim" if len(parts) == 1 and value.args[0] != "this":
            return trimmed(store, str(value.args[0]), parts[0])
        case "round" | "floor" | "ceil" if all((-1 if (n := integer_of(part)) is None else n) >= 0 for part in parts):
            return parts[-1]
        case "cast" | "trycast":
            return cast_to(store, value.op, *parts)
        case "div":
            return divide(store, parts[0], parts[1], [one for one in value.args if isinstance(one, str)])
        case name if name in COMPARISONS:
            return _compare(store, name, *parts)
    found = dict(zip(before, parts, strict=True))
    return store.rebuild(value, lambda part: found[part])


def _compare(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula:
    """A comparison; of a CASE of whole numbers with one of them it is a CASE of what it is for each."""
    for value, other in ((left, right), (right, left)):
        parts = formulas_of(value) if value.op == "case" and integer_of(other) is not None else []
        if parts and all(integer_of(one) is not None for one in (*parts[1:-1:2], parts[-1])):
            *branches, default = [
                part if place % 2 == 0 and place < len(parts) - 1 else compare(store, operation, *pair)
                for place, part in enumerate(parts)
                for pair in [(part, other) if value is left else (other, part)]
            ]
            return make_case(store, list(zip(branches[::2], branches[1::2], strict=True)), default)
    return compare(store, operation, left, right)
