"""UPDATE and DELETE, including the forms with joins."""

from whence.capture.sql.lineage import Table
from whence.capture.sql.names.names import column_name, table_of
from whence.capture.sql.provenance.flows import FILTER, IDENTITY, SORT, Flow, absorb
from whence.capture.sql.provenance.relations import Output, with_columns
from whence.capture.sql.queries.common_table_expressions import read_ctes
from whence.capture.sql.queries.conditions import add_condition
from whence.capture.sql.queries.from_clause.sources import add_source
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope, Source
from whence.capture.sql.statements.assignments import assigned_name, read_assignments
from whence.capture.sql.statements.inserts import add_returning
from whence.capture.sql.statements.moves import Effects, Move
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def update(reading: Reading, node: tree.Node) -> Effects:
    """UPDATE t SET a = … [FROM …] [WHERE …]; MySQL's and T-SQL's with joins."""
    scope = Scope(reading)
    read_ctes(node, scope)
    target_node = tree.this(node)
    source = tree.arg(node, tree.FROM)
    if source is not None:
        add_source(scope, tree.this(source))
        for more in tree.list_arg(source, tree.JOINS):
            add_source(scope, tree.this(more))
    target_source = _target_source(scope, target_node)
    _prove_columns(scope, target_source, tree.items(node))
    rows = _row_conditions(scope, node)
    moves: dict[Table, Move] = {}
    first = _target_table(scope, target_source, target_node)
    for column, flow, text in read_assignments(scope, tree.items(node)):
        table = _table_of_column(scope, column, first)
        name = assigned_name(scope, column)
        table, name = _underlying_column(scope, target_source, table, name)
        moves.setdefault(table, Move(table, [], rows)).columns.append(Output(name, flow, node=text))
    result = Effects("update")
    for move in moves.values() or [Move(first, [], rows)]:
        result.add_move(move)
    result.reads = _other_reads(scope, target_source, result)
    if result.moves:
        add_returning(scope, node, result.moves[0], result)
    return result


def _prove_columns(scope: Scope, own: Source, items: list[tree.Node]) -> None:
    """Add the unqualified columns of SET to the target, since they belong to it and resolve to it elsewhere."""
    assigned_nodes = [tree.this(item) for item in items if isinstance(item, c.EQ)]
    unqualified = [
        lineage_set
        for lineage_set in assigned_nodes
        if isinstance(lineage_set, c.Column) and len(tree.column_parts(lineage_set)) == 1
    ]
    own.relation = with_columns(own.relation, [assigned_name(scope, column) for column in unqualified])
    scope.clear_resolved()


def _target_source(scope: Scope, node: tree.Node) -> Source:
    """Find the target among the sources by its alias or name in FROM, else add it."""
    reading = scope.reading
    if isinstance(node, c.Table) and scope.sources:
        parts = [column_name(reading.dialect, part) for part in tree.table_parts(node)]
        table_source = scope.source(parts)
        if table_source is None and tree.alias_of(node) is None:
            target_parts = table_of(reading.dialect, node).parts
            table_source = next(
                (
                    source
                    for source in scope.sources
                    if source.parts and source.parts[-len(target_parts) :] == target_parts
                ),
                None,
            )
        if table_source is not None:
            return table_source
    before = len(scope.sources)
    add_source(scope, node)
    return scope.sources[before]


def _target_table(scope: Scope, own: Source, node: tree.Node) -> Table:
    reads = sorted(own.relation.reads, key=str)
    if len(reads) == 1:
        return reads[0]
    return scope.reading.session.resolve(table_of(scope.reading.dialect, node))


def _table_of_column(scope: Scope, column: tree.Node, first: Table) -> Table:
    """The table that a column belongs to: MySQL sets columns of several tables, named by the qualifier."""
    parts = tree.column_parts(column)[:-1] if isinstance(column, c.Column) else []
    source = scope.source([column_name(scope.reading.dialect, part) for part in parts]) if parts else None
    if source is None or len(source.relation.reads) != 1:
        return first
    return next(iter(source.relation.reads))


def _underlying_column(scope: Scope, own: Source, table: Table, name: str) -> tuple[Table, str]:
    """The column that an update changes through a common table expression or a view in brackets."""
    if own.parts and scope.find_cte(own.parts) is None:
        return table, name
    output = own.relation.find(name) or own.relation.guess(name)
    leaves = [leaf for leaf, bits in output.flow.items() if bits == IDENTITY] if output is not None else []
    return (leaves[0].home.table, leaves[0].name) if len(leaves) == 1 else (table, name)


def _row_conditions(scope: Scope, node: tree.Node) -> Flow:
    rows: Flow = {}
    for source in (*scope.sources, *scope.hidden_sources):
        absorb(rows, source.relation.rows, IDENTITY)
    where = tree.arg(node, tree.WHERE)
    if where is not None:
        add_condition(scope, tree.this(where), FILTER, rows)
    if tree.arg(node, tree.ORDER) is not None:
        add_condition(scope, tree.arg(node, tree.ORDER), SORT, rows)
    return rows


def _other_reads(scope: Scope, own: Source, result: Effects) -> set[Table]:
    """The tables of the other sources; the target only if its values are read."""
    reads = set(scope.extra_reads)
    for source in (*scope.sources, *scope.hidden_sources):
        if source is not own:
            reads |= source.relation.reads
    for move in result.moves:
        reads |= {leaf.home.table for column in move.columns for leaf, bits in column.flow.items() if bits < FILTER}
    return reads


def delete(reading: Reading, node: tree.Node) -> Effects:
    """Read DELETE. Its conditions select the rows to remove."""
    scope = Scope(reading)
    read_ctes(node, scope)
    target_nodes = tree.list_arg(node, tree.TABLES)
    target_node = tree.this(node)
    for column in tree.list_arg(node, tree.USING):
        add_source(scope, column)
    if isinstance(target_node, tree.Node):
        target_sources = [_target_source(scope, target_node)]
        if target_nodes:
            found = [
                scope.source([column_name(reading.dialect, part) for part in tree.table_parts(output)])
                for output in target_nodes
            ]
            target_sources = [item_node for item_node in found if item_node is not None] or target_sources
    else:
        target_sources = [_target_source(scope, output) for output in target_nodes]
    rows = _row_conditions(scope, node)
    result = Effects("delete")
    for source in target_sources:
        targets = sorted(source.relation.reads, key=str) or ([Table(source.parts)] if source.parts else [])
        for target in targets[:1]:
            result.add_move(Move(target, [], rows))
    reads = set(scope.extra_reads)
    for source in (*scope.sources, *scope.hidden_sources):
        if source not in target_sources:
            reads |= source.relation.reads
    result.reads = reads
    if (
        not any(tree.arg(node, item_node) for item_node in (tree.WHERE, tree.LIMIT, tree.USING, tree.TABLES))
        and not reads
    ):
        result.emptied = [move.target for move in result.moves]
    for move in result.moves[:1]:
        add_returning(scope, node, move, result)
    return result
