"""FROM: tables, joins, subqueries, lateral views and table functions. Each becomes a source of the scope."""

from whence.capture.sql.lineage import Table
from whence.capture.sql.names.names import column_name, parse_name_parts, table_of
from whence.capture.sql.provenance.flows import JOIN, TRANSFORMATION, Flow, apply_step, merge_flows
from whence.capture.sql.provenance.relations import EMPTY, STAR, Output, Relation, base_relation, name_columns
from whence.capture.sql.queries.conditions import add_condition
from whence.capture.sql.queries.expressions import flow_of, has_declared_fields
from whence.capture.sql.queries.from_clause.match_recognize import read_match_recognize
from whence.capture.sql.queries.from_clause.table_functions import function_rows, unnest
from whence.capture.sql.queries.from_clause.using import merge_columns
from whence.capture.sql.queries.pivots import apply_pivot
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope, Source, alias_name
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

_NESTED = ("bigquery", "redshift", "spark", "databricks", "impala")
"""Dialects in which the name of an array can appear as a table in FROM."""
_RIGHT_HIDDEN = ("SEMI", "ANTI")


def add_source(scope: Scope, node: tree.Node, visible: bool = True) -> Source | None:
    """Add an item of FROM or JOIN, with the joins and pivots inside of it."""
    reading = scope.reading
    alias = tree.alias_of(node)
    parts: tuple[str, ...] = ()
    match node:
        case c.Table():
            relation, parts = _read_table(scope, node)
        case c.Lateral():
            relation = _read_lateral(scope, node)
        case c.Unnest():
            relation = unnest(scope, node)
        case c.Subquery():
            return _read_brackets(scope, node, visible)
        case c.Final() | c.Stream():
            return add_source(scope, tree.this(node), visible)
        case c.Alias() | c.AtIndex():
            return _add_array_join(scope, node)
        case c.Values() | c.Select() | c.SetOperation():
            relation = reading.query(node, _subquery_scope(scope))
        case _:
            relation = function_rows(scope, node)
    names = [_column_of_alias(reading, column) for column in tree.alias_columns(node)]
    if not isinstance(node, c.Unnest | c.Lateral):
        relation = name_columns(relation, names)
    name = alias_name(reading, alias) if alias is not None else (parts[-1] if parts else "")
    return _attach_source(scope, node, Source(_fold_name(reading, name), relation, parts), visible)


def _attach_source(scope: Scope, node: tree.Node, source: Source, visible: bool) -> Source:
    """Apply the pivots of a source, add it to the scope, and read the joins that belong to it."""
    if scope.meaning is not None:
        scope.meaning.describe_source(source, node)
    for pivot in tree.list_arg(node, tree.PIVOTS):
        source = _pivot_source(scope, source, pivot)
    start = scope.meaning.mark() if scope.meaning is not None else 0
    scope.add(source, visible)
    rows: Flow = {}
    add_laterals(scope, node)
    add_joins(scope, node, rows, start)
    if rows:
        source.relation = Relation(
            source.relation.outputs, merge_flows(source.relation.rows, rows), source.relation.reads
        )
    return source


def _pivot_source(scope: Scope, source: Source, pivot: tree.Node) -> Source:
    relation = apply_pivot(scope, source.relation, pivot)
    alias = tree.alias_of(pivot)
    columns = [_column_of_alias(scope.reading, column) for column in tree.alias_columns(pivot)]
    relation = name_columns(relation, columns)
    return Source(alias_name(scope.reading, alias) if alias is not None else source.name, relation, source.parts)


def _read_table(scope: Scope, node: tree.Node) -> tuple[Relation, tuple[str, ...]]:
    """Read a table, a common table expression, or a function in the place of a table."""
    reading = scope.reading
    name = tree.this(node)
    if tree.list_arg(node, tree.ROWS_FROM):
        return function_rows(scope, node), ()
    identifier = _identifier_text(name)
    if identifier is not None:
        table = Table(parse_name_parts(reading.dialect, identifier))
        return open_table(reading, table), table.parts
    if not isinstance(name, c.Identifier | c.Var | c.Literal | c.Dot | c.Parameter | c.DynamicIdentifier):
        return function_rows(scope, name, tree.alias_of(node), tree.alias_columns(node)), ()
    table = table_of(reading.dialect, node)
    if reading.dialect.name in ("oracle", "mysql") and table.parts[-1].upper() == "DUAL":
        return EMPTY, table.parts
    relation = scope.find_cte(table.parts)
    if relation is not None:
        return relation, table.parts
    nested = _nested_array(scope, node)
    if nested is not None:
        return nested, table.parts[-1:]
    return open_table(reading, table), table.parts


