"""FROM: the sources and joins of a query, as one block."""

from collections.abc import Sequence
from typing import Final

from whence.capture.sql.fingerprint.block import NEAREST, NEAREST_OR_NONE, OUTER_VIEW, Block, OuterJoin
from whence.capture.sql.fingerprint.blocks import close_block, copy_block
from whence.capture.sql.fingerprint.data_types.reading import column_type
from whence.capture.sql.fingerprint.meaning import Meaning, RelationMeanings, with_meaning
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import negate
from whence.capture.sql.fingerprint.normal_forms.sources.existence import MOST_SOURCES, exists_in
from whence.capture.sql.fingerprint.normal_forms.sources.partition_filters import without_partition_filters
from whence.capture.sql.fingerprint.row_identity import change_everywhere
from whence.capture.sql.lineage import Table
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.provenance.relations import Base, Output, Relation
from whence.capture.sql.queries.scopes import Scope, Source
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

_JOIN_KINDS: Final = ("", "INNER", "CROSS", "OUTER", "SEMI", "ANTI")
_NAMED_ARGUMENTS: Final = frozenset(
    {tree.THIS, "db", "catalog", tree.ALIAS, tree.JOINS, tree.LATERALS, tree.PIVOTS, "hints"}
)

_NEAREST: Final = {"": NEAREST, "LEFT": NEAREST_OR_NONE}
"""The kinds of ASOF JOIN, by side."""
_OF_VIEWS: Final = ("view", "outer")


