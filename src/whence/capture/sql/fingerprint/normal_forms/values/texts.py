"""Texts one after the other."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import Formula, Formulas


def make_concat(store: Formulas, parts: Sequence[Formula], skips_null: bool) -> Formula:
    """Texts one after the other. `skips_null`: NULL counts as the empty text; else it makes all of it NULL."""
    name = "concat" if skips_null else "dpipe"
    flat = _flat(name, parts)
    if skips_null or all(map(_is_text, flat)):
        return store.make("concat", *map(_without_default, _flat("concat", flat)))
    return store.make("dpipe", *flat)


def _flat(name: str, parts: Sequence[Formula]) -> list[Formula]:
    return [one for part in parts for one in (formulas_of(part) if part.op == name else (part,))]


def _is_text(value: Formula) -> bool:
    """Whether a text is never NULL."""
    if value.op == "coalesce":
        return any(map(_is_text, formulas_of(value)))
    return value.op in ("string", "concat")


def _without_default(value: Formula) -> Formula:
    parts = formulas_of(value)
    if value.op == "coalesce" and len(parts) == 2 and parts[1] is value.store.make("string", ""):
        return parts[0]
    return value
