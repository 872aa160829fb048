"""SET lists: UPDATE, MERGE, ON CONFLICT."""

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.expressions import flow_of
from whence.capture.sql.flows import Flow, joined
from whence.capture.sql.names import column_name
from whence.capture.sql.scopes import Scope


def set_name(scope: Scope, node: tree.Node) -> str:
    """The column that SET names: without its table, with its fields."""
    dialect = scope.reading.dialect
    path = tree.path_of(node)
    if path is None:
        return column_name(dialect, node)
    names = [column_name(dialect, one) for one in path[0] + path[1]]
    for length in range(len(names) - 1, 0, -1):
        if scope.source(names[:length]) is not None:
            return ".".join(names[length:])
    return ".".join(names)


def assigned(scope: Scope, nodes: list[tree.Node]) -> list[tuple[tree.Node, Flow, tree.Node]]:
    """SET a = e, (b, c) = (SELECT …): each column with what flows into it."""
    found: list[tuple[tree.Node, Flow, tree.Node]] = []
    in_order = scope.reading.dialect.name == "mysql"
    for one in nodes:
        if not isinstance(one, c.EQ):
            continue
        left, right = tree.this(one), tree.arg(one, tree.EXPRESSION)
        if not isinstance(left, c.Tuple):
            flow = flow_of(scope, right)
            found.append((left, flow, right))
            if in_order:
                scope.sets(set_name(scope, left), flow)
            continue
        inside = tree.query_in(right)
        if inside is not None:
            relation = scope.query(inside)
            values = [joined(output.flow, relation.rows) for output in relation.outputs]
        else:
            values = [flow_of(scope, part) for part in tree.items(right)]
        found += [(column, flow, right) for column, flow in zip(tree.items(left), values, strict=False)]
    return found
