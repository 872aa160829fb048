"""Conditions that choose, join, group and order rows.

Each leaf keeps the conditions that contain it. Their text is generated for an edge: short, without the queries inside
of them.
"""

from collections.abc import Iterable

from whence.capture.sql.provenance.flows import FILTER, IDENTITY, JOIN, Flow, Leaf, absorb
from whence.capture.sql.queries.expressions import gather
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

_MAX_CONDITIONS = 4
"""Conditions that a leaf keeps per kind: more would not be read."""
_LONG_LIST = 20
"""A list with more members than this is written with its first members only."""
_QUERY = "(…)"
_OPERATORS: dict[type, str] = {
    c.EQ: "=",
    c.GT: ">",
    c.GTE: ">=",
    c.LT: "<",
    c.LTE: "<=",
    c.NEQ: "<>",
}


def add_condition(scope: Scope, node: tree.Node, kind: int, rows: Flow) -> None:
    """Add the leaves of a condition to the influences on rows, one conjunct at a time."""
    for conjunct in conjuncts(node):
        flow: Flow = {}
        gather(scope, conjunct, kind, flow)
        keep_condition((leaf for leaf, bits in flow.items() if bits & kind), kind, conjunct)
        absorb(rows, flow, IDENTITY)


def add_filter(scope: Scope, node: tree.Node, clause: str, rows: Flow) -> None:
    """Add the condition of a WHERE, HAVING or QUALIFY clause. Oracle's `(+)` makes it the condition of a join."""
    condition = tree.arg(node, clause)
    if condition is None:
        return
    if scope.meaning is not None:
        scope.meaning.add_filter(clause, tree.this(condition))
    if scope.reading.dialect.name != "oracle":
        add_condition(scope, tree.this(condition), FILTER, rows)
        return
    for conjunct in conjuncts(tree.this(condition)):
        is_outer = any(tree.arg(column, tree.JOIN_MARK) for column in conjunct.find_all(c.Column))
        add_condition(scope, conjunct, JOIN if is_outer else FILTER, rows)


def keep_condition(leaves: Iterable[Leaf], kind: int, node: object) -> None:
    """Attach a condition, as a node or as text, to the leaves that it contains."""
    for leaf in leaves:
        conditions = leaf.conditions.setdefault(kind, [])
        if len(conditions) < _MAX_CONDITIONS and not any(kept is node or _is_within(kept, node) for kept in conditions):
            conditions.append(node)


def _is_within(condition: object, node: object) -> bool:
    """Whether a condition is inside a query of another condition: then the inner one is more specific."""
    inner = condition if isinstance(condition, tree.Node) else None
    while inner is not None and inner is not node:
        inner = inner.parent
    return inner is not None


def conjuncts(node: tree.Node, kind: type = c.And) -> list[tree.Node]:
    """The parts of an AND, or of an OR, from left to right."""
    parts: list[tree.Node] = []
    todo = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, kind):
            todo += [tree.arg(part, tree.EXPRESSION), tree.this(part)]
        else:
            parts.append(part)
    return parts


def condition_texts(leaf: Leaf, kind: int, grammar: str) -> str:
    """The conditions of one kind that contain a leaf, without repetition: `a > 1; a < 5`."""
    conditions = leaf.conditions.get(kind)
    if not conditions:
        return ""
    try:
        distinct_texts = dict.fromkeys(_text_of(one, grammar) for one in conditions)
    except RecursionError:
        return ""
    return "; ".join(one for one in distinct_texts if one)


def _text_of(node: object, grammar: str) -> str:
    return condition_text(node, grammar) if isinstance(node, tree.Node) else str(node)


def condition_text(node: tree.Node, grammar: str) -> str:
    """Generate a condition as SQL. Queries inside of it become `(…)`, since they have conditions of their own."""
    operator = _OPERATORS.get(type(node))
    if operator is not None:
        sides = (tree.this(node), tree.arg(node, tree.EXPRESSION))
        return f" {operator} ".join(condition_text(side, grammar) for side in sides)
    match node:
        case c.Column():
            return tree.source_text(node, grammar)
        case c.Or() | c.And():
            parts = conjuncts(node, type(node))
            return f" {node.key.upper()} ".join(condition_text(part, grammar) for part in parts)
        case c.Paren():
            return f"({condition_text(tree.this(node), grammar)})"
        case c.Not():
            return f"NOT {condition_text(tree.this(node), grammar)}"
        case c.Ordered():
            return condition_text(tree.this(node), grammar)
        case c.Exists():
            return f"EXISTS {_QUERY}"
        case c.Query():
            return _QUERY
        case c.In() if tree.arg(node, "query") is not None:
            return f"{condition_text(tree.this(node), grammar)} IN {_QUERY}"
        case c.In() if len(tree.items(node)) > _LONG_LIST:
            first = ", ".join(tree.source_text(item, grammar) for item in tree.items(node)[:3])
            return f"{condition_text(tree.this(node), grammar)} IN ({first}, …)"
    return _QUERY if node.find(c.Query) is not None else tree.source_text(node, grammar)
