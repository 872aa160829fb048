"""SET lists: UPDATE, MERGE, ON CONFLICT."""

from whence.capture.sql.names.names import column_name
from whence.capture.sql.provenance.flows import Flow, merge_flows
from whence.capture.sql.queries.expressions import flow_of
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def assigned_name(scope: Scope, node: tree.Node) -> str:
    """The column that SET assigns: without its table, with its fields."""
    dialect = scope.reading.dialect
    path = tree.path_of(node)
    if path is None:
        return column_name(dialect, node)
    names = [column_name(dialect, part) for part in path[0] + path[1]]
    for length in range(len(names) - 1, 0, -1):
        if scope.source(names[:length]) is not None:
            return ".".join(names[length:])
    return ".".join(names)


def read_assignments(scope: Scope, nodes: list[tree.Node]) -> list[tuple[tree.Node, Flow, tree.Node]]:
    """Read SET a = e, (b, c) = (SELECT …): each column with its flow and its expression."""
    assignments: list[tuple[tree.Node, Flow, tree.Node]] = []
    is_sequential = scope.reading.dialect.name == "mysql"
    for node in nodes:
        if not isinstance(node, c.EQ):
            continue
        left, right = tree.this(node), tree.arg(node, tree.EXPRESSION)
        if not isinstance(left, c.Tuple):
            flow = flow_of(scope, right)
            assignments.append((left, flow, right))
            if is_sequential:
                scope.override_column(assigned_name(scope, left), flow)
            continue
        inside = tree.query_in(right)
        if inside is not None:
            relation = scope.query(inside)
            values = [merge_flows(output.flow, relation.rows) for output in relation.outputs]
        else:
            values = [flow_of(scope, part) for part in tree.items(right)]
        assignments += [(column, flow, right) for column, flow in zip(tree.items(left), values, strict=False)]
    return assignments
