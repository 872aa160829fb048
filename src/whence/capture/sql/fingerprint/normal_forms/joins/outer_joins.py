"""Outer joins that are written in several ways: as inner joins under a filter, and as NOT EXISTS."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from whence.capture.sql.fingerprint.block import OUTER_VIEW, Block, OuterJoin, instances_of, rows_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import STRICT_CONDITIONS, implies
from whence.capture.sql.fingerprint.normal_forms.decisions.decisions import decide_join
from whence.capture.sql.fingerprint.normal_forms.sources.existence import exists_in
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened, columns_of
from whence.capture.sql.fingerprint.normal_forms.sources.scalars import is_total
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import null_tested
from whence.capture.sql.fingerprint.normal_forms.values.known import KnownValues
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import STRICT, Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]


def normalize_joins(store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock) -> Block:
    """The same rows. A LEFT JOIN whose missing rows a condition rejects is an inner join.

    One of which a condition keeps the missing rows alone is NOT EXISTS.
    """
    while (changed := next(_changes(store, block, values, close), None)) is not None:
        block = changed
    return _without_known_conditions(store, block)


def _without_known_conditions(store: Formulas, block: Block) -> Block:
    """The same rows. ON of a LEFT JOIN need not ask what the rows on its left satisfy anyway."""
    own = frozenset(block.sources)
    known = [one for one in block.conditions if instances_of(one) <= own and not one.is_volatile]
    if not known or any(join.left is not None for join in block.outer_joins):
        return block

    def changed(join: OuterJoin) -> OuterJoin:
        return replace(join, on=decide_join(store, join.on, known)) if join.kind == "left" else join

    return replace(block, outer_joins=[*map(changed, block.outer_joins)])


def filter_right_sides(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """The same rows and values. What ON asks of the right side of a LEFT JOIN alone is a filter of that side. So it is
    for ASOF JOIN, which looks for the nearest of the rows that ON allows.
    """
    rest = list(values)
    for place, join in enumerate(block.outer_joins):
        if join.kind == "full" or not join.right.is_plain:
            continue
        (before,) = join.right.sources
        own = [one for one in join.on if instances_of(one) == {before}]
        cross = [one for one in join.on if one not in own]
        others = [part for one in block.outer_joins for part in one.on]
        has_window = any(one.has_window for one in columns_of(before, [*rest, *block.conditions, *others]))
        side = _without_implied(store, before, own, cross, is_whole=has_window)
        if side is None:
            continue
        after = store.instance(close(store, side.block, [])[0])
        visit = change_everywhere(store, _Filtered(store, before, after, side, close).change)
        try:
            joins = [*block.outer_joins[:place], OuterJoin(join.kind, Block([after]), [*map(visit, cross)])]
            whole = Block(block.sources, [*joins, *block.outer_joins[place + 1 :]], block.conditions)
            block, rest = change_block(whole, visit), [visit(value) for value in rest]
        except ForeignSourceError:  # a value reads an outer join that the rows do not show
            continue
    return block, rest


def _without_implied(
    store: Formulas, before: Formula, own: Sequence[Formula], cross: Sequence[Formula], *, is_whole: bool
) -> Reopened | None:
    """The right side of a LEFT JOIN with its own conditions of ON, and without those that ON asks anyway.

    None if nothing changes. `is_whole`: its window functions are computed before these conditions choose rows.
    """
    try:
        side = Reopened(store, rows_of(before), is_whole=is_whole)
        opened = change_everywhere(store, lambda part: _opened(side, before, part))
        crossing = [opened(one) for one in cross]
        kept = [one for one in side.block.conditions if not any(implies(other, one) for other in crossing)]
        if not own and len(kept) == len(side.block.conditions):
            return None
        side.block.conditions = [*kept, *(opened(one) for one in own)]
    except ForeignSourceError:
        return None
    return side


def _opened(side: Reopened, instance: Formula, part: Formula) -> Formula:
    if part.op == "of" and part.args[0] is instance and isinstance(part.args[1], Formula):
        return side.open(part.args[1])
    return part


def inner_views(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    """The same rows and values. A LATERAL VIEW OUTER whose missing rows a condition rejects is one without OUTER."""
    inner = {
        one: store.instance(store.make("rows_of", "lateral", *rows_of(one).args[1:]))
        for one in block.sources
        if rows_of(one).args[:1] == (OUTER_VIEW,)
        and any(rejects_missing(condition, frozenset({one})) for condition in block.conditions)
    }
    if not inner:
        return block, list(values)
    visit = change_everywhere(store, lambda part: inner.get(part, part))
    sources = [inner.get(one, one) for one in block.sources]
    return change_block(Block(sources, block.outer_joins, block.conditions), visit), [visit(one) for one in values]


@dataclass(frozen=True, slots=True)
class _Filtered:
    """Columns of the rows `before` a filter, as those of the rows `after` it. `side`: the rows and the filter."""

    store: Formulas
    before: Formula
    after: Formula
    side: Reopened
    close: CloseBlock

    def change(self, part: Formula) -> Formula:
        if part.op != "of" or part.args[0] is not self.before or not isinstance(part.args[1], Formula):
            return self.after if part is self.before else part
        opened = self.side.open(part.args[1])
        return self.store.make("of", self.after, *self.close(self.store, self.side.block, [opened])[1])


def _changes(store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock) -> Iterator[Block]:
    for join in block.outer_joins:
        if join.kind == "full":
            yield from _as_left(block, join)
        if join.kind != "left" or _always_matches(join):
            continue
        own = frozenset(join.right.instances())
        others = [one for one in block.outer_joins if one is not join]
        for condition in block.conditions:
            if rejects_missing(condition, own):
                yield _as_inner(block, join, others)
            elif _keeps_missing_only(store, condition, join, own):
                rest = [one for one in block.conditions if one is not condition]
                readers = [*rest, *values, *block.sources, *(part for one in others for part in one.formulas())]
                if not any(_mentions_any(reader, own) for reader in readers):
                    yield _as_anti_join(store, Block(block.sources, others, rest), join, close)


def _always_matches(join: OuterJoin) -> bool:
    """Whether the right side is one total, which is there anyway."""
    return not join.on and join.right.is_plain and is_total(join.right.sources[0])


def _as_left(block: Block, join: OuterJoin) -> Iterator[Block]:
    """A FULL JOIN, one side of which a condition rejects where it is missing."""
    assert join.left is not None
    others = [one for one in block.outer_joins if one is not join]
    for side, other in ((join.left, join.right), (join.right, join.left)):
        own = frozenset(side.instances())
        if any(rejects_missing(condition, own) for condition in block.conditions):
            whole = Block([*block.sources], others, [*block.conditions])
            whole.add(side)
            whole.outer_joins = [*whole.outer_joins, OuterJoin("left", other, join.on)]
            yield whole
            return


def _as_inner(block: Block, join: OuterJoin, others: list[OuterJoin]) -> Block:
    whole = Block([*block.sources], others, [*block.conditions])
    whole.add(join.right)
    whole.conditions += join.on
    return whole


def _as_anti_join(store: Formulas, block: Block, join: OuterJoin, close: CloseBlock) -> Block:
    right = Block([*join.right.sources], [*join.right.outer_joins], [*join.right.conditions, *join.on])
    missing = store.make("not", exists_in(store, right, close))
    return Block(block.sources, block.outer_joins, [*block.conditions, missing])


def rejects_missing(condition: Formula, own: frozenset[Formula]) -> bool:
    """Whether a condition is not true if all columns of these sources are NULL."""
    parts = [*condition.parts]
    if condition.op in STRICT_CONDITIONS:
        return any(is_missing(part, own) for part in parts)
    if condition.op == "and":
        return any(rejects_missing(part, own) for part in parts)
    if condition.op == "or":
        return all(rejects_missing(part, own) for part in parts)
    if condition.op != "not":
        return is_missing(condition, own)
    tested = null_tested(parts[0])
    if tested is not None:
        return is_missing(tested, own)
    return is_missing(parts[0], own) or (parts[0].op in STRICT_CONDITIONS and rejects_missing(parts[0], own))


def is_missing(value: Formula, own: frozenset[Formula]) -> bool:
    """Whether a value is NULL if all columns of these sources are."""
    if value.op == "of":
        return value.args[0] in own
    return value.op in STRICT and any(is_missing(arg, own) for arg in value.args if isinstance(arg, Formula))


def _keeps_missing_only(store: Formulas, condition: Formula, join: OuterJoin, own: frozenset[Formula]) -> bool:
    """Whether a condition wants a column to be NULL that is not NULL in any joined row."""
    tested = null_tested(condition)
    if tested is None or tested.op != "of" or tested.args[0] not in own:
        return False
    return KnownValues(store, [*join.on, *join.right.conditions], join.right.sources).is_known(tested)


def _mentions_any(formula: Formula, instances: frozenset[Formula]) -> bool:
    return not instances.isdisjoint(instances_of(formula))
