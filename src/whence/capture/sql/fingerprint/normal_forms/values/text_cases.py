"""LOWER, UPPER and TRIM, which may come before or after other functions of a text."""

from collections.abc import Callable
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_of
from whence.capture.sql.fingerprint.normal_forms.values.cases import coalesce_cases, make_case
from whence.capture.sql.fingerprint.normal_forms.values.texts import part_without_case
from whence.capture.sql.provenance.formulas import Formula, Formulas

Change = Callable[[Formula], Formula]
_OTHER_SIDE: Final = {"LEADING": "TRAILING", "TRAILING": "LEADING"}
_STRIPPED: Final[dict[str, Callable[[str], str]]] = {
    "BOTH": lambda text: text.strip(" "),
    "LEADING": lambda text: text.lstrip(" "),
    "TRAILING": lambda text: text.rstrip(" "),
}


def in_letters(store: Formulas, name: str, value: Formula) -> Formula:
    """LOWER or UPPER of a text. Blanks at the ends and separators without letters have no case, so that TRIM,
    SPLIT_PART and REPLACE may come before or after.
    """
    if value.op == name:
        return value
    if value.op == "string" and (text := str(value.args[0])).isascii():
        return store.make("string", text.lower() if name == "lower" else text.upper())
    if value.op == "trim" and len(value.args) == 2 and isinstance(value.args[1], Formula):
        return store.make("trim", value.args[0], in_letters(store, name, value.args[1]))
    if (whole := part_without_case(value)) is not None:
        changed = in_letters(store, name, whole)
        return store.rebuild(value, lambda part: changed if part is whole else part)
    if _joins_texts(value):
        return store.rebuild(value, lambda part: in_letters(store, name, part))
    inside = _of_branches(store, value, lambda one: in_letters(store, name, one))
    return inside if inside is not None else store.make(name, "this", value)


def _joins_texts(value: Formula) -> bool:
    """Whether a value is several texts one after the other. DuckDB changes the case of each character by itself."""
    is_joined = value.op in ("dpipe", "concat") and value.store.dialect == "duckdb"
    return is_joined and all(type_of(part) == "text" for part in formulas_of(value))


def trimmed(store: Formulas, position: str, value: Formula) -> Formula:
    """TRIM of blanks at one side or both, also as one of each side."""
    if value.op == "string" and (text := str(value.args[0])).isascii():
        return (
            store.make("string", _STRIPPED[position](text))
            if position in _STRIPPED
            else store.make("trim", position, value)
        )
    if value.op == "trim" and len(value.args) == 2 and value.args[0] == _OTHER_SIDE.get(position):
        return store.make("trim", "BOTH", value.args[1])
    inside = _of_branches(store, value, lambda one: trimmed(store, position, one))
    return inside if inside is not None else store.make("trim", position, value)


def _of_branches(store: Formulas, value: Formula, change: Change) -> Formula | None:
    """A function of a CASE or of defaults as one of each branch, if one of them is a literal: NULL alone stays NULL."""
    parts = formulas_of(value)
    if value.op == "coalesce" and parts[-1].op == "string":
        return coalesce_cases(store, [change(one) for one in parts])
    if value.op != "case" or not any(one.op in ("string", "null") for one in (*parts[1:-1:2], parts[-1])):
        return None
    branches = zip(parts[:-1:2], parts[1:-1:2], strict=True)
    return make_case(
        store, [(condition, _changed(change, one)) for condition, one in branches], _changed(change, parts[-1])
    )


def _changed(change: Change, value: Formula) -> Formula:
    return value if value.op == "null" else change(value)
