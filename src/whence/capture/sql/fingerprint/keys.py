"""Keys: columns that no two rows share, from grouping, and from what a project declares."""

from collections.abc import Iterator, Sequence
from typing import Final

from whence.capture.sql.fingerprint.block import instances_of
from whence.capture.sql.fingerprint.normal_forms.terms.days import first_moment
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import EXACT_TEXTS, function_of, is_rounded_type, type_of
from whence.capture.sql.provenance.formulas import BINDERS, Formula, RowKey

OF_ALL_ROWS: Final = frozenset({"sum", "count", "min", "max", "avg", "logicalor", "logicaland"})
_OF_ONE_ROW: Final = frozenset({"firstvalue", "lastvalue", "nthvalue"})
_EVEN: Final = frozenset(
    {"eq", "neq", "lt", "lte", "is", "nullsafeeq", "and", "or", "not", "list", "add", "mul", "neg"}
)
"""Comparisons and sums, which are the same for the two floating-point zeros."""


def unique_keys(rows: Formula) -> tuple[RowKey, ...]:
    """The keys of rows, as columns of them; one without columns if there is only one row."""
    declared = rows.store.keys.get(rows, ())
    if rows.op == "block":
        return (*declared, *_keys_of_block(rows))
    if rows.op == "series":
        return (*declared, *_keys_of_series(rows))
    if rows.op == "values":
        return (*declared, *_keys_of_literals(rows))
    if rows.op != "group":
        return declared
    keys = rows.args[1]
    if keys == "all rows":
        return (*declared, RowKey((), True))
    if isinstance(keys, Formula) and keys.op == "set":
        return (*declared, RowKey(keys.parts, True))
    return declared


def _keys_of_series(rows: Formula) -> Iterator[RowKey]:
    """The elements of a series, and their days if the step is not shorter than a day."""
    make = rows.store.make
    element = make("name", "#0")
    yield RowKey((element,), True)
    if rows.args[-1] in ("day", "month"):
        yield RowKey((make("cast", element, make("type", "date")),), True)


def _keys_of_literals(rows: Formula) -> Iterator[RowKey]:
    """The columns of VALUES that have different texts, or different whole numbers of one type."""
    table = [formulas_of(row) for row in formulas_of(formulas_of(rows)[0])]
    for place, column in enumerate(zip(*table, strict=True)) if len({*map(len, table)}) == 1 else ():
        kinds = {(one.op, type_of(one)) for one in column}
        is_plain = kinds == {("number", "integer")} or (kinds == {("string", "text")} and _has_exact_texts(rows))
        if is_plain and len({integer_of(one) if one.op == "number" else one.args[0] for one in column}) == len(column):
            yield RowKey((rows.store.make("name", f"#{place}"),), True)


def _has_exact_texts(rows: Formula) -> bool:
    """Whether different texts without blanks at their end are never equal."""
    return rows.store.dialect in EXACT_TEXTS


def needed_keys(keys: Sequence[Formula]) -> list[Formula]:
    """The grouping keys without literals, and without those that are functions of other keys."""
    found = dict.fromkeys(map(first_moment, keys))
    kept = [key for key in found if key.op not in ("number", "string", "boolean")] or list(keys[:1])
    for key in list(kept):
        others = frozenset(one for one in kept if one is not key)
        if others and key.op != "of" and reads_only(key, others, frozenset(instances_of(key))):
            kept.remove(key)
    return kept


def reads_only(formula: Formula, values: frozenset[Formula], own: frozenset[Formula]) -> bool:
    """Whether a formula depends on rows only through these values, and has no subquery. `own`: the sources of rows."""
    if formula.is_volatile or formula.has_aggregate or formula.has_window or not formula.is_open:
        return False
    remaining, seen, is_found = [formula], set(), False
    while remaining:
        part = remaining.pop()
        if part in values:
            is_found = True
            if tells_zeros_apart(formula, part):
                return False
        elif part in own or (part.is_open and part.op in BINDERS and part.op != "of"):
            return False
        elif part.is_open and part not in seen:
            seen.add(part)
            remaining += part.parts
    return is_found


