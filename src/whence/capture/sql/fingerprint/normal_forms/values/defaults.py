"""`coalesce`: the first value that is not NULL."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.normal_forms.terms.literals import LITERALS, formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_never_null
from whence.capture.sql.fingerprint.normal_forms.terms.types import has_other_digits, is_rounded_type, type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas


def make_coalesce(store: Formulas, parts: Sequence[Formula]) -> Formula:
    """The first value that is not NULL; nested calls are one, and nothing comes after a value that is never NULL."""
    flat = [one for part in parts for one in (formulas_of(part) if part.op == "coalesce" else (part,))]
    flat = with_one_precision(store, flat)
    flat = [_without_own_default(store, one, flat[place + 1 :]) for place, one in enumerate(flat)]
    kept = list(dict.fromkeys(one for one in flat if one.op != "null")) or [store.make("null")]
    last = next((place for place, one in enumerate(kept) if is_never_null(one)), len(kept))
    kept = kept[: last + 1]
    return store.make("coalesce", *kept) if len(kept) > 1 else kept[0]


def with_one_precision(store: Formulas, values: Sequence[Formula]) -> list[Formula]:
    """Values of which one is chosen, with BIGINT and decimals as DOUBLE if another one is a floating-point number."""
    kinds = [type_of(one) for one in values]
    rounded = next((kind for kind in kinds if is_rounded_type(kind)), None)
    if rounded is None:
        return [*values]
    pairs = zip(values, kinds, strict=True)
    double = store.make("type", "double")
    return [store.make("cast", one, double) if has_other_digits(kind, rounded) else one for one, kind in pairs]


def _without_own_default(store: Formulas, value: Formula, rest: Sequence[Formula]) -> Formula:
    """A column of an outer join without the default that follows anyway."""
    inside = value.args[1] if value.op == "of" else None
    if not isinstance(inside, Formula) or inside.op != "coalesce" or len(rest) != 1 or len(inside.args) != 2:
        return value
    column, default = formulas_of(inside)
    instance = value.args[0]
    assert isinstance(instance, Formula)
    return store.push(column, instance, whole=True) if default is rest[0] and default.op in LITERALS else value
