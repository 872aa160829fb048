"""CASE, its functions, and GREATEST in the syntax tree."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import count_of_sum
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import compare, negate
from whence.capture.sql.fingerprint.normal_forms.spellings.conditions import compared
from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import Rule
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null
from whence.capture.sql.fingerprint.normal_forms.values.cases import coalesce_cases, make_case, make_extreme
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions


def _case(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    operand = tree.this(node)
    branches: list[tuple[Formula, Formula]] = []
    for branch in tree.list_arg(node, tree.IFS):
        condition = e.value(scope, tree.this(branch))
        if operand is not None:
            condition = compared(e.store, "eq", e.value(scope, operand), condition)
        branches.append((e.matched(condition), e.value(scope, tree.arg(branch, tree.TRUE))))
    return make_case(e.store, branches, _default(e, scope, tree.arg(node, tree.DEFAULT)))


def _if(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    condition, value = e.inside(scope, node), e.value(scope, tree.arg(node, tree.TRUE))
    return make_case(e.store, [(e.matched(condition), value)], _default(e, scope, tree.arg(node, tree.FALSE)))


def _default(e: "Expressions", scope: Scope, node: tree.Node | None) -> Formula:
    return e.value(scope, node) if node is not None else e.store.make("null")


def _coalesce(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`coalesce`; of IN and false it is EXISTS, which is false where IN is NULL. T-SQL's ISNULL cuts the default to the
    type of the value.
    """
    if scope.reading.dialect.name == "tsql" and node.args.get("is_null"):
        return e.store.make("isnull", *e.parts(scope, node))
    values = [e.value(scope, item) for item in (tree.this(node), *tree.items(node))]
    if len(values) == 2 and values[1] is e.store.make("boolean", "false"):
        values[0] = e.matched(values[0])
    return count_of_sum(e.store, values) or coalesce_cases(e.store, values)


def _decode(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DECODE as CASE, if it looks for literals: it finds NULL too, which CASE does not."""
    operand, *rest = (e.value(scope, item) for item in tree.items(node))
    pairs = list(zip(rest[::2], rest[1::2], strict=False))
    if not pairs or any(wanted.op not in ("string", "number") for wanted, _ in pairs):
        return e.store.make(*e.parts(scope, node))
    branches = [(compare(e.store, "eq", operand, wanted), value) for wanted, value in pairs]
    return make_case(e.store, branches, rest[-1] if len(rest) % 2 else e.store.make("null"))


def _nullif(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    value, null = e.inside(scope, node), e.store.make("null")
    equal = compare(e.store, "eq", value, e.value(scope, tree.arg(node, tree.EXPRESSION)))
    return make_case(e.store, [(equal, null)], value)


def _nvl2(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    is_known = negate(e.store, is_null(e.inside(scope, node)))
    given = e.value(scope, tree.arg(node, tree.TRUE))
    return make_case(e.store, [(is_known, given)], _default(e, scope, tree.arg(node, tree.FALSE)))


def _greatest(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """GREATEST and LEAST: their arguments have no order."""
    values = [e.inside(scope, node), *(e.value(scope, item) for item in tree.items(node))]
    flags = [f"{name} {value}" for name, value in sorted(node.args.items()) if isinstance(value, bool)]
    return make_extreme(e.store, node.key, values, flags)


RULES: Final[Mapping[str, Rule]] = {
    "case": _case,
    "coalesce": _coalesce,
    "nullif": _nullif,
    "nvl2": _nvl2,
    "if": _if,
    "decodecase": _decode,
    "greatest": _greatest,
    "least": _greatest,
}
