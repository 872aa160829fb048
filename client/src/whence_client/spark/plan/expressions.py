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


KEY, VALUE = "<key>", "<value>"
"""The fields of a map."""
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
    if name in _MAP_READERS and children and KEY in children[0].fields:
        return _read_map(name, children)
    made = call(children, steps_of(name, children), masking=name in _MASKING)
    passed = merge(children) if name in _PASS_ALL else children[0] if name in _PASS_FIRST and children else EMPTY
    return replace(made, fields=passed.fields) if passed.fields else made


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
    type_ = node.get("dataType", node.get("target"))
    if children[0].type is not None and children[0].type == type_:
        return children[0]
    made = transform(children, step=step_of_cast(node))
    fields = children[0].fields  # the types of elements that differ are made one, field by field
    names = list(fields) if KEY in fields else _names_of_type(type_)
    return replace(made, fields={name: transform((one,)) for name, one in zip(names, fields.values())})


def _names_of_type(type_: Any) -> list[str]:
    """The names of the fields of a struct, or of the structs in an array."""
    while isinstance(type_, dict) and "elementType" in type_:
        type_ = type_["elementType"]
    fields = type_.get("fields") if isinstance(type_, dict) else None
    return [str(one.get("name", "")) for one in fields] if isinstance(fields, list) else []


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
    made = replace(transform(values, step=_CHOSEN), fields=merge(values).fields)
    return decide(made, children[0:paired:2], CONDITIONAL)


def _if(node: Node, children: list[Column], scope: Scope) -> Column:
    made = replace(transform(children[1:], step=_CHOSEN), fields=merge(children[1:]).fields)
    return decide(made, children[:1], CONDITIONAL)


def _coalesce(node: Node, children: list[Column], scope: Scope) -> Column:
    made = replace(transform(children, step="coalesce({}, ?)"), fields=merge(children).fields)
    return decide(made, children[:-1], CONDITIONAL)


def _aggregate(node: Node, children: list[Column], scope: Scope) -> Column:
    fields = {name: transform((one,), AGGREGATION, step=SAME) for name, one in children[0].fields.items()}
    made = replace(transform(children[:1], AGGREGATION, step=SAME), fields=fields)
    return decide(made, children[1:], CONDITIONAL)


def _greatest(node: Node, children: list[Column], scope: Scope) -> Column:
    """The greatest of structs is that by their first fields: each field is decided by those before it."""
    values = list(children[0].fields.values())
    fields = {name: decide(one, values[:at], SORT) for at, (name, one) in enumerate(children[0].fields.items())}
    return replace(call(children, steps_of(kind(node), children)), fields=fields)


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
    return decide(replace(transform(children[:1]), fields=children[0].fields), children[1:], CONDITIONAL)


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


def _map(node: Node, children: list[Column], scope: Scope) -> Column:
    fields = {KEY: merge(children[0::2]), VALUE: merge(children[1::2])}
    return replace(transform(children), fields=fields) if children else EMPTY


def _read_map(name: str, children: list[Column]) -> Column:
    keys, values = children[0].fields[KEY], children[0].fields[VALUE]
    if name == "MapKeys":
        return transform((keys,), step=SAME)
    made = replace(transform((values,), step=SAME), fields=values.fields)
    return made if name == "MapValues" else decide(made, [keys, *children[1:]], CONDITIONAL)


def _zipped(node: Node, children: list[Column], scope: Scope) -> Column:
    names = [_literal_text(one) for one in read_expressions(node.get("names"), scope)]
    return replace(transform(children), fields={str(name): one for name, one in zip(names, children) if name})


def _struct_of_array(node: Node, children: list[Column], scope: Scope) -> Column:
    field_ = node.get("field")
    name = field_.get("name") if isinstance(field_, dict) else None
    return get_field(children[0], str(name)) if name else transform(children)


def _struct_field(node: Node, children: list[Column], scope: Scope) -> Column:
    name = node.get("name") or _name_of_field(children[0], node.get("ordinal"))
    return get_field(children[0], str(name)) if name else transform(children)


def _name_of_field(struct: Column, ordinal: Any) -> str:
    names = _names_of_type(struct.type) or list(struct.fields)
    return names[ordinal] if isinstance(ordinal, int) and ordinal < len(names) else ""


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
    "GetArrayStructFields": _struct_of_array,
    "ArraysZip": _zipped,
    **dict.fromkeys(("CreateMap", "MapFromArrays"), _map),
    **dict.fromkeys(("Max", "Min"), _greatest),
    "WithField": _with_field,
    "DropField": _drop_field,
    "UpdateFields": _update_fields,
    "VariableReference": _attribute,
}

_MAP_READERS = frozenset(("ElementAt", "GetMapValue", "MapKeys", "MapValues"))
_PASS_ALL = frozenset(("CreateArray", "Concat", "ArrayUnion", "MapConcat"))
"""Functions whose result has the elements of all of their arguments."""
_PASS_FIRST = frozenset(
    (
        "ArrayDistinct",
        "ArrayFilter",
        "ArraySort",
        "CollectList",
        "CollectSet",
        "ElementAt",
        "Explode",
        "First",
        "Flatten",
        "GetArrayItem",
        "Inline",
        "Last",
        "PosExplode",
        "Reverse",
        "Shuffle",
        "Slice",
        "SortArray",
    )
)
"""Functions whose result has values of their first argument as they are."""

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
