"""Queries: SELECT, set operations, VALUES. A query becomes a relation."""

from whence.capture.sql.lineage import Table
from whence.capture.sql.names.names import column_name
from whence.capture.sql.provenance.flows import (
    FILTER,
    IDENTITY,
    JOIN,
    TRANSFORMATION,
    Flow,
    absorb,
    apply_step,
    merge_flows,
)
from whence.capture.sql.provenance.relations import EMPTY, Output, Relation, name_columns
from whence.capture.sql.provenance.unions import merge_by_name, merge_by_position, merge_rows_and_reads
from whence.capture.sql.queries.common_table_expressions import read_ctes
from whence.capture.sql.queries.conditions import add_condition, add_filter, keep_condition
from whence.capture.sql.queries.expressions import flow_of, gather, value_of
from whence.capture.sql.queries.from_clause.sources import add_joins, add_laterals, add_match_recognize, add_source
from whence.capture.sql.queries.orderings import add_distinct_on, add_grouping, add_sorting
from whence.capture.sql.queries.pivots import apply_pivot
from whence.capture.sql.queries.projections import project
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def query(node: tree.Node, outer: Scope) -> Relation:
    """Read a query as a relation. `outer` holds the surrounding names. Raises BudgetSpentError."""
    outer.reading.check_budget()
    match node:
        case c.Select():
            return _select(node, outer)
        case c.SetOperation():
            return _set_operation(node, outer)
        case c.Subquery():
            return _subquery(node, outer)
        case c.Table():
            scope = Scope(outer.reading, outer)
            add_source(scope, node)
            return _source_relation(scope)
        case c.Values():
            return values(node, outer)
        case c.Pivot():
            return _pivot_statement(node, outer)
    inside = tree.query_in(node)
    return query(inside, outer) if inside is not None and inside is not node else EMPTY


def _pivot_statement(node: tree.Node, outer: Scope) -> Relation:
    """DuckDB's PIVOT and UNPIVOT as statements of their own."""
    scope = Scope(outer.reading, outer)
    read_ctes(node, scope)
    add_source(scope, tree.this(node))
    return apply_pivot(scope, _source_relation(scope), node)


def values(node: tree.Node, outer: Scope) -> Relation:
    """Read VALUES: the columns of all its rows, by position."""
    rows = [tree.items(row) if isinstance(row, c.Tuple) else [row] for row in tree.items(node)]
    rows = [tree.items(row[0]) if len(row) == 1 and isinstance(row[0], c.Tuple) else row for row in rows]
    if len(rows) == 1 and len(rows[0]) == 1 and outer.reading.variables:
        record = value_of(outer, rows[0][0])
        if record.fields and not record.flow:
            return Relation(list(record.fields.values()))
    columns: list[Flow] = [{} for _ in max(rows, key=len, default=[])]
    literals = (c.Literal, c.Null, c.Boolean)
    for row in rows:
        for into, value in zip(columns, row, strict=False):
            if not isinstance(value, literals):
                gather(outer, value, IDENTITY, into)
    relation = Relation([Output(f"#{position}", flow) for position, flow in enumerate(columns, start=1)])
    meanings = outer.reading.meanings
    return meanings.values(outer, rows, relation) if meanings is not None else relation


def _set_operation(node: tree.Node, outer: Scope) -> Relation:
    """Merge columns by position, or by name with UNION BY NAME. The right side of EXCEPT and INTERSECT only filters
    rows.
    """
    scope = Scope(outer.reading, outer)
    read_ctes(node, scope)
    chain: list[tree.Node] = []
    left: tree.Node = node
    while isinstance(left, c.SetOperation):
        chain.append(left)
        left = tree.this(left)
        if left is not node and isinstance(left, c.SetOperation):
            read_ctes(left, scope)
    relation = query(left, scope)
    for operation in reversed(chain):
        right = query(tree.arg(operation, tree.EXPRESSION), scope)
        combined, meanings = _combine(operation, relation, right), scope.reading.meanings
        relation = meanings.combine(operation, relation, right, combined) if meanings is not None else combined
    return _apply_order(node, relation, scope)


def _combine(operation: tree.Node, left: Relation, right: Relation) -> Relation:
    rows, reads = merge_rows_and_reads(left, right)
    if not isinstance(operation, c.Union):
        compared = dict(rows)
        for output in right.outputs:
            absorb(compared, output.flow, FILTER)
            keep_condition(output.flow, FILTER, operation.key.upper())
        return Relation(left.outputs, compared, reads)
    merge = merge_by_name if tree.arg(operation, tree.BY_NAME) else merge_by_position
    return Relation(merge(left.outputs, right.outputs), rows, reads)


