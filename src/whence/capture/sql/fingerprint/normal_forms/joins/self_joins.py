"""One source that is joined with itself on a key: the rows are those of one of the two.

`FROM t JOIN (SELECT id, … FROM t WHERE …) q ON q.id = t.id` has the rows of q, which has all columns of t then. A LEFT
JOIN of t with itself says nothing, if no row lacks its key.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block, rows_of
from whence.capture.sql.fingerprint.keys import unique_keys
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import is_known
from whence.capture.sql.fingerprint.normal_forms.conditions.known_columns import KnownColumns
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import negate
from whence.capture.sql.fingerprint.normal_forms.joins.key_existence import is_of_one_type
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_rounded_type, type_of
from whence.capture.sql.fingerprint.row_identity import Change, change_block, change_everywhere, numbered_rows
from whence.capture.sql.provenance.formulas import Formula, Formulas, RowKey

_ONE_NAN = frozenset({"duckdb", "postgres", "redshift", "spark", "databricks", "snowflake"})
"""Dialects in which NaN is equal to itself."""
_Found = tuple[Block, Change]
"""A block, and what becomes of its formulas and of values."""


def normalize_sources(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    """The same rows and values, with sources in their normal form."""
    rest = list(values)
    while (found := next(_changes(store, block), None)) is not None:
        changed, change = found
        visit = change_everywhere(store, change)
        block = change_block(changed, visit)
        rest = [visit(value) for value in rest]
    return block, rest


def _changes(store: Formulas, block: Block) -> Iterator[_Found]:
    yield from _joined_with_themselves(store, block)
    for sources, conditions, change in numbered_rows(store, block):
        yield replace(block, sources=sources, conditions=conditions), change
    yield from _left_joined_with_themselves(store, block)


def _joined_with_themselves(store: Formulas, block: Block) -> Iterator[_Found]:
    for gone in block.sources:
        rows = rows_of(gone)
        if rows.is_open or rows.is_volatile:
            continue
        for kept in block.sources:
            inside = _place_of(store, rows, kept) if kept is not gone else None
            if inside is None or (rows_of(kept) is rows and block.sources.index(kept) > block.sources.index(gone)):
                continue
            read = _Read(store, gone, kept, inside)
            equal = read.equal_keys(block.conditions)
            if equal is not None:
                conditions = [one for one in block.conditions if one not in equal]
                conditions += [known for one in equal for known in _self_equal(store, read, one)]
                sources = [one for one in block.sources if one is not gone]
                yield replace(block, sources=sources, conditions=conditions), read.change


def _left_joined_with_themselves(store: Formulas, block: Block) -> Iterator[_Found]:
    """LEFT JOIN on nothing but a key without NULL."""
    for join in block.outer_joins:
        if join.kind != "left" or not join.right.is_plain or rows_of(join.right.sources[0]).is_open:
            continue
        (gone,) = join.right.sources
        others = [one for one in block.outer_joins if one is not join]
        joined = [one.right.sources[0] for one in others if one.kind == "left" and one.right.is_plain]
        for kept in (*block.sources, *joined):
            if rows_of(kept) is not rows_of(gone) or rows_of(gone).is_volatile:
                continue
            read = _Read(store, gone, kept, None, is_missing=kept in joined)
            equal = read.equal_keys(join.on)
            if equal is not None and len(equal) == len(join.on) and read.has_keys(block.conditions):
                yield replace(block, outer_joins=others), read.change


def _place_of(store: Formulas, rows: Formula, kept: Formula) -> Formula | bool | None:
    """Where the rows of `kept` have these rows: a source of them, True if they are the same, None if they have none."""
    if rows_of(kept) is rows:
        return True
    if rows_of(kept).op != "block" or rows_of(kept).is_open or rows_of(kept).is_volatile:
        return None
    sources = formulas_of(formulas_of(rows_of(kept))[0])
    label = store.make("label", rows)
    return sources[0] if len(sources) == 1 and sources[0].parts == (label,) else None


class _Read:
    """Columns of a source that is gone as those of another one, in whose rows its own ones are."""

    def __init__(
        self, store: Formulas, gone: Formula, kept: Formula, inside: Formula | bool | None, is_missing: bool = False
    ) -> None:
        self.store = store
        self.gone = gone
        self.kept = kept
        self.inside = inside if isinstance(inside, Formula) else None
        self.is_missing = is_missing
        self.key: RowKey | None = None

    def change(self, part: Formula) -> Formula:
        if part is self.gone and self.inside is None:
            return self.kept
        is_column = part.op == "of" and part.args[0] is self.gone
        return self.column(formulas_of(part)[1]) if is_column else part

    def column(self, column: Formula) -> Formula:
        if self.is_missing:
            return self.store.make("of", self.kept, column)
        inside = column if self.inside is None else self.store.make("of", self.inside, column)
        return self.store.push(inside, self.kept)

    def has_keys(self, conditions: Sequence[Formula]) -> bool:
        """Whether no row lacks a part of the key that `equal_keys` found. Groups may have NULL as their key."""
        rows = rows_of(self.kept)
        return self.key is not None and all(
            KnownColumns().is_known(rows, one) or is_known(conditions, self.column(one)) for one in self.key.columns
        )

    def equal_keys(self, conditions: Sequence[Formula]) -> list[Formula] | None:
        """The conditions that hold a whole key of both equal, as far as they say it of these two alone."""
        for key in unique_keys(rows_of(self.gone)):
            sides = [(self.store.push(one, self.gone), self.column(one)) for one in key.columns]
            pairs = [self.store.make("eq", *one) for one in sides]
            direct = [one for one in pairs if one in conditions]
            rest = [one for one, pair in zip(sides, pairs, strict=True) if pair not in direct]
            if pairs and all(_have_one_value(*one, conditions) for one in rest):
                self.key = key
                return direct
        return None


def _have_one_value(one: Formula, other: Formula, conditions: Sequence[Formula]) -> bool:
    """Whether two columns are equal to a third value, of their type."""
    equal = [condition for condition in conditions if condition.op == "eq" and is_of_one_type(condition)]
    values = [
        {part for part in formulas_of(condition) if part is not one} for condition in equal if one in condition.args
    ]
    return any(
        other in condition.args and any(value in condition.args for several in values for value in several)
        for condition in equal
    )


def _self_equal(store: Formulas, read: _Read, condition: Formula) -> Iterator[Formula]:
    """What is left of `k = k`: k is not NULL. Where NaN may differ from itself, the condition stays."""
    column = change_everywhere(store, read.change)(formulas_of(condition)[0])
    kind = type_of(column)
    if not kind or (is_rounded_type(kind) and store.dialect not in _ONE_NAN):
        yield condition
    else:
        yield negate(store, is_null(column))
