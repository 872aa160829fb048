"""The flow into an expression: one loop over the remaining work, so that long chains do not recurse."""

from typing import Any

from whence.capture.sql.names.names import column_name
from whence.capture.sql.provenance.flows import (
    AGGREGATION,
    IDENTITY,
    NOTHING,
    SORT,
    TRANSFORMATION,
    Flow,
    Step,
    absorb,
    apply_step,
    compose,
    merge_flows,
)
from whence.capture.sql.provenance.relations import Output, field_of
from whence.capture.sql.queries.expression_rules import (
    MASKING_CLASSES,
    Rule,
    Todo,
    aggregate_rule,
    case_rule,
    combinator_rule,
    compact_name,
    count_rule,
    decode_rule,
    filter_rule,
    function_rule,
    having_max_rule,
    if_rule,
    ignore_rule,
    in_rule,
    masking_rule,
    named_value_rule,
    nvl2_rule,
    order_rule,
    parametric_rule,
    pass_through_rule,
    push_children,
    transformation_rule,
    window_rule,
    within_group_rule,
)
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def flow_of(scope: Scope, node: tree.Node, step: Step = IDENTITY) -> Flow:
    """The flow of all leaves in an expression, each followed by `step`."""
    if type(node) is c.Column:
        return apply_step(_column_value(scope, node).flow, step)
    into: Flow = {}
    gather(scope, node, step, into)
    return into


def gather(scope: Scope, node: tree.Node, step: Step, into: Flow) -> None:
    """Add the flow of all leaves in an expression."""
    todo: Todo = [(node, step)]
    while todo:
        node, step = todo.pop()
        (_RULES.get(type(node)) or _find_rule(type(node)))(scope, node, step, into, todo)


def _find_rule(kind: type[tree.Node]) -> Rule:
    """The rule of a class without one of its own, cached for the next lookup."""
    rule: Rule = transformation_rule
    if issubclass(kind, c.Query):
        rule = _subquery_rule
    elif issubclass(kind, c.Func) and any(compact_name(name) in MASKING_CLASSES for name in kind.sql_names()):
        rule = masking_rule
    elif issubclass(kind, c.AggFunc):
        rule = aggregate_rule
    _RULES[kind] = rule
    return rule


def value_of(scope: Scope, node: tree.Node) -> Output:
    """Read an expression as a value whose fields may be known."""
    match node:
        case c.Paren() | c.Alias():
            return value_of(scope, tree.this(node))
        case c.Column():
            return _column_value(scope, node)
        case c.Dot():
            return _dotted_value(scope, node)
        case c.Struct():
            return _struct_value(scope, node)
        case c.Bracket():
            return _element_at(scope, node)
        case c.Array() | c.ArrayAgg():
            return _array_value(scope, node)
        case c.Subquery() | c.Select():
            return _scalar_value(scope, node)
        case c.Anonymous():
            element = element_of(scope, node)
            if element is not None:
                return element
    return Output("", flow_of(scope, node))


def element_of(scope: Scope, node: tree.Node) -> Output | None:
    """`l(i)` of a collection in a procedure: an element has the sources of its collection."""
    name = str(tree.this(node)).lower()
    return scope.reading.variable(name) if name in scope.reading.variables else None


def _call_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    element = element_of(scope, node) if scope.reading.variables else None
    if element is None:
        function_rule(scope, node, step, into, todo)
        return
    absorb(into, element.flow, step)


def _column_value(scope: Scope, node: tree.Node) -> Output:
    if isinstance(tree.this(node), c.Star):
        return Output("", NOTHING)
    return scope.value(tree.column_parts(node), [])


def _dotted_value(scope: Scope, node: tree.Node) -> Output:
    path = tree.path_of(node)
    if path is not None and all(isinstance(part, c.Identifier | c.Literal) for part in path[1]):
        return scope.value(*path)
    last = tree.arg(node, tree.EXPRESSION)
    if not isinstance(last, c.Identifier | c.Literal):
        inner = _method_target(scope, tree.this(node), last)
        return Output("", merge_flows(inner, flow_of(scope, last, TRANSFORMATION)))
    return field_of(value_of(scope, tree.this(node)), column_name(scope.reading.dialect, last))