def tells_zeros_apart(formula: Formula, value: Formula) -> bool:
    """Whether a formula may differ for equal values, as 1 / x does for -0.0 and 0.0, which are one group.

    Of a value of unknown type, only a division by it is taken for such a formula.
    """
    kind = type_of(value)
    if formula is value or (kind and not is_rounded_type(kind)):
        return False
    remaining, seen = [formula], {value}
    while remaining:
        part = remaining.pop()
        if part in seen or not part.is_open:
            continue
        seen.add(part)
        parts = formulas_of(part)
        if (kind and part.op not in _EVEN) or (part.op == "div" and parts[1].is_open):
            return True
        remaining += parts
    return False


def partition_of(window: Formula) -> tuple[Formula, ...] | None:
    """The partition of a window function that gives all of its rows one value; None for any other value."""
    parts = [*window.parts]
    sets = [one for one in parts if one.op == "set"]
    if window.op != "window" or len(sets) != 1 or window.is_volatile:
        return None
    after = parts[parts.index(sets[0]) + 1 :]
    is_whole = [(one.op, one.args) for one in after[1:]] == [("frame", ("whole",))]
    name, place = function_of(window), window.args.index(sets[0])
    is_unordered = len(after) == 1 and not after[0].args and name in OF_ALL_ROWS
    is_plain = all(arg in ("OVER",) for arg in window.args[place:] if isinstance(arg, str))
    is_first = len(after) == 1 and name == "firstvalue"
    if not is_plain or not (is_unordered or is_first or (is_whole and name in OF_ALL_ROWS | _OF_ONE_ROW)):
        return None
    return sets[0].parts


def total_of(window: Formula) -> Formula | None:
    """The aggregate that a window function computes over all rows of each partition; None for another one."""
    place = window.args.index("aggregate") if "aggregate" in window.args else 0
    if not place or partition_of(window) is None or window.args[0] not in OF_ALL_ROWS:
        return None
    return window.store.make("aggregate", *window.args[:place])


def _keys_of_block(rows: Formula) -> Iterator[RowKey]:
    """The keys of one filtered source."""
    sources, _, joins = (arg.args for arg in rows.args if isinstance(arg, Formula))
    if len(sources) != 1 or joins or not isinstance(sources[0], Formula):
        return
    source, store = sources[0], rows.store
    inside = source
    while inside.op in ("src", "label"):
        inside = inside.parts[0]
    for key in unique_keys(inside):
        yield RowKey(tuple(store.push(column, source) for column in key.columns), key.is_complete)


def first_windows(condition: Formula, source: Formula) -> Iterator[Formula]:
    """The window of a condition `row_number() over (…) = 1` on the rows of one source."""
    yield from (one for one in _windows_of_one(condition, source) if one.args[0] == "rownumber")


def keys_of_filter(conditions: Sequence[Formula], source: Formula) -> Iterator[RowKey]:
    """The keys that rows of a source have behind conditions that leave one row of a partition: the first one by
    `row_number() over (…) = 1`, or the only one by `count(*) over (…) = 1`.
    """
    for condition in conditions:
        for window in _windows_of_one(condition, source):
            parts = [one for one in formulas_of(window) if one.op == "set"]
            is_first = window.args[0] == "rownumber" and len(parts) == 1
            is_only = total_of(window) is window.store.make("aggregate", "count", window.store.make("star"))
            if is_first or is_only:
                yield RowKey(tuple(formulas_of(parts[0])), True)


def _windows_of_one(condition: Formula, source: Formula) -> Iterator[Formula]:
    """The window functions of a source that a condition wants to be 1."""
    if condition.op != "eq" or condition.store.make("number", "1") not in condition.args:
        return
    for arg in condition.args:
        if isinstance(arg, Formula) and arg.op == "of" and arg.args[0] is source:
            yield from (one for one in formulas_of(arg)[1:] if one.op == "window")
