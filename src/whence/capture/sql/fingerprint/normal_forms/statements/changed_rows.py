"""UPDATE, DELETE and MERGE as queries for the rows that they change; a MERGE that is none as text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from whence.capture.sql.fingerprint.block import Block, instances_of, rows_of
from whence.capture.sql.fingerprint.blocks import close_block
from whence.capture.sql.fingerprint.meaning import Meaning
from whence.capture.sql.fingerprint.normal_forms.sources.existence import exists_in
from whence.capture.sql.names.names import column_name
from whence.capture.sql.provenance.formulas import Formula, Formulas
from whence.capture.sql.provenance.relations import Relation
from whence.capture.sql.queries.common_table_expressions import read_ctes
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

CloseRelation = Callable[[Relation], tuple[Formula, list[Formula]]]


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """What a statement changes: the rows that it adds and takes away, and the values that it sets, by column."""

    rows: Formula
    columns: dict[str, Formula]


def read_changed_rows(
    store: Formulas, reading: Reading, node: tree.Node | None, close: CloseRelation
) -> ChangedRows | None:
    """What UPDATE, DELETE or MERGE changes; None for a form that is compared as text."""
    if reading.dialect.name == "mysql":  # assigns from left to right: later columns see the new values
        return None
    reader = _Reader(store, reading, close, node)
    if isinstance(node, c.Update) and not _has_more(node, (tree.EXPRESSIONS, tree.FROM, tree.WHERE)):
        return _of_update(reader, node)
    if isinstance(node, c.Delete) and not _has_more(node, (tree.WHERE,)):
        return _of_delete(reader, node)
    if isinstance(node, c.Merge) and not _has_more(node, (tree.USING, tree.ON, tree.WHENS)):
        return _of_merge(reader, node)
    return None


def _has_more(node: tree.Node, known: Sequence[str]) -> bool:
    read = {tree.THIS, tree.WITH, tree.RETURNING, *known}
    return any(value for name, value in node.args.items() if name not in read)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the query for some rows. `node`: the statement, whose common table expressions it may name."""

    store: Formulas
    reading: Reading
    close: CloseRelation
    node: tree.Node | None

    def rows(
        self,
        sources: Sequence[tree.Node],
        conditions: Sequence[tree.Node],
        values: Sequence[tree.Node] = (),
        is_once: bool = False,
    ) -> tuple[Formula, list[Formula]]:
        """The rows of some sources for which conditions are true, and values over them.

        `is_once`: a row of the first source counts once, however many rows of the others there are for it.
        """
        first, *others = (one.copy() for one in sources)
        joins = [c.Join(this=one) for one in others]
        for one in (first, *others):
            joins += tree.list_arg(one, tree.JOINS)
            one.set(tree.JOINS, None)
        outputs: list[tree.Node] = [
            c.Alias(this=one.copy(), alias=c.Identifier(this=f"v{place}")) for place, one in enumerate(values)
        ]
        query = c.Select(**{tree.EXPRESSIONS: outputs or [c.Literal(this="1", is_string=False)]})
        query.set(tree.FROM, c.From(this=first))
        query.set(tree.JOINS, joins)
        if conditions:
            query.set(tree.WHERE, c.Where(this=_all(conditions)))
        scope = Scope(self.reading)
        if self.node is not None:
            read_ctes(self.node, scope)
        relation = scope.query(query)
        if is_once and isinstance(relation.meaning, Meaning):
            return self._once(relation.meaning.block, [one.formula for one in relation.outputs][: len(values)])
        rows, found = self.close(relation)
        return rows, found[: len(values)]

    def _once(self, block: Block, outputs: Sequence[Formula | None]) -> tuple[Formula, list[Formula]]:
        """The rows and values of an UPDATE, which changes a row once: what no value reads is only asked to be there."""
        values = [one for one in outputs if one is not None]
        target, *others = block.sources
        is_read = any(not instances_of(value) <= {target} for value in values) or block.outer_joins
        if others and not is_read and len(values) == len(outputs) and not any(rows_of(one).is_open for one in others):
            own = [one for one in block.conditions if instances_of(one) <= {target}]
            rest = [one for one in block.conditions if one not in own]
            block = Block([target], [], [*own, exists_in(self.store, Block(others, [], rest), close_block)])
        return close_block(self.store, block, values)


def _all(conditions: Sequence[tree.Node]) -> tree.Node:
    found: tree.Node | None = None
    for one in (c.Paren(this=one.copy()) for one in conditions):
        found = one if found is None else c.And(this=found, expression=one)
    assert found is not None
    return found


def _of_update(reader: _Reader, node: tree.Node) -> ChangedRows | None:
    items = tree.items(node)
    if not items or not all(isinstance(one, c.EQ) for one in items):
        return None
    source = tree.arg(node, tree.FROM)
    sources = [tree.this(node), *([tree.this(source)] if source is not None else [])]
    rows, values = reader.rows(sources, _condition(node), [tree.arg(one, tree.EXPRESSION) for one in items], True)
    named = zip(map(_column_of(reader.reading), items), values, strict=True)
    columns = {name: reader.store.make("updated", rows, value) for name, value in named}
    return ChangedRows(reader.store.make("statement", "update"), columns)


