"""Queries: common table expressions, SELECT, set operations. A query in, the relation that it gives out."""

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.conditions import choose, conjuncts, remember
from whence.capture.sql.expressions import flow_of, gather, value_of
from whence.capture.sql.flows import (
    FILTER,
    IDENTITY,
    JOIN,
    TRANSFORMATION,
    Flow,
    absorb,
    joined,
    stepped,
)
from whence.capture.sql.lineage import Table
from whence.capture.sql.names import column_name
from whence.capture.sql.orderings import distinct_on, group, sort
from whence.capture.sql.pivots import pivoted
from whence.capture.sql.projections import project
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import EMPTY, STAR, Output, Relation, listed, renamed
from whence.capture.sql.scopes import Scope, alias_name
from whence.capture.sql.sources import add_joins, add_laterals, add_source, match_rows

_ROUNDS = 12
"""A recursive query is read until its flows stop growing; no real one needs more."""


def query(node: tree.Node, outer: Scope) -> Relation:
    """The relation that a query gives; `outer` has the names around it. Raises BudgetSpentError."""
    outer.reading.tick()
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
            return Relation(scope.row, joined(*_rows(scope)), _reads(scope))
        case c.Values():
            return values(node, outer)
        case c.Pivot():
            return _pivot_statement(node, outer)
    inside = tree.query_in(node)
    return query(inside, outer) if inside is not None and inside is not node else EMPTY


def _pivot_statement(node: tree.Node, outer: Scope) -> Relation:
    """DuckDB's PIVOT and UNPIVOT as statements of their own."""
    scope = Scope(outer.reading, outer)
    with_ctes(node, scope)
    add_source(scope, tree.this(node))
    return pivoted(scope, Relation(scope.row, joined(*_rows(scope)), _reads(scope)), node)


def values(node: tree.Node, outer: Scope) -> Relation:
    """VALUES: the columns of all its rows, by position."""
    rows = [tree.items(row) if isinstance(row, c.Tuple) else [row] for row in tree.items(node)]
    rows = [tree.items(row[0]) if len(row) == 1 and isinstance(row[0], c.Tuple) else row for row in rows]
    if len(rows) == 1 and len(rows[0]) == 1 and outer.reading.variables:
        record = value_of(outer, rows[0][0])
        if record.fields and not record.flow:
            return Relation(list(record.fields.values()))
    columns: list[Flow] = [{} for _ in max(rows, key=len, default=[])]
    literals = (c.Literal, c.Null, c.Boolean)
    for row in rows:
        for into, one in zip(columns, row, strict=False):
            if not isinstance(one, literals):
                gather(outer, one, IDENTITY, into)
    return Relation([Output(f"#{place}", flow) for place, flow in enumerate(columns, start=1)])


def with_ctes(node: tree.Node, scope: Scope) -> None:
    """Read the WITH of a statement: each expression once, in order."""
    clause = tree.arg(node, tree.WITH)
    if clause is None:
        return
    scope.ctes = dict(scope.ctes)
    for one in tree.items(clause):
        scope.ctes[alias_name(scope.reading, tree.alias_of(one))] = _cte(one, scope)
    search = tree.arg(clause, tree.SEARCH)
    if search is not None:
        _searched(scope, tree.items(clause)[-1], search)


def _searched(scope: Scope, last: tree.Node, search: tree.Node) -> None:
    """SEARCH DEPTH FIRST BY a SET b: a column more, made of a."""
    name = alias_name(scope.reading, tree.alias_of(last))
    relation = scope.ctes[name]
    by = relation.find(column_name(scope.reading.dialect, tree.this(search)))
    made = tree.arg(search, tree.EXPRESSION)
    if by is not None and made is not None:
        output = Output(column_name(scope.reading.dialect, made), by.flow)
        scope.ctes[name] = Relation([*relation.outputs, output], relation.rows, relation.reads)


def _cte(node: tree.Node, scope: Scope) -> Relation:
    name = alias_name(scope.reading, tree.alias_of(node))
    columns = [column_name(scope.reading.dialect, one) for one in tree.alias_columns(node)]
    inside = tree.this(node)
    if tree.arg(node, tree.SCALAR) or not isinstance(inside, c.Query | c.Values):
        return _other_cte(inside, name, columns, scope)
    operation = tree.query_in(inside)
    if isinstance(operation, c.SetOperation) and _mentions(operation, name, scope.reading):
        return _recursive(operation, name, columns, scope)
    relation = query(inside, scope)
    return listed(relation, columns)


