"""Edits of DuckDB queries: some that keep the meaning by SQL's own rules, some that may change it. Rows decide."""

from collections.abc import Callable
from random import Random
from typing import TypeVar

from sqlglot import exp, parse_one

Found = TypeVar("Found", bound=exp.Expr)
Edit = Callable[[Random, exp.Expr], exp.Expr | None]
"""Another version of a query, or None if it has no place for the edit. The given tree may be changed."""


def _one(random: Random, tree: exp.Expr, *kinds: type[Found]) -> Found | None:
    found = list(tree.find_all(*kinds))
    return random.choice(found) if found else None


def swap_conjuncts(random: Random, tree: exp.Expr) -> exp.Expr | None:
    return _swap(random, tree, exp.And, exp.Or)


def swap_operands(random: Random, tree: exp.Expr) -> exp.Expr | None:
    return _swap(random, tree, exp.EQ, exp.Add)


def _swap(random: Random, tree: exp.Expr, *kinds: type[exp.Expr]) -> exp.Expr | None:
    node = _one(random, tree, *kinds)
    if node is None:
        return None
    left, right = node.this.copy(), node.expression.copy()
    node.set("this", right)
    node.set("expression", left)
    return tree


def turn_comparison(random: Random, tree: exp.Expr) -> exp.Expr | None:
    turned: dict[type[exp.Expr], type[exp.Expr]] = {exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE}
    node = _one(random, tree, *turned)
    if node is None:
        return None
    node.replace(turned[type(node)](this=node.expression.copy(), expression=node.this.copy()))
    return tree


def wrap(random: Random, tree: exp.Expr) -> exp.Expr | None:
    return parse_one(f"SELECT * FROM ({tree.sql('duckdb')}) AS wrapped", read="duckdb")


def into_cte(random: Random, tree: exp.Expr) -> exp.Expr | None:
    """A subquery in FROM becomes a common table expression."""
    subqueries = [node for node in tree.find_all(exp.Subquery) if isinstance(node.parent, exp.From | exp.Join)]
    outer = [node for node in subqueries if node.find_ancestor(exp.Select, exp.SetOperation) is tree]
    if not outer or not isinstance(tree, exp.Select) or tree.args.get("with_"):
        return None
    node = random.choice(outer)
    table = exp.Table(this=exp.to_identifier("extracted"), alias=node.args.get("alias"))
    body = node.this.copy()
    node.replace(table)
    return tree.with_("extracted", as_=body, dialect="duckdb")


def always_true(random: Random, tree: exp.Expr) -> exp.Expr | None:
    node = _one(random, tree, exp.Select)
    assert isinstance(node, exp.Select)
    node.where("1 = 1", copy=False)
    return tree


def bracket(random: Random, tree: exp.Expr) -> exp.Expr | None:
    node = _one(random, tree, exp.Column)
    if node is None or isinstance(node.parent, exp.Dot):
        return None
    node.replace(exp.paren(node.copy()))
    return tree


def rename_aliases(random: Random, tree: exp.Expr) -> exp.Expr | None:
    """Rename an alias that is used once as a table's name, everywhere."""
    aliases = [node for node in tree.find_all(exp.TableAlias) if node.name and not node.args.get("columns")]
    if not aliases:
        return None
    old = random.choice(aliases).name
    if sum(one.name == old for one in aliases) > 1:
        return None
    for node in tree.find_all(exp.Identifier):
        if node.name == old:
            node.set("this", f"{old}_renamed")
    return tree


def swap_inner_join(random: Random, tree: exp.Expr) -> exp.Expr | None:
    """Exchange the two sides of an inner join with ON, where nothing depends on the order of columns."""
    node = _one(random, tree, exp.Select)
    joins = node.args.get("joins") or [] if node is not None else []
    if node is None or not joins or any(item.is_star for item in node.expressions):
        return None
    first = joins[0]
    if first.side or first.args.get("using") or first.kind not in ("", "INNER") or not first.args.get("on"):
        return None
    left, right = node.args["from_"].this.copy(), first.this.copy()
    if isinstance(right, exp.Lateral | exp.Unnest):
        return None
    node.args["from_"].set("this", right)
    first.set("this", left)
    return tree


def negate_twice(random: Random, tree: exp.Expr) -> exp.Expr | None:
    where = _one(random, tree, exp.Where)
    if where is None:
        return None
    where.set("this", exp.Not(this=exp.Not(this=exp.paren(where.this.copy()))))
    return tree


def ordinal_group(random: Random, tree: exp.Expr) -> exp.Expr | None:
    for node in tree.find_all(exp.Group):
        select = node.parent
        for place, item in enumerate(select.expressions if select is not None else [], start=1):
            if item.unalias() == node.expressions[0] and isinstance(item.unalias(), exp.Column):
                node.set("expressions", [exp.Literal.number(place)])
                return tree
    return None


