"""What flows into an expression: one walk with a list of what is still to do, so that long chains do not recurse."""

from typing import Any

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.flows import (
    AGGREGATION,
    IDENTITY,
    NOTHING,
    SORT,
    TRANSFORMATION,
    Flow,
    Step,
    absorb,
    composed,
    joined,
    stepped,
)
from whence.capture.sql.names import column_name
from whence.capture.sql.relations import Output
from whence.capture.sql.relations import field as field_of
from whence.capture.sql.rules import (
    MASKING_CLASSES,
    Rule,
    Todo,
    aggregate,
    bare,
    by_name,
    case,
    combined,
    conditional,
    count,
    decode,
    each,
    filtered,
    having_max,
    masked,
    member,
    named_value,
    nothing,
    nvl2,
    ordered,
    parametric,
    plain,
    same,
    window,
    within_group,
)
from whence.capture.sql.scopes import Scope


def flow_of(scope: Scope, node: tree.Node, step: Step = IDENTITY) -> Flow:
    """All that flows into an expression, each followed by `step`."""
    if type(node) is c.Column:
        return stepped(_value(scope, node).flow, step)
    into: Flow = {}
    gather(scope, node, step, into)
    return into


def gather(scope: Scope, node: tree.Node, step: Step, into: Flow) -> None:
    """Add all that flows into an expression."""
    todo: Todo = [(node, step)]
    while todo:
        node, step = todo.pop()
        (_RULES.get(type(node)) or _rule_of(type(node)))(scope, node, step, into, todo)


def _rule_of(kind: type[tree.Node]) -> Rule:
    """The rule of a class that has none of its own: found once."""
    rule: Rule = plain
    if issubclass(kind, c.Query):
        rule = _subquery
    elif issubclass(kind, c.Func) and any(bare(name) in MASKING_CLASSES for name in kind.sql_names()):
        rule = masked
    elif issubclass(kind, c.AggFunc):
        rule = aggregate
    _RULES[kind] = rule
    return rule


def value_of(scope: Scope, node: tree.Node) -> Output:
    """An expression as a value whose fields may be known."""
    match node:
        case c.Paren() | c.Alias():
            return value_of(scope, tree.this(node))
        case c.Column():
            return _value(scope, node)
        case c.Dot():
            return _dotted(scope, node)
        case c.Struct():
            return _struct(scope, node)
        case c.Bracket():
            return _at(scope, node)
        case c.Array() | c.ArrayAgg():
            return _array(scope, node)
        case c.Subquery() | c.Select():
            return _scalar(scope, node)
        case c.Anonymous():
            element = element_of(scope, node)
            if element is not None:
                return element
    return Output("", flow_of(scope, node))


def element_of(scope: Scope, node: tree.Node) -> Output | None:
    """`l(i)` of a collection in a procedure: an element is made of what the collection is."""
    name = str(tree.this(node)).lower()
    return scope.reading.variable(name) if name in scope.reading.variables else None


