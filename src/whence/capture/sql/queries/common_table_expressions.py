"""Common table expressions: the WITH of a statement, also recursive ones and those of ClickHouse and PostgreSQL."""

from whence.capture.sql.names.names import column_name
from whence.capture.sql.provenance.relations import EMPTY, Output, Relation, name_columns, rename_outputs
from whence.capture.sql.provenance.unions import flow_weight, union_relations
from whence.capture.sql.queries.expressions import flow_of
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope, alias_name
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

_ROUNDS = 12
"""A recursive query is read until its flows stop growing; no real one needs more rounds."""


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
    if scope.meaning is not None:
        scope.meaning.give_up("SEARCH")
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
    relation = scope.reading.query(inside, scope)
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
    result = union_relations([scope.reading.query(branch, inner) for branch in anchors], columns)
    for _ in range(_ROUNDS):
        inner.ctes[name] = result
        grown = union_relations([result, *(scope.reading.query(branch, inner) for branch in steps)], columns)
        if flow_weight(grown) == flow_weight(result):
            break
        result = grown
    return _recursive_meaning(node, name, anchors, steps, inner, result)


def _recursive_meaning(
    node: tree.Node, name: str, anchors: list[tree.Node], steps: list[tree.Node], inner: Scope, result: Relation
) -> Relation:
    meanings = inner.reading.meanings
    if meanings is None:
        return result
    first = [inner.reading.query(branch, inner) for branch in anchors]
    inner.ctes[name] = meanings.placeholder(name, result, first)
    return meanings.recursive(name, node, [*first, *(inner.reading.query(step, inner) for step in steps)], result)


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
