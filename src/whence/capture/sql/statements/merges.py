"""MERGE, with all its WHEN clauses."""

from whence.capture.sql.lineage import Table
from whence.capture.sql.names.names import column_name, table_of
from whence.capture.sql.provenance.flows import CONDITIONAL, FILTER, IDENTITY, JOIN, Flow, absorb, merge_flows
from whence.capture.sql.provenance.relations import STAR, Output
from whence.capture.sql.queries.common_table_expressions import read_ctes
from whence.capture.sql.queries.conditions import add_condition
from whence.capture.sql.queries.expressions import gather
from whence.capture.sql.queries.from_clause.sources import add_source
from whence.capture.sql.queries.projections import project
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope, Source
from whence.capture.sql.statements.assignments import assigned_name, read_assignments
from whence.capture.sql.statements.inserts import add_returning
from whence.capture.sql.statements.moves import Effects, Move
from whence.capture.sql.statements.targets import listed_columns, place_by_position
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def merge(reading: Reading, node: tree.Node) -> Effects:
    """Read MERGE. ON is JOIN; the condition of a WHEN is CONDITIONAL for assigned columns, and FILTER where rows are
    added or removed.
    """
    scope = Scope(reading)
    read_ctes(node, scope)
    target_node = tree.this(node)
    add_source(scope, target_node)
    target = reading.session.resolve(table_of(reading.dialect, target_node))
    position = len(scope.sources)
    add_source(scope, tree.arg(node, tree.USING))
    source = scope.sources[position]
    rows: Flow = {}
    absorb(rows, source.relation.rows, IDENTITY)
    if tree.arg(node, tree.ON) is not None:
        add_condition(scope, tree.arg(node, tree.ON), JOIN, rows)
    for column in tree.list_arg(node, tree.USING_COLUMNS):
        for side in scope.sources:
            output = side.relation.find(column_name(reading.dialect, column)) or side.relation.guess(
                tree.text_of(column)[0]
            )
            absorb(rows, output.flow if output is not None else {}, JOIN)
    move = Move(target, [], rows)
    for when in tree.items(tree.arg(node, tree.WHENS)):
        _apply_when(scope, source, when, move)
    result = Effects("merge")
    result.add_move(move, source.relation.reads | scope.extra_reads)
    result.reads |= {leaf.home.table for column in move.columns for leaf, bits in column.flow.items() if bits < FILTER}
    add_returning(scope, node, move, result)
    return result


def _apply_when(scope: Scope, source: Source, when: tree.Node, move: Move) -> None:
    condition, then = tree.arg(when, tree.CONDITION), tree.arg(when, tree.THEN)
    scope = _visible_scope(scope, source, when)
    chooses: Flow = {}
    if isinstance(then, c.Update):
        for node in (condition, _where(then)):
            if node is not None:
                gather(scope, node, CONDITIONAL, chooses)
        move.columns += [
            Output(node.name, merge_flows(node.flow, chooses), node=node.node)
            for node in _updated_columns(scope, source, then, move.target)
        ]
        return
    if condition is not None:
        add_condition(scope, condition, FILTER, move.rows)
    if isinstance(then, c.Insert):
        where = _where(then)
        if where is not None:
            add_condition(scope, where, FILTER, move.rows)
        move.columns += _inserted_columns(scope, source, then, move.target)


def _visible_scope(scope: Scope, source: Source, when: tree.Node) -> Scope:
    """The scope of a WHEN: only one side is visible where the other has no row."""
    if tree.arg(when, tree.MATCHED):
        return scope
    inner = Scope(scope.reading, scope.outer)
    inner.ctes, inner.extra_reads = scope.ctes, scope.extra_reads
    for candidate in scope.sources:
        if (candidate is source) != bool(tree.arg(when, tree.SOURCE)):
            inner.add(candidate)
    return inner


def _where(node: tree.Node) -> tree.Node | None:
    where: tree.Node | None = tree.arg(node, tree.WHERE)
    return tree.this(where) if isinstance(where, c.Where) else where


def _updated_columns(scope: Scope, source: Source, then: tree.Node, target: Table) -> list[Output]:
    items = tree.items(then)
    if not items or any(isinstance(item, c.Star) for item in items):
        return _columns_by_name(scope, source, target)
    return [
        Output(assigned_name(scope, column), flow, node=text) for column, flow, text in read_assignments(scope, items)
    ]


def _inserted_columns(scope: Scope, source: Source, then: tree.Node, target: Table) -> list[Output]:
    reading = scope.reading
    column_list, values = tree.this(then), tree.arg(then, tree.EXPRESSION)
    if (
        (column_list is None and values is None)
        or isinstance(column_list, c.Star)
        or (isinstance(column_list, c.Var) and tree.text_of(column_list)[0].upper() == "ROW")
    ):
        return _columns_by_name(scope, source, target)
    if values is None:
        return place_by_position(reading, target, project(scope, tree.items(column_list)), [])
    if isinstance(values, c.Values):
        values = tree.items(values)[0]
    if isinstance(values, c.Var) and tree.text_of(values)[0].upper() == "ROW":
        return place_by_position(reading, target, source.relation.outputs, listed_columns(reading, column_list))
    outputs = project(scope, tree.items(values) if isinstance(values, c.Tuple) else [values])
    names = listed_columns(reading, column_list) if column_list is not None else []
    return place_by_position(reading, target, outputs, names)


def _columns_by_name(scope: Scope, source: Source, target: Table) -> list[Output]:
    """`*`: the source's columns that the target has."""
    known = scope.reading.session.columns(target)[0]
    outputs = source.relation.outputs
    if any(output.name == STAR for output in outputs) and known is not None:
        guessed = [(name, source.relation.find(name) or source.relation.guess(name)) for name in known]
        return [found.with_name(name) for name, found in guessed if found is not None]
    return [output for output in outputs if known is None or output.name in known]
