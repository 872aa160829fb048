"""UPDATE and DELETE, with the forms that join."""

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.assignments import assigned, set_name
from whence.capture.sql.conditions import choose
from whence.capture.sql.flows import FILTER, IDENTITY, SORT, Flow, absorb
from whence.capture.sql.inserts import returned
from whence.capture.sql.lineage import Table
from whence.capture.sql.moves import Move, Moved
from whence.capture.sql.names import column_name, table_of
from whence.capture.sql.queries import with_ctes
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import Output, with_columns
from whence.capture.sql.scopes import Scope, Source, cte_name
from whence.capture.sql.sources import add_source


def update(reading: Reading, node: tree.Node) -> Moved:
    """UPDATE t SET a = … [FROM …] [WHERE …]; MySQL's and T-SQL's with joins."""
    scope = Scope(reading)
    with_ctes(node, scope)
    target_node = tree.this(node)
    source = tree.arg(node, tree.FROM)
    if source is not None:
        add_source(scope, tree.this(source))
        for more in tree.listed(source, tree.JOINS):
            add_source(scope, tree.this(more))
    own = _own_source(scope, target_node)
    _prove_columns(scope, own, tree.items(node))
    rows = _rows(scope, node)
    moves: dict[Table, Move] = {}
    first = _table(scope, own, target_node)
    for column, flow, text in assigned(scope, tree.items(node)):
        table = _owner(scope, column, first)
        name = set_name(scope, column)
        table, name = _beneath(scope, own, table, name)
        moves.setdefault(table, Move(table, [], rows)).columns.append(Output(name, flow, node=text))
    result = Moved("update")
    for move in moves.values() or [Move(first, [], rows)]:
        result.into(move)
    result.reads = _reads(scope, own, result)
    if result.moves:
        returned(scope, node, result.moves[0], result)
    return result


def _prove_columns(scope: Scope, own: Source, items: list[tree.Node]) -> None:
    """The columns that SET names without a qualifier are the target's, so they are meant where they stand alone."""
    sets = [tree.this(one) for one in items if isinstance(one, c.EQ)]
    bare = [one for one in sets if isinstance(one, c.Column) and len(tree.column_parts(one)) == 1]
    own.relation = with_columns(own.relation, [set_name(scope, one) for one in bare])
    scope.forget()


def _own_source(scope: Scope, node: tree.Node) -> Source:
    """The target among the sources: by its alias or name in FROM, else added."""
    reading = scope.reading
    if isinstance(node, c.Table) and scope.sources:
        parts = [column_name(reading.dialect, part) for part in tree.table_parts(node)]
        named = scope.source(parts)
        if named is None and tree.alias_of(node) is None:
            wanted = table_of(reading.dialect, node).parts
            named = next((one for one in scope.sources if one.parts and one.parts[-len(wanted) :] == wanted), None)
        if named is not None:
            return named
    before = len(scope.sources)
    add_source(scope, node)
    return scope.sources[before]


def _table(scope: Scope, own: Source, node: tree.Node) -> Table:
    reads = sorted(own.relation.reads, key=str)
    if len(reads) == 1:
        return reads[0]
    return scope.reading.session.resolve(table_of(scope.reading.dialect, node))


def _owner(scope: Scope, column: tree.Node, first: Table) -> Table:
    """MySQL sets columns of several tables: the qualifier says of which."""
    parts = tree.column_parts(column)[:-1] if isinstance(column, c.Column) else []
    source = scope.source([column_name(scope.reading.dialect, part) for part in parts]) if parts else None
    if source is None or len(source.relation.reads) != 1:
        return first
    return next(iter(source.relation.reads))


def _beneath(scope: Scope, own: Source, table: Table, name: str) -> tuple[Table, str]:
    """A common table expression or a view in brackets is updated where its column comes from."""
    is_expression = len(own.parts) == 1 and cte_name(scope.reading, own.parts) in scope.ctes
    if own.parts and not is_expression:
        return table, name
    output = own.relation.find(name) or own.relation.guess(name)
    leaves = [leaf for leaf, bits in output.flow.items() if bits == IDENTITY] if output is not None else []
    return (leaves[0].home.table, leaves[0].name) if len(leaves) == 1 else (table, name)


def _rows(scope: Scope, node: tree.Node) -> Flow:
    rows: Flow = {}
    for source in (*scope.sources, *scope.aside):
        absorb(rows, source.relation.rows, IDENTITY)
    where = tree.arg(node, tree.WHERE)
    if where is not None:
        choose(scope, tree.this(where), FILTER, rows)
    if tree.arg(node, tree.ORDER) is not None:
        choose(scope, tree.arg(node, tree.ORDER), SORT, rows)
    return rows


def _reads(scope: Scope, own: Source, result: Moved) -> set[Table]:
    """The other sources; the target only where its values are read."""
    reads = set(scope.extra_reads)
    for source in (*scope.sources, *scope.aside):
        if source is not own:
            reads |= source.relation.reads
    for move in result.moves:
        reads |= {leaf.home.table for one in move.columns for leaf, bits in one.flow.items() if bits < FILTER}
    return reads


def delete(reading: Reading, node: tree.Node) -> Moved:
    """DELETE: what its conditions look at chooses the rows that go."""
    scope = Scope(reading)
    with_ctes(node, scope)
    named = tree.listed(node, tree.TABLES)
    place = tree.this(node)
    for one in tree.listed(node, tree.USING):
        add_source(scope, one)
    if isinstance(place, tree.Node):
        own = [_own_source(scope, place)]
        if named:
            found = [
                scope.source([column_name(reading.dialect, part) for part in tree.table_parts(one)]) for one in named
            ]
            own = [one for one in found if one is not None] or own
    else:
        own = [_own_source(scope, one) for one in named]
    rows = _rows(scope, node)
    result = Moved("delete")
    for source in own:
        targets = sorted(source.relation.reads, key=str) or ([Table(source.parts)] if source.parts else [])
        for target in targets[:1]:
            result.into(Move(target, [], rows))
    reads = set(scope.extra_reads)
    for source in (*scope.sources, *scope.aside):
        if source not in own:
            reads |= source.relation.reads
    result.reads = reads
    if not any(tree.arg(node, one) for one in (tree.WHERE, tree.LIMIT, tree.USING, tree.TABLES)) and not reads:
        result.emptied = [move.target for move in result.moves]
    for move in result.moves[:1]:
        returned(scope, node, move, result)
    return result