def _identifier_text(node: tree.Node) -> str | None:
    """The name in IDENTIFIER('a.b') or IDENTIFIER('a.' || 'b'), if it is a literal."""
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
    """A base table under its qualified name, with its known columns."""
    table = reading.session.resolve(table)
    return base_relation(reading.home(table), *reading.session.columns(table))


def _nested_array(scope: Scope, node: tree.Node) -> Relation | None:
    """`FROM t, t.items`: an array of an earlier source in the place of a table."""
    parts = tree.table_parts(node)
    if len(parts) < 2 or scope.reading.dialect.name not in _NESTED:
        return None
    names = [column_name(scope.reading.dialect, part) for part in parts]
    owner_scope: Scope | None = scope
    while owner_scope is not None and owner_scope.source(names[:1]) is None:
        owner_scope = owner_scope.outer
    if owner_scope is None or (owner_scope is not scope and scope.reading.dialect.name not in ("impala", "bigquery")):
        return None
    value = scope.value(parts, [])
    element = Output(
        names[-1], apply_step(value.flow, TRANSFORMATION), value.fields, element=has_declared_fields(scope)
    )
    alias = tree.alias_of(node)
    named_element = element.with_name(column_name(scope.reading.dialect, alias)) if alias is not None else element
    implied = ("item", "pos", "key", "value") if scope.reading.dialect.name == "impala" else ()
    relation = Relation([named_element, *(element.with_name(name) for name in implied)])
    relation.element = element
    return relation


def _read_brackets(scope: Scope, node: tree.Node, visible: bool) -> Source | None:
    """Read a subquery, or joins in brackets."""
    reading = scope.reading
    inside = tree.this(node)
    alias = tree.alias_of(node)
    if isinstance(inside, c.Table | c.Values) or (isinstance(inside, c.Subquery) and alias is None):
        if alias is None and not tree.alias_columns(node):
            start = scope.meaning.mark() if scope.meaning is not None else 0
            added = add_source(scope, inside, visible)
            rows: Flow = {}
            add_joins(scope, node, rows, start)
            if added is not None and rows:
                added.relation = Relation(
                    added.relation.outputs, merge_flows(added.relation.rows, rows), added.relation.reads
                )
            return added
        inner = Scope(reading, scope)
        add_source(inner, inside)
        relations = [source.relation for source in (*inner.sources, *inner.hidden_sources)]
        relation = Relation(
            inner.row,
            merge_flows(*(inner_relation.rows for inner_relation in relations)),
            frozenset().union(*(inner_relation.reads for inner_relation in relations)),
        )
        relation = inner.meaning.sources(relation) if inner.meaning is not None else relation
    else:
        relation = reading.query(_query_in_brackets(node), _subquery_scope(scope))
    names = [_column_of_alias(reading, column) for column in tree.alias_columns(node)]
    relation = name_columns(relation, names)
    return _attach_source(
        scope, node, Source(alias_name(reading, alias) if alias is not None else "", relation), visible
    )


def _query_in_brackets(node: tree.Node) -> tree.Node:
    """The query inside brackets that carry at most an alias, joins and pivots."""
    allowed = {tree.ALIAS, tree.THIS, tree.JOINS, tree.PIVOTS, tree.LATERALS, "sample"}
    is_decorated = any(value for name, value in node.args.items() if name not in allowed)
    inside = tree.this(node)
    return node if is_decorated or not isinstance(inside, c.Query) else inside


def _subquery_scope(scope: Scope) -> Scope:
    """The scope of a subquery in FROM: it sees the surrounding query, not its neighbours."""
    lateral = scope.reading.dialect.name in ("duckdb", "impala") and scope.sources
    inner = Scope(scope.reading, scope if lateral else scope.outer)
    inner.ctes = scope.ctes
    return inner


def _read_lateral(scope: Scope, node: tree.Node) -> Relation:
    """Read LATERAL or APPLY, which see the sources before them."""
    inside = tree.this(node)
    if isinstance(inside, c.Subquery):
        relation = scope.reading.query(tree.query_in(inside) or inside, scope)
        names = [_column_of_alias(scope.reading, column) for column in tree.alias_columns(node)]
        return name_columns(relation, names)
    if isinstance(inside, c.Unnest):
        return unnest(scope, inside, node)
    return function_rows(scope, inside, tree.alias_of(node), tree.alias_columns(node))