def _other_cte(node: tree.Node, name: str, columns: list[str], scope: Scope) -> Relation:
    """ClickHouse's `WITH expression AS name`, and PostgreSQL's statements that return rows."""
    if isinstance(node, c.DML):
        returned = scope.reading.inner(node, scope)
        return Relation(renamed(returned.outputs, columns), returned.rows, returned.reads)
    if isinstance(node, c.Query | c.Literal):
        flow = flow_of(scope, node)
        scope.aliases = {**scope.aliases, name: Output(name, flow)}
        return Relation([Output(name, flow)])
    scope.scalars[name] = node
    return EMPTY


def _recursive(node: tree.Node, name: str, columns: list[str], scope: Scope) -> Relation:
    """The anchor first; then again with what is known of the query itself, until nothing is added."""
    inner = Scope(scope.reading, scope)
    inner.ctes = dict(scope.ctes)
    with_ctes(node, inner)
    anchors: list[tree.Node] = []
    steps: list[tree.Node] = []
    for branch in _branches(node):
        (steps if _mentions(branch, name, scope.reading) else anchors).append(branch)
    result = _merged([query(branch, inner) for branch in anchors], columns)
    for _ in range(_ROUNDS):
        inner.ctes[name] = result
        grown = _merged([result, *(query(branch, inner) for branch in steps)], columns)
        if _weight(grown) == _weight(result):
            break
        result = grown
    return result


def _merged(relations: list[Relation], columns: list[str]) -> Relation:
    if not relations:
        return Relation([Output(name, {}) for name in columns])
    result = relations[0]
    for other in relations[1:]:
        result = Relation(_by_position(result.outputs, other.outputs), *_around(result, other))
    return Relation(renamed(result.outputs, columns), result.rows, result.reads)


def _weight(relation: Relation) -> int:
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
    found: list[tree.Node] = []
    while isinstance(node, c.SetOperation):
        found.append(tree.arg(node, tree.EXPRESSION))
        node = tree.query_in(tree.this(node)) or tree.this(node)
    return [node, *reversed(found)]


def _set_operation(node: tree.Node, outer: Scope) -> Relation:
    """By position; UNION BY NAME by name. What EXCEPT and INTERSECT compare with only chooses rows."""
    scope = Scope(outer.reading, outer)
    with_ctes(node, scope)
    chain: list[tree.Node] = []
    left: tree.Node = node
    while isinstance(left, c.SetOperation):
        chain.append(left)
        left = tree.this(left)
        if left is not node and isinstance(left, c.SetOperation):
            with_ctes(left, scope)
    relation = query(left, scope)
    for operation in reversed(chain):
        relation = _combined(operation, relation, query(tree.arg(operation, tree.EXPRESSION), scope))
    return _ordered(node, relation, scope)


def _combined(operation: tree.Node, left: Relation, right: Relation) -> Relation:
    rows, reads = _around(left, right)
    if not isinstance(operation, c.Union):
        compared = dict(rows)
        for output in right.outputs:
            absorb(compared, output.flow, FILTER)
            remember(output.flow, FILTER, operation.key.upper())
        return Relation(left.outputs, compared, reads)
    both = _by_name if tree.arg(operation, tree.BY_NAME) else _by_position
    return Relation(both(left.outputs, right.outputs), rows, reads)


def _around(left: Relation, right: Relation) -> tuple[Flow, frozenset[Table]]:
    return joined(left.rows, right.rows), left.reads | right.reads


def _by_position(left: list[Output], right: list[Output]) -> list[Output]:
    if len(left) != len(right) and any(one.name == STAR for one in left + right):
        return _by_name(left, right)
    paired = [
        Output(mine.name, joined(mine.flow, its.flow), mine.fields, mine.hidden & its.hidden, mine.node)
        for mine, its in zip(left, right, strict=False)
    ]
    return paired + left[len(paired) :]


def _by_name(left: list[Output], right: list[Output]) -> list[Output]:
    theirs = {one.name: one for one in right}
    mine = {one.name for one in left}
    paired = [
        Output(one.name, joined(one.flow, theirs[one.name].flow), node=one.node) if one.name in theirs else one
        for one in left
    ]
    return paired + [one for one in right if one.name not in mine]


def _ordered(node: tree.Node, relation: Relation, outer: Scope) -> Relation:
    """ORDER BY behind a set operation or brackets: it sees the columns of the result."""
    scope = Scope(outer.reading, outer)
    scope.aliases, scope.before = relation.index, True
    rows = dict(relation.rows)
    sort(scope, node, relation.outputs, rows)
    return Relation(relation.outputs, rows, relation.reads)


