"""Queries: common table expressions, SELECT, set operations. A query becomes a relation."""

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
from whence.capture.sql.provenance.relations import EMPTY, STAR, Output, Relation, name_columns, rename_outputs
from whence.capture.sql.queries.conditions import add_condition, add_filter, keep_condition
from whence.capture.sql.queries.expressions import flow_of, gather, value_of
from whence.capture.sql.queries.orderings import add_distinct_on, add_grouping, add_sorting
from whence.capture.sql.queries.pivots import apply_pivot
from whence.capture.sql.queries.projections import project
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope, alias_name
from whence.capture.sql.queries.sources import add_joins, add_laterals, add_match_recognize, add_source
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

_ROUNDS = 12
"""A recursive query is read until its flows stop growing; no real one needs more rounds."""


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


def read_ctes(node: tree.Node, scope: Scope) -> None:
    """Read the WITH of a statement: each expression once, in order."""
    clause = tree.arg(node, tree.WITH)
    if clause is None:
        return
    scope.ctes = dict(scope.ctes)
    for item in tree.items(clause):
        scope.ctes[alias_name(scope.reading, tree.alias_of(item))] = _read_cte(item, scope)
    search = tree.arg(clause, tree.SEARCH)
    if search is not None:
        _add_search_column(scope, tree.items(clause)[-1], search)


def _add_search_column(scope: Scope, last: tree.Node, search: tree.Node) -> None:
    """SEARCH DEPTH FIRST BY a SET b: adds column b with the flow of a."""
    name = alias_name(scope.reading, tree.alias_of(last))
    relation = scope.ctes[name]
    key = relation.find(column_name(scope.reading.dialect, tree.this(search)))
    added = tree.arg(search, tree.EXPRESSION)
    if key is not None and added is not None:
        output = Output(column_name(scope.reading.dialect, added), key.flow)
        scope.ctes[name] = Relation([*relation.outputs, output], relation.rows, relation.reads)


def _read_cte(node: tree.Node, scope: Scope) -> Relation:
    name = alias_name(scope.reading, tree.alias_of(node))
    columns = [column_name(scope.reading.dialect, column) for column in tree.alias_columns(node)]
    inside = tree.this(node)
    if tree.arg(node, tree.SCALAR) or not isinstance(inside, c.Query | c.Values):
        return _special_cte(inside, name, columns, scope)
    operation = tree.query_in(inside)
    if isinstance(operation, c.SetOperation) and _mentions(operation, name, scope.reading):
        return _recursive(operation, name, columns, scope)
    relation = query(inside, scope)
    return name_columns(relation, columns)


def _special_cte(node: tree.Node, name: str, columns: list[str], scope: Scope) -> Relation:
    """ClickHouse's `WITH expression AS name`, and PostgreSQL's statements that return rows."""
    if isinstance(node, c.DML):
        returned = scope.reading.inner(node, scope)
        return Relation(rename_outputs(returned.outputs, columns), returned.rows, returned.reads)
    if isinstance(node, c.Query | c.Literal):
        flow = flow_of(scope, node)
        formula = scope.meaning.value(node) if scope.meaning is not None else None
        scope.aliases = {**scope.aliases, name: Output(name, flow, formula=formula)}
        return Relation([Output(name, flow)])
    scope.scalars[name] = node
    return EMPTY


def _recursive(node: tree.Node, name: str, columns: list[str], scope: Scope) -> Relation:
    """Read the anchor, then repeat the steps with the result so far until no flow grows."""
    inner = Scope(scope.reading, scope)
    inner.ctes = dict(scope.ctes)
    read_ctes(node, inner)
    anchors: list[tree.Node] = []
    steps: list[tree.Node] = []
    for branch in _branches(node):
        (steps if _mentions(branch, name, scope.reading) else anchors).append(branch)
    result = _union_relations([query(branch, inner) for branch in anchors], columns)
    for _ in range(_ROUNDS):
        inner.ctes[name] = result
        grown = _union_relations([result, *(query(branch, inner) for branch in steps)], columns)
        if _flow_weight(grown) == _flow_weight(result):
            break
        result = grown
    return _recursive_meaning(node, name, anchors, steps, inner, result)


def _recursive_meaning(
    node: tree.Node, name: str, anchors: list[tree.Node], steps: list[tree.Node], inner: Scope, result: Relation
) -> Relation:
    meanings = inner.reading.meanings
    if meanings is None:
        return result
    inner.ctes[name] = meanings.placeholder(name, result)
    return meanings.recursive(name, node, [query(branch, inner) for branch in (*anchors, *steps)], result)


def _union_relations(relations: list[Relation], columns: list[str]) -> Relation:
    if not relations:
        return Relation([Output(name, {}) for name in columns])
    result = relations[0]
    for other in relations[1:]:
        result = Relation(_merge_by_position(result.outputs, other.outputs), *_rows_and_reads(result, other))
    return Relation(rename_outputs(result.outputs, columns), result.rows, result.reads)


def _flow_weight(relation: Relation) -> int:
    flows = [relation.rows, *(output.flow for output in relation.outputs)]
    return sum(bits.bit_count() for flow in flows for bits in flow.values())


def _mentions(node: tree.Node, name: str, reading: Reading) -> bool:
    for table in node.find_all(c.Table):
        parts = tree.table_parts(table)
        if len(parts) == 1 and alias_name(reading, parts[0]) == name:
            return True
    return False


def _branches(node: tree.Node) -> list[tree.Node]:
    """The queries of a chain of set operations, from left to right."""
    right_branches: list[tree.Node] = []
    while isinstance(node, c.SetOperation):
        right_branches.append(tree.arg(node, tree.EXPRESSION))
        node = tree.query_in(tree.this(node)) or tree.this(node)
    return [node, *reversed(right_branches)]


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
    rows, reads = _rows_and_reads(left, right)
    if not isinstance(operation, c.Union):
        compared = dict(rows)
        for output in right.outputs:
            absorb(compared, output.flow, FILTER)
            keep_condition(output.flow, FILTER, operation.key.upper())
        return Relation(left.outputs, compared, reads)
    merge = _merge_by_name if tree.arg(operation, tree.BY_NAME) else _merge_by_position
    return Relation(merge(left.outputs, right.outputs), rows, reads)


def _rows_and_reads(left: Relation, right: Relation) -> tuple[Flow, frozenset[Table]]:
    return merge_flows(left.rows, right.rows), left.reads | right.reads


def _merge_by_position(left: list[Output], right: list[Output]) -> list[Output]:
    if len(left) != len(right) and any(output.name == STAR for output in left + right):
        return _merge_by_name(left, right)
    merged = [
        Output(
            left_output.name,
            merge_flows(left_output.flow, right_output.flow),
            left_output.fields,
            left_output.hidden & right_output.hidden,
            left_output.node,
        )
        for left_output, right_output in zip(left, right, strict=False)
    ]
    return merged + left[len(merged) :]


def _merge_by_name(left: list[Output], right: list[Output]) -> list[Output]:
    right_by_name = {output.name: output for output in right}
    left_names = {output.name for output in left}
    merged = [
        Output(output.name, merge_flows(output.flow, right_by_name[output.name].flow), node=output.node)
        if output.name in right_by_name
        else output
        for output in left
    ]
    return merged + [output for output in right if output.name not in left_names]


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
