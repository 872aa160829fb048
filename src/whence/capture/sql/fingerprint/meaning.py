"""The rows of relations: blocks with formulas for their columns, set operations, and what is compared as a whole."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from whence.capture.sql.fingerprint.block import Block
from whence.capture.sql.fingerprint.blocks import close_block, copy_block
from whence.capture.sql.fingerprint.data_types.common import common_type
from whence.capture.sql.fingerprint.data_types.reading import data_type
from whence.capture.sql.fingerprint.data_types.terms import declared_type, settled
from whence.capture.sql.fingerprint.expressions import Expressions
from whence.capture.sql.fingerprint.normal_forms.aggregates.fixed import have_no_equal_rows
from whence.capture.sql.fingerprint.normal_forms.sources.branches import in_order, merge_branches, with_one_type
from whence.capture.sql.fingerprint.normal_forms.sources.existence import equal_values, exists_in
from whence.capture.sql.fingerprint.normal_forms.sources.recursions import with_whole_days
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import reopen, without_groups
from whence.capture.sql.fingerprint.normal_forms.sources.series import (
    column_of,
    series_of_function,
    series_of_recursion,
)
from whence.capture.sql.fingerprint.normal_forms.terms.types import (
    has_one_spelling,
    is_rounded_type,
    is_whole_type,
    type_of,
)
from whence.capture.sql.fingerprint.pivots import pivot_groups
from whence.capture.sql.fingerprint.stages import Rows
from whence.capture.sql.lineage import Table
from whence.capture.sql.provenance.formulas import Formula, Formulas
from whence.capture.sql.provenance.relations import STAR, Output, Relation
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

_BY_FIRST: Final = frozenset({"duckdb", "postgres", "redshift"})
"""Dialects in which the first branches of a recursive query decide on the types of its columns."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The rows of a relation. `branches`: of a UNION ALL, or of a UNION if `is_distinct`."""

    block: Block
    order: tuple[Formula, ...] = ()
    branches: tuple[tuple[Formula, tuple[Formula, ...]], ...] = ()
    is_distinct: bool = False


@dataclass(frozen=True, slots=True)
class Model:
    """The rows and the columns of a table that the same project builds."""

    rows: Formula
    columns: Mapping[str, Formula]
    types: Mapping[str, Formula | None] = field(default_factory=dict)


