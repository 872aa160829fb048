"""Rules per class of expression: which child nodes are read, and with which step.

A rule only adds to the remaining work; it does not descend (`expressions.py`).
"""

from collections.abc import Callable

from whence.capture.sql.dialects.functions import (
    AGGREGATES,
    CONDITION_VALUE_PAIRS,
    COUNTING,
    DATE_FUNCTIONS,
    DATE_UNITS,
    LEADING_CONDITION,
    MASKING,
)
from whence.capture.sql.lineage import Table
from whence.capture.sql.names.names import column_name, parse_name_parts
from whence.capture.sql.provenance.flows import (
    AGGREGATION,
    CONDITIONAL,
    COUNT,
    FILTER,
    MASK,
    SORT,
    TRANSFORMATION,
    WINDOW,
    Flow,
    Step,
    absorb,
    compose,
)
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

Todo = list[tuple[tree.Node, Step]]
Rule = Callable[[Scope, tree.Node, Step, Flow, Todo], None]
"""Reads one node: adds to the flow, or to the remaining work."""


def compact_name(name: str) -> str:
    return name.replace("_", "").lower()


def push_children(node: tree.Node, step: Step, todo: Todo) -> None:
    for value in node.args.values():
        if isinstance(value, tree.Node):
            todo.append((value, step))
        elif type(value) is list:
            todo.extend((one, step) for one in reversed(value) if isinstance(one, tree.Node))


def ignore_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    pass


def pass_through_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    todo.append((tree.this(node), step))


def having_max_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """BigQuery: ANY_VALUE(x HAVING MAX y)."""
    todo.append((tree.arg(node, tree.EXPRESSION), compose(step, SORT)))
    todo.append((tree.this(node), step))


def in_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """`x IN t` of ClickHouse and SQLite, where a name is a table."""
    field = tree.arg(node, "field")
    if scope.reading.dialect.name not in ("clickhouse", "sqlite") or not isinstance(field, c.Column):
        push_children(node, compose(step, TRANSFORMATION), todo)
        return
    parts = tree.column_parts(field)
    table = c.Table(this=parts[-1].copy(), db=parts[-2].copy() if len(parts) > 1 else None)
    relation = scope.query(table)
    for output in relation.outputs:
        absorb(into, output.flow, compose(step, TRANSFORMATION))
    todo.append((tree.this(node), compose(step, TRANSFORMATION)))


def named_value_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    todo.append((tree.arg(node, tree.EXPRESSION), step))


def case_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    chooses, value = compose(step, CONDITIONAL), compose(step, TRANSFORMATION)
    push_if_present(todo, tree.arg(node, tree.DEFAULT), value)
    for branch in reversed(tree.list_arg(node, tree.IFS)):
        push_if_present(todo, tree.arg(branch, tree.TRUE), value)
        push_if_present(todo, tree.this(branch), chooses)
    push_if_present(todo, tree.this(node), chooses)


def if_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    value = compose(step, TRANSFORMATION)
    push_if_present(todo, tree.arg(node, tree.FALSE), value)
    push_if_present(todo, tree.arg(node, tree.TRUE), value)
    condition = tree.this(node)
    default = isinstance(condition, c.Is) and tree.this(condition) == tree.arg(node, tree.FALSE)
    if not default:
        push_if_present(todo, condition, compose(step, CONDITIONAL))


def decode_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """DECODE(value, sought, result, sought, result, …, default)."""
    chooses, value = compose(step, CONDITIONAL), compose(step, TRANSFORMATION)
    first, *rest = tree.items(node)
    todo.append((first, chooses))
    for position, argument in enumerate(rest):
        last = position == len(rest) - 1 and len(rest) % 2 == 1
        todo.append((argument, value if position % 2 == 1 or last else chooses))


def aggregate_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    push_children(node, compose(step, AGGREGATION), todo)


def count_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    push_children(node, compose(step, COUNT), todo)


def combinator_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """ClickHouse's aggregates with parameters or combinators: the last argument of `…If` filters rows."""
    name = str(tree.this(node)).lower()
    arguments = list(tree.items(node)) + list(tree.list_arg(node, "params"))
    inner = compose(step, COUNT if name.startswith(("count", "uniq")) else AGGREGATION)
    if name.endswith("if") and arguments:
        todo.append((arguments.pop(), compose(step, FILTER)))
    todo.extend((argument, inner) for argument in reversed(arguments))


def parametric_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """A ClickHouse aggregate without a class in the parser, which reads `f(1)(a)` as `f(1) AS (a)`."""
    push_children(tree.this(node), compose(step, AGGREGATION), todo)
    todo.extend((c.Column(this=item), compose(step, AGGREGATION)) for item in reversed(tree.items(node)))


def function_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """A function without a class in the parser: its name determines the step of its arguments."""
    name = str(tree.this(node)).lower() if not isinstance(tree.this(node), tree.Node) else ""
    if name.startswith("dictget") or name == "dicthas":
        _read_dictionary(scope, tree.items(node))
    arguments = tree.items(node) if name not in DATE_FUNCTIONS else _drop_date_unit(scope, tree.items(node))
    if name in CONDITION_VALUE_PAIRS or name in LEADING_CONDITION:
        _push_conditioned(name, arguments, step, todo)
        return
    todo.extend((argument, compose(step, step_of_function(name))) for argument in reversed(arguments))


