"""Expressions of a plan (Calcite's `rexNode`s as Flink writes them): the sources of their values."""

from collections.abc import Iterator, Sequence

from whence.capture.members import object_at, objects_at, text_at
from whence.openlineage.json.wire import Json
from whence_client.lineage.columns import (
    CONDITIONAL,
    EMPTY,
    NOT_CAPTURED,
    OPAQUE_FUNCTION,
    Column,
    add_reason,
    decide,
    merge,
    transform,
    unknown,
)

Columns = Sequence[Column]
_USER_DEFINED = ("catalogName", "class")
"""Members of a call that name a function which is none of Flink's own."""


def read_expression(expression: Json, columns: Columns) -> Column:
    """The sources of an expression over the columns of its input; of a kind that is not known, the reason."""
    match text_at(expression, "kind"):
        case "INPUT_REF":
            return column_at(columns, expression.get("inputIndex"))
        case "LITERAL":
            return EMPTY
        case "FIELD_ACCESS":
            return transform((read_expression(object_at(expression, "expr"), columns),))
        case "CALL":
            return _read_call(expression, columns)
    return unknown(NOT_CAPTURED)


def column_at(columns: Columns, index: object) -> Column:
    """A column by its index."""
    known = isinstance(index, int) and 0 <= index < len(columns)
    return columns[index] if isinstance(index, int) and known else unknown(NOT_CAPTURED)


def _read_call(call: Json, columns: Columns) -> Column:
    operands = [read_expression(one, columns) for one in objects_at(call, "operands")]
    conditions = tuple(_conditions(text_at(call, "internalName"), len(operands)))
    if conditions:
        values = merge(one for number, one in enumerate(operands) if number not in conditions)
        return decide(values, (operands[number] for number in conditions), CONDITIONAL)
    found = transform(operands)
    return add_reason(found, OPAQUE_FUNCTION) if any(call.get(one) for one in _USER_DEFINED) else found


def _conditions(name: str, count: int) -> Iterator[int]:
    """The operands that only choose among the others: `CASE` has condition and value in turn, and a last value."""
    function = name.strip("$").partition("$")[0]
    if function == "CASE":
        yield from range(0, count - 1, 2)
    elif function == "IF" and count == 3:
        yield 0
