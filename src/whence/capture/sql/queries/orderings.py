"""GROUP BY, DISTINCT ON, LIMIT BY and ORDER BY: clauses that may refer to the select list by position or alias."""

from whence.capture.sql.provenance.flows import GROUP_BY, SORT, Flow, absorb
from whence.capture.sql.provenance.relations import Output
from whence.capture.sql.queries.conditions import add_condition, keep_condition
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def add_grouping(scope: Scope, node: tree.Node, outputs: list[Output], rows: Flow) -> None:
    clause = tree.arg(node, tree.GROUP)
    if clause is None:
        return
    if scope.meaning is not None:
        scope.meaning.add_grouping(clause, outputs)
    if tree.arg(clause, tree.ALL):
        for output in outputs:
            if isinstance(output.node, tree.Node) and not any(output.node.find_all(c.AggFunc)):
                _add_output(output, GROUP_BY, rows)
    for child in tree.children(clause):
        _add_expression(scope, child, outputs, GROUP_BY, rows)


def add_distinct_on(scope: Scope, node: tree.Node, outputs: list[Output], rows: Flow) -> None:
    if scope.meaning is not None:
        scope.meaning.add_distinct_on(node, outputs)
    distinct = tree.arg(node, tree.DISTINCT)
    on = tree.arg(distinct, tree.ON) if distinct is not None else None
    for item in tree.items(on) if isinstance(on, c.Tuple) else []:
        _add_expression(scope, item, outputs, GROUP_BY, rows)
    limit = tree.arg(node, tree.LIMIT)
    for item in tree.items(limit) if limit is not None else []:
        _add_expression(scope, item, outputs, GROUP_BY, rows)


def add_sorting(scope: Scope, node: tree.Node, outputs: list[Output], rows: Flow) -> None:
    if scope.meaning is not None:
        scope.meaning.add_sorting(node, outputs)
    for clause in tree.ORDERINGS:
        order = tree.arg(node, clause)
        for item in tree.items(order) if order is not None else []:
            inside = tree.this(item) if isinstance(item, c.Ordered) else item
            if isinstance(inside, c.Var) and tree.text_of(inside)[0].upper() == "ALL":
                for output in outputs:
                    _add_output(output, SORT, rows)
            else:
                _add_expression(scope, inside, outputs, SORT, rows)


def _add_expression(scope: Scope, node: tree.Node, outputs: list[Output], kind: int, rows: Flow) -> None:
    """Add a grouping or sorting expression. A number is a position in the select list."""
    if isinstance(node, c.Literal):
        text, string = tree.text_of(node)
        if not string and text.isdigit() and 0 < int(text) <= len(outputs):
            _add_output(outputs[int(text) - 1], kind, rows)
        return
    if kind == GROUP_BY and isinstance(node, c.Tuple | c.Rollup | c.Cube | c.GroupingSets):
        for child in tree.children(node):
            _add_expression(scope, child, outputs, kind, rows)
        return
    aliases = scope.aliases
    if kind == SORT and scope.reading.dialect.name in ("postgres", "redshift") and not isinstance(node, c.Column):
        scope.aliases = {}
    add_condition(scope, node, kind, rows)
    scope.aliases = aliases


def _add_output(output: Output, kind: int, rows: Flow) -> None:
    """Add a column of the select list."""
    absorb(rows, output.flow, kind)
    inside = tree.this(output.node) if isinstance(output.node, c.Alias) else output.node
    keep_condition(output.flow, kind, inside or output.name)
