"""The columns of a relation, by the class of each operator of a plan."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Callable

from whence_client.lineage.columns import (
    AGGREGATION,
    EMPTY,
    FILTER,
    GROUP_BY,
    JOIN,
    LEFT_THE_ENGINE,
    NO_SOURCE,
    NOT_CAPTURED,
    OPAQUE_FUNCTION,
    SAME,
    SORT,
    Column,
    Edge,
    Edges,
    add_reason,
    influence,
    merge,
    read_column,
    transform,
    unknown,
)
from whence_client.spark.plan.attributes import Attribute, Computed, Leaf, Relation, attributes_of
from whence_client.spark.plan.expressions import Scope, read_expression, read_expressions
from whence_client.spark.plan.trees import Node, Tree, expression_id, fold, kind, object_name, subtrees, trees_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


@dataclass(frozen=True)
class Context:
    """What the JSON of a plan does not have.

    `leaves` are what the leaves read, by the expression id of their first attribute. `known` are columns of earlier
    plans of the session, by expression id: a checkpoint keeps its ids. `expansions` are the projections of each
    `Expand` whose JSON has none (Spark 3), by the id of its first output. `find_computed` says what models computed,
    by expression id.
    """

    leaves: Mapping[int, Leaf] = field(default_factory=dict)
    known: Mapping[int, Column] = field(default_factory=dict)
    expansions: Mapping[int, Any] = field(default_factory=dict)
    find_computed: Callable[[int], Computed | None] = lambda _: None
    shared: dict[int, Relation] = field(default_factory=dict)
    """The common table expressions so far, by id."""

    def scope(self, *relations: Relation, outer: Mapping[int, Column] | None = None) -> Scope:
        """The scope of the expressions of an operator over these relations."""
        columns: dict[int, Column] = dict(outer or {})
        for relation in relations:
            columns.update(relation.columns)
        return Scope(columns, self.find_attribute, self.read_subquery)

    def find_attribute(self, node: Node) -> Column:
        """An attribute that no child of its operator has."""
        number = expression_id(node)
        found = self.known.get(number) if number is not None else None
        return unknown(NOT_CAPTURED) if found is None else found

    def read_subquery(self, tree: Tree, outer: Mapping[int, Column]) -> Column:
        """The value of a subquery: its columns as values, and what chose its rows as conditions of the value."""
        relation = read_relation(tree, self, outer)
        value = merge(relation.values)
        return Column(value.direct, value.indirect | relation.influences, value.reasons)


Rule = Callable[[Node, "list[Relation]", Context, "Mapping[int, Column]"], Relation]


def read_relation(tree: Tree, context: Context, outer: Mapping[int, Column] | None = None) -> Relation:
    """The columns of a plan. `outer` are the columns that a subquery may refer to."""

    def rule(node: Node, children: list[Relation]) -> Relation:
        found = _RULES.get(kind(node))
        if found:
            return found(node, children, context, outer or {})
        return _leaf(node, context) if not children else _other(node, children, context)

    return fold(tree, rule)


def _rows(children: Iterable[Relation]) -> Edges:
    return frozenset().union(*(child.influences for child in children))


def _scope(children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Scope:
    return context.scope(*children, outer=outer)


def _named(
    value: Any, scope: Scope, find_computed: Callable[[int], Computed | None] = lambda _: None
) -> Iterator[tuple[Attribute, Column]]:
    for tree in trees_in(value):
        found = expression_id(tree[0])
        number = found if found is not None else -1
        computed = find_computed(number) if kind(tree[0]) == "Alias" else None
        column = read_expression(tree, replace(scope, is_exact=True) if computed and computed.is_exact else scope)
        yield (
            Attribute(number, str(tree[0].get("name", ""))),
            merge([column, computed.model]) if computed else column,
        )


def _project(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    named = list(_named(node["projectList"], _scope(children, context, outer), context.find_computed))
    return Relation(tuple(one for one, _ in named), {one.id: column for one, column in named}, _rows(children))


def _aggregate(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    scope = _scope(children, context, outer)
    named = list(_named(node["aggregateExpressions"], scope))
    keys = influence(read_expressions(node["groupingExpressions"], scope), GROUP_BY)
    return Relation(tuple(one for one, _ in named), {one.id: column for one, column in named}, _rows(children) | keys)


def _window(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    named = list(_named(node["windowExpressions"], _scope(children, context, outer)))
    added = {one.id: column for one, column in named}
    return Relation(
        (*children[0].output, *(one for one, _ in named)), {**children[0].columns, **added}, _rows(children)
    )


def _condition(subtype: str, *fields: str) -> Rule:
    def rule(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
        scope = _scope(children, context, outer)
        edges = influence((one for name in fields for one in read_expressions(node.get(name), scope)), subtype)
        return Relation(children[0].output, children[0].columns, _rows(children) | edges)

    return rule


def _join(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    left, right = children[0], children[-1]
    scope = _scope(children, context, outer)
    conditions = [one for name in _JOIN_FIELDS for one in read_expressions(node.get(name), scope)]
    rows = _rows(children) | influence(conditions, JOIN)
    kind_of_join = object_name(node.get("joinType"))
    if kind_of_join in ("LeftSemi", "LeftAnti"):
        return Relation(left.output, left.columns, rows)
    if kind_of_join == "ExistenceJoin":
        exists = attributes_of(node["joinType"].get("exists"))
        flag = transform(conditions)
        return Relation((*left.output, *exists), {**left.columns, **{one.id: flag for one in exists}}, rows)
    return Relation((*left.output, *right.output), {**left.columns, **right.columns}, rows)


_JOIN_FIELDS = ("condition", "asOfCondition", "orderExpression", "toleranceAssertion")


def _lateral_join(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    scope = _scope(children, context, outer)
    subquery = next(trees_in(node.get("right")))
    plans = list(trees_in(subquery[0].get("plan")))
    right = read_relation(plans[0], context, scope.columns)
    return _join(node, [*children, right], context, outer)


def _union(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    output = children[0].output
    columns = {
        one.id: merge(child.column(index) for child in children if index < len(child.output))
        for index, one in enumerate(output)
    }
    return Relation(output, columns, _rows(children))


def _set_operation(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    compared = influence((one for child in children for one in child.values), FILTER)
    return Relation(children[0].output, children[0].columns, _rows(children) | compared)


def _distinct(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    (child,) = children
    return Relation(child.output, child.columns, child.influences | influence(child.values, GROUP_BY))


def _deduplicate(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    (child,) = children
    keys = {one.id for one in attributes_of(node.get("keys"))}
    columns = {
        number: column if number in keys else transform((column,), AGGREGATION, step="first({})")
        for number, column in child.columns.items()
    }
    grouped = influence((child.columns[number] for number in keys if number in child.columns), GROUP_BY)
    return Relation(child.output, columns, child.influences | grouped)


def _generate(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    (child,) = children
    scope = _scope(children, context, outer)
    made = attributes_of(node.get("generatorOutput"))
    generator = next(trees_in(node["generator"]))
    columns = _generated(generator, len(made), scope)
    added = {one.id: column for one, column in zip(made, columns)}
    return Relation((*child.output, *made), {**child.columns, **added}, child.influences)


def _generated(generator: Tree, width: int, scope: Scope) -> list[Column]:
    if kind(generator[0]) == "Stack" and width:
        values = [read_expression(tree, scope) for tree in subtrees(generator)[1:]]  # after the number of rows
        return [merge(values[index::width]) for index in range(width)]
    return [transform((read_expression(generator, scope),), step=SAME)] * width


def _expand(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    output = attributes_of(node["output"])
    projections = node.get("projections") or (context.expansions.get(output[0].id) if output else None)
    if not projections:
        return Relation(output, _passed(output, children, NOT_CAPTURED), _rows(children))
    scope = _scope(children, context, outer)
    rows = [read_expressions(one, scope) for one in projections]
    columns = {one.id: merge(row[index] for row in rows) for index, one in enumerate(output)}
    return Relation(output, columns, _rows(children))


def _merge_rows(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    """The rows of a MERGE of Spark 3.5 and newer: each instruction assigns a value to each column."""
    scope = _scope(children, context, outer)
    rows: set[Edge] = set(_rows(children))
    values: list[list[Column]] = []
    for instruction in (one for name in _INSTRUCTIONS for one in trees_in(node.get(name))):
        parts = [read_expression(tree, scope) for tree in subtrees(instruction)]
        rows |= influence((parts[one] for one in _indices(instruction[0], "condition")), FILTER)
        made = (_indices(instruction[0], name) for name in ("output", "otherOutput"))
        values += [[parts[one] for one in indices] for indices in made if indices]
    output = attributes_of(node["output"])
    columns = {one.id: merge(row[index] for row in values if index < len(row)) for index, one in enumerate(output)}
    return Relation(output, columns, frozenset(rows))


_INSTRUCTIONS = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")


def _indices(node: Node, name: str) -> list[int]:
    found = node.get(name)
    return [found] if isinstance(found, int) else [one for one in found or () if isinstance(one, int)]


def _whole_frame(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    """A function over whole frames or groups: each output column may use every argument."""
    scope = _scope(children, context, outer)
    name = next((one for one in _FRAME_FUNCTIONS if one in node), "")
    arguments = read_expressions(node.get(name), scope) or [one for child in children for one in child.values]
    made = add_reason(transform(arguments), OPAQUE_FUNCTION)
    keys = influence(
        (one for field_ in _FRAME_KEYS for one in read_expressions(node.get(field_), scope)),
        JOIN if len(children) > 1 else GROUP_BY,
    )
    output = attributes_of(node.get("output") or node.get("outputAttrs") or node.get("outputObjAttr"))
    return Relation(output, dict.fromkeys((one.id for one in output), made), _rows(children) | keys)


_FRAME_FUNCTIONS = ("functionExpr", "func", "function")
_FRAME_KEYS = ("groupingAttributes", "groupingExprs")


def _serialize(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    made = merge(children[0].values)
    output = attributes_of(node.get("serializer"))
    return Relation(output, dict.fromkeys((one.id for one in output), made), _rows(children))


def _cte_definition(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    context.shared[int(node["id"])] = children[0]
    return children[0]


def _cte_reference(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    output = attributes_of(node["output"])
    found = context.shared.get(int(node.get("cteId", -1)))
    if found is None:
        return Relation(output, _passed(output, [], NOT_CAPTURED))
    columns = {one.id: found.column(index) for index, one in enumerate(output) if index < len(found.output)}
    return Relation(output, columns, found.influences)


def _with_cte(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    return children[int(node.get("plan", len(children) - 1))]


def _other(node: Node, children: list[Relation], context: Context) -> Relation:
    """An operator without a rule: what it passes on is known, what it adds is not."""
    listed = attributes_of(node.get("output"))
    if not listed:
        return Relation(children[0].output, _all_columns(children), _rows(children))
    return Relation(listed, _passed(listed, children, NOT_CAPTURED), _rows(children))


def _passed(output: Iterable[Attribute], children: list[Relation], reason: str) -> dict[int, Column]:
    columns = _all_columns(children)
    return {one.id: columns.get(one.id, unknown(reason)) for one in output}


def _all_columns(children: list[Relation]) -> dict[int, Column]:
    return {number: column for child in children for number, column in child.columns.items()}


def _attach_sequence(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    (made,) = attributes_of(node.get("sequenceAttr"))
    return Relation((made, *children[0].output), {**children[0].columns, made.id: EMPTY}, _rows(children))


def _leaf(node: Node, context: Context) -> Relation:
    trees = list(trees_in(node.get("output")))
    output = attributes_of(node.get("output"))
    leaf = context.leaves.get(output[0].id) if output else None
    columns = {
        one.id: _leaf_column(node, one, tree[0].get("dataType"), leaf, context) for one, tree in zip(output, trees)
    }
    return Relation(output, columns)


def _leaf_column(node: Node, one: Attribute, type_: Any, leaf: Leaf | None, context: Context) -> Column:
    if isinstance(leaf, tuple):
        return EMPTY if one.name == "_metadata" else merge(read_column(each, one.name, type_) for each in leaf)
    if one.id in context.known:
        return context.known[one.id]
    return unknown(leaf or _LEAF_REASONS.get(kind(node), NOT_CAPTURED))


_LEAF_REASONS = {
    "LocalRelation": LEFT_THE_ENGINE,
    "Range": NO_SOURCE,
    "OneRowRelation": NO_SOURCE,
    "LogicalRDD": LEFT_THE_ENGINE,
}

_RULES: dict[str, Rule] = {
    "Project": _project,
    "Aggregate": _aggregate,
    "Window": _window,
    "Filter": _condition(FILTER, "condition"),
    "Sort": _condition(SORT, "order"),
    **dict.fromkeys(("Join", "AsOfJoin"), _join),
    "LateralJoin": _lateral_join,
    "Union": _union,
    **dict.fromkeys(("Except", "Intersect"), _set_operation),
    "Distinct": _distinct,
    **dict.fromkeys(("Deduplicate", "DeduplicateWithinWatermark"), _deduplicate),
    "Generate": _generate,
    "Expand": _expand,
    "MergeRows": _merge_rows,
    **dict.fromkeys(
        (
            "MapInPandas",
            "MapInArrow",
            "PythonMapInArrow",
            "FlatMapGroupsInPandas",
            "FlatMapGroupsInArrow",
            "FlatMapCoGroupsInPandas",
            "FlatMapCoGroupsInArrow",
            "FlatMapGroupsInPandasWithState",
            "FlatMapGroupsInR",
            "TransformWithStateInPandas",
            "TransformWithStateInPySpark",
            "ScriptTransformation",
            "MapPartitionsInR",
            "DeserializeToObject",
            "MapElements",
            "MapPartitions",
            "MapGroups",
            "CoGroup",
            "AppendColumns",
        ),
        _whole_frame,
    ),
    "SerializeFromObject": _serialize,
    "CTERelationDef": _cte_definition,
    "CTERelationRef": _cte_reference,
    "WithCTE": _with_cte,
    "AttachDistributedSequence": _attach_sequence,
}
