"""Small changes of a query that would matter: databases that do not show them are too weak to say anything."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b

from sqlglot import exp

from whence.capture.sql.trials.plans import Plan

MOST = 30
_BESIDE: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.GTE,
    exp.GTE: exp.GT,
    exp.LT: exp.LTE,
    exp.LTE: exp.LT,
    exp.Sum: exp.Max,
    exp.Max: exp.Min,
    exp.Min: exp.Max,
    exp.Avg: exp.Max,
    exp.ArgMax: exp.ArgMin,
    exp.ArgMin: exp.ArgMax,
    exp.FirstValue: exp.LastValue,
    exp.LastValue: exp.FirstValue,
    exp.Lag: exp.Lead,
    exp.Lead: exp.Lag,
    exp.LogicalAnd: exp.LogicalOr,
    exp.LogicalOr: exp.LogicalAnd,
    exp.Rank: exp.DenseRank,
    exp.DenseRank: exp.Rank,
    exp.Intersect: exp.Union,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A version of the base with one small change, `text`. `is_near`: of a part that the head has not."""

    plan: Plan
    text: str
    is_near: bool


def mutants_of(base: Plan, head: Plan) -> list[Mutant]:
    """Up to `MOST` of the base: of the parts that the head has not, and spread over the rest."""
    kept = {node for statement in head.statements for node in statement.walk()}
    is_edit = set(head.statements)
    found = [
        Mutant(_with(base, place, number, tree), f"{node.sql('duckdb')[:60]} as {text[:60]}", node not in kept)
        for place, step in enumerate(base.steps)
        for number, statement in enumerate(step.statements)
        for node, tree, text in _changed(statement)
        if tree not in is_edit
    ]
    by_chance = sorted(found, key=lambda one: blake2b(one.text.encode(), digest_size=8).digest())
    return sorted(by_chance, key=lambda one: not one.is_near)[:MOST]


def _with(plan: Plan, place: int, number: int, tree: exp.Expr) -> Plan:
    step = plan.steps[place]
    statements = (*step.statements[:number], tree, *step.statements[number + 1 :])
    sql = ";\n".join(one.sql("duckdb") for one in statements)
    changed = replace(step, sql=sql, statements=statements)
    return replace(plan, steps=(*plan.steps[:place], changed, *plan.steps[place + 1 :]))


def _changed(statement: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr, str]]:
    """Each node with a change, the statement with it, and the changed part as text."""
    nodes = list(statement.walk())
    for place, node in enumerate(nodes):
        for other in _others(node):
            if node is statement:
                continue
            copy = statement.copy()
            twin = list(copy.walk())[place]
            twin.replace(other)
            yield node, copy, other.sql("duckdb")


def _others(node: exp.Expr) -> Iterator[exp.Expr]:
    match node:
        case exp.And() | exp.Or():
            yield from (node.this.copy(), node.expression.copy())
        case exp.Where() | exp.Having() | exp.Qualify() if not isinstance(node.this, exp.Connector):
            yield type(node)(this=exp.true())
        case exp.Join() if node.args.get("on") is not None and node.side.upper() in ("", "LEFT") and not node.kind:
            yield _with_arg(node, "side", None if node.side else "LEFT")
        case exp.Coalesce() if node.expressions:
            yield node.this.copy()
        case exp.Case() if node.args["ifs"]:
            yield _without_branch(node)
        case exp.Count() if isinstance(node.this, exp.Distinct) and len(node.this.expressions) == 1:
            yield exp.Count(this=node.this.expressions[0].copy())
        case exp.Count() if isinstance(node.this, exp.Column):
            yield exp.Count(this=exp.Star())
        case exp.Window() if node.args.get("spec") is not None or node.args.get("partition_by"):
            yield from _other_windows(node)
        case exp.In() if len(node.expressions) > 1:
            yield _with_arg(node, "expressions", [one.copy() for one in node.expressions[:-1]])
        case exp.Select() if node.args.get("distinct") is not None:
            yield _with_arg(node, "distinct", None)
        case exp.Not() | exp.Abs() | exp.Upper() | exp.Lower() | exp.Trim():
            yield node.this.copy()
        case exp.Is():
            yield exp.false()
        case exp.Add() | exp.Sub():
            yield (exp.Sub if isinstance(node, exp.Add) else exp.Add)(**{n: _copied(v) for n, v in node.args.items()})
        case exp.Literal() if node.is_string and isinstance(node.parent, (exp.EQ, exp.NEQ, exp.In)):
            yield exp.Literal.string(f"{node.this}~")
        case exp.Union():
            yield _with_arg(node, "distinct", not node.args.get("distinct"))
        case exp.ArgMax() | exp.ArgMin():
            yield from (exp.Max(this=node.this.copy()), exp.Min(this=node.this.copy()))
        case exp.Ordered() if isinstance(node.parent, exp.Order) and isinstance(node.parent.parent, exp.Window):
            yield _with_arg(node, "desc", not node.args.get("desc"))
        case exp.EQ() | exp.NEQ():
            yield exp.Coalesce(this=node.copy(), expressions=[exp.true()])
        case _ if type(node) in _BESIDE:
            yield _BESIDE[type(node)](**{name: _copied(value) for name, value in node.args.items()})
        case exp.Literal() if not node.is_string and node.this.isdigit() and isinstance(node.parent, _COUNTED):
            yield exp.Literal.number(int(node.this) + 1)


_COUNTED = (exp.Binary, exp.If, exp.Case, exp.Coalesce, exp.Between)
"""Where a number decides on a value."""


def _other_windows(node: exp.Window) -> Iterator[exp.Expr]:
    if node.args.get("spec") is not None and node.args.get("order") is not None:
        yield _with_arg(node, "spec", None)
    if partition := node.args.get("partition_by"):
        yield _with_arg(node, "partition_by", [one.copy() for one in partition[:-1]] or None)


def _with_arg(node: exp.Expr, name: str, value: object) -> exp.Expr:
    copy = node.copy()
    copy.set(name, value)
    return copy


def _without_branch(node: exp.Case) -> exp.Expr:
    copy = node.copy()
    copy.args["ifs"].pop()
    default = node.args.get("default")
    return copy if copy.args["ifs"] else (default.copy() if default is not None else exp.null())


def _copied(value: object) -> object:
    match value:
        case exp.Expr():
            return value.copy()
        case list():
            return [_copied(one) for one in value]
        case _:
            return value
