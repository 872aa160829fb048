"""FROM: tables, joins, subqueries, lateral views, functions that give rows. Each becomes a source of the scope."""

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.conditions import choose
from whence.capture.sql.expressions import declared, flow_of
from whence.capture.sql.flows import JOIN, TRANSFORMATION, Flow, joined, stepped
from whence.capture.sql.lineage import Table
from whence.capture.sql.matches import matched
from whence.capture.sql.names import column_name, parts_of, table_of
from whence.capture.sql.pivots import pivoted
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import EMPTY, STAR, Output, Relation, base, listed
from whence.capture.sql.scopes import Scope, Source, alias_name, cte_name
from whence.capture.sql.tablefunctions import function_rows, unnested
from whence.capture.sql.using import merge_columns

_NESTED = ("bigquery", "redshift", "spark", "databricks", "impala")
"""Dialects in which an array of a table can stand in FROM by its name."""
_RIGHT_HIDDEN = ("SEMI", "ANTI")


def add_source(scope: Scope, node: tree.Node, visible: bool = True) -> Source | None:
    """Add what stands in FROM or behind JOIN, with the joins and pivots inside of it."""
    reading = scope.reading
    alias = tree.alias_of(node)
    parts: tuple[str, ...] = ()
    match node:
        case c.Table():
            relation, parts = _table(scope, node)
        case c.Lateral():
            relation = _lateral(scope, node)
        case c.Unnest():
            relation = unnested(scope, node)
        case c.Subquery():
            return _bracketed(scope, node, visible)
        case c.Final() | c.Stream():
            return add_source(scope, tree.this(node), visible)
        case c.Alias() | c.AtIndex():
            return _array_join(scope, node)
        case c.Values() | c.Select() | c.SetOperation():
            relation = reading.query(node, _around(scope))
        case _:
            relation = function_rows(scope, node)
    names = [_column_of_alias(reading, one) for one in tree.alias_columns(node)]
    if not isinstance(node, c.Unnest | c.Lateral):
        relation = listed(relation, names)
    name = alias_name(reading, alias) if alias is not None else (parts[-1] if parts else "")
    return _added(scope, node, Source(_folded(reading, name), relation, parts), visible)


def _added(scope: Scope, node: tree.Node, source: Source, visible: bool) -> Source:
    """A source with its pivots, and the joins that hang on it."""
    for pivot in tree.listed(node, tree.PIVOTS):
        source = _pivoted(scope, source, pivot)
    scope.add(source, visible)
    rows: Flow = {}
    add_laterals(scope, node)
    add_joins(scope, node, rows)
    if rows:
        source.relation = Relation(source.relation.outputs, joined(source.relation.rows, rows), source.relation.reads)
    return source


def _pivoted(scope: Scope, source: Source, pivot: tree.Node) -> Source:
    relation = pivoted(scope, source.relation, pivot)
    alias = tree.alias_of(pivot)
    columns = [_column_of_alias(scope.reading, one) for one in tree.alias_columns(pivot)]
    relation = listed(relation, columns)
    return Source(alias_name(scope.reading, alias) if alias is not None else source.name, relation, source.parts)


def _table(scope: Scope, node: tree.Node) -> tuple[Relation, tuple[str, ...]]:
    """A table, a common table expression, or a function in the place of a table."""
    reading = scope.reading
    name = tree.this(node)
    if tree.listed(node, tree.ROWS_FROM):
        return function_rows(scope, node), ()
    called = _identified(name)
    if called is not None:
        table = Table(parts_of(reading.dialect, called))
        return open_table(reading, table), table.parts
    if not isinstance(name, c.Identifier | c.Var | c.Literal | c.Dot | c.Parameter | c.DynamicIdentifier):
        return function_rows(scope, name, tree.alias_of(node), tree.alias_columns(node)), ()
    table = table_of(reading.dialect, node)
    if reading.dialect.name in ("oracle", "mysql") and table.parts[-1].upper() == "DUAL":
        return EMPTY, table.parts
    if len(table.parts) == 1:
        relation = scope.ctes.get(cte_name(reading, table.parts))
        if relation is not None:
            return relation, table.parts
    nested = _nested(scope, node)
    if nested is not None:
        return nested, table.parts[-1:]
    return open_table(reading, table), table.parts


