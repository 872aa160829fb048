"""Values that a query computes, of a row that a LEFT JOIN may not find: NULL then, else what they are over its columns.

`p.h` of `LEFT JOIN (SELECT k, CASE WHEN count(*) > 1 THEN 1 ELSE 0 END AS h …) p` is the CASE where a row is found.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import STRICT_CONDITIONS, rejects_null
from whence.capture.sql.fingerprint.normal_forms.conditions.known_columns import KnownColumns
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import is_condition
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

_JOINED_PARTS: Final = 2
_LONGEST: Final = 40
"""A value with more parts than this is left as it is."""


class JoinedValue(NamedTuple):
    """A column that is not NULL if the row is found, and the value over the columns of the row."""

    key: Formula
    value: Formula


def joined_value(value: Formula) -> JoinedValue | None:
    """A value that is computed in the rows of a LEFT JOIN; None for columns and for all other values."""
    source, inside = formulas_of(value) if value.op == "of" else (value, value)
    is_computed = value.op == "of" and (inside.op in ("case", "coalesce") or is_condition(inside))
    if not is_computed or inside.size > _LONGEST or not is_joined(source):
        return None
    pushed = value.store.push(inside, source)
    keys = [one for one in _read_columns(pushed, source) if is_sure(source, one)] or _compared(source)
    if not keys:
        return None
    return JoinedValue(value.store.make("of", source, min(keys, key=lambda one: one.digest)), pushed)


def _read_columns(value: Formula, source: Formula) -> Iterator[Formula]:
    """The columns of a source that a value reads."""
    if value.op == "of":
        yield from value.parts[1:] if value.parts[0] is source else ()
    else:
        for part in formulas_of(value):
            yield from _read_columns(part, source)


def _compared(source: Formula) -> list[Formula]:
    """The columns that ON compares, which are not NULL in a row that is found."""
    own = own_row(source.store)
    compared = [one for one in formulas_of(joined_parts(source)[1]) if one.op in STRICT_CONDITIONS]
    columns = (part for one in compared for part in formulas_of(one))
    return [formulas_of(part)[1] for part in columns if part.op == "of" and part.args[0] is own]


def is_joined(source: Formula) -> bool:
    """Whether a source is the right side of a LEFT JOIN."""
    label = source.parts[0] if source.op == "src" else None
    joined = label.parts[0] if label is not None and label.op == "label" and label.parts else None
    return joined is not None and joined.op == "joined" and len(joined.args) == _JOINED_PARTS


def joined_parts(source: Formula) -> tuple[Formula, Formula]:
    """The rows of the right side of a LEFT JOIN, and the set of its conditions."""
    rows, on = formulas_of(formulas_of(formulas_of(source)[0])[0])
    return rows, on


def is_sure(source: Formula, column: Formula) -> bool:
    """Whether a column is not NULL if its row is found."""
    rows, on = joined_parts(source)
    own = source.store.make("of", own_row(source.store), column)
    return any(rejects_null(one, own) for one in formulas_of(on)) or KnownColumns().is_known(rows, column)


def own_row(store: Formulas) -> Formula:
    """The joined row, in the condition that finds it."""
    return store.make("src", 0, store.make("label", "self"))
