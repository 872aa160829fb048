"""The columns of operators that make rows of their own: generators, expansions, MERGE, functions over whole frames."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from whence_client.lineage.columns import (
    FILTER,
    GROUP_BY,
    JOIN,
    NOT_CAPTURED,
    OPAQUE_FUNCTION,
    SAME,
    Column,
    add_reason,
    merge,
    transform,
)
from whence_client.spark.plan.attributes import Relation, attributes_of, passed_columns, rows_of
from whence_client.spark.plan.expressions import KEY, VALUE, Scope, read_expression, read_expressions
from whence_client.spark.plan.influences import chosen_by
from whence_client.spark.plan.trees import Node, Tree, kind, subtrees, trees_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whence_client.spark.plan.relations import Context


def read_generate(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    """The rows of `explode` and its like: those of the child, with columns made of its values."""
    (child,) = children
    scope = context.scope(*children, outer=outer)
    made = attributes_of(node.get("generatorOutput"))
    generator = next(trees_in(node["generator"]))
    columns = _generated(generator, len(made), scope)
    added = {one.id: column for one, column in zip(made, columns)}
    return replace(child, output=(*child.output, *made), columns={**child.columns, **added})


def _generated(generator: Tree, width: int, scope: Scope) -> list[Column]:
    if kind(generator[0]) == "Stack" and width:
        values = [read_expression(tree, scope) for tree in subtrees(generator)[1:]]  # after the number of rows
        return [merge(values[index::width]) for index in range(width)]
    found = read_expression(generator, scope)
    if kind(generator[0]) == "Inline" and len(found.fields) == width:
        return [transform((one,), step=SAME) for one in found.fields.values()]
    if KEY in found.fields and width > 1:
        parts = [transform((found.fields[name],), step=SAME) for name in (KEY, VALUE)]
        return [transform((found,)), *parts][-width:]  # the position comes first, if there is one
    return [replace(transform((found,), step=SAME), fields=found.fields)] * width


def read_expand(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    """The rows of ROLLUP, CUBE and DISTINCT aggregates: each projection of each row."""
    output = attributes_of(node["output"])
    projections = node.get("projections") or (context.expansions.get(output[0].id) if output else None)
    if not projections:
        return Relation(output, passed_columns(output, children, NOT_CAPTURED), rows_of(children))
    scope = context.scope(*children, outer=outer)
    rows = [read_expressions(one, scope) for one in projections]
    columns = {one.id: merge(row[index] for row in rows) for index, one in enumerate(output)}
    return Relation(output, columns, rows_of(children))


def read_merge_rows(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    """The rows of a MERGE of Spark 3.5 and newer: each instruction assigns a value to each column."""
    scope = context.scope(*children, outer=outer)
    rows = rows_of(children)
    values: list[list[Column]] = []
    for instruction in (one for name in _INSTRUCTIONS for one in trees_in(node.get(name))):
        parts = [read_expression(tree, scope) for tree in subtrees(instruction)]
        rows |= chosen_by((parts[one] for one in _indices(instruction[0], "condition")), FILTER)
        made = (_indices(instruction[0], name) for name in ("output", "otherOutput"))
        values += [[parts[one] for one in indices] for indices in made if indices]
    output = attributes_of(node["output"])
    columns = {one.id: merge(row[index] for row in values if index < len(row)) for index, one in enumerate(output)}
    return Relation(output, columns, rows)


_INSTRUCTIONS = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")


def _indices(node: Node, name: str) -> list[int]:
    found = node.get(name)
    return [found] if isinstance(found, int) else [one for one in found or () if isinstance(one, int)]


def read_whole_frame(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    """A function over whole frames or groups: each output column may use every argument."""
    scope = context.scope(*children, outer=outer)
    name = next((one for one in _FRAME_FUNCTIONS if one in node), "")
    arguments = read_expressions(node.get(name), scope) or [one for child in children for one in child.values]
    made = add_reason(transform(arguments), OPAQUE_FUNCTION)
    keys = chosen_by(
        (one for field_ in _FRAME_KEYS for one in read_expressions(node.get(field_), scope)),
        JOIN if len(children) > 1 else GROUP_BY,
    )
    output = attributes_of(node.get("output") or node.get("outputAttrs") or node.get("outputObjAttr"))
    return Relation(output, dict.fromkeys((one.id for one in output), made), rows_of(children) | keys)


_FRAME_FUNCTIONS = ("functionExpr", "func", "function")
_FRAME_KEYS = ("groupingAttributes", "groupingExprs")


def read_serialize(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    """The columns of rows that a function in Scala made: each of all of its values."""
    made = merge(children[0].values)
    output = attributes_of(node.get("serializer"))
    return Relation(output, dict.fromkeys((one.id for one in output), made), rows_of(children))
