"""Rules of `query` and `eval`: expressions that are given as text."""

from __future__ import annotations

import ast
import functools
import operator
import re
from dataclasses import replace
from typing import Any

from whence_client.frames.frames import FrameLineage
from whence_client.frames.pandas.calls import (
    Call,
    is_frame,
    is_series,
    labels_in,
    pick,
    rows_chosen_by,
    value_column,
)
from whence_client.lineage.columns import (
    FILTER,
    transform,
)
from whence_client.lineage.rows import rows_by


def query(call: Call) -> FrameLineage:
    """Rows for which an expression holds. Names with `@` are variables of the program."""
    text = str(call.argument(0, "expr"))
    names = [name for name in names_in(text) if name in call.source.columns or name in call.source.index]
    rows = rows_by((pick(call.source, name) for name in names), FILTER)
    chosen = (rows_chosen_by(one, call) for one in _variables(text, call))
    return call.source.with_rows(functools.reduce(operator.or_, chosen, rows))


def _variables(text: str, call: Call) -> list[Any]:
    """The values of the program's variables in an expression: `@limit`, `@frame.column`."""
    known = {**(call.named.get("global_dict") or {}), **(call.named.get("local_dict") or {})}
    names = ((known.get(name), member) for name, member in re.findall(r"@(\w+)(?:\.(\w+))?", text))
    return [
        value[member] if value is not None and is_frame(value) and member in value.columns else value
        for value, member in names
    ]


def evaluate(call: Call) -> FrameLineage | None:
    """`eval`: a column by an expression over others."""
    text = str(call.argument(0, "expr"))
    target, equals, expression = text.partition("=")
    if "==" in text or not equals:
        expression, target = text, ""
    of_columns = (pick(call.source, name) for name in names_in(expression) if name in call.source.columns)
    values = (value_column(one, call.find, call.source.rows, call.owner) for one in _variables(expression, call))
    column = transform((*of_columns, *values))
    if is_frame(call.result):
        return replace(call.source, columns={**call.source.columns, target.strip(): column})
    return replace(call.source, columns={labels_in(call.result)[0]: column}) if is_series(call.result) else None


def names_in(expression: str) -> list[str]:
    """The names in an expression of `query` or `eval`, also those in backticks.

    >>> names_in("amount > 3 and `weird name` == @limit")
    ['amount', 'weird name']
    """
    quoted = expression.split("`")[1::2]
    plain = " ".join(expression.split("`")[::2]) if not quoted else _without_quoted(expression, quoted)
    try:
        tree = ast.parse(plain.replace("@", "__local__").strip().replace("\n", " "), mode="eval")
    except SyntaxError:
        return quoted
    found = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return [*dict.fromkeys([*(name for name in found if not name.startswith(("__local__", "__quoted__"))), *quoted])]


def _without_quoted(expression: str, quoted: list[str]) -> str:
    for number, one in enumerate(quoted):
        expression = expression.replace(f"`{one}`", f"__quoted__{number}", 1)
    return expression
