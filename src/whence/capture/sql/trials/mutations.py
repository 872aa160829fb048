"""Small changes of one part of a query, as somebody might make by mistake."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sqlglot import exp

_BESIDE: Final[Mapping[type[exp.Expr], tuple[type[exp.Expr], ...]]] = {
    exp.GT: (exp.GTE,),
    exp.GTE: (exp.GT,),
    exp.LT: (exp.LTE,),
    exp.LTE: (exp.LT,),
    exp.Sum: (exp.Max, exp.Avg),
    exp.Max: (exp.Min,),
    exp.Min: (exp.Max,),
    exp.Avg: (exp.Max,),
    exp.FirstValue: (exp.LastValue,),
    exp.LastValue: (exp.FirstValue,),
    exp.Lag: (exp.Lead,),
    exp.Lead: (exp.Lag,),
    exp.LogicalAnd: (exp.LogicalOr,),
    exp.LogicalOr: (exp.LogicalAnd,),
    exp.RowNumber: (exp.Rank,),
    exp.Rank: (exp.DenseRank, exp.RowNumber),
    exp.DenseRank: (exp.Rank,),
    exp.Intersect: (exp.Union,),
    exp.Except: (exp.Union,),
    exp.Greatest: (exp.Least,),
    exp.Least: (exp.Greatest,),
    exp.Floor: (exp.Round, exp.Ceil),
    exp.Ceil: (exp.Round, exp.Floor),
    exp.ILike: (exp.Like,),
    exp.Like: (exp.ILike,),
    exp.Add: (exp.Sub,),
    exp.Sub: (exp.Add,),
    exp.Div: (exp.IntDiv,),
    exp.NullSafeEQ: (exp.EQ,),
    exp.NullSafeNEQ: (exp.NEQ,),
    exp.Left: (exp.Right,),
    exp.Right: (exp.Left,),
}
_DROPPED: Final = (exp.Not, exp.Abs, exp.Upper, exp.Lower, exp.Trim, exp.Round, exp.Floor, exp.Coalesce, exp.Nullif)
"""Functions whose first argument stands for them."""
_COUNTED: Final = (exp.Binary, exp.If, exp.Case, exp.Coalesce, exp.Between, exp.Func, exp.Limit, exp.In, exp.Interval)
"""Where a number decides on a value."""
_NAMED: Final = (exp.EQ, exp.NEQ, exp.In, exp.If, exp.Case, exp.Coalesce, exp.Like, exp.ILike, exp.Nullif, exp.DPipe)
"""Where a text decides on a value."""
_OF_ROWS: Final = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
"""Functions that take the value of another row, which may be NULL."""
_NEVER_NULL: Final = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.Count, exp.CountIf, exp.Exists, exp.Is)
_COMPARED: Final = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_CASED: Final = (exp.Upper, exp.Lower)
_WHOLE: Final = (exp.DType.DATE, exp.DType.INT, exp.DType.BIGINT)
_INTEGERS: Final = (exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT)
_FRACTIONS: Final = (exp.DType.FLOAT, exp.DType.DOUBLE, exp.DType.DECIMAL)
_ZONES: Final = ("UTC", "Etc/GMT-1", "Etc/GMT-2")
"""Without summer time: most zones of Europe are one of the last two, in part of the year."""
_UNITS: Final = ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")


def others(node: exp.Expr) -> Iterator[exp.Expr]:
    """What might stand there by mistake."""
    if isinstance(node, exp.Query):
        yield from _other_queries(node)
    elif isinstance(node, (exp.Window, exp.WindowSpec, exp.Order, exp.Ordered, exp.Join)):
        yield from _other_orders(node)
    elif isinstance(node, exp.Literal):
        yield from _other_literals(node)
    else:
        yield from _other_conditions(node)
        yield from _other_values(node)
        yield from _other_types(node)
    for other in _BESIDE.get(type(node), ()):
        yield other(**{name: _copied(value) for name, value in node.args.items() if name in other.arg_types})


def is_rare(node: exp.Expr, other: exp.Expr) -> bool:
    """Whether what might stand there by mistake differs for NULL, ties, or rows that repeat or find none alone."""
    match node:
        case (
            exp.Query()
            | exp.Join()
            | exp.Div()
            | exp.Is()
            | exp.Nullif()
            | exp.Coalesce()
            | exp.IgnoreNulls()
            | exp.Count()
        ):
            return True
        case exp.NullSafeEQ() | exp.NullSafeNEQ():
            return True
        case exp.RowNumber() | exp.Rank() | exp.DenseRank() | exp.WindowSpec():
            return True
        case exp.Ordered():
            return is_of_nulls(node, other)
    return isinstance(other, exp.IgnoreNulls) or (isinstance(other, exp.Coalesce) and other.this == node)


def is_of_nulls(node: exp.Expr, other: exp.Expr) -> bool:
    """Whether only the place of NULL in an order differs."""
    if not isinstance(node, exp.Ordered) or not isinstance(other, exp.Ordered):
        return False
    return node.args.get("desc") == other.args.get("desc")


def _other_queries(node: exp.Query) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Select) and node.args.get("distinct") is not None:
        yield _with_arg(node, "distinct", None)
    if isinstance(node, exp.SetOperation):
        yield _with_arg(node, "distinct", not node.args.get("distinct"))


def _other_orders(node: exp.Expr) -> Iterator[exp.Expr]:
    match node:
        case exp.Join() if node.args.get("on") is not None and node.side.upper() in ("", "LEFT") and not node.kind:
            yield _with_arg(node, "side", None if node.side else "LEFT")
        case exp.Join() if node.args.get("using") and node.side.upper() in ("", "LEFT") and not node.kind:
            yield _with_arg(node, "side", None if node.side else "LEFT")
        case exp.Window():
            if node.args.get("spec") is not None and node.args.get("order") is not None:
                yield _with_arg(node, "spec", None)
            if partition := node.args.get("partition_by"):
                yield _with_arg(node, "partition_by", [one.copy() for one in partition[:-1]] or None)
            order = node.args.get("order")
            if order is not None and len(order.expressions) > 1:
                yield _with_arg(node, "order", exp.Order(expressions=[one.copy() for one in order.expressions[:-1]]))
        case exp.WindowSpec() if node.args.get("kind") in ("ROWS", "RANGE"):
            yield _with_arg(node, "kind", "RANGE" if node.args["kind"] == "ROWS" else "ROWS")
        case exp.Order() if _decides(node):
            yield from _with_swapped_keys(node)
        case exp.Ordered() if isinstance(node.parent, exp.Order) and _decides(node.parent):
            yield _with_arg(node, "desc", not node.args.get("desc"))
            if isinstance(node.this, exp.Column):
                yield _with_arg(node, "nulls_first", not node.args.get("nulls_first"))


def _decides(order: exp.Order) -> bool:
    """Whether an order chooses rows or values."""
    if order.parent is None:
        return False
    return not isinstance(order.parent, exp.Query) or order.parent.args.get("limit") is not None


def _with_swapped_keys(order: exp.Order) -> Iterator[exp.Expr]:
    for place in range(1, len(order.expressions)):
        keys = [one.copy() for one in order.expressions]
        keys[place - 1 : place + 1] = keys[place], keys[place - 1]
        yield _with_arg(order, "expressions", keys)


def _other_literals(node: exp.Literal) -> Iterator[exp.Expr]:
    if node.is_string:
        if isinstance(node.parent, exp.Interval):
            yield from _next_numbers(node, exp.Literal.string)
        elif isinstance(node.parent, _NAMED):
            yield exp.Literal.string(f"{node.this}~")
    elif isinstance(node.parent, _COUNTED):
        yield from _next_numbers(node, exp.Literal.number)


def _next_numbers(node: exp.Literal, make: Callable[[str], exp.Expr]) -> Iterator[exp.Expr]:
    if node.this.isdigit():
        yield make(str(int(node.this) + 1))


def _other_conditions(node: exp.Expr) -> Iterator[exp.Expr]:
    match node:
        case exp.And() | exp.Or():
            yield from (node.this.copy(), node.expression.copy())
        case exp.Where() | exp.Having() | exp.Qualify() if not isinstance(node.this, exp.Connector):
            yield type(node)(this=exp.true())
        case exp.In() if len(node.expressions) > 1:
            yield _with_arg(node, "expressions", [one.copy() for one in node.expressions[:-1]])
            yield _with_arg(node, "expressions", [one.copy() for one in node.expressions[1:]])
        case exp.Is():
            yield exp.false()
        case exp.Between():
            yield _between(node, exp.GT, exp.LTE)
            yield _between(node, exp.GTE, exp.LT)
        case exp.Filter():
            yield node.this.copy()
    if isinstance(node, _COMPARED) and _may_be_null(node):
        yield exp.Coalesce(this=node.copy(), expressions=[exp.true()])
    if isinstance(node, (exp.EQ, exp.NEQ)) and _compares_texts(node):
        if not isinstance(node.this, _CASED) and not isinstance(node.expression, _CASED):
            yield type(node)(this=exp.Lower(this=node.this.copy()), expression=exp.Lower(this=node.expression.copy()))
        yield type(node)(this=exp.Trim(this=node.this.copy()), expression=node.expression.copy())


def _between(node: exp.Between, low: type[exp.Expr], high: type[exp.Expr]) -> exp.Expr:
    parts = (
        low(this=node.this.copy(), expression=node.args["low"].copy()),
        high(this=node.this.copy(), expression=node.args["high"].copy()),
    )
    return exp.paren(exp.And(this=parts[0], expression=parts[1]))


def _may_be_null(node: exp.Expr) -> bool:
    return node.find(*_NEVER_NULL) is None and not all(map(_has_default, node.find_all(exp.Column)))


def _has_default(column: exp.Column) -> bool:
    default = column.find_ancestor(exp.Coalesce, exp.Query)
    return isinstance(default, exp.Coalesce) and isinstance(default.expressions[-1], exp.Literal)


def _compares_texts(node: exp.Expr) -> bool:
    """Whether both sides may be texts."""
    parts = (node.this, node.expression)
    if any(isinstance(one, exp.Literal) for one in parts):
        return any(isinstance(one, exp.Literal) and one.is_string and one.this.strip("0123456789-: ") for one in parts)
    return all(isinstance(one, (exp.Column, exp.Trim, exp.Substring, exp.Left, exp.Right)) for one in parts)


def _other_values(node: exp.Expr) -> Iterator[exp.Expr]:
    match node:
        case exp.Case() if node.args["ifs"]:
            yield from _without_branches(node)
        case exp.Count() if isinstance(node.this, exp.Distinct) and len(node.this.expressions) == 1:
            yield exp.Count(this=node.this.expressions[0].copy())
        case exp.Count() if isinstance(node.this, exp.Column):
            yield exp.Count(this=exp.Star())
            yield exp.Count(this=exp.Distinct(expressions=[node.this.copy()]))
        case exp.ArgMax() | exp.ArgMin():
            other = exp.ArgMin if isinstance(node, exp.ArgMax) else exp.ArgMax
            yield other(**{name: _copied(value) for name, value in node.args.items()})
            yield from (exp.Max(this=node.this.copy()), exp.Min(this=node.this.copy()))
        case exp.Var() if node.name.upper().rstrip("S") in _UNITS:
            place = _UNITS.index(node.name.upper().rstrip("S"))
            yield from (exp.var(_UNITS[n]) for n in (place - 1, place + 1) if 0 <= n < len(_UNITS))
        case exp.Coalesce() if len(node.expressions) > 1:
            yield _with_arg(node, "expressions", [one.copy() for one in node.expressions[:-1]])
        case exp.IgnoreNulls():
            yield node.this.copy()
        case exp.AtTimeZone() if isinstance(node.args["zone"], exp.Literal):
            yield from (_with_arg(node, "zone", exp.Literal.string(zone)) for zone in _ZONES)
    if isinstance(node, _OF_ROWS) and isinstance(node.parent, exp.Window):
        yield exp.IgnoreNulls(this=node.copy())
    if isinstance(node, _DROPPED) and isinstance(node.this, exp.Expr):
        yield node.this.copy()


def _other_types(node: exp.Expr) -> Iterator[exp.Expr]:
    """A cast to another type of numbers, or none."""
    if not isinstance(node, exp.Cast):
        return
    if node.to.this in _WHOLE and node.find(exp.Column) is not None:
        yield node.this.copy()
    if node.to.this in _INTEGERS:
        yield _with_arg(node, "to", exp.DataType(this=exp.DType.DOUBLE))
    if node.to.this in _FRACTIONS:
        yield _with_arg(node, "to", exp.DataType(this=exp.DType.BIGINT))
    if node.to.is_type(exp.DType.DECIMAL) and len(node.to.expressions) == 2:
        scale = node.to.expressions[1].name
        if scale.isdigit() and int(scale) > 0:
            yield exp.Round(this=node.copy(), decimals=exp.Literal.number(int(scale) - 1))


def _without_branches(node: exp.Case) -> Iterator[exp.Expr]:
    default = node.args.get("default")
    for place in {0, len(node.args["ifs"]) - 1}:
        copy = node.copy()
        copy.args["ifs"].pop(place)
        yield copy if copy.args["ifs"] else (default.copy() if default is not None else exp.null())
    if default is not None:
        yield _with_arg(node, "default", None)


def _with_arg(node: exp.Expr, name: str, value: object) -> exp.Expr:
    copy = node.copy()
    copy.set(name, value)
    return copy


def _copied(value: object) -> object:
    match value:
        case exp.Expr():
            return value.copy()
        case list():
            return [_copied(one) for one in value]
        case _:
            return value
