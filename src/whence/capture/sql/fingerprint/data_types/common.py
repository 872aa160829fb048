"""The one type of values of which one is chosen, or which stand on the two sides of an operation."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.data_types.terms import (
    MOMENTS,
    WIDTHS,
    decimal_of,
    holds,
    is_number,
    is_total,
    is_whole,
    literal_of,
    make_decimal,
    name_of,
    named,
)
from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import HIVE_FAMILY
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import Formula, Formulas


def common_type(store: Formulas, terms: Sequence[Formula | None]) -> Formula | None:
    """The type of CASE, `coalesce` or a UNION of values of these types. None: one of them is not known.

    What no rule tells is the set of the types: it is the same for the same types, whatever values have them.
    """
    flat: list[Formula] = []
    for term in terms:
        if term is None:
            return None
        flat += formulas_of(formulas_of(term)[0]) if term.op == "datatypes" else [term]
    parts = list(dict.fromkeys(one for one in flat if name_of(one) != "null"))
    if len(parts) < 2:
        return parts[0] if parts else named(store, "null")
    parts = _without_literals(store, parts)
    if len(parts) == 1:
        return parts[0]
    found = _common(store, parts)
    return found if found is not None else store.make("datatypes", store.make("set", *parts))


def _without_literals(store: Formulas, parts: list[Formula]) -> list[Formula]:
    """The types without those of literals that adapt to the values beside them."""
    others = [one for one in parts if not literal_of(one)]
    if not others:
        names = dict.fromkeys(named(store, name_of(one)) for one in parts)
        return list(names)
    whole = max((name_of(one) for one in others if is_whole(one)), key=WIDTHS.index, default="")
    has_total = store.dialect == "duckdb" and any(is_total(one) for one in others)
    kept = [one for one in parts if not _adapts(one, "hugeint" if has_total else whole)]
    return list(dict.fromkeys(named(store, name_of(one)) if literal_of(one) else one for one in kept))


def _adapts(literal: Formula, whole: str) -> bool:
    text = literal_of(literal)
    if name_of(literal) == "text":
        return bool(text) and literal.store.dialect not in HIVE_FAMILY
    return bool(text) and bool(whole) and is_whole(literal) and holds(whole, text)


def _common(store: Formulas, parts: Sequence[Formula]) -> Formula | None:
    names = [name_of(one) for one in parts]
    if all(map(is_whole, parts)):
        return named(store, max(names, key=WIDTHS.index))
    if store.dialect != "duckdb":
        return None
    if all(name in MOMENTS for name in names):
        return named(store, max(names, key=MOMENTS.index))
    if not all(map(is_number, parts)):
        return None
    if "double" in names or "float" in names:
        return named(store, "double" if "double" in names else "float")
    digits = [found for one in parts if (found := decimal_of(one)) is not None]
    scale = max(scale for _, scale in digits)
    return make_decimal(store, max(width - own for width, own in digits) + scale, scale)
