"""Queries that show whether a small change has another value in its place, even if the answer hides it."""

from itertools import islice
from typing import Final

from sqlglot import exp

_BEFORE: Final = "whence_before"
_AFTER: Final = "whence_after"
_ENDS: Final = (
    *(exp.Connector, exp.Not, exp.Paren, exp.Where, exp.Having, exp.Qualify, exp.Join, exp.Alias, exp.Query),
    *(exp.Group, exp.AggFunc, exp.Filter),
)
"""Nodes whose parts are values of their own; a condition of CASE is one, too."""
_DROPPED: Final = ("distinct", "order", "limit", "offset", "qualify", "with_")
_NOT_VALUES: Final = (
    *(exp.Query, exp.Join, exp.Where, exp.Having, exp.Qualify, exp.Order, exp.Ordered, exp.WindowSpec, exp.Limit),
    *(exp.Offset, exp.Fetch, exp.From, exp.Group),
)


def probe_of(statement: exp.Expr, place: int, other: exp.Expr) -> exp.Query | None:
    """How many rows have another value where a node of a statement (`place` in its walk) becomes another one, and how
    many values the node has in them; None if there are none to ask for: outside of a SELECT, or of a whole clause.
    """
    copy = statement.copy()
    node = next(islice(copy.walk(), place, None))
    if isinstance(node, exp.Query) and isinstance(other, exp.Query):
        return _counts(statement, node, other)
    if isinstance(node, exp.Join) and isinstance(node.parent, exp.Select):
        return _joined_counts(statement, node.parent, node, other)
    select = node.find_ancestor(exp.Select)
    value = _value_around(node)
    if select is None or value is None or isinstance(node, exp.Query):
        return None
    changed = _changed(value, node, other)
    key = _clause_of(value, select)
    is_grouped = _is_of_groups(value, select)
    for name in (
        *_DROPPED,
        *(() if is_grouped else ("group", "having")),
        *((key,) if key in ("where", "having") else ()),
    ):
        select.args.pop(name, None)
    if key == "joins":
        _join_everything(value, select)
    kept = [] if is_grouped else [one for one in select.expressions if _is_of_one_row(one)]
    select.set("expressions", [*kept, exp.alias_(value.copy(), _BEFORE), exp.alias_(changed, _AFTER)])
    is_other = exp.NullSafeNEQ(this=exp.column(_BEFORE), expression=exp.column(_AFTER))
    values = exp.Count(this=exp.Distinct(expressions=[exp.column(_BEFORE)]))
    query = exp.select(exp.Count(this=exp.Case().when(is_other, exp.true())), values).from_(
        select.copy().subquery("whence_rows")
    )
    return _with_shared(query, statement)


def _counts(statement: exp.Expr, node: exp.Query, other: exp.Query) -> exp.Query:
    """How many rows fewer a query has than another one, and how many it has."""
    one, more = (
        exp.select(exp.Count(this=exp.Star())).from_(query.copy().subquery("whence_rows")).subquery()
        for query in (node, other)
    )
    return _with_shared(exp.select(exp.Abs(this=exp.Sub(this=more, expression=one)), one.copy()), statement)


def _joined_counts(statement: exp.Expr, select: exp.Select, join: exp.Join, other: exp.Expr) -> exp.Query:
    """The same of the rows of a join and those of another one, before any condition."""
    plain = exp.Select(expressions=[exp.Literal.number(1)], joins=[one.copy() for one in select.args["joins"]])
    plain.set("from_", select.args["from_"].copy())
    changed = plain.copy()
    changed.args["joins"][select.args["joins"].index(join)].replace(other.copy())
    return _counts(statement, plain, changed)


def _with_shared(query: exp.Select, statement: exp.Expr) -> exp.Query:
    if (shared := _shared(statement)) is not None:
        query.set("with_", shared)
    return query


def _value_around(node: exp.Expr) -> exp.Expr | None:
    """The smallest value that a change of a node shows in: a comparison, an argument, a window function."""
    window = node.find_ancestor(exp.Window, exp.Query)
    if isinstance(window, exp.Window):
        node = window
    if isinstance(node, (exp.Where, exp.Having, exp.Qualify)):
        return node.this if isinstance(node.this, exp.Expr) else None
    while node.parent is not None and not (isinstance(node.parent, _ENDS) or _is_case_condition(node)):
        node = node.parent
    return None if isinstance(node, _NOT_VALUES) else node


def _is_case_condition(node: exp.Expr) -> bool:
    branch = node.parent
    if not isinstance(branch, exp.If) or node.arg_key != "this":
        return False
    return not isinstance(branch.parent, exp.Case) or branch.parent.args.get("this") is None


def _changed(value: exp.Expr, node: exp.Expr, other: exp.Expr) -> exp.Expr:
    """A value with a node of it replaced."""
    if value is node:
        return other.copy()
    if node.this is value and isinstance(node, (exp.Where, exp.Having, exp.Qualify)):
        return exp.true()
    place = next(number for number, one in enumerate(value.walk()) if one is node)
    copy = value.copy()
    next(islice(copy.walk(), place, None)).replace(other.copy())
    return copy


def _clause_of(value: exp.Expr, select: exp.Select) -> str:
    node = value
    while node.parent is not None and node.parent is not select:
        node = node.parent
    return str(node.arg_key)


def _join_everything(value: exp.Expr, select: exp.Select) -> None:
    """Let a condition of a join see all pairs of rows."""
    select.args.pop("where", None)
    join = value.find_ancestor(exp.Join)
    if join is not None:
        join.replace(exp.Join(this=join.this.copy(), on=exp.true()))


def _is_of_groups(value: exp.Expr, select: exp.Select) -> bool:
    if value.find(exp.Window) is not None:
        return select.args.get("group") is not None
    return any(_is_in(one, value) for one in value.find_all(exp.AggFunc))


def _is_in(node: exp.Expr, value: exp.Expr) -> bool:
    """Whether no subquery lies between."""
    while node is not value and node.parent is not None:
        if isinstance(node, exp.Query):
            return False
        node = node.parent
    return True


def _is_of_one_row(projection: exp.Expr) -> bool:
    return projection.find(exp.AggFunc) is None and not projection.is_star


def _shared(statement: exp.Expr) -> exp.With | None:
    """The named queries at the top of a statement."""
    for node in (statement, statement.args.get("expression")):
        if isinstance(node, exp.Expr) and isinstance(found := node.args.get("with_"), exp.With):
            return found.copy()
    return None
