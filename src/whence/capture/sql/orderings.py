"""GROUP BY, DISTINCT ON, LIMIT BY and ORDER BY: clauses that may name columns of the select list by place or alias."""

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.conditions import choose, remember
from whence.capture.sql.flows import GROUP_BY, SORT, Flow, absorb
from whence.capture.sql.relations import Output
from whence.capture.sql.scopes import Scope


def group(scope: Scope, node: tree.Node, outputs: list[Output], rows: Flow) -> None:
    group = tree.arg(node, tree.GROUP)
    if group is None:
        return
    if tree.arg(group, tree.ALL):
        for output in outputs:
            if isinstance(output.node, tree.Node) and not any(output.node.find_all(c.AggFunc)):
                _taken(output, GROUP_BY, rows)
    for one in tree.children(group):
        _place(scope, one, outputs, GROUP_BY, rows)


def distinct_on(scope: Scope, node: tree.Node, outputs: list[Output], rows: Flow) -> None:
    distinct = tree.arg(node, tree.DISTINCT)
    on = tree.arg(distinct, tree.ON) if distinct is not None else None
    for one in tree.items(on) if isinstance(on, c.Tuple) else []:
        _place(scope, one, outputs, GROUP_BY, rows)
    limit = tree.arg(node, tree.LIMIT)
    for one in tree.items(limit) if limit is not None else []:
        _place(scope, one, outputs, GROUP_BY, rows)


def sort(scope: Scope, node: tree.Node, outputs: list[Output], rows: Flow) -> None:
    for clause in tree.ORDERINGS:
        order = tree.arg(node, clause)
        for one in tree.items(order) if order is not None else []:
            inside = tree.this(one) if isinstance(one, c.Ordered) else one
            if isinstance(inside, c.Var) and tree.text_of(inside)[0].upper() == "ALL":
                for output in outputs:
                    _taken(output, SORT, rows)
            else:
                _place(scope, inside, outputs, SORT, rows)


def _place(scope: Scope, node: tree.Node, outputs: list[Output], kind: int, rows: Flow) -> None:
    """A grouping or sorting expression: a number is a place in the select list."""
    if isinstance(node, c.Literal):
        text, string = tree.text_of(node)
        if not string and text.isdigit() and 0 < int(text) <= len(outputs):
            _taken(outputs[int(text) - 1], kind, rows)
        return
    if kind == GROUP_BY and isinstance(node, c.Tuple | c.Rollup | c.Cube | c.GroupingSets):
        for one in tree.children(node):
            _place(scope, one, outputs, kind, rows)
        return
    aliases = scope.aliases
    if kind == SORT and scope.reading.dialect.name in ("postgres", "redshift") and not isinstance(node, c.Column):
        scope.aliases = {}
    choose(scope, node, kind, rows)
    scope.aliases = aliases


def _taken(output: Output, kind: int, rows: Flow) -> None:
    """A column of the select list, by its place."""
    absorb(rows, output.flow, kind)
    inside = tree.this(output.node) if isinstance(output.node, c.Alias) else output.node
    remember(output.flow, kind, inside or output.name)
