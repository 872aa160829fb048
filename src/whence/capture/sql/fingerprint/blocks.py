"""Blocks: the rows of a query as sources, joins and conditions, in an order-free normal form.

A block is open while other queries may still become part of it: a subquery without grouping, windows or limits is the
same as its sources and conditions in the query around it. `close_block` turns it into one formula for its rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas


@dataclass(slots=True)
class OuterJoin:
    """LEFT: `right` may be missing. FULL: `left` may be missing too."""

    kind: str
    right: "Block"
    on: list[Formula]
    left: "Block | None" = None


@dataclass(slots=True)
class Block:
    """Sources that all rows come from (`inst` formulas), outer joins to them, and conditions after all of them."""

    sources: list[Formula] = field(default_factory=list)
    outer_joins: list[OuterJoin] = field(default_factory=list)
    conditions: list[Formula] = field(default_factory=list)
    is_used: bool = False
    """A query reads its instances already: the next one needs instances of its own."""

    def instances(self) -> Iterator[Formula]:
        yield from self.sources
        for join in self.outer_joins:
            yield from join.left.instances() if join.left is not None else ()
            yield from join.right.instances()

    def add(self, other: "Block") -> None:
        """Add the sources of another block: an inner join, whose conditions are among all others."""
        self.sources += other.sources
        self.outer_joins += other.outer_joins
        self.conditions += other.conditions

    @property
    def is_plain(self) -> bool:
        """Whether the rows are those of one source."""
        return len(self.sources) == 1 and not self.outer_joins and not self.conditions


def rows_of(instance: Formula) -> Formula:
    """The rows that an `inst` formula ranges over."""
    rows = instance.args[1]
    assert isinstance(rows, Formula)
    return rows


def close_block(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Formula, list[Formula]]:
    """The rows of a complete block, and values over them, without reference to its instances."""
    if block.is_plain:
        (only,) = block.sources
        closing = _Closing(store, {}, only)
        return rows_of(only), [closing.close(value) for value in values]
    closing = _Closing(store, _label_sources(store, block, values))
    if len(block.sources) == 1 and not block.conditions and all(map(_keeps_rows, block.outer_joins)):
        closing.only = block.sources[0]
        return rows_of(closing.only), [closing.close(value) for value in values]
    return _block_rows(closing, block), [closing.close(value) for value in values]


def copy_block(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    """The same block over instances of its own."""
    renamed: dict[Formula, Formula] = {}
    own = set(block.instances())

    def rename(formula: Formula) -> Formula:
        if not formula.is_open:
            return formula
        found = renamed.get(formula)
        if found is None:
            is_own = formula in own
            found = store.instance(rename(rows_of(formula))) if is_own else store.rebuild(formula, rename)
            if formula.op == "inst" and not is_own:
                found = formula
            renamed[formula] = found
        return found

    def copy(one: Block) -> Block:
        joins = [
            OuterJoin(join.kind, copy(join.right), [*map(rename, join.on)], copy(join.left) if join.left else None)
            for join in one.outer_joins
        ]
        return Block([*map(rename, one.sources)], joins, [*map(rename, one.conditions)])

    return copy(block), [rename(value) for value in values]


def mentions(formula: Formula, instance: Formula) -> bool:
    """Whether a formula reads an instance."""
    seen: set[Formula] = set()
    remaining = [formula]
    while remaining:
        part = remaining.pop()
        if part is instance:
            return True
        if part.is_open and part not in seen:
            seen.add(part)
            remaining += [arg for arg in part.args if isinstance(arg, Formula)]
    return False


class _Closing:
    """Replaces instances by what they range over. `only`: the instance whose rows are the block's rows."""

    def __init__(self, store: Formulas, labels: dict[Formula, Formula], only: Formula | None = None) -> None:
        self.store = store
        self.labels = labels
        self.only = only
        self._memo: dict[tuple[Formula, int], Formula] = {}

    def close(self, formula: Formula, depth: int = 0) -> Formula:
        if not formula.is_open:
            return formula
        key = (formula, depth)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._close(formula, depth)
        return found

    def _close(self, formula: Formula, depth: int) -> Formula:
        if formula.op == "inst":
            label = self.labels.get(formula)
            return formula if label is None else self.store.make("src", depth, label)
        if formula.op == "of":
            instance, inside = formula.args
            assert isinstance(instance, Formula)
            assert isinstance(inside, Formula)
            if instance is self.only:
                return inside if depth == 0 else self.store.make("up", depth, inside)
            return self.store.make("of", self.close(instance, depth), self.close(inside, depth + 1))
        inner = depth + (formula.op in BINDERS)
        return self.store.rebuild(formula, lambda part: self.close(part, inner))


def _block_rows(closing: _Closing, block: Block) -> Formula:
    """The rows of a block. A join that neither adds nor drops a row is not among them."""
    store = closing.store
    sources = store.make("bag", *(closing.close(source) for source in block.sources))
    conditions = store.make("set", *(closing.close(condition) for condition in block.conditions))
    joins = [_join_rows(closing, join) for join in block.outer_joins if not _keeps_rows(join)]
    return store.make("block", sources, conditions, store.make("bag", *joins))


def _join_rows(closing: _Closing, join: OuterJoin) -> Formula:
    store = closing.store
    left = [_block_rows(closing, join.left)] if join.left is not None else []
    right = _nested_rows(closing, join.right)
    on = store.make("set", *(closing.close(condition) for condition in join.on))
    if left and join.left is not None:
        return store.make("full_join", store.make("bag", _nested_rows(closing, join.left), right), on)
    return store.make("left_join", right, on)


