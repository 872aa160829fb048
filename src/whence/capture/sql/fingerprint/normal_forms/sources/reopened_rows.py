"""Complete rows as an open block again, where their query may become a part of the query around it after all."""

from collections.abc import Callable, Sequence

from whence.capture.sql.fingerprint.block import Block, OuterJoin, rows_of
from whence.capture.sql.fingerprint.keys import tells_zeros_apart
from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import distinct_value
from whence.capture.sql.fingerprint.normal_forms.aggregates.parts import aggregates_of, change_aggregates
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]


class ForeignSourceError(Exception):
    """A formula refers to a source that the rows do not show: an outer join that neither adds nor drops a row."""


class Reopened:
    """A block whose rows are complete ones. `open` gives their columns over its instances.

    `is_whole`: the rows remain one source, since they have window functions, which would see the conditions of a block.
    """

    def __init__(self, store: Formulas, rows: Formula, *, is_whole: bool = False) -> None:
        self.store = store
        self._instances: dict[Formula, Formula] = {}
        self._memo: dict[tuple[Formula, int], Formula] = {}
        parts = _plain_parts(rows) if not is_whole else None
        if parts is None:
            self.block = Block([store.instance(rows)])
            return
        sources, conditions = parts
        self._instances = {one: store.instance(_labelled_rows(one)) for one in sources}
        self.block = Block([*self._instances.values()], [], [self.open(one) for one in conditions])

    def open(self, formula: Formula) -> Formula:
        """A column or condition of the rows. Raises ForeignSourceError."""
        if not self._instances:
            return self.store.push(formula, self.block.sources[0])
        return self._open(formula, 0)

    def open_total(self, value: Formula) -> Formula:
        """A value with aggregates over the rows. Raises ForeignSourceError."""
        if self._instances:
            return self._open(value, 0)
        return self.store.rebuild(value, self.open if value.op == "aggregate" else self.open_total)

    def open_window(self, value: Formula) -> Formula:
        """A value with its window functions over the rows. Raises ForeignSourceError."""
        if self._instances:
            return self._open(value, 0)
        return self.store.push(value, self.block.sources[0], windows=True)

    def _open(self, formula: Formula, depth: int) -> Formula:
        key = (formula, depth)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._open_parts(formula, depth)
        return found

    def _open_parts(self, formula: Formula, depth: int) -> Formula:
        if formula.op == "inst":  # a source of another query, whose rows are complete
            return formula
        if formula.op == "src" and formula.args[0] == depth:
            (label,) = formula.parts
            if label not in self._instances:
                raise ForeignSourceError
            return self._instances[label]
        if formula.op == "of":
            first, second = formula.parts
            return self.store.make("of", self._open(first, depth), self._open(second, depth + 1))
        inner = depth + (formula.op in BINDERS)
        return self.store.rebuild(formula, lambda part: self._open(part, inner))