def _add_array_join(scope: Scope, node: tree.Node) -> Source | None:
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
    for lateral in tree.list_arg(node, tree.LATERALS):
        add_source(scope, lateral)


def add_joins(scope: Scope, node: tree.Node, rows: Flow, start: int = 0) -> None:
    """Add the joins of a source. All sources come first, since a condition may refer to any of them.

    `start`: the number of sources before those that are joined.
    """
    conditions: list[tree.Node] = []
    hidden: list[Source] = []
    for join in tree.list_arg(node, tree.JOINS):
        scope.reading.check_budget()
        if scope.meaning is not None:
            scope.meaning.open_join(join)
        hidden += _add_join(scope, join, rows)
        if scope.meaning is not None:
            scope.meaning.close_join(join)
        for pivot in tree.list_arg(join, tree.PIVOTS):
            if scope.meaning is not None:
                scope.meaning.give_up("a pivot of joined tables")
            scope.sources[-1] = _pivot_source(scope, scope.sources[-1], pivot)
        on = tree.arg(join, tree.ON)
        if on is not None and not isinstance(on, c.Boolean):
            conditions.append(on)
        if tree.arg(join, "match_condition") is not None:
            conditions.append(tree.arg(join, "match_condition"))
    for on in conditions:
        add_condition(scope, on, JOIN, rows)
    if scope.meaning is not None:
        scope.meaning.join_sources(start, tree.list_arg(node, tree.JOINS))
    if scope.reading.dialect.name != "clickhouse":  # ClickHouse can select columns of the right side
        scope.hide_sources(hidden)


def _add_join(scope: Scope, join: tree.Node, rows: Flow) -> list[Source]:
    """Add the right side of a join. Returns it if only conditions can refer to it."""
    kind = str(tree.arg(join, tree.KIND) or "").upper()
    if kind == "ARRAY":
        _add_array_joins(scope, join)
        return []
    merges = tree.list_arg(join, tree.USING) or tree.arg(join, tree.METHOD)
    left = scope.row if merges else []
    position = len(scope.sources)
    is_hidden = kind in _RIGHT_HIDDEN
    add_source(scope, tree.this(join), visible=not is_hidden)
    right = scope.sources[position].relation if len(scope.sources) > position else None
    if right is None:
        return []
    hidden_sources = [scope.sources[position]] if is_hidden else []
    using = [column_name(scope.reading.dialect, column) for column in tree.list_arg(join, tree.USING)]
    if str(tree.arg(join, tree.METHOD) or "").upper() == "NATURAL":
        using = [output.name for output in left if output.name in right.index and output.name != STAR]
    if using:
        merge_columns(scope, left, scope.row[len(left) :] if not is_hidden else right.outputs, using, join, rows)
        if is_hidden:
            scope.row = left
    return hidden_sources


def _add_array_joins(scope: Scope, join: tree.Node) -> None:
    for item in [tree.this(join), *tree.items(join)]:
        if isinstance(item, c.Alias):
            _add_array_join(scope, item)
            continue
        inside = tree.this(item) if isinstance(item, c.Table) else item
        column = c.Column(this=inside) if isinstance(inside, c.Identifier) else inside
        parts = tree.table_parts(item) if isinstance(item, c.Table) else tree.column_parts(column)
        value = scope.value(parts, [])
        flow = apply_step(value.flow, TRANSFORMATION)
        name = column_name(scope.reading.dialect, parts[-1])
        scope.clear_resolved()
        scope.merged[name] = element = Output(name, flow, value.fields, element=has_declared_fields(scope))
        scope.row = [element if output.name == name else output for output in scope.row]


def add_match_recognize(scope: Scope, node: tree.Node, rows: Flow) -> None:
    """MATCH_RECOGNIZE: its measures are columns; its pattern variables denote rows of the source."""
    relation = read_match_recognize(scope, node, rows)
    if scope.meaning is not None:
        scope.meaning.give_up("MATCH_RECOGNIZE")
    alias = tree.alias_of(node)
    scope.sources = [Source(alias_name(scope.reading, alias) if alias is not None else "", relation)]
    scope.row = relation.outputs
    scope.clear_resolved()


def _column_of_alias(reading: Reading, node: tree.Node) -> str:
    return column_name(reading.dialect, tree.this(node) if isinstance(node, c.ColumnDef) else node)


def _fold_name(reading: Reading, name: str) -> str:
    """Convert a table's name for comparison with aliases."""
    return name.lower() if reading.dialect.columns == "fold" else name
