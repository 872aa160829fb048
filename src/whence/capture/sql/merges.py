"""MERGE: all its WHENs."""

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.assignments import assigned, set_name
from whence.capture.sql.conditions import choose
from whence.capture.sql.expressions import gather
from whence.capture.sql.flows import CONDITIONAL, FILTER, IDENTITY, JOIN, Flow, absorb, joined
from whence.capture.sql.inserts import returned
from whence.capture.sql.lineage import Table
from whence.capture.sql.moves import Move, Moved
from whence.capture.sql.names import column_name, table_of
from whence.capture.sql.projections import project
from whence.capture.sql.queries import with_ctes
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import STAR, Output
from whence.capture.sql.scopes import Scope, Source
from whence.capture.sql.sources import add_source
from whence.capture.sql.targets import listed_columns, placed


def merge(reading: Reading, node: tree.Node) -> Moved:
    """ON is JOIN; a WHEN's condition is CONDITIONAL on what it sets, and FILTER where rows come or go."""
    scope = Scope(reading)
    with_ctes(node, scope)
    place = tree.this(node)
    add_source(scope, place)
    target = reading.session.resolve(table_of(reading.dialect, place))
    first = len(scope.sources)
    add_source(scope, tree.arg(node, tree.USING))
    source = scope.sources[first]
    rows: Flow = {}
    absorb(rows, source.relation.rows, IDENTITY)
    if tree.arg(node, tree.ON) is not None:
        choose(scope, tree.arg(node, tree.ON), JOIN, rows)
    for one in tree.listed(node, tree.USING_COLUMNS):
        for side in scope.sources:
            found = side.relation.find(column_name(reading.dialect, one)) or side.relation.guess(tree.text_of(one)[0])
            absorb(rows, found.flow if found is not None else {}, JOIN)
    move = Move(target, [], rows)
    for when in tree.items(tree.arg(node, tree.WHENS)):
        _when(scope, source, when, move)
    result = Moved("merge")
    result.into(move, source.relation.reads | scope.extra_reads)
    result.reads |= {leaf.home.table for one in move.columns for leaf, bits in one.flow.items() if bits < FILTER}
    returned(scope, node, move, result)
    return result


def _when(scope: Scope, source: Source, when: tree.Node, move: Move) -> None:
    condition, then = tree.arg(when, tree.CONDITION), tree.arg(when, tree.THEN)
    scope = _visible(scope, source, when)
    chooses: Flow = {}
    if isinstance(then, c.Update):
        for one in (condition, _where(then)):
            if one is not None:
                gather(scope, one, CONDITIONAL, chooses)
        move.columns += [
            Output(one.name, joined(one.flow, chooses), node=one.node)
            for one in _updated(scope, source, then, move.target)
        ]
        return
    if condition is not None:
        choose(scope, condition, FILTER, move.rows)
    if isinstance(then, c.Insert):
        where = _where(then)
        if where is not None:
            choose(scope, where, FILTER, move.rows)
        move.columns += _inserted(scope, source, then, move.target)


def _visible(scope: Scope, source: Source, when: tree.Node) -> Scope:
    """Only one side is seen where the other has no row."""
    if tree.arg(when, tree.MATCHED):
        return scope
    inner = Scope(scope.reading, scope.outer)
    inner.ctes, inner.extra_reads = scope.ctes, scope.extra_reads
    for one in scope.sources:
        if (one is source) != bool(tree.arg(when, tree.SOURCE)):
            inner.add(one)
    return inner


def _where(node: tree.Node) -> tree.Node | None:
    where: tree.Node | None = tree.arg(node, tree.WHERE)
    return tree.this(where) if isinstance(where, c.Where) else where


def _updated(scope: Scope, source: Source, then: tree.Node, target: Table) -> list[Output]:
    items = tree.items(then)
    if not items or any(isinstance(one, c.Star) for one in items):
        return _by_name(scope, source, target)
    return [Output(set_name(scope, column), flow, node=text) for column, flow, text in assigned(scope, items)]


def _inserted(scope: Scope, source: Source, then: tree.Node, target: Table) -> list[Output]:
    reading = scope.reading
    place, values = tree.this(then), tree.arg(then, tree.EXPRESSION)
    if (
        (place is None and values is None)
        or isinstance(place, c.Star)
        or (isinstance(place, c.Var) and tree.text_of(place)[0].upper() == "ROW")
    ):
        return _by_name(scope, source, target)
    if values is None:
        return placed(reading, target, project(scope, tree.items(place)), [])
    if isinstance(values, c.Values):
        values = tree.items(values)[0]
    if isinstance(values, c.Var) and tree.text_of(values)[0].upper() == "ROW":
        return placed(reading, target, source.relation.outputs, listed_columns(reading, place))
    outputs = project(scope, tree.items(values) if isinstance(values, c.Tuple) else [values])
    names = listed_columns(reading, place) if place is not None else []
    return placed(reading, target, outputs, names)


def _by_name(scope: Scope, source: Source, target: Table) -> list[Output]:
    """`*`: the source's columns, as far as the target has them."""
    known = scope.reading.session.columns(target)[0]
    outputs = source.relation.outputs
    if any(one.name == STAR for one in outputs) and known is not None:
        guessed = [(name, source.relation.find(name) or source.relation.guess(name)) for name in known]
        return [found.called(name) for name, found in guessed if found is not None]
    return [one for one in outputs if known is None or one.name in known]