_METHODS = ("value", "query", "exist", "nodes")
"""Methods of T-SQL's XML. Before any other call, a name may be a schema."""


def _method_target(scope: Scope, node: tree.Node, call: tree.Node) -> Flow:
    """The flow of the value that a method is called on: `t.doc.value(…)`. `dbo.f(…)` has none."""
    root = node
    while isinstance(root, c.Dot):
        root = tree.this(root)
    if not isinstance(root, c.Identifier):
        return flow_of(scope, _identifiers_to_columns(node), TRANSFORMATION)
    name = column_name(scope.reading.dialect, root)
    method = isinstance(call, c.Func) and tree.text_of(tree.this(call))[0].lower() in _METHODS
    if not method and scope.source([name]) is None and scope.named(name) is None:
        return NOTHING
    value = scope.value([root], []) if root is node else _dotted_value(scope, node)
    return apply_step(value.flow, TRANSFORMATION)


def _identifiers_to_columns(node: tree.Node) -> tree.Node:
    """Convert the identifiers in a method's target to columns: the parser reads them as plain names."""
    node = c.Paren(this=node.copy())
    for child in list(node.find_all(c.Identifier)):
        value = child.arg_key in (tree.EXPRESSION, tree.EXPRESSIONS) or isinstance(
            child.parent, c.Ordered | c.Binary | c.Cast
        )
        if value and not isinstance(child.parent, c.Dot):
            child.replace(c.Column(this=child.copy()))
    return node


def _element_at(scope: Scope, node: tree.Node) -> Output:
    """An element of an array or a map: the expression in the brackets selects it."""
    inner = value_of(scope, tree.this(node))
    chosen = [flow_of(scope, item, TRANSFORMATION) for item in tree.items(node) if not isinstance(item, c.Literal)]
    flow = merge_flows(apply_step(inner.flow, TRANSFORMATION), *chosen)
    return Output("", flow, inner.fields, element=has_declared_fields(scope))


def has_declared_fields(scope: Scope) -> bool:
    """Whether nested values have declared fields. Otherwise a path into one is a computation, not a nested column."""
    return scope.reading.dialect.name not in ("snowflake", "redshift")


def _struct_value(scope: Scope, node: tree.Node) -> Output:
    fields: dict[str, Output] = {}
    for position, item in enumerate(tree.items(node), start=1):
        named = isinstance(item, c.PropertyEQ | c.Alias)
        inside = tree.arg(item, tree.EXPRESSION) if isinstance(item, c.PropertyEQ) else item
        name = tree.this(item) if isinstance(item, c.PropertyEQ) else tree.arg(item, tree.ALIAS) if named else item
        field_name = column_name(scope.reading.dialect, name) if named or isinstance(item, c.Column) else str(position)
        fields[field_name] = value_of(scope, inside).with_name(field_name)
    return Output("", merge_flows(*(apply_step(field.flow, TRANSFORMATION) for field in fields.values())), fields)


def _array_value(scope: Scope, node: tree.Node) -> Output:
    """An array, with the known fields of its elements."""
    flow = flow_of(scope, node)
    inside = tree.items(node)[0] if tree.items(node) else tree.this(node)
    if len(tree.items(node)) > 1 or not isinstance(inside, tree.Node):
        return Output("", flow)
    chooses: Flow = {}
    while isinstance(inside, c.Order | c.Limit | c.Distinct | c.IgnoreNulls):
        for item in tree.items(inside) if isinstance(inside, c.Order) else []:
            gather(scope, item, SORT, chooses)
        inside = tree.this(inside) or tree.items(inside)[0]
    known_fields = (
        value_of(scope, inside).fields if isinstance(inside, c.Struct | c.Select | c.Subquery | c.Column) else None
    )
    if known_fields is None:
        return Output("", flow)
    way = AGGREGATION if isinstance(node, c.ArrayAgg) else IDENTITY
    fields = {
        name: Output(name, merge_flows(apply_step(output.flow, way), chooses), output.fields)
        for name, output in known_fields.items()
    }
    return Output("", flow, fields)