class RelationMeanings:
    """What the queries of one statement mean. `models`: tables that are compared by what they are made of."""

    def __init__(self, store: Formulas, models: Mapping[Table, Model], functions: Mapping[str, str]) -> None:
        self.store = store
        self.models = models
        self.recursions = 0
        """The number of recursive queries around the one that is read."""
        self.placeholders: list[Formula] = []
        """What stands in them for the rows that they have found."""
        self.expressions = Expressions(store, self.rows_of, self.exists_in, self.matching_rows, functions)

    def types_of(self, table: Table) -> Callable[[str], Formula | None]:
        """The types of the columns of a table: that of one that nobody declares is its own."""
        model = self.models.get(table)

        def type_of_column(name: str) -> Formula | None:
            if model is not None and name in model.types:
                return model.types[name]
            return declared_type(self.store.make("datatype_of", "column", str(table), name))

        return type_of_column

    def rows_of(self, scope: Scope, node: tree.Node, is_ordered: bool = False) -> tuple[Formula, list[Formula]]:
        """The rows and the columns of a query; with its order if that of an array depends on it."""
        relation = scope.query(node)
        meaning = relation.meaning
        if not is_ordered or not isinstance(meaning, Meaning) or not meaning.order:
            return self.close(relation)
        values = [self.formula(output) for output in relation.outputs]
        rows, closed = close_block(self.store, meaning.block, [*values, *meaning.order])
        order = self.store.make("list", *closed[len(values) :])
        return self.store.make("sorted", rows, order), closed[: len(values)]

    def matching_rows(
        self, scope: Scope, node: tree.Node, value: Formula
    ) -> tuple[Formula, list[Formula], Formula | None]:
        """The rows and the columns of a query, and whether a row has the value of another query in its one column."""
        relation = scope.query(node)
        rows, values = self._close_distinct(relation)
        meaning, columns = relation.meaning, [self.formula(output) for output in relation.outputs]
        is_computed_later = any(one.has_window or one.has_aggregate for one in (value, *columns))
        wanted = _members(value) if len(columns) > 1 else [value]
        if not isinstance(meaning, Meaning) or len(columns) != len(wanted) or is_computed_later:
            return rows, values, None
        block = meaning.block
        equal = [self.store.make("eq", *pair) for pair in zip(wanted, columns, strict=True)]
        matching = Block([*block.sources], [*block.outer_joins], [*block.conditions, *equal])
        return rows, values, exists_in(self.store, matching, close_block)

    def exists_in(self, scope: Scope, node: tree.Node) -> Formula:
        """Whether a query gives a row."""
        meaning = scope.query(node).meaning
        if not isinstance(meaning, Meaning):
            return self.store.make("exists", self.unread("query"))
        return exists_in(self.store, meaning.block, close_block)

    def close(self, relation: Relation) -> tuple[Formula, list[Formula]]:
        """The rows and the columns of a complete relation."""
        meaning = relation.meaning
        values = [self.formula(output) for output in relation.outputs]
        if not isinstance(meaning, Meaning):
            return self.unread("query"), values
        return close_block(self.store, meaning.block, values)

    def _close_distinct(self, relation: Relation) -> tuple[Formula, list[Formula]]:
        """The same for a reader who counts no repetition."""
        meaning, values = relation.meaning, [self.formula(output) for output in relation.outputs]
        if not isinstance(meaning, Meaning):
            return self.close(relation)
        return _without_distinct(*close_block(self.store, *without_groups(self.store, meaning.block, values)))

    def formula(self, output: Output) -> Formula:
        return output.formula if output.formula is not None else self.store.make("unresolved", output.name)

    def unread(self, reason: str) -> Formula:
        return self.store.make("volatile", "unread", reason)

    def values(self, scope: Scope, rows: list[list[tree.Node]], relation: Relation) -> Relation:
        """VALUES: a bag of rows."""
        made = [self.store.make("row", *(self.expressions.value(scope, item) for item in row)) for row in rows]
        typed = [[data_type(self.store, scope, item) for item in row] for row in rows]
        types = [common_type(self.store, column) for column in zip(*typed, strict=False)]
        named = self.named_rows(relation, self.store.make("values", self.store.make("bag", *made)))
        return with_types(named, [*map(settled, types)])

    def named_rows(self, relation: Relation, rows: Formula) -> Relation:
        """A relation whose columns are known by their position only."""
        instance = self.store.instance(series_of_function(self.store, rows))
        outputs = [
            output.with_formula(self.store.make("of", instance, self.store.make("name", _place(output, place))))
            for place, output in enumerate(relation.outputs)
        ]
        named = with_meaning(relation, outputs, Meaning(Block([instance])))
        if relation.element is not None:
            element = self.store.make("of", instance, self.store.make("name", "element"))
            named.element = relation.element.with_formula(element)
        return named

    def pivot(self, scope: Scope, node: tree.Node, before: Relation, after: Relation) -> Relation:
        """PIVOT as grouping, as far as it is one; else as its text."""
        if scope.meaning is None or len(scope.sources) != 1:
            return self._opaque(scope, node, before, after)
        whole = scope.meaning.sources(scope.sources[0].relation)
        meaning = whole.meaning
        found = pivot_groups(self, scope, node, whole, meaning.block, after) if isinstance(meaning, Meaning) else None
        if found is None:
            return self._opaque(scope, node, whole, after)
        block, values = found
        outputs = [one.with_formula(value) for one, value in zip(after.outputs, values, strict=True)]
        return with_meaning(after, outputs, Meaning(block))

    def _opaque(self, scope: Scope, node: tree.Node, before: Relation, after: Relation) -> Relation:
        """A clause as its text, over the columns that its names may mean."""
        rows, values = self.close(before)
        text = tree.source_text(node, scope.reading.dialect.parser)
        columns = [
            self.store.make("named", output.name, value) for output, value in zip(before.outputs, values, strict=True)
        ]
        made = self.store.make("opaque", text, rows, self.store.make("bag", *columns))
        instance = self.store.instance(made)
        outputs = [
            output.with_formula(self.store.make("of", instance, self.store.make("name", output.name)))
            for output in after.outputs
        ]
        return with_meaning(after, outputs, Meaning(Block([instance])))

    def combine(self, operation: tree.Node, left: Relation, right: Relation, relation: Relation) -> Relation:
        """UNION, INTERSECT, EXCEPT. Branches of a UNION have no order."""
        sides = [one.outputs for one in (left, right)]
        if tree.arg(operation, tree.BY_NAME):
            sides = [[one.find(output.name) or output for output in relation.outputs] for one in (left, right)]
        types = [common_type(self.store, [one.data_type for one in pair]) for pair in zip(*sides, strict=False)]
        return with_types(self._combined(operation, left, right, relation), types)

    def _combined(self, operation: tree.Node, left: Relation, right: Relation, relation: Relation) -> Relation:
        is_distinct = operation.args.get(tree.DISTINCT) is not False
        if any(tree.arg(operation, name) for name in (tree.SIDE, tree.KIND, tree.ON)):
            return self.named_rows(relation, self.unread("a UNION of some columns"))
        if not isinstance(operation, c.Union):
            return self._compare_rows(operation, left, right, relation, is_distinct)
        if tree.arg(operation, tree.BY_NAME):
            left, right = self._by_name(left, relation), self._by_name(right, relation)
        is_distinct = is_distinct and not self._have_no_equal_rows(left, right)
        branches = [*self._branches(left, is_distinct), *self._branches(right, is_distinct)]
        branches = in_order(with_one_type(self.store, merge_branches(self.store, branches, is_distinct)))
        if len(branches) == 1:
            rows, columns = self._distinct_rows(*branches[0]) if is_distinct else (branches[0][0], [*branches[0][1]])
            return self._rows_with(relation, rows, columns, tuple(branches), is_distinct)
        rows = self.store.make("union_all", self.store.make("bag", *(branch[0] for branch in branches)))
        width = min((len(values) for _, values in branches), default=0)
        columns = [
            self.store.make("union_column", *(values[place] for _, values in branches)) for place in range(width)
        ]
        if is_distinct:
            rows = self.store.make("group", rows, self.store.make("set", *columns))
        return self._rows_with(relation, rows, columns, tuple(branches), is_distinct)

    def _have_no_equal_rows(self, left: Relation, right: Relation) -> bool:
        """Whether UNION of two queries is UNION ALL: no row of them is there twice, also without a DISTINCT of them."""
        branches = [*self._branches(left, is_distinct=True), *self._branches(right, is_distinct=True)]
        return len({len(values) for _, values in branches}) == 1 and have_no_equal_rows(self.store, branches)

    def _distinct_rows(self, rows: Formula, columns: Sequence[Formula]) -> tuple[Formula, list[Formula]]:
        """The rows and the columns of SELECT DISTINCT of columns of rows."""
        block, values = reopen(self.store, rows, columns)
        made = Rows(self.store, block, {"values": values})
        made.distinct()
        return close_block(self.store, made.block, made.lists["values"])

    def _branches(self, relation: Relation, is_distinct: bool) -> Sequence[tuple[Formula, tuple[Formula, ...]]]:
        meaning = relation.meaning
        if isinstance(meaning, Meaning) and meaning.branches and (is_distinct or not meaning.is_distinct):
            return meaning.branches
        rows, values = self._close_distinct(relation) if is_distinct else self.close(relation)
        return [(rows, tuple(values))]

    def _by_name(self, relation: Relation, whole: Relation) -> Relation:
        null = self.store.make("null")
        found = [relation.find(output.name) for output in whole.outputs]
        outputs = [
            output.with_formula(one.formula if one is not None else null)
            for output, one in zip(whole.outputs, found, strict=True)
        ]
        meaning = relation.meaning
        if not isinstance(meaning, Meaning):
            return with_meaning(relation, outputs, Meaning(Block([self.store.instance(self.unread("union"))])))
        places = [relation.outputs.index(one) if one is not None else -1 for one in found]
        branches = tuple(
            (rows, tuple(values[place] if place >= 0 else null for place in places))
            for rows, values in meaning.branches
        )
        return with_meaning(relation, outputs, Meaning(meaning.block, (), branches, meaning.is_distinct))

    def _compare_rows(
        self, operation: tree.Node, left: Relation, right: Relation, relation: Relation, is_distinct: bool
    ) -> Relation:
        if is_distinct and operation.key in ("except", "intersect"):
            found = self._rest(left, right, is_except=operation.key == "except")
            if found is not None:
                return self._rows_with(relation, *found, (), is_distinct)
        sides = [self._close_distinct(side) if is_distinct else self.close(side) for side in (left, right)]
        both = [self.store.make("side", rows, self.store.make("list", *values)) for rows, values in sides]
        is_set = operation.key == "intersect" and not any(map(self._has_two_zeros, left.outputs))
        rows = self.store.make(operation.key, str(is_distinct), self.store.make("bag" if is_set else "list", *both))
        return self._rows_with(relation, rows, sides[0][1], (), is_distinct)

    def _has_two_zeros(self, output: Output) -> bool:
        """Whether a column has floating-point numbers: INTERSECT gives the one of its left side."""
        return is_rounded_type(type_of(self.formula(output)))

    def _rest(self, left: Relation, right: Relation, *, is_except: bool) -> tuple[Formula, list[Formula]] | None:
        """EXCEPT as DISTINCT rows for which no row of the other side has the same values, NULLs being the same, and
        INTERSECT as those of a join with such a row.

        Of columns that are known to have one type: EXCEPT would make one type of two.
        """
        sides = [[self.formula(output) for output in side.outputs] for side in (left, right)]
        if not isinstance(left.meaning, Meaning) or not isinstance(right.meaning, Meaning):
            return None
        kinds = [[type_of(value) for value in side] for side in sides]
        is_computed = any(
            value.has_window or value.has_aggregate or value.is_volatile for value in (*sides[0], *sides[1])
        )
        if kinds[0] != kinds[1] or {"", "decimal"} & {*kinds[0]} or is_computed:
            return None
        if not is_except and not all(has_one_spelling(kind, self.store.dialect) for kind in kinds[0]):
            return None  # which of two zeros it gives is not known
        block, values = without_groups(self.store, *copy_block(self.store, left.meaning.block, sides[0]))
        other = right.meaning.block
        if is_except:
            equal = equal_values(self.store, (block, values), (other, sides[1]))
            found = Block([*other.sources], [*other.outer_joins], [*other.conditions, *equal])
            block.conditions.append(self.store.make("not", exists_in(self.store, found, close_block)))
        else:
            found, theirs = copy_block(self.store, other, sides[1])
            equal = equal_values(self.store, (block, values), (found, theirs))
            block.add(found)
            block.conditions += equal
        rows = Rows(self.store, block, {"values": values})
        rows.distinct()
        return close_block(self.store, rows.block, rows.lists["values"])

    def _rows_with(
        self,
        relation: Relation,
        rows: Formula,
        columns: Sequence[Formula],
        branches: tuple[tuple[Formula, tuple[Formula, ...]], ...],
        is_distinct: bool,
    ) -> Relation:
        instance = self.store.instance(rows)
        columns = [*columns, *(self.unread("column") for _ in relation.outputs[len(columns) :])]
        outputs = [
            output.with_formula(self.store.push(column, instance))
            for output, column in zip(relation.outputs, columns, strict=False)
        ]
        return with_meaning(relation, outputs, Meaning(Block([instance]), (), branches, is_distinct))

    def placeholder(self, name: str, relation: Relation, first: Sequence[Relation]) -> Relation:
        """The rows of a recursive query inside of it. Its name does not matter: a nested one has another number.

        `first`: the branches that do not read it. DuckDB and Postgres give its columns the types that these have.
        """
        self.recursions += 1
        made = self.store.make("recursion", self.recursions, *self._types_of_first(first))
        self.placeholders.append(made)
        return self.named_rows(relation, made)

    def _types_of_first(self, first: Sequence[Relation]) -> list[str]:
        """The types of columns of numbers, where all these branches have one; empty for other columns."""
        if self.store.dialect not in _BY_FIRST:
            return []
        columns = zip(*(map(type_of, map(self.formula, one.outputs)) for one in first), strict=False)
        return [kinds[0] if len({*kinds}) == 1 and is_whole_type(kinds[0]) else "" for kinds in columns]

    def _series(self, relation: Relation, rows: Formula, kind: str) -> Relation:
        instance = self.store.instance(rows)
        outputs = [one.with_formula(column_of(self.store, instance, kind)) for one in relation.outputs]
        return with_meaning(relation, outputs, Meaning(Block([instance])))

    def recursive(self, name: str, node: tree.Node, branches: list[Relation], relation: Relation) -> Relation:
        number = self.recursions
        self.recursions -= 1
        closed = [self.close(branch) for branch in branches]
        before = self.placeholders.pop()
        closed = with_whole_days(self.store, before, closed)
        types = [one.data_type for one in branches[0].outputs]
        keys = tree.list_arg(node.parent, "key_expressions") if isinstance(node.parent, c.CTE) else []
        if not keys and (series := series_of_recursion(self.store, before, closed)) is not None:
            return with_types(self._series(relation, *series), types)
        made = [self.store.make("branch", rows, self.store.make("list", *values)) for rows, values in closed]
        kind = "all" if node.args.get(tree.DISTINCT) is False else "distinct"
        names = [tree.text_of(key)[0].lower() for key in keys]
        rows = self.store.make("recursive", kind, number, self.store.make("bag", *made), *names)
        return with_types(self.named_rows(relation, rows), types)


