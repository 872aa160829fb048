"""MERGE, UPDATE and DELETE: their targets' columns by the assignments of each action.

A column keeps its old value in rows that no action changes, so it is a source of itself; that edge is redundant and is
left out. Spark's own nodes, and those of Delta Lake, name the same parts differently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

from whence_client.lineage.columns import FILTER, JOIN, Column, merge
from whence_client.lineage.rows import Rows
from whence_client.spark.plan.attributes import Relation
from whence_client.spark.plan.expressions import Scope, read_expressions
from whence_client.spark.plan.influences import chosen_by
from whence_client.spark.plan.relations import Context, read_relation
from whence_client.spark.plan.trees import Tree, kind, subtrees, trees_in

if TYPE_CHECKING:
    from collections.abc import Iterator

Change = tuple[dict[str, Column], Rows]


def _relations(tree: Tree, context: Context) -> list[Relation]:
    plans = subtrees(tree) or [one for name in ("target", "source", "child") for one in trees_in(tree[0].get(name))]
    return [read_relation(plan, context) for plan in plans]


def _merge_into(tree: Tree, context: Context) -> Change:
    relations = _relations(tree, context)
    scope = context.scope(*relations)
    columns: dict[str, list[Column]] = {}
    rows = chosen_by((one for name in _CONDITIONS for one in read_expressions(tree[0].get(name), scope)), JOIN)
    for name in _ACTIONS:
        for action in trees_in(tree[0].get(name)):
            rows |= _condition_of(action, scope)
            for column, value in _assignments(action, scope, relations):
                columns.setdefault(column, []).append(value)
    return {name: merge(values) for name, values in columns.items()}, rows


_CONDITIONS = ("mergeCondition", "condition")
_ACTIONS = (
    "matchedActions",
    "notMatchedActions",
    "notMatchedBySourceActions",
    "matchedClauses",
    "notMatchedClauses",
    "notMatchedBySourceClauses",
)


def _condition_of(action: Tree, scope: Scope) -> Rows:
    return chosen_by(read_expressions(action[0].get("condition"), scope), FILTER)


def _assignments(action: Tree, scope: Scope, relations: list[Relation]) -> Iterator[tuple[str, Column]]:
    """The columns that an action sets: by `Assignment(key, value)`, or by Delta's `DeltaMergeAction`."""
    for child in subtrees(action):
        name = kind(child[0])
        if name == "Assignment":
            key, value = subtrees(child)
            yield _column_name(key), read_expressions(value, scope)[0]
        elif name == "DeltaMergeAction":
            parts = str(child[0].get("targetColNameParts", "")).strip("[]").split(", ")
            yield ".".join(parts), read_expressions(subtrees(child)[0], scope)[0]
        elif name.endswith("Star") or "Star" in kind(action[0]):
            yield from _all_columns(relations)
    if "Star" in kind(action[0]) and not subtrees(action):
        yield from _all_columns(relations)


def _all_columns(relations: list[Relation]) -> Iterator[tuple[str, Column]]:
    source = relations[-1]
    for index, attribute in enumerate(source.output):
        yield attribute.name, source.column(index)


def _column_name(key: Tree) -> str:
    """The dotted name of an assigned column: `address.city` of GetStructField over an attribute."""
    names = [
        str(node["name"]) for node in key if kind(node) in ("AttributeReference", "GetStructField") and "name" in node
    ]
    return ".".join(reversed(names))


def _update(tree: Tree, context: Context) -> Change:
    relations = _relations(tree, context)
    scope = context.scope(*relations)
    rows = chosen_by(read_expressions(tree[0].get("condition"), scope), FILTER)
    if "assignments" in tree[0]:
        pairs = [subtrees(one) for one in trees_in(tree[0]["assignments"])]
        return {_column_name(key): read_expressions(value, scope)[0] for key, value in pairs}, rows
    written = list(trees_in(tree[0].get("updateExpressions")))
    columns = {}
    for attribute, expression in zip(relations[0].output, written):
        if not _is_unchanged(expression, attribute.id):
            columns[attribute.name] = read_expressions(expression, scope)[0]
    return columns, rows


def _is_unchanged(expression: Tree, number: int) -> bool:
    exprs = [node for node in expression if kind(node) == "AttributeReference"]
    return len(expression) == 1 and bool(exprs) and exprs[0]["exprId"]["id"] == number


def _delete(tree: Tree, context: Context) -> Change:
    relations = _relations(tree, context)
    return {}, chosen_by(read_expressions(tree[0].get("condition"), context.scope(*relations)), FILTER)


ROW_CHANGES: dict[str, Callable[[Tree, Context], Change]] = {
    **dict.fromkeys(("MergeIntoTable", "DeltaMergeInto", "MergeIntoCommand"), _merge_into),
    **dict.fromkeys(("UpdateTable", "DeltaUpdateTable", "UpdateCommand"), _update),
    **dict.fromkeys(("DeleteFromTable", "DeltaDelete", "DeleteCommand"), _delete),
}
"""By class of the command, what it assigns to each column, and what chooses the rows."""
