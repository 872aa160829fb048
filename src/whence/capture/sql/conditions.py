"""Conditions: what chooses, joins, groups and orders rows. Each leaf keeps the conditions that it stands in, and their
text is written when an edge is made of it: short, with queries inside of them left out.
"""

from collections.abc import Iterable

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.expressions import gather
from whence.capture.sql.flows import IDENTITY, Flow, Leaf, absorb
from whence.capture.sql.scopes import Scope

_MOST = 4
"""Conditions that a leaf keeps of one kind: more are nothing to read."""
_LONG = 20
"""Members of a list: of a longer one the first are written."""
_QUERY = "(…)"
_OPERATORS: dict[type, str] = {
    c.EQ: "=",
    c.GT: ">",
    c.GTE: ">=",
    c.LT: "<",
    c.LTE: "<=",
    c.NEQ: "<>",
}


def choose(scope: Scope, node: tree.Node, kind: int, rows: Flow) -> None:
    """Add what a condition looks at to what decides on the rows: part by part of an AND."""
    for one in conjuncts(node):
        found: Flow = {}
        gather(scope, one, kind, found)
        remember((leaf for leaf, bits in found.items() if bits & kind), kind, one)
        absorb(rows, found, IDENTITY)


def remember(leaves: Iterable[Leaf], kind: int, node: object) -> None:
    """A condition, as a node or as text, of the leaves that it looks at."""
    for leaf in leaves:
        said = leaf.conditions.setdefault(kind, [])
        if len(said) < _MOST and not any(one is node or _within(one, node) for one in said):
            said.append(node)


def _within(one: object, node: object) -> bool:
    """Whether a condition stands in a query inside of another one: the inner one says more."""
    inner = one if isinstance(one, tree.Node) else None
    while inner is not None and inner is not node:
        inner = inner.parent
    return inner is not None


def conjuncts(node: tree.Node, kind: type = c.And) -> list[tree.Node]:
    """The parts of an AND, or of an OR, from left to right."""
    found: list[tree.Node] = []
    todo = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, kind):
            todo += [tree.arg(one, tree.EXPRESSION), tree.this(one)]
        else:
            found.append(one)
    return found


def texts(leaf: Leaf, kind: int, grammar: str) -> str:
    """The conditions of one kind that a leaf stands in: `a > 1; a < 5`. Each is written once."""
    said = leaf.conditions.get(kind)
    if not said:
        return ""
    try:
        written = dict.fromkeys(_written(one, grammar) for one in said)
    except RecursionError:
        return ""
    return "; ".join(one for one in written if one)


def _written(node: object, grammar: str) -> str:
    return condition_text(node, grammar) if isinstance(node, tree.Node) else str(node)


def condition_text(node: tree.Node, grammar: str) -> str:
    """A condition as SQL. Queries inside of it are `(…)`: they have conditions of their own."""
    operator = _OPERATORS.get(type(node))
    if operator is not None:
        sides = (tree.this(node), tree.arg(node, tree.EXPRESSION))
        return f" {operator} ".join(condition_text(one, grammar) for one in sides)
    match node:
        case c.Column():
            return tree.source_text(node, grammar)
        case c.Or() | c.And():
            parts = conjuncts(node, type(node))
            return f" {node.key.upper()} ".join(condition_text(one, grammar) for one in parts)
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
        case c.In() if len(tree.items(node)) > _LONG:
            first = ", ".join(tree.source_text(one, grammar) for one in tree.items(node)[:3])
            return f"{condition_text(tree.this(node), grammar)} IN ({first}, …)"
    return _QUERY if node.find(c.Query) is not None else tree.source_text(node, grammar)
