"""SELECT: what its clauses make of the rows that FROM gives. Implements the reader's port (`queries/meanings.py`)."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Final

from whence.capture.sql.fingerprint.block import Block, rows_of
from whence.capture.sql.fingerprint.blocks import close_block
from whence.capture.sql.fingerprint.early_groups import group_before_join
from whence.capture.sql.fingerprint.from_clause import FromMeaning
from whence.capture.sql.fingerprint.grouping_sets import union_of_groups
from whence.capture.sql.fingerprint.keys import needed_keys
from whence.capture.sql.fingerprint.meaning import Meaning, RelationMeanings, with_meaning
from whence.capture.sql.fingerprint.normal_forms.joins.nested_joins import open_nested_joins
from whence.capture.sql.fingerprint.normal_forms.sources.laterals import join_laterals
from whence.capture.sql.fingerprint.normal_forms.sources.series import series_of_function
from whence.capture.sql.fingerprint.normal_forms.terms.literals import LITERALS
from whence.capture.sql.fingerprint.normal_forms.values.rebuilding import rebuild
from whence.capture.sql.fingerprint.stages import Rows, Wrap
from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas
from whence.capture.sql.provenance.relations import Output, Relation
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

_READ_CLAUSES: Final = frozenset(
    {
        tree.WITH, tree.EXPRESSIONS, tree.FROM, tree.JOINS, tree.LATERALS, tree.WHERE, tree.PREWHERE, tree.GROUP,
        tree.HAVING, tree.QUALIFY, tree.WINDOWS, tree.DISTINCT, tree.ORDER, "sort", "cluster", "distribute", "hint",
        tree.INTO, tree.LIMIT, tree.OFFSET, tree.THIS, tree.EXPRESSION, tree.ALIAS, tree.PIVOTS, tree.MATCH,
        tree.CONNECT, tree.BY_NAME, "side", tree.KIND, tree.ON, "operation_modifiers",
    }
)  # fmt: skip
_WITHOUT_ORDER: Final = frozenset(
    {
        *(
            "sum",
            "count",
            "countif",
            "avg",
            "min",
            "max",
            "logicalor",
            "logicaland",
            "stddev",
            "stddevsamp",
            "stddevpop",
        ),
        *("variance", "variancepop", "corr", "covarpop", "covarsamp", "median", "quantile", "percentilecont", "over"),
        *("percentiledisc", "approxdistinct", "approxquantile", "withingroup", "histogram", "grouping"),
    }
)
"""Aggregates whose value does not depend on the order of rows."""


_MOST_KEYS: Final = 8
"""A CUBE of more keys is compared as text."""


class StatementMeanings(RelationMeanings):
    """What the queries of one statement mean."""

    def query(self, scope: Scope) -> "SelectMeaning":
        return SelectMeaning(self, scope)


class SelectMeaning(FromMeaning):
    """The meaning of one query, collected clause by clause."""

    def __init__(self, meanings: RelationMeanings, scope: Scope) -> None:
        super().__init__(meanings, scope)
        self.lists: dict[str, list[Formula]] = {}
        self.grouping: Formula | None = None
        self.key_sets: list[list[int]] = []

    def add_filter(self, clause: str, condition: tree.Node) -> None:
        name = tree.WHERE if clause == tree.PREWHERE else clause
        self.lists.setdefault(name, []).extend(self.meanings.expressions.conditions(self.scope, condition))

    def add_grouping(self, node: tree.Node, outputs: list[Output]) -> None:
        keys = self.lists.setdefault("keys", [])
        if tree.arg(node, tree.ALL):
            keys += [value for value in map(self.meanings.formula, outputs) if not value.has_aggregate]
        for item in tree.items(node):
            keys += self._keys(item, outputs)
        sets = [name for name in ("grouping_sets", "cube", "rollup", "totals") if tree.arg(node, name)]
        nested = [item for item in tree.items(node) if isinstance(item, c.Rollup | c.Cube | c.GroupingSets)]
        if sets or nested:
            plain, items = list(keys), [] if sets else [one for one in tree.items(node) if one in nested]
            if nested and not sets:
                plain = [key for one in tree.items(node) if one not in nested for key in self._keys(one, outputs)]
            for name in sets:
                for item in tree.list_arg(node, name) if isinstance(node.args[name], list) else []:
                    keys += self._keys(item, outputs)
                    items.append(item)
            is_only = len(items) == 1 and not (tree.arg(node, tree.ALL) or tree.arg(node, "totals"))
            self.key_sets = self._key_sets(items[0], plain, outputs, is_nested=not sets) if is_only else []
            self.grouping = self.store.make("grouping", tree.source_text(node, self.scope.reading.dialect.parser))

    def _key_sets(
        self, item: tree.Node, plain: list[Formula], outputs: list[Output], *, is_nested: bool
    ) -> list[list[int]]:
        """The sets of keys, as places among all keys, of one ROLLUP, CUBE or GROUPING SETS. Empty for everything else,
        which is compared as text.

        `is_nested`: it is one of several items, so that all of its sets have the plain keys, too. Else these are what
        Hive's clause behind the keys groups by.
        """
        parts, keys = tree.items(item), self.lists["keys"]
        always = list(dict.fromkeys(map(keys.index, plain))) if is_nested else []
        if isinstance(item, c.Rollup | c.Cube):
            if (parts and plain and not is_nested) or any(isinstance(one, c.Tuple) for one in parts):
                return []
            places = [place for place in dict.fromkeys(map(keys.index, keys)) if place not in always]
            if isinstance(item, c.Cube):
                return [[*always, *one] for one in _subsets(places)] if len(places) < _MOST_KEYS else []
            return [[*always, *places[:length]] for length in range(len(places) + 1)]
        if not isinstance(item, c.GroupingSets) or any(isinstance(one, c.Rollup | c.Cube) for one in parts):
            return []
        return [sorted({*always, *(keys.index(key) for key in self._keys(one, outputs))}) for one in parts]

    def _keys(self, node: tree.Node, outputs: list[Output]) -> list[Formula]:
        if isinstance(node, c.Tuple | c.Rollup | c.Cube | c.GroupingSets):
            return [key for child in tree.children(node) for key in self._keys(child, outputs)]
        return [self._ordinal(node, outputs)]

    def _ordinal(self, node: tree.Node, outputs: list[Output]) -> Formula:
        """A grouping or sorting expression; a number is a position in the select list."""
        if isinstance(node, c.Literal):
            text, is_string = tree.text_of(node)
            if not is_string and text.isdigit() and 0 < int(text) <= len(outputs):
                return self.meanings.formula(outputs[int(text) - 1])
        return self.value(node)

    def add_distinct_on(self, node: tree.Node, outputs: list[Output]) -> None:
        distinct = tree.arg(node, tree.DISTINCT)
        on = tree.arg(distinct, tree.ON) if distinct is not None else None
        if on is not None:
            items = tree.items(on) if isinstance(on, c.Tuple) else [on]
            self.lists["distinct_on"] = [self._ordinal(item, outputs) for item in items]

    def add_sorting(self, node: tree.Node, outputs: list[Output]) -> None:
        order = self.lists.setdefault("order", [])
        for clause in tree.ORDERINGS:
            ordering = tree.arg(node, clause)
            for item in tree.items(ordering) if ordering is not None else []:
                order += self._sorted_by(item, outputs)

    def _sorted_by(self, item: tree.Node, outputs: list[Output]) -> list[Formula]:
        inside = tree.this(item) if isinstance(item, c.Ordered) else item
        if item.args.get("with_fill"):
            self.give_up("WITH FILL")
        flags = [name for name in ("desc", "nulls_first") if isinstance(item, c.Ordered) and tree.arg(item, name)]
        if isinstance(inside, c.Var) and tree.text_of(inside)[0].upper() == "ALL":
            return [self.store.make("ordered", *flags, value) for value in map(self.meanings.formula, outputs)]
        return [self.store.make("ordered", *flags, self._ordinal(inside, outputs))]

    def finish(self, node: tree.Node, relation: Relation) -> Relation:
        before = relation.meaning
        is_plain = not any(tree.arg(node, name) for name in (*tree.ORDERINGS, tree.LIMIT, tree.OFFSET))
        if isinstance(before, Meaning) and is_plain:
            return relation
        lists = {**self.lists, "values": [self.meanings.formula(output) for output in relation.outputs]}
        lists["inherited"] = list(self.orders[0]) if len(self.orders) == 1 else []
        if isinstance(before, Meaning):
            lists["inherited"] = list(before.order)
        block = before.block if isinstance(before, Meaning) else self._from()
        self._join_unnested(block, lists, node)
        if not isinstance(before, Meaning):
            block, lists = self._open_joins(block, lists)
            block, lists = self._join_laterals(block, lists)
        rows = Rows(self.store, block, lists)
        if not isinstance(before, Meaning):
            self._apply_clauses(rows, node)
        self._apply_limit(rows, node)
        outputs = [
            output.with_formula(value) for output, value in zip(relation.outputs, rows.lists["values"], strict=True)
        ]
        order = rows.lists.get("order") or rows.lists["inherited"]
        return with_meaning(relation, outputs, Meaning(rows.block, tuple(order)))

    def _join_laterals(self, block: Block, lists: dict[str, list[Formula]]) -> tuple[Block, dict[str, list[Formula]]]:
        """Before grouping, so that LATERAL and joins are one to it."""
        if not any(rows_of(one).is_open for one in block.instances()):
            return block, lists
        flat = [value for values in lists.values() for value in values]
        block, changed = join_laterals(self.store, block, flat, close_block)
        rest = iter(changed)
        return block, {name: [next(rest) for _ in values] for name, values in lists.items()}

    def _open_joins(self, block: Block, lists: dict[str, list[Formula]]) -> tuple[Block, dict[str, list[Formula]]]:
        block, changed = open_nested_joins(self.store, block, [value for values in lists.values() for value in values])
        rest = iter(changed)
        return block, {name: [next(rest) for _ in values] for name, values in lists.items()}

    def _join_unnested(self, block: Block, lists: dict[str, list[Formula]], node: tree.Node) -> None:
        """UNNEST as the only one of a select list is a join with the elements, if no other clause counts rows."""
        make, values = self.store.make, lists["values"]
        unnested = _explodes(values)
        counted = (tree.GROUP, tree.DISTINCT, tree.QUALIFY, tree.HAVING)
        if self.scope.reading.dialect.name != "duckdb" or any(tree.arg(node, one) for one in counted):
            return
        if [len(one.args) for one in unnested] != [2] or any(one.has_aggregate or one.has_window for one in values):
            return
        (only,) = unnested
        instance = self.store.instance(
            series_of_function(self.store, make("rows_of", "unnest", "expressions", only.args[1]))
        )
        block.sources.append(instance)
        element = make("of", instance, make("name", "#0"))

        @cache
        def change(part: Formula) -> Formula:
            return element if part is only else rebuild(self.store, part, change)

        lists["values"] = [change(one) if only in _explodes([one]) else one for one in values]

    def _apply_clauses(self, rows: Rows, node: tree.Node) -> None:
        make = self.store.make
        rows.filter(tree.WHERE)
        self._keep_order(rows)
        if not self.key_sets and self.grouping is None:
            rows.filter_by_keys()
        rows.read_totals_as_windows()
        rest = [name for name, value in sorted(node.args.items()) if value and name not in _READ_CLAUSES]
        for name in rest:
            parts = tree.arg(node, name) if isinstance(node.args[name], list) else [node.args[name]]
            decoration = make(
                "volatile" if name == "sample" else "decoration",
                name,
                *(self.meanings.expressions.value(self.scope, part) for part in parts),
            )
            rows.wrap(_decorate_with(self.store, decoration))
        if tree.arg(node, tree.KIND):
            rows.wrap(lambda inside, _: make("decorated", inside, str(tree.arg(node, tree.KIND))))
        if rows.is_grouped:
            rows.leave_out_repeated_filters()
            is_plain = not self.key_sets and self.grouping is None
            if is_plain and "keys" in rows.lists:
                rows.lists["keys"] = needed_keys(rows.lists["keys"])
            is_made = bool(self.key_sets) and union_of_groups(self.store, rows, self.key_sets)
            if not is_made and not (is_plain and group_before_join(self.store, rows)):
                rows.group(self._grouped, rows.lists.get("keys", []), is_plain)
            rows.lists["inherited"] = []
        rows.filter(tree.HAVING)
        if rows.lists.get(tree.QUALIFY):
            rows.lift_partition_filters()
            rows.complete()
            rows.filter("lifted")
            rows.filter(tree.QUALIFY)
        if rows.lists.get("distinct_on"):
            rows.keep_first()
        elif tree.arg(node, tree.DISTINCT):
            rows.distinct()
            rows.lists["inherited"] = []

    def _keep_order(self, rows: Rows) -> None:
        """Rows with the order of a subquery, where window functions read them in it."""
        order = rows.lists["inherited"]
        if order and not rows.is_grouped and any(one.has_window and _is_by_order(one) for one in rows.lists["values"]):
            make = self.store.make
            rows.wrap(lambda inside, lists: make("sorted", inside, make("list", *lists["inherited"])))

    def _grouped(self, inside: Formula, lists: Mapping[str, list[Formula]]) -> Formula:
        make = self.store.make
        if lists["inherited"] and any(_is_by_order(value) for value in (*lists["values"], *lists.get(tree.HAVING, ()))):
            inside = make("sorted", inside, make("list", *lists["inherited"]))
        if self.key_sets:
            keys = lists["keys"]
            sets = (make("set", *(keys[place] for place in places)) for places in self.key_sets)
            return make("group", inside, make("grouping_sets", make("bag", *sets), make("list", *dict.fromkeys(keys))))
        if self.grouping is not None:
            return make("group", inside, make("bag", self.grouping, *lists.get("keys", ())))
        if "keys" not in lists:
            return make("group", inside, "all rows")
        return make("group", inside, make("set", *lists["keys"]))

    def _limit(self, node: tree.Node) -> Formula:
        """LIMIT, also as `FETCH FIRST n ROWS ONLY`."""
        count = tree.arg(node, "count") if node.key == "fetch" else None
        options = tree.arg(node, "limit_options")
        is_exact = options is None or not any(tree.arg(options, name) for name in ("percent", "with_ties"))
        if isinstance(count, c.Literal) and is_exact:
            return self.store.make("limit", "expression", self.value(count))
        return self.value(node)

    def _apply_limit(self, rows: Rows, node: tree.Node) -> None:
        make = self.store.make
        limits = [tree.arg(node, name) for name in (tree.LIMIT, tree.OFFSET) if not _is_nothing(tree.arg(node, name))]
        parts = [self._limit(limit) for limit in limits if limit is not None]
        if parts:
            rows.wrap(
                lambda inside, lists: make(
                    "limit", inside, make("list", *(lists.get("order") or lists["inherited"])), *parts
                )
            )


def _is_nothing(limit: tree.Node | None) -> bool:
    """Whether a clause is OFFSET 0."""
    return (
        limit is not None and limit.key == "offset" and tree.text_of(tree.arg(limit, tree.EXPRESSION)) == ("0", False)
    )


def _explodes(values: Iterable[Formula]) -> set[Formula]:
    """The calls of UNNEST in values, outside of subqueries. A part that several share is visited once."""
    seen: set[Formula] = set()
    remaining = list(values)
    while remaining:
        part = remaining.pop()
        if part not in seen:
            seen.add(part)
            if part.op != "explode" and part.op not in BINDERS:
                remaining += part.parts
    return {part for part in seen if part.op == "explode"}


def _subsets(places: Sequence[int]) -> list[list[int]]:
    return [list(one) for length in range(len(places) + 1) for one in combinations(places, length)]


def _is_by_order(value: Formula) -> bool:
    """Whether a value depends on the order of rows: of an aggregate, or of a window without an order of its own."""
    seen: set[Formula] = set()
    remaining = [value]
    while remaining:
        part = remaining.pop()
        if part.op == "aggregate" and str(part.args[0]) not in _WITHOUT_ORDER:
            return True
        if part.op == "window" and _has_no_order(part):
            return True
        if part not in seen:
            seen.add(part)
            remaining += part.parts
    return False


def _has_no_order(window: Formula) -> bool:
    """Whether the rows around a window function decide on its order."""
    orders = [arg for arg in window.args if isinstance(arg, Formula) and arg.op == "list"]
    is_whole = str(window.args[0]) in _WITHOUT_ORDER and window.args[-1] is orders[-1]
    values = [one.args[-1] for one in orders[-1].args if isinstance(one, Formula)] if orders else []
    is_constant = all(isinstance(one, Formula) and one.op in (*LITERALS, "null") for one in values)
    return bool(orders) and is_constant and not is_whole


def _decorate_with(store: Formulas, decoration: Formula) -> Wrap:
    return lambda inside, _: store.make("decorated", inside, decoration)