def _members(value: Formula) -> list[Formula]:
    """The values of a row of values."""
    parts = [*value.parts]
    return [*parts[0].parts] if value.op == "tuple" and len(parts) == 1 else []


def _place(output: Output, place: int) -> str:
    return STAR if output.name == STAR else f"#{place}"


def _without_distinct(rows: Formula, values: list[Formula]) -> tuple[Formula, list[Formula]]:
    """Rows whose repetitions do not count, without a DISTINCT of their own."""
    if rows.op != "group" or len(rows.parts) != len(("rows", "keys")) or rows.parts[1].op != "set":
        return rows, values
    inside, keys = rows.parts
    is_plain = not any(value.has_aggregate or value.has_window for value in values)
    is_all = set(keys.args) == set(values) or (is_plain and set(keys.args) <= set(values))
    return (inside, values) if is_all else (rows, values)


def with_types(relation: Relation, types: Sequence[Formula | None]) -> Relation:
    """The relation with types for its columns, as far as there are some."""
    rest = relation.outputs[len(types) :]
    typed = [one.with_type(own) for one, own in zip(relation.outputs, types, strict=False)]
    assert isinstance(relation.meaning, Meaning)
    return with_meaning(relation, [*typed, *rest], relation.meaning)


def with_meaning(relation: Relation, outputs: list[Output], meaning: Meaning) -> Relation:
    """The relation with formulas for its columns."""
    made = Relation(outputs, relation.rows, relation.reads)
    made.element, made.meaning = relation.element, meaning
    return made