def reopen(store: Formulas, rows: Formula, columns: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    """Complete rows and their columns over an open block, of one source if the query cannot be opened."""
    try:
        found = Reopened(store, rows)
        return found.block, [found.open(one) for one in columns]
    except ForeignSourceError:
        only = store.instance(rows)
        return Block([only]), [store.push(one, only) for one in columns]


def _plain_parts(rows: Formula) -> tuple[Sequence[Formula], Sequence[Formula]] | None:
    """The labels of the sources and the conditions of a block without outer joins and lateral sources."""
    if rows.op != "block":
        return None
    sources, conditions, joins = (arg.args for arg in rows.args if isinstance(arg, Formula))
    labels = [
        arg for source in sources if isinstance(source, Formula) for arg in source.args if isinstance(arg, Formula)
    ]
    if joins or len(labels) != len(sources) or any(mentions_sources(_labelled_rows(label)) for label in labels):
        return None
    return labels, [one for one in conditions if isinstance(one, Formula)]


def _labelled_rows(label: Formula) -> Formula:
    while label.op == "label":
        label = label.parts[0]
    return label


def mentions_sources(rows: Formula) -> bool:
    """Whether the rows of a source depend on another source."""
    seen: set[Formula] = set()
    remaining = [rows]
    while remaining:
        part = remaining.pop()
        if part.op == "provisional":
            return True
        if part not in seen:
            seen.add(part)
            remaining += part.parts
    return False


def open_sources(store: Formulas, block: Block, values: Sequence[Formula], most: int) -> tuple[Block, list[Formula]]:
    """The block with the sources and conditions of subqueries in place of these, if no window function is read of them.

    `most`: the number of sources that a block may have. Those that it has already are not repeated: which of two equal
    ones a value reads would depend on other values.
    """
    rest = list(values)
    for instance in list(block.sources):
        readers = [*rest, *block.conditions, *(part for join in block.outer_joins for part in join.formulas())]
        used = columns_of(instance, [*readers, *(rows_of(one) for one in block.sources)])
        is_computed = any(one.has_window or one.has_aggregate for one in used)
        if rows_of(instance).op != "block" or not used or is_computed or rows_of(instance).is_volatile:
            continue
        try:
            opened, changed, found = _open_source(store, block, rest, instance, rows_of(instance))
        except ForeignSourceError:
            continue
        is_repeated = not {*map(rows_of, opened.sources)}.isdisjoint(map(rows_of, changed.sources))
        if not is_repeated and len(opened.sources) + len(changed.sources) <= most:
            sources = [*changed.sources, *opened.sources]
            block = Block(sources, changed.outer_joins, [*changed.conditions, *opened.conditions], block.is_used)
            rest = found
    return block, rest


def without_groups(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    """The block for a reader who counts no repetition: a grouped source of which only keys are used is its rows."""
    rest = list(values)
    for instance in list(block.sources):
        inside = _repeated_rows(instance, (*rest, *block.conditions)) if not block.outer_joins else None
        if inside is None:
            continue
        try:
            opened, changed, found = _open_source(store, block, rest, instance, inside)
        except ForeignSourceError:
            continue
        sources = [*(one for one in changed.sources if one is not instance), *opened.sources]
        block, rest = Block(sources, [], [*changed.conditions, *opened.conditions]), found
    return block, rest


def without_joined_groups(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """The same for the right sides of LEFT JOIN: repeated rows there repeat the same joined rows."""
    rest = list(values)
    for place, join in enumerate(block.outer_joins):
        if join.kind != "left" or not join.right.is_plain or rows_of(join.right.sources[0]).is_open:
            continue
        (before,) = join.right.sources
        others = [part for one in block.outer_joins for part in one.formulas() if part is not before]
        columns = columns_of(before, [*rest, *block.conditions, *block.sources, *others])
        after = _repeated(store, before, columns, close) if columns else None
        if after is None:
            continue
        instance, changed = after
        moved = {store.make("of", before, old): store.push(new, instance, whole=True) for old, new in changed}
        visit = change_everywhere(store, lambda part, moved=moved: moved.get(part, part))  # type: ignore[misc]
        joins = [*block.outer_joins[:place], OuterJoin("left", Block([instance]), join.on)]
        block = change_block(Block(block.sources, [*joins, *block.outer_joins[place + 1 :]], block.conditions), visit)
        rest = [visit(value) for value in rest]
    return block, rest


def _repeated(
    store: Formulas, before: Formula, columns: Sequence[Formula], close: CloseBlock
) -> tuple[Formula, list[tuple[Formula, Formula]]] | None:
    """A source with the repetitions that grouping left out of another one, and what became of its columns."""
    try:
        opened = Reopened(store, rows_of(before))
        found = [opened.open(one) for one in columns]
    except ForeignSourceError:
        return None
    block, changed = without_groups(store, opened.block, found)
    if block is opened.block or changed == found:
        return None
    rows, closed = close(store, block, changed)
    return store.instance(rows), list(zip(columns, closed, strict=True))


def columns_of(instance: Formula, readers: Sequence[Formula]) -> list[Formula]:
    """The columns of a source that formulas read. None if one reads it otherwise."""
    found: dict[Formula, None] = {}
    seen: set[Formula] = set()
    remaining = list(readers)
    while remaining:
        part = remaining.pop()
        if part is instance:
            return []
        if not part.is_open or part in seen:
            continue
        seen.add(part)
        parts = [*part.parts]
        if part.op == "of" and parts[0] is instance:
            found[parts[1]] = None
        else:
            remaining += parts
    return list(found)


def _open_source(
    store: Formulas, block: Block, values: Sequence[Formula], instance: Formula, inside: Formula
) -> tuple[Block, Block, list[Formula]]:
    reopened = Reopened(store, inside)

    def change(part: Formula) -> Formula:
        is_column = part.op == "of" and part.args[0] is instance and isinstance(part.args[1], Formula)
        return reopened.open(part.args[1]) if is_column else part  # type: ignore[arg-type]  # a formula, as tested

    visit = change_everywhere(store, change)
    kept = Block([one for one in block.sources if one is not instance], block.outer_joins, block.conditions)
    return reopened.block, change_block(kept, visit), [visit(value) for value in values]


def _repeated_rows(instance: Formula, readers: Sequence[Formula]) -> Formula | None:
    """The rows of which a grouped or limited source leaves out repetitions, if nothing reads more than that."""
    rows = rows_of(instance)
    inside = rows.args[0] if rows.args else None
    is_group = rows.op == "group" and isinstance(rows.args[1], Formula) and rows.args[1].op == "set"
    if not is_group or not isinstance(inside, Formula) or rows.is_open or rows.is_volatile:
        return None
    if tell_zeros_apart(instance, readers):
        return None
    return inside if all(map(_Keys(instance).are_all_of, readers)) else None


def tell_zeros_apart(instance: Formula, readers: Sequence[Formula]) -> bool:
    """Whether formulas may differ for equal keys of a grouped source: for the two zeros that are one key.

    SQL does not say which of the two `max` or `min` returns.
    """
    values = [part for reader in readers for part in _aggregated(reader)]
    for column in columns_of(instance, values):
        key = instance.store.make("of", instance, column)
        if any(tells_zeros_apart(value, key) for value in values if column in columns_of(instance, [value])):
            return True
    return False


def _aggregated(reader: Formula) -> list[Formula]:
    """The values of which aggregates are made, and the formula without these."""
    null = reader.store.make("null")
    inside = [one for part in aggregates_of(reader) for one in formulas_of(part)]
    values = [distinct_value(one) or one if one.op == "distinct" else one for one in inside]
    return [change_aggregates(reader.store, lambda _: null)(reader), *values]


class _Keys:
    """Whether formulas read columns of a grouped source that are no aggregates."""

    def __init__(self, instance: Formula) -> None:
        self.instance = instance

    def are_all_of(self, formula: Formula) -> bool:
        seen: set[Formula] = set()
        remaining = [formula]
        while remaining:
            part = remaining.pop()
            if part is self.instance:
                return False
            if not part.is_open or part in seen:
                continue
            seen.add(part)
            parts = [*part.parts]
            if part.op == "of" and parts[0] is self.instance:
                if parts[1].has_aggregate or parts[1].has_window:
                    return False
                continue
            remaining += parts
        return True