def _identified(node: tree.Node) -> str | None:
    """IDENTIFIER('a.b'), IDENTIFIER('a.' || 'b'): a name as text, if it is written out."""
    inside = tree.this(node) if isinstance(node, c.DynamicIdentifier) else None
    if isinstance(node, c.Anonymous) and str(tree.this(node)).upper() == "IDENTIFIER" and tree.items(node):
        inside = tree.items(node)[0]
    return _literal(inside) if inside is not None else None


def _literal(node: tree.Node) -> str | None:
    if isinstance(node, c.DPipe):
        left, right = _literal(tree.this(node)), _literal(tree.arg(node, tree.EXPRESSION))
        return left + right if left is not None and right is not None else None
    return tree.text_of(node)[0] if isinstance(node, c.Literal) else None


def open_table(reading: Reading, table: Table) -> Relation:
    """A base table, under its whole name, with the columns that are known of it."""
    table = reading.session.resolve(table)
    return base(reading.home(table), *reading.session.columns(table))


def _nested(scope: Scope, node: tree.Node) -> Relation | None:
    """`FROM t, t.items`: an array of a source before it, where a table could stand."""
    parts = tree.table_parts(node)
    if len(parts) < 2 or scope.reading.dialect.name not in _NESTED:
        return None
    names = [column_name(scope.reading.dialect, part) for part in parts]
    around: Scope | None = scope
    while around is not None and around.source(names[:1]) is None:
        around = around.outer
    if around is None or (around is not scope and scope.reading.dialect.name not in ("impala", "bigquery")):
        return None
    value = scope.value(parts, [])
    element = Output(names[-1], stepped(value.flow, TRANSFORMATION), value.fields, element=declared(scope))
    alias = tree.alias_of(node)
    own = element.called(column_name(scope.reading.dialect, alias)) if alias is not None else element
    implied = ("item", "pos", "key", "value") if scope.reading.dialect.name == "impala" else ()
    relation = Relation([own, *(element.called(name) for name in implied)])
    relation.element = element
    return relation


def _bracketed(scope: Scope, node: tree.Node, visible: bool) -> Source | None:
    """A subquery, or joins in brackets."""
    reading = scope.reading
    inside = tree.this(node)
    alias = tree.alias_of(node)
    if isinstance(inside, c.Table | c.Values) or (isinstance(inside, c.Subquery) and alias is None):
        if alias is None and not tree.alias_columns(node):
            added = add_source(scope, inside, visible)
            rows: Flow = {}
            add_joins(scope, node, rows)
            if added is not None and rows:
                added.relation = Relation(
                    added.relation.outputs, joined(added.relation.rows, rows), added.relation.reads
                )
            return added
        inner = Scope(reading, scope)
        add_source(inner, inside)
        around = [one.relation for one in (*inner.sources, *inner.aside)]
        relation = Relation(
            inner.row, joined(*(one.rows for one in around)), frozenset().union(*(one.reads for one in around))
        )
    else:
        relation = reading.query(_plain(node), _around(scope))
    names = [_column_of_alias(reading, one) for one in tree.alias_columns(node)]
    relation = listed(relation, names)
    return _added(scope, node, Source(alias_name(reading, alias) if alias is not None else "", relation), visible)


def _plain(node: tree.Node) -> tree.Node:
    """What is in the brackets, if nothing but an alias, joins and pivots stands behind them."""
    behind = {tree.ALIAS, tree.THIS, tree.JOINS, tree.PIVOTS, tree.LATERALS, "sample"}
    decorated = any(value for name, value in node.args.items() if name not in behind)
    inside = tree.this(node)
    return node if decorated or not isinstance(inside, c.Query) else inside


def _around(scope: Scope) -> Scope:
    """What a subquery in FROM sees: not its neighbours, but the query around all of them."""
    lateral = scope.reading.dialect.name in ("duckdb", "impala") and scope.sources
    inner = Scope(scope.reading, scope if lateral else scope.outer)
    inner.ctes = scope.ctes
    return inner


def _lateral(scope: Scope, node: tree.Node) -> Relation:
    """LATERAL and APPLY see the sources before them."""
    inside = tree.this(node)
    if isinstance(inside, c.Subquery):
        relation = scope.reading.query(tree.query_in(inside) or inside, scope)
        names = [_column_of_alias(scope.reading, one) for one in tree.alias_columns(node)]
        return listed(relation, names)
    if isinstance(inside, c.Unnest):
        return unnested(scope, inside, node)
    return function_rows(scope, inside, tree.alias_of(node), tree.alias_columns(node))


