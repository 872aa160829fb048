"""The sources of an expression, by the class of each of its nodes.

A class without a rule here is a function of all its children, which is what most of Spark's 500 expressions are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Callable

from whence_client.lineage.columns import (
    AGGREGATION,
    CONDITIONAL,
    EMPTY,
    NUMBERS,
    OPAQUE_FUNCTION,
    SAME,
    SORT,
    WINDOW,
    Column,
    add_reason,
    call,
    decide,
    get_field,
    merge,
    transform,
)
from whence_client.spark.plan.functions import step_of_cast, step_of_user_function, steps_of
from whence_client.spark.plan.trees import Node, Tree, expression_id, fold, kind, trees_in

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Scope:
    """What an expression can refer to: attributes by expression id, and subqueries, which `read_subquery` reads.

    `is_exact`: its functions are known to use all of their arguments.
    """

    columns: Mapping[int, Column]
    find_attribute: Callable[[Node], Column]
    read_subquery: Callable[[Tree, Mapping[int, Column]], Column]
    lambdas: dict[int, Column] = field(default_factory=dict)
    is_exact: bool = False


_CHOSEN = "if(?, {}, ?)"
"""A value that a condition chooses."""
Rule = Callable[[Node, list[Column], Scope], Column]


def read_expression(tree: Tree, scope: Scope) -> Column:
    """The sources of an expression."""
    return fold(tree, lambda node, children: _read_node(node, children, scope))


def read_expressions(value: Any, scope: Scope) -> list[Column]:
    """The sources of every expression in a field of a node."""
    return [read_expression(tree, scope) for tree in trees_in(value)]


def _read_node(node: Node, children: list[Column], scope: Scope) -> Column:
    name = kind(node)
    if rule := _RULES.get(name):
        return rule(node, children, scope)
    if isinstance(node.get("plan"), list):
        return _subquery(node, scope)
    return call(children, steps_of(name, children), masking=name in _MASKING)


def _attribute(node: Node, children: list[Column], scope: Scope) -> Column:
    number = expression_id(node)
    found = scope.columns.get(number) if number is not None else None
    return found if found is not None else scope.find_attribute(node)


def _same(node: Node, children: list[Column], scope: Scope) -> Column:
    return merge(children)


def _outer(node: Node, children: list[Column], scope: Scope) -> Column:
    return merge([*children, *read_expressions(node.get("e"), scope)])


def _nothing(node: Node, children: list[Column], scope: Scope) -> Column:
    return EMPTY


def _cast(node: Node, children: list[Column], scope: Scope) -> Column:
    if children[0].type is not None and children[0].type == node.get("dataType", node.get("target")):
        return children[0]
    return transform(children, step=step_of_cast(node))


def _opaque(node: Node, children: list[Column], scope: Scope) -> Column:
    made = transform(children, step=step_of_user_function(node))
    return made if scope.is_exact else add_reason(made, OPAQUE_FUNCTION)


def _scala_function(node: Node, children: list[Column], scope: Scope) -> Column:
    # Those without a name are Spark ML's own, such as vector_to_array. Of one whole column they can only use all.
    if not node.get("udfName") and len(children) == 1 and not children[0].fields:
        return transform(children)
    return _opaque(node, children, scope)


def _case_when(node: Node, children: list[Column], scope: Scope) -> Column:
    paired = len(children) - len(children) % 2
    values = [*children[1:paired:2], *children[paired:]]
    return decide(transform(values, step=_CHOSEN), children[0:paired:2], CONDITIONAL)


def _if(node: Node, children: list[Column], scope: Scope) -> Column:
    return decide(transform(children[1:], step=_CHOSEN), children[:1], CONDITIONAL)


def _coalesce(node: Node, children: list[Column], scope: Scope) -> Column:
    return decide(transform(children, step="coalesce({}, ?)"), children[:-1], CONDITIONAL)


def _aggregate(node: Node, children: list[Column], scope: Scope) -> Column:
    return decide(transform(children[:1], AGGREGATION, step=SAME), children[1:], CONDITIONAL)


def _aggregated_by_order(node: Node, children: list[Column], scope: Scope) -> Column:
    return decide(transform(children[:1], step="max_by({}, ?)"), children[1:], SORT)


def _pivoted(node: Node, children: list[Column], scope: Scope) -> Column:
    return decide(transform(children[1:2]), children[:1], CONDITIONAL)


def _windowed(node: Node, children: list[Column], scope: Scope) -> Column:
    return decide(transform(children[:1], step=SAME), children[1:], WINDOW)


def _ranked(node: Node, children: list[Column], scope: Scope) -> Column:
    # The children of rank() are the keys of its window's order: they decide it, they do not flow into it.
    return decide(EMPTY, children, WINDOW)


def _filtered(node: Node, children: list[Column], scope: Scope) -> Column:
    return decide(transform(children[:1]), children[1:], CONDITIONAL)


def _named_struct(node: Node, children: list[Column], scope: Scope) -> Column:
    whole = transform(children[1::2])
    names = [_literal_text(one) for one in children[0::2]]
    if any(name is None for name in names):
        return whole
    fields = {str(name): value for name, value in zip(names, children[1::2])}
    return Column(whole.direct, whole.indirect, whole.reasons, fields)


def _literal(node: Node, children: list[Column], scope: Scope) -> Column:
    if node.get("dataType") == "string":
        return Column(type=("literal", node.get("value")))
    return NUMBERS.get(str(node.get("value")), EMPTY) if node.get("dataType") == "integer" else EMPTY


def _literal_text(column: Column) -> str | None:
    found = column.type
    return str(found[1]) if isinstance(found, tuple) and found[:1] == ("literal",) else None


def _struct_field(node: Node, children: list[Column], scope: Scope) -> Column:
    name = node.get("name") or _name_of_field(children[0].type, node.get("ordinal"))
    return get_field(children[0], str(name)) if name else transform(children)


def _name_of_field(type_: Any, ordinal: Any) -> str:
    fields = type_.get("fields") if isinstance(type_, dict) else None
    if isinstance(fields, list) and isinstance(ordinal, int) and ordinal < len(fields):
        return str(fields[ordinal].get("name", ""))
    return ""


def _with_field(node: Node, children: list[Column], scope: Scope) -> Column:
    return replace(children[-1], type=("set", node.get("name")))


def _drop_field(node: Node, children: list[Column], scope: Scope) -> Column:
    return Column(type=("drop", node.get("name")))


def _update_fields(node: Node, children: list[Column], scope: Scope) -> Column:
    """A struct with fields set or dropped, one after the other. Where names are not known, all values stay."""
    struct, *changes = children
    named = [(*change.type, change) for change in changes if isinstance(change.type, tuple) and change.type[1]]
    if not struct.fields or len(named) < len(changes):
        return transform(children)
    fields = dict(struct.fields)
    for what, name, value in named:
        fields.pop(name, None)
        if what == "set":
            fields[name] = value
    return replace(transform(fields.values()), fields=fields)


def _subquery(node: Node, scope: Scope) -> Column:
    # The children are the outer columns that the subquery refers to; its plan has them where they are used.
    found = merge(scope.read_subquery(tree, scope.columns) for tree in trees_in(node["plan"]))
    # EXISTS asks whether there is a row, whatever is in it.
    return Column(indirect=found.indirect, reasons=found.reasons) if kind(node) == "Exists" else found


_RULES: dict[str, Rule] = {
    **dict.fromkeys(("AttributeReference", "NamedLambdaVariable"), _attribute),
    **dict.fromkeys(("Alias", "PromotePrecision", "KnownNotNull", "TempResolvedColumn"), _same),
    "OuterReference": _outer,
    "NamedLambdaVariable": _nothing,
    "Literal": _literal,
    **dict.fromkeys(("Cast", "UpCast", "AnsiCast"), _cast),
    **dict.fromkeys(
        (
            "PythonUDF",
            "PythonUDAF",
            "PythonUDTF",
            "ScalaUDAF",
            "ScalaAggregator",
            "HiveSimpleUDF",
            "HiveGenericUDF",
            "HiveGenericUDTF",
            "HiveUDAFFunction",
            "CallMethodViaReflection",
            "ApplyFunctionExpression",
        ),
        _opaque,
    ),
    "ScalaUDF": _scala_function,
    "CaseWhen": _case_when,
    "If": _if,
    **dict.fromkeys(("Coalesce", "NaNvl"), _coalesce),
    "AggregateExpression": _aggregate,
    **dict.fromkeys(("MaxBy", "MinBy"), _aggregated_by_order),
    "PivotFirst": _pivoted,
    "WindowExpression": _windowed,
    **dict.fromkeys(("Rank", "DenseRank", "PercentRank"), _ranked),
    "ArrayFilter": _filtered,
    "CreateNamedStruct": _named_struct,
    "GetStructField": _struct_field,
    "WithField": _with_field,
    "DropField": _drop_field,
    "UpdateFields": _update_fields,
    "VariableReference": _attribute,
}

_MASKING = frozenset(
    (
        "Md5",
        "Sha1",
        "Sha2",
        "Crc32",
        "Murmur3Hash",
        "XxHash64",
        "HiveHash",
        "Mask",
        "Count",
        "CountIf",
        "ApproximatePercentile",
        "HyperLogLogPlusPlus",
    )
)
"""Functions whose result does not show the value."""
