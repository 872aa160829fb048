"""LEFT JOINs inside of a subquery as joins of the query around it.

`a LEFT JOIN (b LEFT JOIN c ON c.k = b.k) ON b.i = a.i` is `a LEFT JOIN b ON b.i = a.i LEFT JOIN c ON c.k = b.k`, since
a missing row of b finds none of c. A column that is no column of b or c alone is NULL where b is missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block, OuterJoin, rows_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import rejects_null
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import negate
from whence.capture.sql.fingerprint.normal_forms.joins.outer_joins import rejects_missing
from whence.capture.sql.fingerprint.normal_forms.sources.existence import MOST_SOURCES
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import (
    ForeignSourceError,
    columns_of,
    mentions_sources,
)
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas, is_strict


def open_nested_joins(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    """The same rows and values, with the outer joins of subqueries among those of the block."""
    rest = list(values)
    for instance in (*block.sources, *_left_joined(block)):
        rows = rows_of(instance)
        # Rows are chosen with all columns of a limit, and a group has none of the columns that it joins by.
        is_complete = rows.op in ("limit", "group")
        if is_complete or rows.is_open or rows.is_volatile or len([*block.instances()]) > MOST_SOURCES:
            continue
        try:
            block, rest = _Nested(store, block, instance).open(rest)
        except ForeignSourceError:
            continue
    return block, rest


def _left_joined(block: Block) -> Iterator[Formula]:
    for join in block.outer_joins:
        if join.kind == "left" and join.right.is_plain:
            yield join.right.sources[0]


class _Nested:
    """One source of a block, and the outer joins in it. Its methods raise ForeignSourceError."""

    def __init__(self, store: Formulas, block: Block, before: Formula) -> None:
        self.store = store
        self.block = block
        self.before = before
        self.join = next((one for one in block.outer_joins if before in one.right.sources), None)
        self.rows, self.own, self.inner = _without_joins(store, rows_of(before))
        self.instance = before
        self.joined: dict[Formula, Formula] = {}
        self.joins: list[OuterJoin] = []
        self._opened: dict[Formula, Formula] = {}
        self._owned: dict[Formula, Formula] = {}

    def open(self, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
        block = self.block
        joins = [part for one in block.outer_joins for part in one.formulas() if part is not self.before]
        others = [one for one in block.sources if one is not self.before]
        columns = columns_of(self.before, [*values, *block.conditions, *others, *joins])
        if not self.inner and not any(map(_mentions_join, columns)):
            return block, [*values]
        if self.inner and (not columns or any(one.has_window for one in columns)):
            raise ForeignSourceError
        self.instance = self.store.instance(self.rows)
        for label in self.inner:
            self._join_of(label)
        moved = {self.store.make("of", self.before, one): self._column(one) for one in columns}
        self._check()
        visit = change_everywhere(self.store, lambda part: moved.get(part, part))
        return change_block(self._block(), visit), [*map(visit, values)]

    def _block(self) -> Block:
        """The block with the opened source and its joins behind it."""
        block, only = self.block, Block([self.instance])
        sources = [self.instance if one is self.before else one for one in block.sources]
        if self.join is None:
            return replace(block, sources=sources, outer_joins=[*self.joins, *block.outer_joins])
        found = []
        for one in block.outer_joins:
            found += [OuterJoin("left", only, one.on), *self.joins] if one is self.join else [one]
        return replace(block, outer_joins=found)

    def _check(self) -> None:
        """A missing row of the source finds no joined one, and these do not decide whether it is there."""
        own = {self.instance, *self.joined.values()}
        for join in self.joins if self.join is not None else ():
            missing = frozenset(own - {*join.right.sources})
            if not any(rejects_missing(one, missing) for one in join.on):
                raise ForeignSourceError
        read = columns_of(self.before, self.join.on) if self.join is not None else []
        if any(map(_mentions_join, read)):
            raise ForeignSourceError

    def _column(self, column: Formula) -> Formula:
        """A column of the subquery over the opened sources."""
        if self.join is None:
            return self._open(column)
        if not _mentions_join(column):
            return self.store.push(self._of_own(column), self.instance, whole=True)
        value = self._open(column)
        if is_strict(column):
            return value
        return make_case(self.store, [(self._is_there(), value)], self.store.make("null"))

    def _is_there(self) -> Formula:
        """Whether the source has a row: a column that ON wants is not NULL."""
        assert self.join is not None
        for column in columns_of(self.before, self.join.on):
            read = self.store.make("of", self.before, column)
            is_wanted = any(rejects_null(one, read) for one in self.join.on)
            if is_wanted and column.op in ("name", "of") and not _mentions_join(column):
                found = self.store.push(self._of_own(column), self.instance)
                return negate(self.store, is_null(found))
        raise ForeignSourceError

    def _open(self, part: Formula) -> Formula:
        found = self._opened.get(part)
        if found is None:
            found = self._opened[part] = self._open_parts(part)
        return found

    def _open_parts(self, part: Formula) -> Formula:
        if not _mentions_join(part):
            return self.store.push(self._of_own(part), self.instance)
        if part.op == "of":
            source, inside = formulas_of(part)
            return self.store.make("of", self._join_of(formulas_of(source)[0]), inside)
        if part.op in BINDERS or part.op in ("src", "window", "aggregate"):
            raise ForeignSourceError
        return self.store.rebuild(part, self._open)

    def _of_own(self, part: Formula) -> Formula:
        """A value of the subquery as one of its rows without the joins."""
        found = self._owned.get(part)
        if found is None:
            found = self._owned[part] = part if self.own is None else self._own_parts(part)
        return found

    def _own_parts(self, part: Formula) -> Formula:
        if part.op == "of":
            source, inside = formulas_of(part)
            return inside if source is self.own else part
        if part.op in BINDERS:
            if any(one.parts == self.own.parts for one in _sources(part)):  # type: ignore[union-attr]  # as tested
                raise ForeignSourceError
            return part
        return self.store.rebuild(part, self._of_own) if part.parts else part

    def _join_of(self, label: Formula) -> Formula:
        """The source that a label of the subquery names, which is joined now."""
        found = self.joined.get(label)
        if found is None:
            content = label.parts[0] if label.op == "label" and label.parts else label
            rows, on = content.parts if content.op == "joined" and len(content.args) == 2 else (content, content)
            if rows is on or on.op != "set" or mentions_sources(rows):
                raise ForeignSourceError
            found = self.joined[label] = self.store.instance(rows)
            conditions = [self._on(one, found) for one in formulas_of(on)]
            self.joins.append(OuterJoin("left", Block([found]), conditions))
        return found

    def _on(self, part: Formula, right: Formula) -> Formula:
        """A part of ON over the opened sources. `right`: the source that it joins."""
        if part.op == "of":
            source, inside = formulas_of(part)
            if source.op != "src" or source.args[0] != 0:
                raise ForeignSourceError
            (label,) = source.parts
            if label.args == ("self",):
                return self.store.push(inside, right)
            return self._open(part) if not _is_joined(label) else self.store.make("of", self._join_of(label), inside)
        if part.op in BINDERS or part.op == "src":
            raise ForeignSourceError
        return self.store.rebuild(part, lambda one: self._on(one, right)) if part.parts else part


def _without_joins(store: Formulas, rows: Formula) -> tuple[Formula, Formula | None, list[Formula]]:
    """Rows without their outer joins, the source that they are then if it is a single one, and the labels of those.

    Raises ForeignSourceError for joins of several sources and FULL JOIN.
    """
    if rows.op != "block":
        return rows, store.make("src", 0, store.make("label", rows)), []
    sources, conditions, joins = formulas_of(rows)
    labels = [*map(_label_of_join, formulas_of(joins))]
    if not labels:
        return rows, None, []
    only = formulas_of(sources)[0]
    if len(sources.args) == 1 and not conditions.args and only.op == "src":
        (label,) = only.parts
        if _is_joined(label) or len(label.args) != 1 or not label.parts:
            raise ForeignSourceError
        return label.parts[0], only, labels
    return store.make("block", sources, conditions, store.make("bag")), None, labels


def _label_of_join(join: Formula) -> Formula:
    """The label of the one source of a LEFT JOIN. Raises ForeignSourceError."""
    if join.op == "left_join":
        sources, conditions, joins = formulas_of(join.parts[0])
        if len(sources.args) == 1 and not conditions.args and not joins.args:
            (source,) = formulas_of(sources)
            if source.op == "src" and _is_joined(source.parts[0]):
                return source.parts[0]
    raise ForeignSourceError


def _is_joined(label: Formula) -> bool:
    return label.op == "label" and bool(label.parts) and label.parts[0].op in ("joined", "side")


def _mentions_join(value: Formula) -> bool:
    """Whether a value of complete rows reads a source of an outer join."""
    return any(one.op == "src" and _is_joined(one.parts[0]) for one in _sources(value))


def _sources(value: Formula) -> Iterator[Formula]:
    """The references to sources in a value, also in its subqueries; a column of a source is read in its own rows."""
    seen: set[Formula] = set()
    remaining = [value]
    while remaining:
        part = remaining.pop()
        if part.op == "src":
            yield part
        elif part not in seen:
            seen.add(part)
            remaining += part.parts[:1] if part.op == "of" else part.parts