class FromMeaning:
    """The sources and joins of one query."""

    def __init__(self, meanings: RelationMeanings, scope: Scope) -> None:
        self.meanings = meanings
        self.store = meanings.store
        self.scope = scope
        self.elements: list[Block] = []
        self.orders: list[tuple[Formula, ...]] = []
        self.is_nullable = False
        self.ranges: dict[int, int] = {}
        self.merged: dict[int, list[Formula]] = {}
        self.join: tree.Node | None = None
        self.select: tree.Node | None = None
        self.is_missing = False
        self.enclosing: list[tuple[tree.Node | None, bool]] = []
        self.unread: list[str] = []

    def value(self, node: tree.Node) -> Formula:
        return self.meanings.expressions.value(self.scope, node)

    def data_type(self, node: tree.Node) -> Formula | None:
        return column_type(self.store, self.scope, node)

    def give_up(self, reason: str) -> None:
        self.unread.append(reason)

    def expect(self, node: tree.Node) -> None:
        self.select = node
        self.is_nullable = _is_missing_later(tree.list_arg(node, tree.JOINS))

    def mark(self) -> int:
        return len(self.elements)

    def describe_source(self, source: Source, node: tree.Node) -> None:
        if isinstance(node.parent, c.Final):
            self.give_up("FINAL")
        self.is_missing = _is_missing_later(tree.list_arg(node, tree.JOINS))
        extra = [name for name, value in sorted(node.args.items()) if value and name not in _NAMED_ARGUMENTS]
        relation = source.relation
        if not isinstance(relation, Base) and relation.meaning is None and not relation.stars:
            self._describe_function(source, node)
        elif not isinstance(relation, Base) and relation.meaning is None:
            self._describe_star(source, node)
        elif isinstance(node, c.Table | c.Subquery) and extra:
            self._decorate(source, [(name, node.args[name]) for name in extra])
        if node.args.get("cross_apply") is False and isinstance(node, c.Lateral):
            self.give_up("OUTER APPLY")

    def _describe_function(self, source: Source, node: tree.Node) -> None:
        """LATERAL VIEW is a lateral join; with OUTER, a row without elements stays, with NULL in all columns."""
        left_out = {tree.ALIAS, tree.JOINS, tree.LATERALS, tree.PIVOTS, *(_OF_VIEWS if _is_view(node) else ())}
        parts: list[Formula | str] = [OUTER_VIEW if _is_view(node) and node.args.get("outer") else node.key]
        for name, value in sorted(node.args.items()):
            if value and name not in left_out:
                items = value if isinstance(value, list) else [value]
                parts += [name, *(self.meanings.expressions.value(self.scope, item) for item in items)]
        source.relation = self.meanings.named_rows(source.relation, self.store.make("rows_of", *parts))

    def _describe_star(self, source: Source, node: tree.Node) -> None:
        """A table with unknown columns, or a function with unknown columns."""
        if not isinstance(node, c.Table) or not source.parts:
            self._describe_function(source, node)
            return
        table = Table(next(iter(source.relation.reads)).parts) if source.relation.reads else Table(source.parts)
        model = self.meanings.models.get(table)
        rows = model.rows if model is not None else self.store.make("table", str(table))
        source.relation = self.meanings.named_rows(source.relation, rows)
        extra = [(name, value) for name, value in sorted(node.args.items()) if value and name not in _NAMED_ARGUMENTS]
        if extra:
            self._decorate(source, extra)

    def _decorate(self, source: Source, extra: list[tuple[str, object]]) -> None:
        """TABLESAMPLE, FOR SYSTEM_TIME and the like: other rows than those of the table itself."""
        parts: list[Formula | str] = []
        for name, value in extra:
            items = value if isinstance(value, list) else [value]
            parts += [name, *(self.meanings.expressions.value(self.scope, item) for item in items)]
        decoration = self.store.make("volatile" if extra[0][0] == "sample" else "decoration", *parts)
        relation = source.relation
        if isinstance(relation, Base):
            relation.meaning = decoration
            return
        rows, values = self.meanings.close(relation)
        instance = self.store.instance(self.store.make("decorated", rows, decoration))
        outputs = [
            output.with_formula(self.store.push(value, instance))
            for output, value in zip(relation.outputs, values, strict=True)
        ]
        source.relation = with_meaning(relation, outputs, Meaning(Block([instance])))

    def add_source(self, source: Source) -> None:
        relation = source.relation
        if isinstance(relation, Base):
            self._add_table(relation)
            return
        meaning = relation.meaning
        if not isinstance(meaning, Meaning):
            self.give_up(source.name)
            self._append(Block([self.store.instance(self.meanings.unread(source.name))]), ())
            return
        values = [self.meanings.formula(output) for output in relation.outputs]
        if relation.element is not None and relation.element.formula is not None:
            values.append(relation.element.formula)
        block, values, order = self._take(meaning, values)
        self._append(block, order)
        source.relation = with_meaning(
            relation,
            [output.with_formula(value) for output, value in zip(relation.outputs, values, strict=False)],
            meaning,
        )
        if relation.element is not None and relation.element.formula is not None:
            source.relation.element = relation.element.with_formula(values[-1])

    def _append(self, block: Block, order: tuple[Formula, ...]) -> None:
        self.elements.append(block)
        self.orders.append(order)

    def _take(self, meaning: Meaning, values: list[Formula]) -> tuple[Block, list[Formula], tuple[Formula, ...]]:
        """The block of a subquery as a part of this query, or as one source if it must be complete by itself."""
        block, order = meaning.block, list(meaning.order)
        width = sum(1 for element in (*self.elements, block) for _ in element.instances())
        is_nullable = self.is_nullable or self.is_missing
        is_complete = is_nullable or any(value.has_window for value in values) or width > MOST_SOURCES
        if is_complete:
            kept = [*values, *order]
            block, lifted = (block, []) if is_nullable else without_partition_filters(self.store, block, kept)
            rows, closed = close_block(self.store, block, [*kept, *lifted])
            instance = self.store.instance(rows)
            pushed = [self.store.push(value, instance, is_nullable) for value in closed]
            conditions = pushed[len(kept) :]
            return Block([instance], [], conditions), pushed[: len(values)], tuple(pushed[len(values) : len(kept)])
        if block.is_used:
            block, copied = copy_block(self.store, block, [*values, *order])
            values, order = copied[: len(values)], copied[len(values) :]
        block.is_used = True
        own = Block([*block.sources], [*block.outer_joins], [*block.conditions])
        return own, values, tuple(order)

    def _add_table(self, relation: Base) -> None:
        model = self.meanings.models.get(relation.table)
        rows = model.rows if model is not None else self.store.make("table", str(relation.table))
        if isinstance(relation.meaning, Formula):
            rows = self.store.make("decorated", rows, relation.meaning)
        is_nullable = self.is_nullable or self.is_missing
        instance, store = self.store.instance(rows), self.store

        def formula_of(name: str) -> Formula:
            known = model.columns.get(name) if model is not None else None
            return store.push(known if known is not None else store.make("name", name), instance, is_nullable)

        relation.formula_of, relation.type_of = formula_of, self.meanings.types_of(relation.table)
        self._append(Block([instance]), ())

    def open_join(self, join: tree.Node) -> None:
        self.enclosing.append((self.join, self.is_nullable))
        is_nested = join.parent is not self.select and self.is_nullable
        self.join = join
        self.ranges[id(join)] = len(self.elements)
        siblings = tree.list_arg(join.parent, tree.JOINS)
        later = siblings[siblings.index(join) + 1 :] if join in siblings else []
        side = str(tree.arg(join, tree.SIDE) or "").upper()
        self.is_nullable = is_nested or side in ("LEFT", "FULL") or _is_missing_later(later)

    def close_join(self, join: tree.Node) -> None:
        start = self.ranges[id(join)]
        self.elements[start:] = [self._joined(start)]
        self.join, self.is_nullable = self.enclosing.pop()

    def _joined(self, start: int, end: int | None = None) -> Block:
        whole = Block()
        for element in self.elements[start:end]:
            whole.add(element)
        return whole

    def merge_column(self, left: Output, right: Output, side: str) -> Formula:
        ours, theirs = self.meanings.formula(left), self.meanings.formula(right)
        self.merged.setdefault(id(self.join), []).append(self.store.make("eq", ours, theirs))
        if side == "FULL":
            return self.store.make("coalesce", ours, theirs)
        return theirs if side == "RIGHT" else ours

    def join_sources(self, start: int, joins: Sequence[tree.Node]) -> None:
        if not joins:
            return
        starts = [self.ranges[id(join)] for join in joins]
        result = self._joined(start, starts[0])
        for join, place in zip(joins, starts, strict=True):
            right = self.elements[place] if place < len(self.elements) else Block()
            result = self._join(result, right, join)
        self.elements[start:] = [result]

    def _join(self, left: Block, right: Block, join: tree.Node) -> Block:
        on = list(self.merged.get(id(join), ()))
        condition = tree.arg(join, tree.ON)
        if condition is not None:
            on += self.meanings.expressions.conditions(self.scope, condition)
        side, kind = (str(tree.arg(join, name) or "").upper() for name in (tree.SIDE, tree.KIND))
        method = str(tree.arg(join, tree.METHOD) or "").upper()
        is_matched = tree.arg(join, "match_condition") is not None
        if (
            method == "ASOF"
            and not is_matched
            and kind in _JOIN_KINDS[:4]
            and side in _NEAREST
            and id(join) not in self.merged
        ):
            left.outer_joins.append(OuterJoin(_NEAREST[side], right, self._of_pairs(on, left, right)))
            return left
        if kind not in _JOIN_KINDS or method not in ("", "NATURAL") or is_matched:
            self.give_up(f"{method} {kind} JOIN".strip())
        if method == "NATURAL" and id(join) not in self.merged:
            self.give_up("NATURAL JOIN of unknown columns")
        if kind in ("SEMI", "ANTI"):
            return self._half_join(left, right, on, kind)
        return _outer_join(left, right, self._of_pairs(on, left, right) if side else on, side)

    def _of_pairs(self, on: list[Formula], *sides: Block) -> list[Formula]:
        """The conditions of an outer join, which are asked of pairs of rows: no side is missing there."""
        own = frozenset(one for side in sides for one in side.sources)
        push = self.store.push

        def opened(part: Formula) -> Formula:
            match part:
                case Formula(op="of", args=(Formula() as source, Formula() as inside)) if source in own:
                    return push(inside, source)
            return part

        return [*map(change_everywhere(self.store, opened), on)]

    def _half_join(self, left: Block, right: Block, on: list[Formula], kind: str) -> Block:
        right.conditions += on
        exists = exists_in(self.store, right, close_block)
        left.conditions.append(exists if kind == "SEMI" else negate(self.store, exists))
        return left

    def sources(self, relation: Relation) -> Relation:
        outputs = [output.with_formula(self.meanings.formula(output)) for output in relation.outputs]
        return with_meaning(relation, outputs, Meaning(self._from()))

    def _from(self) -> Block:
        block = self._joined(0)
        if self.unread:
            block.sources.append(self.store.instance(self.meanings.unread(", ".join(self.unread))))
        return block


def _is_view(node: tree.Node) -> bool:
    return isinstance(node, c.Lateral) and bool(node.args.get("view"))


def _is_missing_later(joins: Sequence[tree.Node]) -> bool:
    return any(str(tree.arg(join, tree.SIDE) or "").upper() in ("RIGHT", "FULL") for join in joins)


def _outer_join(left: Block, right: Block, on: list[Formula], side: str) -> Block:
    match side:
        case "LEFT":
            left.outer_joins.append(OuterJoin("left", right, on))
            return left
        case "RIGHT":
            right.outer_joins.append(OuterJoin("left", left, on))
            return right
        case "FULL":
            return Block([], [OuterJoin("full", right, on, left)])
    left.add(right)
    left.conditions += on
    return left
