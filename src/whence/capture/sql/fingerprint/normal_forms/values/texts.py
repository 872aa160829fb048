"""Texts one after the other."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.literals import flat_parts, formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_never_null
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, type_named, type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

_PRINTED: Final = frozenset({"text", "boolean", "date", "timestamp"})
"""Types whose values become texts by themselves where texts are joined; numbers without rounding do, too."""


def without_text_cast(value: Formula) -> Formula:
    """A value among joined texts without a cast to a text, which DuckDB makes anyway. A list would be joined as one."""
    if value.op != "cast" or type_named(str(value.parts[1].args[0])) != "text":
        return value
    return value.parts[0] if becomes_text(value.parts[0]) else value


def becomes_text(value: Formula) -> bool:
    """Whether a value among joined texts becomes the text that a cast of it gives, also in `concat`."""
    kind = type_of(value)
    return value.store.dialect == "duckdb" and (kind in _PRINTED or is_exact_type(kind))


def make_concat(store: Formulas, parts: Sequence[Formula], skips_null: bool) -> Formula:
    """Texts one after the other. `skips_null`: NULL counts as the empty text; else it makes all of it NULL."""
    name = "concat" if skips_null else "dpipe"
    flat = _with_joined_literals(store, [without_text_cast(one) for one in flat_parts(name, parts)])
    if len(flat) == 1 and flat[0].op == "string":
        return flat[0]
    if skips_null or all(map(is_text, flat)):
        return store.make("concat", *map(_without_default, flat_parts("concat", flat)))
    return store.make("dpipe", *flat)


def _with_joined_literals(store: Formulas, parts: Sequence[Formula]) -> list[Formula]:
    """The texts with one literal for literals that follow each other."""
    found: list[Formula] = []
    for part in parts:
        if found and part.op == found[-1].op == "string":
            part = store.make("string", f"{found.pop().args[0]}{part.args[0]}")
        found.append(part)
    return found


def is_text(value: Formula) -> bool:
    """Whether a text is never NULL."""
    if value.op == "coalesce":
        return any(map(is_text, formulas_of(value)))
    return value.op in ("string", "concat")


def _without_default(value: Formula) -> Formula:
    parts = formulas_of(value)
    if value.op == "coalesce" and len(parts) == 2 and parts[1] is value.store.make("string", ""):
        return without_text_cast(parts[0])
    return value


def part_without_case(value: Formula) -> Formula | None:
    """The text of which SUBSTRING or SPLIT_PART takes a part, or in which REPLACE changes one: if what is searched has
    no letters, its case may change before.
    """
    named = dict(zip(value.args[::2], value.args[1::2], strict=False))
    whole = named.get("this")
    if value.op == "substring" and value.store.dialect == "duckdb":
        return whole if isinstance(whole, Formula) else None
    searched = {"splitpart": ("delimiter",), "replace": ("expression", "replacement")}.get(value.op, ())
    is_plain = bool(searched) and all(_has_no_case(named.get(name)) for name in searched)
    return whole if isinstance(whole, Formula) and is_plain else None


def _has_no_case(text: object) -> bool:
    """Whether a text is a literal without letters."""
    letters = str(text.args[0]) if isinstance(text, Formula) and text.op == "string" else "a"
    return letters.isascii() and not any(map(str.isalpha, letters))


def with_separator(
    store: Formulas, parts: Sequence[Formula], is_known: Callable[[Formula], bool] = is_never_null
) -> Formula | None:
    """`concat_ws('-', a, b)` as `concat(a, '-', b)`, of values that are never NULL."""
    separator, *values = parts
    is_joined = store.dialect == "duckdb" and separator.op == "string" and len(values) > 0
    if not is_joined or not all(is_text(one) or (becomes_text(one) and is_known(one)) for one in values):
        return None
    flat = [one for value in values for one in (separator, value)]
    return make_concat(store, flat[1:], skips_null=True)


def plain_digits(pattern: str) -> str:
    """A regular expression of RE2 with `[0-9]` for `\\d` and `[^0-9]` for `\\D`, which mean ASCII digits there.

    Patterns with named classes or quoted parts stay as they are.
    """
    if "[:" in pattern or "\\Q" in pattern:
        return pattern
    found, is_inside, place = "", False, 0
    while place < len(pattern):
        letter, following = pattern[place], pattern[place + 1 : place + 2]
        if letter == "\\":
            digits = {"d": "0-9" if is_inside else "[0-9]", "D": "\\D" if is_inside else "[^0-9]"}
            found, place = found + digits.get(following, letter + following), place + 2
            continue
        starts = letter == "[" and not is_inside
        is_inside = starts or (is_inside and letter != "]")
        first = re.match(r"\[\^?\]?", pattern[place:]) if starts else None
        part = first[0] if first is not None else letter
        found, place = found + part, place + len(part)
    return found