def _nested_rows(closing: _Closing, block: Block) -> Formula:
    """The rows of one side of an outer join; its sources keep their labels, since the condition refers to them."""
    store = closing.store
    sources = store.make("bag", *(closing.close(source) for source in block.sources))
    conditions = store.make("set", *(closing.close(condition) for condition in block.conditions))
    joins = store.make("bag", *(_join_rows(closing, join) for join in block.outer_joins))
    return store.make("side", sources, conditions, joins)


def _keeps_rows(join: OuterJoin) -> bool:
    """Whether a LEFT JOIN finds at most one row: the condition gives a value for each key of a grouped source."""
    if join.kind != "left" or not _is_single(join.right):
        return False
    (instance,) = join.right.sources
    keys = unique_keys(rows_of(instance))
    if keys is None:
        return False
    store = instance.store
    return all(any(_sets(on, store.make("of", instance, key), instance) for on in join.on) for key in keys)


def _is_single(block: Block) -> bool:
    return block.is_plain


def unique_keys(rows: Formula) -> tuple[Formula, ...] | None:
    """The columns that no two rows share; None if they are not known, empty if there is only one row."""
    if rows.op == "block":
        return _keys_of_block(rows)
    if rows.op != "group":
        return None
    keys = rows.args[1]
    if keys == "all rows":
        return ()
    if isinstance(keys, Formula) and keys.op == "set":
        return tuple(key for key in keys.args if isinstance(key, Formula))
    return None


def _keys_of_block(rows: Formula) -> tuple[Formula, ...] | None:
    """The keys of one filtered source: its own, or those within which it keeps `row_number() = 1`."""
    sources, conditions, joins = (arg.args for arg in rows.args if isinstance(arg, Formula))
    if len(sources) != 1 or joins or not isinstance(sources[0], Formula):
        return None
    source, store = sources[0], rows.store
    inside = source
    while inside.op in ("src", "label"):
        inside = next(arg for arg in inside.args if isinstance(arg, Formula))
    first = next((key for one in conditions if isinstance(one, Formula) for key in _first_of(one, source)), None)
    keys = first.args if first is not None else unique_keys(inside)
    if keys is None:
        return None
    return tuple(store.push(key, source) for key in keys if isinstance(key, Formula))


def _first_of(condition: Formula, source: Formula) -> Iterator[Formula]:
    """The partition of a condition `row_number() over (partition by …) = 1`."""
    if condition.op != "eq" or condition.store.make("number", "1") not in condition.args:
        return
    for arg in condition.args:
        if isinstance(arg, Formula) and arg.op == "of" and arg.args[0] is source and isinstance(arg.args[1], Formula):
            window = arg.args[1]
            if window.op == "window" and window.args[0] == "rownumber":
                yield from (one for one in window.args[1:2] if isinstance(one, Formula) and one.op == "set")


def _sets(condition: Formula, key: Formula, instance: Formula) -> bool:
    """Whether a condition equates a key with something outside of its own source."""
    if condition.op != "eq" or key not in condition.args:
        return False
    return any(isinstance(arg, Formula) and arg is not key and not mentions(arg, instance) for arg in condition.args)


def _label_sources(store: Formulas, block: Block, values: Sequence[Formula]) -> dict[Formula, Formula]:
    """A label for each instance: its rows, with a number if several are the same."""
    labels: dict[Formula, Formula] = {}
    nested = [one for one in block.instances() if one not in block.sources]
    provisional = {
        one: store.make("label", store.make("provisional", one.args[1] if not rows_of(one).is_open else "lateral"))
        for one in (*block.sources, *nested)
    }
    first = _Closing(store, provisional)
    for one in block.sources:
        provisional[one] = store.make("label", first.close(rows_of(one), 1))
    _number(store, block, values, provisional, labels)
    for join in block.outer_joins:
        _label_joined(store, join, labels)
    return labels


def _number(
    store: Formulas,
    block: Block,
    values: Sequence[Formula],
    provisional: dict[Formula, Formula],
    labels: dict[Formula, Formula],
) -> None:
    """Number the sources with the same rows by how conditions and values use them, then by their order."""
    groups: dict[Formula, list[Formula]] = {}
    for one in block.sources:
        groups.setdefault(provisional[one], []).append(one)
    for label, members in groups.items():
        if len(members) > 1:
            members.sort(key=lambda one: _uses(store, block, values, provisional, one))
        for number, one in enumerate(members):
            labels[one] = store.make("label", label, number) if number else label


def _uses(
    store: Formulas, block: Block, values: Sequence[Formula], provisional: dict[Formula, Formula], one: Formula
) -> tuple[list[bytes], list[bytes]]:
    closing = _Closing(store, {**provisional, one: store.make("label", "self")})
    conditions = [*block.conditions, *(on for join in block.outer_joins for on in join.on)]
    used = sorted(closing.close(condition).digest for condition in conditions)
    return used, sorted(closing.close(value).digest for value in values)


def _label_joined(store: Formulas, join: OuterJoin, labels: dict[Formula, Formula]) -> None:
    """Label the sources of an outer join: a single one by its condition, so that its columns depend on it."""
    if join.kind == "left" and _is_single(join.right):
        (one,) = join.right.sources
        closing = _Closing(store, {**labels, one: store.make("label", "self")})
        on = store.make("set", *(closing.close(condition) for condition in join.on))
        _take_label(store, store.make("joined", closing.close(rows_of(one), 1), on), one, labels)
        return
    for side in (join.left, join.right):
        for one in side.instances() if side is not None else ():
            closing = _Closing(store, labels)
            _take_label(store, store.make("side", join.kind, closing.close(rows_of(one), 1)), one, labels)


def _take_label(store: Formulas, content: Formula, one: Formula, labels: dict[Formula, Formula]) -> None:
    taken = set(labels.values())
    number = 0
    label = store.make("label", content)
    while label in taken:
        number += 1
        label = store.make("label", content, number)
    labels[one] = label