KEEPING: tuple[Edit, ...] = (
    swap_conjuncts,
    swap_operands,
    turn_comparison,
    wrap,
    into_cte,
    always_true,
    bracket,
    rename_aliases,
    swap_inner_join,
    negate_twice,
    ordinal_group,
)


def other_literal(random: Random, tree: exp.Expr) -> exp.Expr | None:
    found = [node for node in tree.find_all(exp.Literal) if not node.is_string]
    if not found:
        return None
    node = random.choice(found)
    node.replace(exp.Literal.number(int(node.name) + 1))
    return tree


def other_operator(random: Random, tree: exp.Expr) -> exp.Expr | None:
    kinds = (exp.GT, exp.LT, exp.GTE, exp.LTE, exp.EQ, exp.NEQ)
    node = _one(random, tree, *kinds)
    if node is None:
        return None
    other = random.choice([kind for kind in kinds if kind is not type(node)])
    node.replace(other(this=node.this.copy(), expression=node.expression.copy()))
    return tree


def other_aggregate(random: Random, tree: exp.Expr) -> exp.Expr | None:
    kinds = (exp.Sum, exp.Max, exp.Min, exp.Count, exp.Avg)
    node = _one(random, tree, *kinds)
    if node is None:
        return None
    other = random.choice([kind for kind in kinds if kind is not type(node)])
    node.replace(other(this=node.this.copy()))
    return tree


def other_side(random: Random, tree: exp.Expr) -> exp.Expr | None:
    node = _one(random, tree, exp.Join)
    if node is None or not (node.args.get("on") or node.args.get("using")):
        return None
    node.set("side", random.choice([side for side in ("", "LEFT", "RIGHT", "FULL") if side != node.side]))
    return tree


def no_filter(random: Random, tree: exp.Expr) -> exp.Expr | None:
    node = _one(random, tree, exp.Where, exp.Having, exp.Qualify)
    if node is None:
        return None
    node.pop()
    return tree


def distinct(random: Random, tree: exp.Expr) -> exp.Expr | None:
    node = _one(random, tree, exp.Select)
    assert node is not None
    node.set("distinct", None if node.args.get("distinct") else exp.Distinct())
    return tree


def other_column(random: Random, tree: exp.Expr) -> exp.Expr | None:
    nodes = [node for node in tree.find_all(exp.Column) if isinstance(node.this, exp.Identifier)]
    if len(nodes) < 2:
        return None
    node, other = random.sample(nodes, 2)
    node.replace(other.copy())
    return tree


def swap_values(random: Random, tree: exp.Expr) -> exp.Expr | None:
    node = _one(random, tree, exp.Sub, exp.Case, exp.Coalesce, exp.Nullif)
    if node is None:
        return None
    if isinstance(node, exp.Case):
        branch, default = node.args["ifs"][0], node.args.get("default")
        if default is None:
            return None
        value = branch.args["true"].copy()
        branch.set("true", default.copy())
        node.set("default", value)
        return tree
    other = node.expressions[0] if isinstance(node, exp.Coalesce) else node.expression
    left, right = node.this.copy(), other.copy()
    other.replace(left)
    node.set("this", right)
    return tree


def other_set(random: Random, tree: exp.Expr) -> exp.Expr | None:
    node = _one(random, tree, exp.Union, exp.Except, exp.Intersect)
    if node is None:
        return None
    if isinstance(node, exp.Union):
        node.set("distinct", not node.args.get("distinct"))
    else:
        kind = exp.Except if isinstance(node, exp.Intersect) else exp.Intersect
        node = node.replace(kind(**node.args))
    return tree if node.parent is not None else node


def other_limit(random: Random, tree: exp.Expr) -> exp.Expr | None:
    node = _one(random, tree, exp.Limit)
    if node is None:
        return None
    node.set("expression", exp.Literal.number(random.choice((1, 2, 3))))
    return tree


def move_filter(random: Random, tree: exp.Expr) -> exp.Expr | None:
    """A condition of WHERE becomes one of an outer join, or the other way round."""
    for join in tree.find_all(exp.Join):
        select = join.parent
        if join.side and join.args.get("on") and isinstance(select, exp.Select):
            where = select.args.get("where")
            if where is not None:
                join.set("on", exp.and_(join.args["on"].copy(), where.this.copy()))
                where.pop()
                return tree
            select.where(join.args["on"].copy(), copy=False)
            return tree
    return None


def other_window(random: Random, tree: exp.Expr) -> exp.Expr | None:
    node = _one(random, tree, exp.Ordered)
    if node is None:
        return None
    node.set("desc", not node.args.get("desc"))
    return tree


CHANGING: tuple[Edit, ...] = (
    other_literal,
    other_operator,
    other_aggregate,
    other_side,
    no_filter,
    distinct,
    other_column,
    swap_values,
    other_set,
    other_limit,
    move_filter,
    other_window,
)
