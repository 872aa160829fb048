"""Groups of which a filter wants one value of a key, as groups by the other keys of the rows with this value.

`SELECT k, n FROM (SELECT k, c, count(*) AS n FROM t GROUP BY k, c) WHERE c = 'x'` counts the rows with `c = 'x'` by k.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block, rows_of
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened, columns_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import has_one_spelling, is_whole_type, type_of
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]


def without_fixed_keys(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """The same rows and values, without keys of groups that nothing but their filter reads."""
    rest = list(values)
    for group in list(block.sources):
        fixed = _fixed_keys(store, block, group)
        if fixed and len(fixed) < len(formulas_of(rows_of(group).parts[1])):
            try:
                block, rest = _regrouped(store, block, rest, group, fixed, close)
            except ForeignSourceError:
                continue
    return block, rest


def _fixed_keys(store: Formulas, block: Block, group: Formula) -> dict[Formula, Formula]:
    """The keys of a grouped source that a filter wants to be a literal, and the filter."""
    rows = rows_of(group)
    is_set = rows.op == "group" and len(rows.parts) > 1 and rows.parts[1].op == "set"
    keys = formulas_of(rows.parts[1]) if is_set and not (rows.is_open or rows.is_volatile) else []
    places = {store.make("of", group, key): key for key in keys if key.op in ("of", "name")}
    found: dict[Formula, Formula] = {}
    for condition in block.conditions:
        for place, literal in (condition.parts, condition.parts[::-1]) if condition.op == "eq" else ():
            if place in places and _is_of_its_type(place, literal):
                found.setdefault(places[place], condition)
    return found


def _is_of_its_type(place: Formula, literal: Formula) -> bool:
    kind = type_of(place)
    is_text = literal.op == "string" and kind == "text" and has_one_spelling(kind, place.store.dialect)
    return is_text or (integer_of(literal) is not None and is_whole_type(kind))


def _regrouped(
    store: Formulas,
    block: Block,
    values: Sequence[Formula],
    group: Formula,
    fixed: dict[Formula, Formula],
    close: CloseBlock,
) -> tuple[Block, list[Formula]]:
    """Raises ForeignSourceError if the rows of the group do not show what these read."""
    rest = [one for one in block.conditions if one not in fixed.values()]
    joins = (part for join in block.outer_joins for part in join.formulas())
    others = [one for one in block.sources if one is not group]
    columns = columns_of(group, [*values, *rest, *joins, *others])
    is_of_others = any(one.has_window or (one.op == "aggregate" and one.args[0] == "over") for one in columns)
    if not columns or is_of_others or not fixed.keys().isdisjoint(columns):
        return block, [*values]
    inside, keys = rows_of(group).parts
    opened = Reopened(store, inside)
    kept = [opened.open(key) for key in keys.parts if key not in fixed]
    taken = [opened.open_total(one) if one.has_aggregate else opened.open(one) for one in columns]
    wanted = [
        store.make("eq", opened.open(key), next(part for part in one.parts if part.op in ("string", "number")))
        for key, one in fixed.items()
    ]
    inner = replace(opened.block, conditions=[*opened.block.conditions, *wanted])
    rows, closed = close(store, inner, [*kept, *taken])
    made = store.instance(store.make("group", rows, store.make("set", *closed[: len(kept)])))
    pairs = zip(columns, closed[len(kept) :], strict=True)
    moved = {store.make("of", group, old): store.push(new, made) for old, new in pairs} | {group: made}
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    sources = [made if one is group else one for one in block.sources]
    return change_block(replace(block, sources=sources, conditions=rest), visit), [*map(visit, values)]