def _subquery(node: tree.Node, outer: Scope) -> Relation:
    """Brackets, with what may stand behind them."""
    scope = Scope(outer.reading, outer)
    with_ctes(node, scope)
    inside = tree.this(node)
    if isinstance(inside, c.Table) or tree.listed(node, tree.JOINS):
        add_source(scope, node)
        return Relation(scope.row, joined(*_rows(scope)), _reads(scope))
    relation = query(inside, scope)
    names = [column_name(scope.reading.dialect, one) for one in tree.alias_columns(node)]
    relation = listed(relation, names)
    for pivot in tree.listed(node, tree.PIVOTS):
        relation = pivoted(scope, relation, pivot)
    return _ordered(node, relation, scope)


def _select(node: tree.Node, outer: Scope) -> Relation:
    scope = Scope(outer.reading, outer)
    with_ctes(node, scope)
    rows: Flow = {}
    read_from(scope, node, rows)
    for name, scalar in scope.scalars.items():
        scope.aliases = {**scope.aliases, name: Output(name, flow_of(scope, scalar))}
    outputs = project(scope, tree.items(node), struct=tree.arg(node, tree.KIND) == "STRUCT")
    if tree.arg(node, tree.KIND) == "VALUE" and len(outputs) == 1 and outputs[0].fields:
        outputs = list(outputs[0].fields.values())
    aliases = {output.name: output for output in outputs if isinstance(output.node, c.Alias)}
    dialect = scope.reading.dialect
    new = {name: output for name, output in aliases.items() if name not in scope.proven}
    scope.aliases = {**scope.aliases, **new} if dialect.alias_filters else scope.aliases
    scope.before = dialect.lateral == "before"
    for clause in (tree.PREWHERE, tree.WHERE):
        _condition(scope, node, clause, rows)
    scope.aliases = {**aliases, **scope.aliases, **new} if dialect.name == "mysql" else {**scope.aliases, **new}
    group(scope, node, outputs, rows)
    for clause in (tree.HAVING, tree.QUALIFY):
        scope.before = scope.before or (clause == tree.HAVING and dialect.name == "mysql")
        _condition(scope, node, clause, rows)
    distinct_on(scope, node, outputs, rows)
    scope.aliases, scope.before = {**scope.aliases, **aliases}, True
    sort(scope, node, outputs, rows)
    if tree.arg(node, tree.FOR) is not None:
        outputs = [Output("#1", joined(*(stepped(one.flow, TRANSFORMATION) for one in outputs)))]
    return Relation(outputs, rows, _reads(scope))


def read_from(scope: Scope, node: tree.Node, rows: Flow) -> None:
    """FROM with its joins and lateral views; what chooses rows there goes to `rows`."""
    source = tree.arg(node, tree.FROM)
    if source is not None:
        add_source(scope, tree.this(source))
    add_joins(scope, node, rows)
    add_laterals(scope, node)
    if tree.arg(node, tree.MATCH) is not None:
        match_rows(scope, tree.arg(node, tree.MATCH), rows)
    for window in tree.listed(node, tree.WINDOWS):
        scope.windows[column_name(scope.reading.dialect, tree.this(window))] = window
    connect = tree.arg(node, tree.CONNECT)
    if connect is not None:
        for one, kind in ((tree.arg(connect, tree.START), FILTER), (tree.arg(connect, tree.CONNECT), JOIN)):
            if one is not None:
                choose(scope, one, kind, rows)
    for inherited in _rows(scope):
        absorb(rows, inherited, IDENTITY)


def _condition(scope: Scope, node: tree.Node, clause: str, rows: Flow) -> None:
    found = tree.arg(node, clause)
    if found is None:
        return
    if scope.reading.dialect.name != "oracle":
        choose(scope, tree.this(found), FILTER, rows)
        return
    for one in conjuncts(tree.this(found)):
        outer = any(tree.arg(column, tree.JOIN_MARK) for column in one.find_all(c.Column))
        choose(scope, one, JOIN if outer else FILTER, rows)


def _rows(scope: Scope) -> list[Flow]:
    return [source.relation.rows for source in (*scope.sources, *scope.aside)]


def _reads(scope: Scope) -> frozenset[Table]:
    sources = (*scope.sources, *scope.aside)
    return frozenset().union(*(source.relation.reads for source in sources), scope.extra_reads)
