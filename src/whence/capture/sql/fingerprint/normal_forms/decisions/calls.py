"""Functions that are NULL if an argument is: of a CASE they are the CASE of what they give for each branch.

Only where the CASE does not change the type of what it chooses: a number becomes another text beside one with a
fraction.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import (
    POINTS_IN_TIME,
    is_exact_type,
    is_rounded_type,
    type_named,
    type_of,
)
from whence.capture.sql.fingerprint.normal_forms.values.cases import are_ordered
from whence.capture.sql.provenance.formulas import Formula

COMPUTED: Final = frozenset({"add", "neg", "mul", "div", "datediff"})
"""Operations on numbers or days that are NULL if one of them is."""
_ROUNDED: Final = frozenset({"round", "floor", "ceil"})
CALLED: Final = _ROUNDED | {"lower", "upper", "trim", "length", "substring", "cast", "trycast", "typed"}
"""Functions of one row, NULL if an argument is."""
_ALIKE: Final = frozenset({"text", "integer", "date", "boolean"})
"""Types whose values become texts in one way."""
_CHOICES: Final = frozenset({"case", "coalesce"})


def is_chosen(value: Formula) -> bool:
    """Whether a value is computed from one that a CASE or a default chooses."""
    if value.op in CALLED:
        return any(map(is_chosen, formulas_of(value))) and _keeps_types(value)
    return value.op in _CHOICES or (value.op in COMPUTED and any(map(is_chosen, formulas_of(value))))


def has_one_type(value: Formula) -> bool:
    """Whether all that an operation is computed from has one type, whatever is chosen."""
    return all(map(_is_of_one_type, formulas_of(value)))


def _keeps_types(call: Formula) -> bool:
    """Whether a function gives the same of a choice as of what is chosen."""
    if call.op == "typed":
        return True
    is_printed = call.op in ("cast", "trycast") and not _is_value(type_named(str(formulas_of(call)[1].args[0])))
    inside = [one for part in formulas_of(call) for one in _chosen_in(part)]
    if is_printed:
        kinds = {type_of(one) for several in inside for one in several}
        return all(len(several) <= 1 for several in inside) or (len(kinds) == 1 and kinds <= _ALIKE)
    return all(_are_alike(several, may_round=call.op in _ROUNDED) for several in inside)


def _is_value(name: str) -> bool:
    """Whether values of a type say nothing of the type that they had before."""
    is_number = is_exact_type(name) or is_rounded_type(name)
    return is_number or name in POINTS_IN_TIME or name == "boolean"


def _is_of_one_type(value: Formula) -> bool:
    return all(_are_alike(several, may_round=False) for several in _chosen_in(value))


def _chosen_in(value: Formula) -> Iterator[Sequence[Formula]]:
    """What is chosen by each CASE and each default that a value is computed from."""
    if value.op in _CHOICES:
        chosen = [*dict.fromkeys(one for one in values_of(value) if one.op != "null")]
        yield chosen
        for one in chosen:
            yield from _chosen_in(one)
    elif value.op in COMPUTED | CALLED:
        for part in formulas_of(value):
            yield from _chosen_in(part)


def _are_alike(values: Sequence[Formula], *, may_round: bool) -> bool:
    """Whether values of which one is chosen keep their type. Whole literals are the same beside rounded numbers."""
    kinds = {type_of(one) for one in values if not (may_round and integer_of(one) is not None)}
    if len(values) <= 1 or (len(kinds) == 1 and "" not in kinds):
        return True
    return all(map(is_exact_type, kinds)) or (may_round and len(kinds) <= 1 and all(map(is_rounded_type, kinds)))


def values_of(value: Formula) -> Iterator[Formula]:
    """What a CASE, a default or an extreme gives."""
    parts = formulas_of(value)
    if value.op == "case":
        for part in (*parts[1:-1:2], parts[-1]):
            yield from values_of(part)
    elif value.op == "coalesce":
        for part in parts:
            yield from values_of(part)
    elif is_extreme_of_ordered(value):
        for part in parts[0].parts:
            yield from values_of(part)
    else:
        yield value


def is_extreme_of_ordered(value: Formula) -> bool:
    """Whether a value is the least or the greatest of values that are not NULL, of which equal ones are the same."""
    if value.op not in ("least", "greatest") or value.args[1:] not in ((), ("ignore_nulls True",)):
        return False
    return value.parts[0].op == "set" and are_ordered(value.parts[0].parts)
