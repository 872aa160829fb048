"""Spark's JSON of a tree: its nodes in pre-order, each with the number of its children (`TreeNode.toJSON`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Node = dict[str, Any]
Tree = list[Node]

T = TypeVar("T")


def fold(tree: Sequence[Node], rule: Callable[[Node, list[T]], T]) -> T:
    """Compute a value of a tree from the leaves up: `rule` gets each node, and the values of its children in order.

    Children are visited from left to right. There is no recursion, because plans of loops are deeper than Python's
    stack. Raises ValueError if the tree is incomplete.
    """
    open_nodes: list[tuple[Node, list[T]]] = []
    for node in tree:
        open_nodes.append((node, []))
        while len(open_nodes[-1][1]) == open_nodes[-1][0]["num-children"]:
            done, values = open_nodes.pop()
            value = rule(done, values)
            if not open_nodes:
                return value
            open_nodes[-1][1].append(value)
    raise ValueError("the tree of the plan is incomplete")


def kind(node: Node) -> str:
    """The class of a node without its package: `Project`."""
    return str(node["class"]).rpartition(".")[2]


def trees_in(value: Any) -> Iterator[Tree]:
    """The trees in a field of a node: one, a list of them, or lists of lists."""
    if not isinstance(value, list) or not value:
        return
    if isinstance(value[0], dict):
        if "class" in value[0]:
            yield value
        return
    for one in value:
        yield from trees_in(one)


def subtrees(tree: Tree) -> list[Tree]:
    """The trees of the children of a tree's root."""
    found: list[Tree] = []
    start = 1
    for _ in range(tree[0]["num-children"]):
        end = _end_of(tree, start)
        found.append(tree[start:end])
        start = end
    return found


def subtree(tree: Tree, node: Node, index: int) -> Tree:
    """The tree of a child of this very node of a tree."""
    start = next(place for place, one in enumerate(tree) if one is node)
    return subtrees(tree[start:])[index]


def nodes_of(plan: Tree) -> Iterator[Node]:
    """All nodes of a plan: of subqueries, and of the plans in its fields, too."""
    waiting = [plan]
    while waiting:
        tree = waiting.pop()
        yield from tree
        waiting.extend(one for node in tree for value in node.values() for one in trees_in(value))


def _end_of(tree: Tree, start: int) -> int:
    missing = 1
    while missing:
        missing += tree[start]["num-children"] - 1
        start += 1
    return start


def expression_id(node: Node) -> int | None:
    """The expression id of an attribute or alias; None if it has none."""
    found = node.get("exprId")
    return int(found["id"]) if isinstance(found, dict) and "id" in found else None


def variable_name(node: Node) -> str:
    """The name of a session variable, without its schema and in small letters: SQL does not tell letters' case."""
    return str(node.get("originalNameParts", "")).strip("[]").rpartition(", ")[2].lower()


def has_default_value(variable: Node) -> bool:
    """Whether a session variable has still the value that its declaration gave it, which is a constant."""
    definition = variable.get("varDef") or {}
    value = next(trees_in(definition.get("currentValue")), ({},))[0].get("value")
    return str(definition.get("defaultValueSQL")).strip("'").lower() == (
        "null" if value is None else str(value).lower()
    )


def object_name(value: Any) -> str:
    """The name of a Scala object or product in a field: `LeftSemi`, `ExistenceJoin`."""
    if not isinstance(value, dict):
        return ""
    text = value.get("object") or value.get("product-class") or ""
    return str(text).rpartition(".")[2].rstrip("$")