def _array_join(scope: Scope, node: tree.Node) -> Source | None:
    """ClickHouse's ARRAY JOIN, Redshift's `t.items AS x AT i`."""
    dialect = scope.reading.dialect
    inside = tree.this(node) if isinstance(node, c.AtIndex) else node
    flow = flow_of(scope, tree.this(inside), TRANSFORMATION)
    outputs = [Output(column_name(dialect, tree.alias_of(inside)), flow)]
    if isinstance(node, c.AtIndex):
        outputs.append(Output(column_name(dialect, tree.arg(node, tree.EXPRESSION)), flow))
    source = Source("", Relation(outputs))
    scope.add(source)
    return source


def add_laterals(scope: Scope, node: tree.Node) -> None:
    """Hive's LATERAL VIEW."""
    for lateral in tree.listed(node, tree.LATERALS):
        add_source(scope, lateral)


def add_joins(scope: Scope, node: tree.Node, rows: Flow) -> None:
    """The joins behind a source: all sources first, for a condition may name any of them."""
    conditions: list[tree.Node] = []
    hidden: list[Source] = []
    for join in tree.listed(node, tree.JOINS):
        scope.reading.tick()
        hidden += _join(scope, join, rows)
        for pivot in tree.listed(join, tree.PIVOTS):
            scope.sources[-1] = _pivoted(scope, scope.sources[-1], pivot)
        on = tree.arg(join, tree.ON)
        if on is not None and not isinstance(on, c.Boolean):
            conditions.append(on)
        if tree.arg(join, "match_condition") is not None:
            conditions.append(tree.arg(join, "match_condition"))
    for on in conditions:
        choose(scope, on, JOIN, rows)
    if scope.reading.dialect.name != "clickhouse":  # there the columns of the right side can be selected
        scope.set_aside(hidden)


def _join(scope: Scope, join: tree.Node, rows: Flow) -> list[Source]:
    """Add the right side of a join; it, if only conditions can name it."""
    kind = str(tree.arg(join, tree.KIND) or "").upper()
    if kind == "ARRAY":
        _array_joins(scope, join)
        return []
    merges = tree.listed(join, tree.USING) or tree.arg(join, tree.METHOD)
    left = scope.row if merges else []
    first = len(scope.sources)
    hidden = kind in _RIGHT_HIDDEN
    add_source(scope, tree.this(join), visible=not hidden)
    right = scope.sources[first].relation if len(scope.sources) > first else None
    if right is None:
        return []
    only_here = [scope.sources[first]] if hidden else []
    using = [column_name(scope.reading.dialect, one) for one in tree.listed(join, tree.USING)]
    if str(tree.arg(join, tree.METHOD) or "").upper() == "NATURAL":
        using = [one.name for one in left if one.name in right.index and one.name != STAR]
    if using:
        merge_columns(scope, left, scope.row[len(left) :] if not hidden else right.outputs, using, join, rows)
        if hidden:
            scope.row = left
    return only_here


def _array_joins(scope: Scope, join: tree.Node) -> None:
    for one in [tree.this(join), *tree.items(join)]:
        if isinstance(one, c.Alias):
            _array_join(scope, one)
            continue
        inside = tree.this(one) if isinstance(one, c.Table) else one
        column = c.Column(this=inside) if isinstance(inside, c.Identifier) else inside
        parts = tree.table_parts(one) if isinstance(one, c.Table) else tree.column_parts(column)
        value = scope.value(parts, [])
        flow = stepped(value.flow, TRANSFORMATION)
        name = column_name(scope.reading.dialect, parts[-1])
        scope.forget()
        scope.merged[name] = element = Output(name, flow, value.fields, element=declared(scope))
        scope.row = [element if output.name == name else output for output in scope.row]


def match_rows(scope: Scope, node: tree.Node, rows: Flow) -> None:
    """MATCH_RECOGNIZE: its measures are columns, its pattern's variables stand for the rows of the source."""
    relation = matched(scope, node, rows)
    alias = tree.alias_of(node)
    scope.sources = [Source(alias_name(scope.reading, alias) if alias is not None else "", relation)]
    scope.row = relation.outputs
    scope.forget()


def _column_of_alias(reading: Reading, node: tree.Node) -> str:
    return column_name(reading.dialect, tree.this(node) if isinstance(node, c.ColumnDef) else node)


def _folded(reading: Reading, name: str) -> str:
    """Tables' names compare as aliases do, once they are one."""
    return name.lower() if reading.dialect.columns == "fold" else name