def _read_dictionary(scope: Scope, arguments: list[tree.Node]) -> None:
    """ClickHouse's dictGet('d', …) reads the dictionary; the key selects the row."""
    if arguments and isinstance(arguments[0], c.Literal):
        name = Table(parse_name_parts(scope.reading.dialect, tree.text_of(arguments[0])[0]))
        scope.reading.inner_reads.add(scope.reading.session.resolve(name))


def step_of_function(name: str) -> Step:
    """The step that a function applies to its arguments, by its name."""
    name = name.lower()
    return (
        MASK
        if name in MASKING
        else COUNT
        if name in COUNTING
        else AGGREGATION
        if name in AGGREGATES
        else TRANSFORMATION
    )


def _push_conditioned(name: str, arguments: list[tree.Node], step: Step, todo: Todo) -> None:
    for position, argument in enumerate(arguments):
        is_condition = (
            position % 2 == 0 and position < len(arguments) - 1 if name in CONDITION_VALUE_PAIRS else position == 0
        )
        todo.append((argument, compose(step, CONDITIONAL if is_condition else TRANSFORMATION)))


def _drop_date_unit(scope: Scope, arguments: list[tree.Node]) -> list[tree.Node]:
    """The arguments of a date function without the date part, which comes first, in BigQuery last."""
    positions = (-1, 0) if scope.reading.dialect.name == "bigquery" else (0, -1)
    for position in positions if len(arguments) > 1 else ():
        if _is_unit(scope, arguments[position]):
            return [argument for argument in arguments if argument is not arguments[position]]
    return arguments


def _is_unit(scope: Scope, node: tree.Node) -> bool:
    if type(node) is not c.Column or len(tree.column_parts(node)) > 1:
        return False
    text, quoted = tree.text_of(node)
    if quoted or text.lower() not in DATE_UNITS:
        return False
    return scope.named(column_name(scope.reading.dialect, tree.this(node))) is None


def transformation_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    push_children(node, compose(step, TRANSFORMATION), todo)


def masking_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    push_children(node, compose(step, MASK), todo)


def filter_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    todo.append((tree.arg(node, tree.EXPRESSION), compose(step, FILTER)))
    todo.append((tree.this(node), step))


def order_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """ORDER BY inside of an aggregate."""
    todo.extend((item, compose(step, SORT)) for item in reversed(tree.items(node)))
    inside = tree.this(node)
    if isinstance(inside, tree.Node):
        todo.append((inside, step))


def within_group_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """WITHIN GROUP (ORDER BY x): x is the value of a percentile, but only the order of a list."""
    function = tree.this(node)
    keys = tree.items(tree.arg(node, tree.EXPRESSION))
    is_list = isinstance(function, c.AggFunc) and not isinstance(function, _OF_ORDER)
    way = SORT if is_list else AGGREGATION
    todo.extend((key, compose(step, way)) for key in reversed(keys))
    todo.append((function, step))


def window_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    is_keep = str(tree.arg(node, tree.OVER) or "").upper() == "KEEP"
    around = compose(step, SORT if is_keep else WINDOW)
    frames = [node] if is_keep else _window_chain(scope, node)
    for frame in frames:
        todo.extend((key, around) for key in tree.list_arg(frame, tree.PARTITION_BY))
        push_if_present(todo, tree.arg(frame, tree.ORDER), around)
    function = tree.this(node)
    while isinstance(function, c.IgnoreNulls | c.RespectNulls):
        function = tree.this(function)
    if isinstance(function, _OF_ROWS):
        push_children(function, compose(step, TRANSFORMATION), todo)
    else:
        todo.append((function, step))


def _window_chain(scope: Scope, node: tree.Node) -> list[tree.Node]:
    """A window, and those that it refers to by name."""
    frames = [node]
    alias = tree.arg(node, tree.ALIAS)
    while alias is not None and len(frames) < 16:
        named = scope.windows.get(column_name(scope.reading.dialect, alias))
        if named is None:
            break
        frames.append(named)
        alias = tree.arg(named, tree.ALIAS)
    return frames


def nvl2_rule(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    push_if_present(todo, tree.arg(node, tree.FALSE), compose(step, TRANSFORMATION))
    push_if_present(todo, tree.arg(node, tree.TRUE), compose(step, TRANSFORMATION))
    todo.append((tree.this(node), compose(step, CONDITIONAL)))


def push_if_present(todo: Todo, node: tree.Node | None, step: Step) -> None:
    if node is not None:
        todo.append((node, step))


MASKING_CLASSES = frozenset(compact_name(name) for name in MASKING)
_OF_ORDER = (c.PercentileCont, c.PercentileDisc, c.Mode, c.Rank, c.DenseRank, c.PercentRank, c.CumeDist)
_OF_ROWS = (c.Lag, c.Lead, c.FirstValue, c.LastValue, c.NthValue, c.First, c.Last)
