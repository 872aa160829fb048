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
    SORT,
    WINDOW,
    Column,
    Edge,
    merge,
    read_column,
    transform,
    unknown,
)
from whence_client.lineage.rows import NO_ROWS, Rows
from whence_client.spark.plan.attributes import (
    Attribute,
    Computed,
    Leaf,
    Relation,
    all_columns,
    attributes_of,
    passed_columns,
    rows_of,
    window_order_of,
)
from whence_client.spark.plan.expressions import Scope, read_expression, read_expressions
from whence_client.spark.plan.generated_rows import (
    read_expand,
    read_generate,
    read_merge_rows,
    read_serialize,
    read_whole_frame,
)
from whence_client.spark.plan.influences import chosen_by
from whence_client.spark.plan.trees import (
    Node,
    Tree,
    expression_id,
    fold,
    has_default_value,
    kind,
    object_name,
    subtree,
    trees_in,
    variable_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


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
    variables: Mapping[str, Column] = field(default_factory=dict)
    """The session's variables as they were set, by name in small letters."""
    shared: dict[int, Relation] = field(default_factory=dict)
    """The common table expressions so far, by id."""
    loops: dict[int, Relation] = field(default_factory=dict)
    """The rows of recursive ones so far, by id."""

    def scope(self, *relations: Relation, outer: Mapping[int, Column] | None = None) -> Scope:
        """The scope of the expressions of an operator over these relations."""
        columns: dict[int, Column] = dict(outer or {})
        for relation in relations:
            columns.update(relation.columns)
        return Scope(columns, self.find_attribute, self.read_subquery)

    def find_attribute(self, node: Node) -> Column:
        """An attribute that no child of its operator has, or a variable."""
        if kind(node) == "VariableReference":
            found = self.variables.get(variable_name(node))
            return found or (EMPTY if has_default_value(node) else unknown(LEFT_THE_ENGINE))
        number = expression_id(node)
        found = self.known.get(number) if number is not None else None
        return unknown(NOT_CAPTURED) if found is None else found

    def read_subquery(self, tree: Tree, outer: Mapping[int, Column]) -> Column:
        """The value of a subquery: its columns as values, and what chose its rows as conditions of the value."""
        relation = read_relation(tree, self, outer)
        value = merge(relation.values)
        return relation.influences.decide(Column(value.direct, value.indirect, value.reasons))


Rule = Callable[[Node, "list[Relation]", Context, "Mapping[int, Column]"], Relation]


def read_relation(tree: Tree, context: Context, outer: Mapping[int, Column] | None = None) -> Relation:
    """The columns of a plan. `outer` are the columns that a subquery may refer to."""

    def rule(node: Node, children: list[Relation]) -> Relation:
        if kind(node) == "UnionLoop":
            return _union_loop(node, children[0], subtree(tree, node, 1), context, outer or {})
        found = _RULES.get(kind(node))
        if found:
            return found(node, children, context, outer or {})
        return _leaf(node, context) if not children else _other(node, children, context)

    return fold(tree, rule)


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
    columns = {one.id: column for one, column in named}
    return Relation(tuple(one for one, _ in named), columns, rows_of(children), window_order_of(children))


def _aggregate(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    scope = _scope(children, context, outer)
    named = list(_named(node["aggregateExpressions"], scope))
    keys = chosen_by(read_expressions(node["groupingExpressions"], scope), GROUP_BY)
    rows = _rows_to_group(node, children)
    columns = {one.id: column for one, column in named}
    return Relation(tuple(one for one, _ in named), columns, rows | keys, ungrouped=rows)


def _rows_to_group(node: Node, children: list[Relation]) -> Rows:
    """What chose the rows that an aggregation groups.

    A pivot groups twice: by its keys and the pivoting column, then by its keys. That column chooses no rows.
    """
    before = children[0].ungrouped
    nodes = (one for tree in trees_in(node["aggregateExpressions"]) for one in tree)
    if before is not None and any(kind(one) == "PivotFirst" for one in nodes):
        return before
    return rows_of(children)


def _window(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    named = list(_named(node["windowExpressions"], _scope(children, context, outer)))
    added = {one.id: column for one, column in named}
    output = (*children[0].output, *(one for one, _ in named))
    keys = {Edge(edge.source, SORT) for one in added.values() for edge in one.indirect if edge.subtype == WINDOW}
    order = window_order_of(children) | Rows(frozenset(keys))
    return Relation(output, {**children[0].columns, **added}, rows_of(children), order)


def _limit(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    (child,) = children
    return replace(child, influences=child.influences | child.window_order)


def _condition(subtype: str, *fields: str) -> Rule:
    def rule(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
        scope = _scope(children, context, outer)
        chosen = chosen_by((one for name in fields for one in read_expressions(node.get(name), scope)), subtype)
        order = NO_ROWS if subtype == SORT else window_order_of(children)
        return Relation(children[0].output, children[0].columns, rows_of(children) | chosen, order)

    return rule


def _join(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    left, right = children[0], children[-1]
    scope = _scope(children, context, outer)
    conditions = [one for name in _JOIN_FIELDS for one in read_expressions(node.get(name), scope)]
    rows = rows_of(children) | chosen_by(conditions, JOIN)
    kind_of_join = object_name(node.get("joinType"))
    if kind_of_join in ("LeftSemi", "LeftAnti"):
        return Relation(left.output, left.columns, rows)
    if kind_of_join == "ExistenceJoin":
        exists = attributes_of(node["joinType"].get("exists"))
        flag = transform(conditions)
        return Relation((*left.output, *exists), {**left.columns, **{one.id: flag for one in exists}}, rows)
    columns = {**left.columns, **right.columns}
    return Relation((*left.output, *right.output), columns, rows, window_order_of(children))


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
    return Relation(output, columns, rows_of(children), window_order_of(children))


def _set_operation(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    compared = chosen_by((one for child in children for one in child.values), FILTER)
    return Relation(children[0].output, children[0].columns, rows_of(children) | compared)


def _distinct(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    (child,) = children
    return Relation(child.output, child.columns, child.influences | chosen_by(child.values, GROUP_BY))


def _deduplicate(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    (child,) = children
    keys = {one.id for one in attributes_of(node.get("keys"))}
    columns = {
        number: column if number in keys else transform((column,), AGGREGATION, step="first({})")
        for number, column in child.columns.items()
    }
    grouped = chosen_by((child.columns[number] for number in keys if number in child.columns), GROUP_BY)
    return Relation(child.output, columns, child.influences | grouped)


def _cte_definition(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    context.shared[int(node["id"])] = children[0]
    return children[0]


def _cte_reference(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    return _reference(node, context.shared.get(int(node.get("cteId", -1))))


def _reference(node: Node, found: Relation | None) -> Relation:
    output = attributes_of(node["output"])
    if found is None:
        return Relation(output, passed_columns(output, [], NOT_CAPTURED))
    columns = {one.id: found.column(index) for index, one in enumerate(output) if index < len(found.output)}
    return Relation(output, columns, found.influences, found.window_order)


def _union_loop(node: Node, first: Relation, step: Tree, context: Context, outer: Mapping[int, Column]) -> Relation:
    """The rows of a recursive query: what it begins with, and what its step makes of the rows so far, until that adds
    no source.
    """
    numbers = [int(one["id"]) for one in node.get("outputAttrIds") or ()] or [one.id for one in first.output]
    output = tuple(Attribute(number, one.name) for number, one in zip(numbers, first.output))
    begun = Relation(output, dict(zip(numbers, first.values)), first.influences)
    rows, sources = begun, -1
    while (found := sum(len(one.influences) for one in rows.values)) > sources:
        sources = found
        context.loops[int(node["id"])] = rows
        rows = _union(node, [begun, read_relation(step, context, outer)], context, outer)
    return rows


def _union_loop_reference(
    node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]
) -> Relation:
    return _reference(node, context.loops.get(int(node["loopId"])))


def _with_cte(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    return children[int(node.get("plan", len(children) - 1))]


def _other(node: Node, children: list[Relation], context: Context) -> Relation:
    """An operator without a rule: what it passes on is known, what it adds is not."""
    listed = attributes_of(node.get("output"))
    if not listed:
        return Relation(children[0].output, all_columns(children), rows_of(children), window_order_of(children))
    return Relation(listed, passed_columns(listed, children, NOT_CAPTURED), rows_of(children))


def _attach_sequence(node: Node, children: list[Relation], context: Context, outer: Mapping[int, Column]) -> Relation:
    (made,) = attributes_of(node.get("sequenceAttr"))
    return Relation((made, *children[0].output), {**children[0].columns, made.id: EMPTY}, rows_of(children))


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
    **dict.fromkeys(("GlobalLimit", "LocalLimit", "Offset", "Tail", "Sample"), _limit),
    **dict.fromkeys(("Join", "AsOfJoin"), _join),
    "LateralJoin": _lateral_join,
    "Union": _union,
    **dict.fromkeys(("Except", "Intersect"), _set_operation),
    "Distinct": _distinct,
    **dict.fromkeys(("Deduplicate", "DeduplicateWithinWatermark"), _deduplicate),
    "Generate": read_generate,
    "Expand": read_expand,
    "MergeRows": read_merge_rows,
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
        read_whole_frame,
    ),
    "SerializeFromObject": read_serialize,
    "CTERelationDef": _cte_definition,
    "CTERelationRef": _cte_reference,
    "UnionLoopRef": _union_loop_reference,
    "WithCTE": _with_cte,
    "AttachDistributedSequence": _attach_sequence,
}
