"""Rules for kinds of expressions: which of the nodes below one are looked at, and by which step.

A rule only adds to what is to be done; it does not descend (`expressions.py`).
"""

from collections.abc import Callable

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.flows import (
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
    composed,
)
from whence.capture.sql.functions import (
    AGGREGATES,
    CONDITIONED,
    COUNTING,
    DATED,
    LEADING_CONDITION,
    MASKING,
    UNITS,
)
from whence.capture.sql.lineage import Table
from whence.capture.sql.names import column_name, parts_of
from whence.capture.sql.scopes import Scope

Todo = list[tuple[tree.Node, Step]]
Rule = Callable[[Scope, tree.Node, Step, Flow, Todo], None]
"""Looks at one node: adds to the flow, or to what is still to do."""


def bare(name: str) -> str:
    return name.replace("_", "").lower()


def each(node: tree.Node, step: Step, todo: Todo) -> None:
    for value in node.args.values():
        if isinstance(value, tree.Node):
            todo.append((value, step))
        elif type(value) is list:
            todo.extend((one, step) for one in reversed(value) if isinstance(one, tree.Node))


def nothing(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    pass


def same(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    todo.append((tree.this(node), step))


def having_max(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """BigQuery: ANY_VALUE(x HAVING MAX y)."""
    todo.append((tree.arg(node, tree.EXPRESSION), composed(step, SORT)))
    todo.append((tree.this(node), step))


def member(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """`x IN t` of ClickHouse and SQLite: a name there is a table."""
    place = tree.arg(node, "field")
    if scope.reading.dialect.name not in ("clickhouse", "sqlite") or not isinstance(place, c.Column):
        each(node, composed(step, TRANSFORMATION), todo)
        return
    parts = tree.column_parts(place)
    table = c.Table(this=parts[-1].copy(), db=parts[-2].copy() if len(parts) > 1 else None)
    relation = scope.query(table)
    for output in relation.outputs:
        absorb(into, output.flow, composed(step, TRANSFORMATION))
    todo.append((tree.this(node), composed(step, TRANSFORMATION)))


def named_value(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    todo.append((tree.arg(node, tree.EXPRESSION), step))


def case(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    chooses, value = composed(step, CONDITIONAL), composed(step, TRANSFORMATION)
    some(todo, tree.arg(node, tree.DEFAULT), value)
    for branch in reversed(tree.listed(node, tree.IFS)):
        some(todo, tree.arg(branch, tree.TRUE), value)
        some(todo, tree.this(branch), chooses)
    some(todo, tree.this(node), chooses)


def conditional(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    value = composed(step, TRANSFORMATION)
    some(todo, tree.arg(node, tree.FALSE), value)
    some(todo, tree.arg(node, tree.TRUE), value)
    condition = tree.this(node)
    default = isinstance(condition, c.Is) and tree.this(condition) == tree.arg(node, tree.FALSE)
    if not default:
        some(todo, condition, composed(step, CONDITIONAL))


def decode(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """DECODE(value, sought, result, sought, result, …, default)."""
    chooses, value = composed(step, CONDITIONAL), composed(step, TRANSFORMATION)
    first, *rest = tree.items(node)
    todo.append((first, chooses))
    for place, one in enumerate(rest):
        last = place == len(rest) - 1 and len(rest) % 2 == 1
        todo.append((one, value if place % 2 == 1 or last else chooses))


def aggregate(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    each(node, composed(step, AGGREGATION), todo)


def count(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    each(node, composed(step, COUNT), todo)


def combined(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """ClickHouse's aggregates with parameters or combinators: the last argument of `…If` chooses rows."""
    name = str(tree.this(node)).lower()
    arguments = list(tree.items(node)) + list(tree.listed(node, "params"))
    inner = composed(step, COUNT if name.startswith(("count", "uniq")) else AGGREGATION)
    if name.endswith("if") and arguments:
        todo.append((arguments.pop(), composed(step, FILTER)))
    todo.extend((one, inner) for one in reversed(arguments))


def parametric(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """An aggregate of ClickHouse that the parser does not know: it takes `f(1)(a)` for `f(1) AS (a)`."""
    each(tree.this(node), composed(step, AGGREGATION), todo)
    todo.extend((c.Column(this=one), composed(step, AGGREGATION)) for one in reversed(tree.items(node)))


def by_name(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """A function that the parser has no class for: what it does to its arguments is told by its name."""
    name = str(tree.this(node)).lower() if not isinstance(tree.this(node), tree.Node) else ""
    if name.startswith("dictget") or name == "dicthas":
        _read_dictionary(scope, tree.items(node))
    arguments = tree.items(node) if name not in DATED else _without_unit(scope, tree.items(node))
    if name in CONDITIONED or name in LEADING_CONDITION:
        _conditioned(name, arguments, step, todo)
        return
    todo.extend((one, composed(step, way_of(name))) for one in reversed(arguments))


def _read_dictionary(scope: Scope, arguments: list[tree.Node]) -> None:
    """ClickHouse's dictGet('d', …) reads the dictionary; which of its rows, the key says."""
    if arguments and isinstance(arguments[0], c.Literal):
        name = Table(parts_of(scope.reading.dialect, tree.text_of(arguments[0])[0]))
        scope.reading.inner_reads.add(scope.reading.session.resolve(name))


def way_of(name: str) -> Step:
    """What a function does to its arguments, by its name."""
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


def _conditioned(name: str, arguments: list[tree.Node], step: Step, todo: Todo) -> None:
    for place, one in enumerate(arguments):
        odd = place % 2 == 0 and place < len(arguments) - 1 if name in CONDITIONED else place == 0
        todo.append((one, composed(step, CONDITIONAL if odd else TRANSFORMATION)))


def _without_unit(scope: Scope, arguments: list[tree.Node]) -> list[tree.Node]:
    """The arguments of a function of dates without the part of a date: it comes first, in BigQuery last."""
    places = (-1, 0) if scope.reading.dialect.name == "bigquery" else (0, -1)
    for place in places if len(arguments) > 1 else ():
        if _is_unit(scope, arguments[place]):
            return [one for one in arguments if one is not arguments[place]]
    return arguments


def _is_unit(scope: Scope, node: tree.Node) -> bool:
    if type(node) is not c.Column or len(tree.column_parts(node)) > 1:
        return False
    text, quoted = tree.text_of(node)
    if quoted or text.lower() not in UNITS:
        return False
    return scope.named(column_name(scope.reading.dialect, tree.this(node))) is None


def plain(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    each(node, composed(step, TRANSFORMATION), todo)


def masked(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    each(node, composed(step, MASK), todo)


def filtered(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    todo.append((tree.arg(node, tree.EXPRESSION), composed(step, FILTER)))
    todo.append((tree.this(node), step))


def ordered(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """ORDER BY inside of an aggregate."""
    todo.extend((one, composed(step, SORT)) for one in reversed(tree.items(node)))
    inside = tree.this(node)
    if isinstance(inside, tree.Node):
        todo.append((inside, step))


def within_group(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    """WITHIN GROUP (ORDER BY x): x is the value of a percentile, but only the order of a list."""
    function = tree.this(node)
    ordered = tree.items(tree.arg(node, tree.EXPRESSION))
    listing = isinstance(function, c.AggFunc) and not isinstance(function, _OF_ORDER)
    way = SORT if listing else AGGREGATION
    todo.extend((one, composed(step, way)) for one in reversed(ordered))
    todo.append((function, step))


def window(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    keep = str(tree.arg(node, tree.OVER) or "").upper() == "KEEP"
    around = composed(step, SORT if keep else WINDOW)
    frames = [node] if keep else _frames(scope, node)
    for frame in frames:
        todo.extend((one, around) for one in tree.listed(frame, tree.PARTITION_BY))
        some(todo, tree.arg(frame, tree.ORDER), around)
    function = tree.this(node)
    while isinstance(function, c.IgnoreNulls | c.RespectNulls):
        function = tree.this(function)
    if isinstance(function, _OF_ROWS):
        each(function, composed(step, TRANSFORMATION), todo)
    else:
        todo.append((function, step))


def _frames(scope: Scope, node: tree.Node) -> list[tree.Node]:
    """A window, and those that it names."""
    frames = [node]
    alias = tree.arg(node, tree.ALIAS)
    while alias is not None and len(frames) < 16:
        named = scope.windows.get(column_name(scope.reading.dialect, alias))
        if named is None:
            break
        frames.append(named)
        alias = tree.arg(named, tree.ALIAS)
    return frames


def nvl2(scope: Scope, node: tree.Node, step: Step, into: Flow, todo: Todo) -> None:
    some(todo, tree.arg(node, tree.FALSE), composed(step, TRANSFORMATION))
    some(todo, tree.arg(node, tree.TRUE), composed(step, TRANSFORMATION))
    todo.append((tree.this(node), composed(step, CONDITIONAL)))


def some(todo: Todo, node: tree.Node | None, step: Step) -> None:
    if node is not None:
        todo.append((node, step))


MASKING_CLASSES = frozenset(bare(name) for name in MASKING)
_OF_ORDER = (c.PercentileCont, c.PercentileDisc, c.Mode, c.Rank, c.DenseRank, c.PercentRank, c.CumeDist)
_OF_ROWS = (c.Lag, c.Lead, c.FirstValue, c.LastValue, c.NthValue, c.First, c.Last)