def _scalar_value(scope: Scope, node: tree.Node) -> Output:
    relation = scope.query(node)
    if not relation.outputs:
        return Output("", relation.rows)
    first = relation.outputs[0]
    return Output("", merge_flows(first.flow, relation.rows), first.fields)


def _column_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    absorb(into, _column_value(scope, node).flow, step)


def _dot_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    absorb(into, _dotted_value(scope, node).flow, step)


def _bracket_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    absorb(into, _element_at(scope, node).flow, step)


def _columns_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """DuckDB's COLUMNS(…) inside of an expression: the column of the current expansion."""
    for output in [scope.expanded_column] if scope.expanded_column is not None else scope.row:
        absorb(into, output.flow, step)


def _subquery_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """A query as a value: its columns, and the INDIRECT influences on its rows."""
    relation = scope.query(node)
    for output in relation.outputs:
        absorb(into, output.flow, step)
    absorb(into, relation.rows, IDENTITY)


def _exists_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    inside = tree.query_in(tree.this(node))
    if inside is None:
        push_children(node, compose(step, TRANSFORMATION), todo)
        return
    absorb(into, scope.query(inside).rows, IDENTITY)


def _lambda_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    inner = Scope(scope.reading, scope)
    inner.extra_reads = scope.extra_reads
    inner.bound = frozenset(column_name(scope.reading.dialect, item) for item in tree.items(node))
    gather(inner, tree.this(node), compose(step, TRANSFORMATION), into)


def _comprehension_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    inner = Scope(scope.reading, scope)
    inner.extra_reads = scope.extra_reads
    names = (tree.arg(node, name) for name in (tree.EXPRESSION, "position"))
    inner.bound = frozenset(column_name(scope.reading.dialect, name) for name in names if name is not None)
    gather(scope, tree.arg(node, "iterator"), compose(step, TRANSFORMATION), into)
    for part in (tree.this(node), tree.arg(node, tree.CONDITION)):
        if part is not None:
            gather(inner, part, compose(step, TRANSFORMATION), into)


def _star_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """`object_construct(*)`: all columns as one value."""
    for output in scope.row:
        absorb(into, output.flow, compose(step, TRANSFORMATION))


def _parameter_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """`$1` of a staged file is its first column. Elsewhere it is a variable of the script or of the caller."""
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
    dict.fromkeys((c.Literal, c.Null, c.Boolean, c.Identifier, c.DataType, c.Var, c.Star, c.JSONPath), ignore_rule)
    | dict.fromkeys((str, type(None)), ignore_rule)  # the lenient parser leaves these in truncated texts
    | dict.fromkeys((c.Paren, c.Alias, c.Ordered, c.Where, c.IgnoreNulls, c.RespectNulls), pass_through_rule)
    | dict.fromkeys((c.PropertyEQ, c.Kwarg), named_value_rule)
    | dict.fromkeys((c.Count, c.CountIf, c.ApproxDistinct, c.Hll), count_rule)
    | dict.fromkeys((c.CombinedAggFunc, c.CombinedParameterizedAgg, c.ParameterizedAgg), combinator_rule)
    | {
        c.Anonymous: _call_rule,
        c.AnonymousAggFunc: function_rule,
        c.Column: _column_rule,
        c.Aliases: parametric_rule,
        c.Dot: _dot_rule,
        c.Bracket: _bracket_rule,
        c.HavingMax: having_max_rule,
        c.Columns: _columns_rule,
        c.In: in_rule,
        c.Grouping: ignore_rule,
        c.GroupingId: ignore_rule,
        c.Case: case_rule,
        c.If: if_rule,
        c.DecodeCase: decode_rule,
        c.Nvl2: nvl2_rule,
        c.Filter: filter_rule,
        c.Order: order_rule,
        c.WithinGroup: within_group_rule,
        c.Window: window_rule,
        c.Exists: _exists_rule,
        c.Lambda: _lambda_rule,
        c.Comprehension: _comprehension_rule,
        c.StarMap: _star_rule,
        c.Parameter: _parameter_rule,
        c.Placeholder: _parameter_rule,
    }
)
