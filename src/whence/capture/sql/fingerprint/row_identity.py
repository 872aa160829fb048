"""Sources that are written in several ways: the first row of each group, and LIMIT."""

from collections.abc import Callable, Iterator, Sequence

from whence.capture.sql.fingerprint.block import Block, OuterJoin, rows_of
from whence.capture.sql.fingerprint.keys import first_windows, partition_of, total_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import has_one_spelling, type_of
from whence.capture.sql.provenance.formulas import PUSHED_SIZE, ROW_BOUND, Formula, Formulas

Change = Callable[[Formula], Formula]


Found = tuple[list[Formula], list[Formula], Change]
"""The sources and the conditions that are left, and what becomes of formulas."""


def numbered_rows(store: Formulas, block: Block) -> Iterator[Found]:
    """Each source whose rows a condition chooses by their number."""
    yield from _limits(store, block)
    yield from (_first_rows(store, block, *found) for found in _first_conditions(block))


def _limits(store: Formulas, block: Block) -> Iterator[Found]:
    """`row_number() OVER (ORDER BY …) <= 3` of all rows of a source as LIMIT 3: ties are broken by chance in both."""
    for condition in block.conditions:
        parts = [*condition.parts] if condition.op == "lte" else []
        match (*parts[:1], *(arg for part in parts[:1] for arg in part.args if part.op == "of"), *parts[1:]):
            case (_, Formula() as source, Formula(op="window") as window, Formula(op="number") as last):
                is_number = str(last.args[0]).isdigit() and source in block.sources and not rows_of(source).is_open
                order = _order_of_all(window) if is_number else None
                if order is not None:
                    limit = store.make("limit", "expression", last)
                    limited = store.instance(store.make("limit", rows_of(source), order, limit))
                    sources = [limited if one is source else one for one in block.sources]
                    rest = [one for one in block.conditions if one is not condition]
                    yield sources, rest, _replaced(source, limited)


def _replaced(gone: Formula, kept: Formula) -> Change:
    return lambda part: kept if part is gone else part


def _order_of_all(window: Formula) -> Formula | None:
    """The order in which ROW_NUMBER numbers all rows; None for another window function."""
    match window.args:
        case ("rownumber", Formula(op="set", args=()), Formula(op="list", args=(_, *_)) as order, "OVER"):
            return order
    return None


def _first_conditions(block: Block) -> Iterator[tuple[Formula, Formula, Formula]]:
    """The conditions `row_number() over (…) = 1`, each with its source and its window."""
    for condition in block.conditions:
        if condition.op == "eq":
            for source in block.sources:
                yield from ((condition, source, window) for window in first_windows(condition, source))


def _first_rows(store: Formulas, block: Block, condition: Formula, source: Formula, window: Formula) -> Found:
    """The first row of each partition as a group: which row that is matters for the columns that are no keys."""
    keys = window.args[1]
    assert isinstance(keys, Formula)
    order = first_order(store, keys.args, [arg for arg in window.args[2:] if isinstance(arg, Formula)])
    grouped = store.instance(store.make("group", rows_of(source), keys))

    def change(part: Formula) -> Formula:
        if part is source:
            return grouped
        if part.op != "of" or part.args[0] is not source or not isinstance(part.args[1], Formula):
            return part
        inside = part.args[1]
        return store.make("of", grouped, first_value(store, inside, keys.args, order, window, rows_of(source)))

    sources = [grouped if one is source else one for one in block.sources]
    return sources, [one for one in block.conditions if one is not condition], change


def first_order(store: Formulas, keys: Sequence[object], order: Sequence[Formula]) -> Formula:
    """The order of the rows of a group, in which its keys do not differ."""
    lists = [one for part in order for one in (part.args if part.op == "list" else (part,))]
    kept = [one for one in lists if not (isinstance(one, Formula) and one.op == "ordered" and one.args[-1] in keys)]
    return store.make("list", *kept)


def first_value(
    store: Formulas,
    value: Formula,
    keys: Sequence[object],
    order: Formula,
    number: Formula | None = None,
    rows: Formula | None = None,
) -> Formula:
    """A value of the first row of each group, in an order. `number`: the value that numbers the rows, which is 1.
    `rows`: those that the value is of, if it is no value of a source that is still open.
    """
    if value in keys:
        return value
    if value is number:
        return store.make("number", "1")
    partition = partition_of(value)
    if partition is not None and set(partition) == set(keys) and (total := total_of(value)) is not None:
        return total
    if partition is not None and set(partition) <= set(keys):
        return store.make("aggregate", "anyvalue", "this", value)
    if value.op in ROW_BOUND or value.size > PUSHED_SIZE or value.is_volatile:
        return _first_of_row(store, value, order, rows)
    return store.rebuild(value, lambda part: first_value(store, part, keys, order, number, rows))


def _first_of_row(store: Formulas, value: Formula, order: Formula, rows: Formula | None) -> Formula:
    """A column of the first row. An order by the column itself ends there, and is its least or greatest value if it
    begins there with NULLs last. Of types whose equal values are the same.
    """
    items = [*order.parts]
    place = next((place for place, one in enumerate(items) if one.op == "ordered" and one.args[-1] is value), None)
    if place is not None and not value.has_window and has_one_spelling(type_of(value, rows), store.dialect):
        flags = items[place].args[:-1]
        if place == 0 and "nulls_first" not in flags:
            return store.make("aggregate", "max" if "desc" in flags else "min", "this", value)
        order = store.make("list", *items[: place + 1])
    return store.make("aggregate", "first_row", value, order)


def change_everywhere(store: Formulas, change: Change) -> Change:
    """A change of each part of a formula, the outermost part that it fits first."""
    memo: dict[Formula, Formula] = {}

    def visit(part: Formula) -> Formula:
        if not part.is_open:
            return part
        found = memo.get(part)
        if found is None:
            changed = change(part)
            found = memo[part] = changed if changed is not part else store.rebuild(part, visit)
        return found

    return visit


def change_block(block: Block, visit: Change) -> Block:
    """The block with a change of all of its formulas."""
    joins = [
        OuterJoin(
            join.kind,
            change_block(join.right, visit),
            [*map(visit, join.on)],
            change_block(join.left, visit) if join.left is not None else None,
        )
        for join in block.outer_joins
    ]
    sources = [one if one.op == "inst" and not rows_of(one).is_open else visit(one) for one in block.sources]
    return Block(sources, joins, [*map(visit, block.conditions)], block.is_used)