def _of_delete(reader: _Reader, node: tree.Node) -> ChangedRows | None:
    if not isinstance(tree.this(node), c.Table):
        return None
    rows, _ = reader.rows([tree.this(node)], _condition(node))
    return ChangedRows(reader.store.make("deleted", rows), {})


def _condition(node: tree.Node) -> list[tree.Node]:
    where = tree.arg(node, tree.WHERE)
    return [tree.this(where) if isinstance(where, c.Where) else where] if where is not None else []


def _column_of(reading: Reading) -> Callable[[tree.Node], str]:
    def name(item: tree.Node) -> str:
        column = tree.this(item)
        return column_name(reading.dialect, tree.column_parts(column)[-1] if isinstance(column, c.Column) else column)

    return name


@dataclass(slots=True)
class _Merged:
    """What the clauses read so far change. `before`: the conditions of those of one kind, of which the first acts."""

    rows: list[Formula] = field(default_factory=list)
    columns: dict[str, list[Formula]] = field(default_factory=dict)
    before: dict[tuple[bool, bool], list[tree.Node]] = field(default_factory=dict)


def _of_merge(reader: _Reader, node: tree.Node) -> ChangedRows | None:
    target, source, on = tree.this(node), tree.arg(node, tree.USING), tree.arg(node, tree.ON)
    merged = _Merged()
    for when in tree.items(tree.arg(node, tree.WHENS)):
        kind = bool(tree.arg(when, tree.MATCHED)), bool(tree.arg(when, tree.SOURCE))
        own = [tree.arg(when, tree.CONDITION)] if tree.arg(when, tree.CONDITION) is not None else []
        earlier = merged.before.setdefault(kind, [])
        chosen = [*own, *(_not_true(one) for one in earlier)]
        merged.before[kind] = [*earlier, _all(own) if own else c.Boolean(this=True)]
        if kind[0]:
            sources, conditions = [target, source], [on, *chosen]
        else:
            present, absent = (target, source) if kind[1] else (source, target)
            inner = c.Select(**{tree.EXPRESSIONS: [c.Literal(this="1", is_string=False)]})
            inner.set(tree.FROM, c.From(this=absent.copy()))
            inner.set(tree.WHERE, c.Where(this=on.copy()))
            sources, conditions = [present], [c.Not(this=c.Exists(this=inner)), *chosen]
        if not _add_action(reader, merged, tree.arg(when, tree.THEN), sources, conditions):
            return None
    make = reader.store.make
    columns = {name: make("merged", make("set", *values)) for name, values in merged.columns.items()}
    return ChangedRows(make("merged", make("set", *merged.rows)), columns)


def _not_true(condition: tree.Node) -> tree.Node:
    default = c.Boolean(this=False)
    return c.Not(this=c.Coalesce(this=c.Paren(this=condition.copy()), expressions=[default]))


def _add_action(
    reader: _Reader, merged: _Merged, then: object, sources: Sequence[tree.Node], conditions: Sequence[tree.Node]
) -> bool:
    """Read what a WHEN does; whether it is one of the forms that are read."""
    make = reader.store.make
    pairs = list(_assigned(reader.reading, then))
    if isinstance(then, c.Var) and str(tree.this(then)).upper() == "DELETE":
        merged.rows.append(make("deleted", reader.rows(sources, conditions)[0]))
        return True
    if not isinstance(then, c.Update | c.Insert) or not pairs:
        return False
    rows, values = reader.rows(sources, conditions, [value for _, value in pairs])
    if isinstance(then, c.Insert):
        merged.rows.append(make("inserted", rows))
    for (name, _), value in zip(pairs, values, strict=True):
        made = make("inserted", value) if isinstance(then, c.Insert) else make("updated", rows, value)
        merged.columns.setdefault(name, []).append(made)
    return True


def _assigned(reading: Reading, then: object) -> Iterator[tuple[str, tree.Node]]:
    """The columns that an action sets, with their values; none if they are not all named."""
    if isinstance(then, c.Update) and not _has_more(then, (tree.EXPRESSIONS,)):
        items = tree.items(then)
        if all(isinstance(one, c.EQ) for one in items):
            yield from ((_column_of(reading)(one), tree.arg(one, tree.EXPRESSION)) for one in items)
    if isinstance(then, c.Insert) and not _has_more(then, (tree.EXPRESSION,)):
        names, values = tree.this(then), tree.arg(then, tree.EXPRESSION)
        if (
            isinstance(names, c.Tuple)
            and isinstance(values, c.Tuple)
            and len(names.expressions) == len(values.expressions)
        ):
            listed = (column_name(reading.dialect, tree.column_parts(one)[-1]) for one in tree.items(names))
            yield from zip(listed, tree.items(values), strict=True)
