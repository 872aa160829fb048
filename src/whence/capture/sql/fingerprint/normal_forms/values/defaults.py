"""`coalesce`, and which values are never NULL."""

from collections.abc import Sequence
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.literals import LITERALS, formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import null_tested
from whence.capture.sql.provenance.formulas import Formula, Formulas

_NUMBERINGS: Final = ("rownumber", "rank", "denserank")
_TOTAL: Final = frozenset({"exists", "nullsafeeq", "nullsafeneq"})


def make_coalesce(store: Formulas, parts: Sequence[Formula]) -> Formula:
    """The first value that is not NULL; nested calls are one, and nothing comes after a value that is never NULL."""
    flat = [one for part in parts for one in (formulas_of(part) if part.op == "coalesce" else (part,))]
    flat = [_without_own_default(store, one, flat[place + 1 :]) for place, one in enumerate(flat)]
    kept = list(dict.fromkeys(one for one in flat if one.op != "null")) or [store.make("null")]
    last = next((place for place, one in enumerate(kept) if is_never_null(one)), len(kept))
    kept = kept[: last + 1]
    return store.make("coalesce", *kept) if len(kept) > 1 else kept[0]


def _without_own_default(store: Formulas, value: Formula, rest: Sequence[Formula]) -> Formula:
    """A column of an outer join without the default that follows anyway."""
    inside = value.args[1] if value.op == "of" else None
    if not isinstance(inside, Formula) or inside.op != "coalesce" or len(rest) != 1 or len(inside.args) != 2:
        return value
    column, default = formulas_of(inside)
    instance = value.args[0]
    assert isinstance(instance, Formula)
    return store.push(column, instance, whole=True) if default is rest[0] and default.op in LITERALS else value


def is_never_null(value: Formula) -> bool:
    """Whether a value is never NULL, whatever the columns are."""
    parts = formulas_of(value)
    if value.op == "coalesce":
        return any(map(is_never_null, parts))
    if value.op in ("aggregate", "window"):
        return value.args[0] in ("count", *_NUMBERINGS) and value.args[:1] != ("over",)
    if value.op in ("add", "mul", "neg"):
        return all(map(is_never_null, parts))
    if value.op == "case":
        return all(map(is_never_null, (*parts[1::2], parts[-1])))
    return value.op in ("string", "number", "boolean", "concat") or is_total(value)


def is_total(condition: Formula) -> bool:
    """Whether a condition is never NULL."""
    if condition.op in ("not", "and", "or"):
        return all(map(is_total, formulas_of(condition)))
    return condition.op in _TOTAL or null_tested(condition) is not None