def _apply_order(node: tree.Node, relation: Relation, outer: Scope) -> Relation:
    """ORDER BY after a set operation or brackets: it sees the columns of the result."""
    scope = Scope(outer.reading, outer)
    scope.aliases, scope.aliases_first = relation.index, True
    rows = dict(relation.rows)
    add_sorting(scope, node, relation.outputs, rows)
    ordered = Relation(relation.outputs, rows, relation.reads)
    ordered.meaning = relation.meaning
    return scope.meaning.finish(node, ordered) if scope.meaning is not None else ordered


def _subquery(node: tree.Node, outer: Scope) -> Relation:
    """Read brackets and the clauses after them."""
    scope = Scope(outer.reading, outer)
    read_ctes(node, scope)
    inside = tree.this(node)
    if isinstance(inside, c.Table) or tree.list_arg(node, tree.JOINS):
        add_source(scope, node)
        return _source_relation(scope)
    relation = query(inside, scope)
    names = [column_name(scope.reading.dialect, column) for column in tree.alias_columns(node)]
    relation = name_columns(relation, names)
    for pivot in tree.list_arg(node, tree.PIVOTS):
        relation = apply_pivot(scope, relation, pivot)
    return _apply_order(node, relation, scope)


def _select(node: tree.Node, outer: Scope) -> Relation:
    scope = Scope(outer.reading, outer)
    read_ctes(node, scope)
    rows: Flow = {}
    read_from(scope, node, rows)
    for name, scalar in scope.scalars.items():
        formula = scope.meaning.value(scalar) if scope.meaning is not None else None
        scope.aliases = {**scope.aliases, name: Output(name, flow_of(scope, scalar), formula=formula)}
    outputs = project(scope, tree.items(node), struct=tree.arg(node, tree.KIND) == "STRUCT")
    if tree.arg(node, tree.KIND) == "VALUE" and len(outputs) == 1 and outputs[0].fields:
        outputs = list(outputs[0].fields.values())
    aliases = {output.name: output for output in outputs if isinstance(output.node, c.Alias)}
    dialect = scope.reading.dialect
    new_aliases = {name: output for name, output in aliases.items() if name not in scope.proven}
    scope.aliases = {**scope.aliases, **new_aliases} if dialect.alias_filters else scope.aliases
    scope.aliases_first = dialect.lateral == "before"
    for clause in (tree.PREWHERE, tree.WHERE):
        add_filter(scope, node, clause, rows)
    scope.aliases = (
        {**aliases, **scope.aliases, **new_aliases} if dialect.name == "mysql" else {**scope.aliases, **new_aliases}
    )
    add_grouping(scope, node, outputs, rows)
    for clause in (tree.HAVING, tree.QUALIFY):
        scope.aliases_first = scope.aliases_first or (clause == tree.HAVING and dialect.name == "mysql")
        add_filter(scope, node, clause, rows)
    add_distinct_on(scope, node, outputs, rows)
    scope.aliases, scope.aliases_first = {**scope.aliases, **aliases}, True
    add_sorting(scope, node, outputs, rows)
    if tree.arg(node, tree.FOR) is not None:
        outputs = [Output("#1", merge_flows(*(apply_step(column.flow, TRANSFORMATION) for column in outputs)))]
    relation = Relation(outputs, rows, _source_reads(scope))
    return scope.meaning.finish(node, relation) if scope.meaning is not None else relation


def read_from(scope: Scope, node: tree.Node, rows: Flow) -> None:
    """Read FROM with its joins and lateral views; add the influences on rows to `rows`."""
    source = tree.arg(node, tree.FROM)
    if scope.meaning is not None:
        scope.meaning.expect(node)
    if source is not None:
        add_source(scope, tree.this(source))
    add_joins(scope, node, rows)
    add_laterals(scope, node)
    if tree.arg(node, tree.MATCH) is not None:
        add_match_recognize(scope, tree.arg(node, tree.MATCH), rows)
    for window in tree.list_arg(node, tree.WINDOWS):
        scope.windows[column_name(scope.reading.dialect, tree.this(window))] = window
    connect = tree.arg(node, tree.CONNECT)
    if connect is not None and scope.meaning is not None:
        scope.meaning.give_up("CONNECT BY")
    if connect is not None:
        for condition, kind in ((tree.arg(connect, tree.START), FILTER), (tree.arg(connect, tree.CONNECT), JOIN)):
            if condition is not None:
                add_condition(scope, condition, kind, rows)
    for inherited in _source_rows(scope):
        absorb(rows, inherited, IDENTITY)


def _source_relation(scope: Scope) -> Relation:
    """The sources of a scope, joined, as a relation."""
    relation = Relation(scope.row, merge_flows(*_source_rows(scope)), _source_reads(scope))
    return scope.meaning.sources(relation) if scope.meaning is not None else relation


def _source_rows(scope: Scope) -> list[Flow]:
    return [source.relation.rows for source in (*scope.sources, *scope.hidden_sources)]


def _source_reads(scope: Scope) -> frozenset[Table]:
    sources = (*scope.sources, *scope.hidden_sources)
    return frozenset().union(*(source.relation.reads for source in sources), scope.extra_reads)