def _called(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    element = element_of(scope, node) if scope.reading.variables else None
    if element is None:
        by_name(scope, node, step, into, todo)
        return
    absorb(into, element.flow, step)


def _value(scope: Scope, node: tree.Node) -> Output:
    if isinstance(tree.this(node), c.Star):
        return Output("", NOTHING)
    return scope.value(tree.column_parts(node), [])


def _dotted(scope: Scope, node: tree.Node) -> Output:
    path = tree.path_of(node)
    if path is not None and all(isinstance(one, c.Identifier | c.Literal) for one in path[1]):
        return scope.value(*path)
    last = tree.arg(node, tree.EXPRESSION)
    if not isinstance(last, c.Identifier | c.Literal):
        inner = _called_on(scope, tree.this(node), last)
        return Output("", joined(inner, flow_of(scope, last, TRANSFORMATION)))
    return field_of(value_of(scope, tree.this(node)), column_name(scope.reading.dialect, last))


_METHODS = ("value", "query", "exist", "nodes")
"""Methods of T-SQL's XML; a name before any other call may be a schema."""


def _called_on(scope: Scope, node: tree.Node, call: tree.Node) -> Flow:
    """The value that a method is called on: `t.doc.value(…)`. Of `dbo.f(…)` there is none."""
    first = node
    while isinstance(first, c.Dot):
        first = tree.this(first)
    if not isinstance(first, c.Identifier):
        return flow_of(scope, _with_columns(node), TRANSFORMATION)
    name = column_name(scope.reading.dialect, first)
    method = isinstance(call, c.Func) and tree.text_of(tree.this(call))[0].lower() in _METHODS
    if not method and scope.source([name]) is None and scope.named(name) is None:
        return NOTHING
    value = scope.value([first], []) if first is node else _dotted(scope, node)
    return stepped(value.flow, TRANSFORMATION)


def _with_columns(node: tree.Node) -> tree.Node:
    """What a method is called on: the parser takes the columns in it for plain names."""
    node = c.Paren(this=node.copy())
    for one in list(node.find_all(c.Identifier)):
        value = one.arg_key in (tree.EXPRESSION, tree.EXPRESSIONS) or isinstance(
            one.parent, c.Ordered | c.Binary | c.Cast
        )
        if value and not isinstance(one.parent, c.Dot):
            one.replace(c.Column(this=one.copy()))
    return node


def _at(scope: Scope, node: tree.Node) -> Output:
    """An element of an array or a map: what is in the brackets chooses it."""
    inner = value_of(scope, tree.this(node))
    chosen = [flow_of(scope, one, TRANSFORMATION) for one in tree.items(node) if not isinstance(one, c.Literal)]
    flow = joined(stepped(inner.flow, TRANSFORMATION), *chosen)
    return Output("", flow, inner.fields, element=declared(scope))


def declared(scope: Scope) -> bool:
    """Whether nested values have declared fields: where not, a path into one is computed, not a nested column."""
    return scope.reading.dialect.name not in ("snowflake", "redshift")


def _struct(scope: Scope, node: tree.Node) -> Output:
    fields: dict[str, Output] = {}
    for place, one in enumerate(tree.items(node), start=1):
        named = isinstance(one, c.PropertyEQ | c.Alias)
        inside = tree.arg(one, tree.EXPRESSION) if isinstance(one, c.PropertyEQ) else one
        name = tree.this(one) if isinstance(one, c.PropertyEQ) else tree.arg(one, tree.ALIAS) if named else one
        called = column_name(scope.reading.dialect, name) if named or isinstance(one, c.Column) else str(place)
        fields[called] = value_of(scope, inside).called(called)
    return Output("", joined(*(stepped(one.flow, TRANSFORMATION) for one in fields.values())), fields)


def _array(scope: Scope, node: tree.Node) -> Output:
    """An array, with what is known of the fields of its elements."""
    flow = flow_of(scope, node)
    inside = tree.items(node)[0] if tree.items(node) else tree.this(node)
    if len(tree.items(node)) > 1 or not isinstance(inside, tree.Node):
        return Output("", flow)
    chooses: Flow = {}
    while isinstance(inside, c.Order | c.Limit | c.Distinct | c.IgnoreNulls):
        for one in tree.items(inside) if isinstance(inside, c.Order) else []:
            gather(scope, one, SORT, chooses)
        inside = tree.this(inside) or tree.items(inside)[0]
    known = value_of(scope, inside).fields if isinstance(inside, c.Struct | c.Select | c.Subquery | c.Column) else None
    if known is None:
        return Output("", flow)
    way = AGGREGATION if isinstance(node, c.ArrayAgg) else IDENTITY
    fields = {name: Output(name, joined(stepped(one.flow, way), chooses), one.fields) for name, one in known.items()}
    return Output("", flow, fields)


def _scalar(scope: Scope, node: tree.Node) -> Output:
    relation = scope.query(node)
    if not relation.outputs:
        return Output("", relation.rows)
    first = relation.outputs[0]
    return Output("", joined(first.flow, relation.rows), first.fields)


def _column(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    absorb(into, _value(scope, node).flow, step)


def _dot(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    absorb(into, _dotted(scope, node).flow, step)


def _bracket(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    absorb(into, _at(scope, node).flow, step)


def _columns(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """DuckDB's COLUMNS(…) inside of an expression: the column that it stands for just now."""
    for output in [scope.standing] if scope.standing is not None else scope.row:
        absorb(into, output.flow, step)


def _subquery(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """A query as a value: its columns, and INDIRECT what chooses its rows."""
    relation = scope.query(node)
    for output in relation.outputs:
        absorb(into, output.flow, step)
    absorb(into, relation.rows, IDENTITY)


def _exists(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    inside = tree.query_in(tree.this(node))
    if inside is None:
        each(node, composed(step, TRANSFORMATION), todo)
        return
    absorb(into, scope.query(inside).rows, IDENTITY)


def _lambda(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    inner = Scope(scope.reading, scope)
    inner.extra_reads = scope.extra_reads
    inner.bound = frozenset(column_name(scope.reading.dialect, one) for one in tree.items(node))
    gather(inner, tree.this(node), composed(step, TRANSFORMATION), into)


def _comprehension(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    inner = Scope(scope.reading, scope)
    inner.extra_reads = scope.extra_reads
    inner.bound = frozenset([column_name(scope.reading.dialect, tree.arg(node, tree.EXPRESSION))])
    gather(scope, tree.arg(node, "iterator"), composed(step, TRANSFORMATION), into)
    for one in (tree.this(node), tree.arg(node, tree.CONDITION)):
        if one is not None:
            gather(inner, one, composed(step, TRANSFORMATION), into)


def _star(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """`object_construct(*)`: all columns as one value."""
    for output in scope.row:
        absorb(into, output.flow, composed(step, TRANSFORMATION))


def _parameter(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """`$1` of a staged file is its first column; elsewhere a variable of the script, or what the caller puts there."""
    text = tree.text_of(node)[0]
    if scope.reading.dialect.name == "snowflake" and text[1:].isdigit():
        absorb(into, scope.value([node], []).flow, step)
        return
    name = text.lstrip("@$:").lower()
    for key in (f"@{name}", name):
        variable = scope.reading.variable(key)
        if variable is not None:
            absorb(into, variable.flow, step)
            return


_RULES: dict[Any, Rule] = dict[Any, Rule]() | (
    dict.fromkeys((c.Literal, c.Null, c.Boolean, c.Identifier, c.DataType, c.Var, c.Star, c.JSONPath), nothing)
    | dict.fromkeys((str, type(None)), nothing)  # of a text that is cut off: the parser is lenient
    | dict.fromkeys((c.Paren, c.Alias, c.Ordered, c.Where, c.IgnoreNulls, c.RespectNulls), same)
    | dict.fromkeys((c.PropertyEQ, c.Kwarg), named_value)
    | dict.fromkeys((c.Count, c.CountIf, c.ApproxDistinct, c.Hll), count)
    | dict.fromkeys((c.CombinedAggFunc, c.CombinedParameterizedAgg, c.ParameterizedAgg), combined)
    | {
        c.Anonymous: _called,
        c.AnonymousAggFunc: by_name,
        c.Column: _column,
        c.Aliases: parametric,
        c.Dot: _dot,
        c.Bracket: _bracket,
        c.HavingMax: having_max,
        c.Columns: _columns,
        c.In: member,
        c.Grouping: nothing,
        c.GroupingId: nothing,
        c.Case: case,
        c.If: conditional,
        c.DecodeCase: decode,
        c.Nvl2: nvl2,
        c.Filter: filtered,
        c.Order: ordered,
        c.WithinGroup: within_group,
        c.Window: window,
        c.Exists: _exists,
        c.Lambda: _lambda,
        c.Comprehension: _comprehension,
        c.StarMap: _star,
        c.Parameter: _parameter,
        c.Placeholder: _parameter,
    }
)
