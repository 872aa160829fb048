"""Statements: what each kind reads, writes and moves, and its changes to the session."""

from collections.abc import Callable

from whence.capture.sql.lineage import RESULT
from whence.capture.sql.names.catalog import DeclaredTable
from whence.capture.sql.provenance.flows import merge_flows
from whence.capture.sql.provenance.relations import STAR, Output, Relation, base_relation
from whence.capture.sql.queries.projections import project
from whence.capture.sql.queries.queries import query
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope, Source
from whence.capture.sql.statements.cursors import store_row
from whence.capture.sql.statements.definitions import alter, create, drop
from whence.capture.sql.statements.files import copy, export, load
from whence.capture.sql.statements.inserts import insert, multi_insert
from whence.capture.sql.statements.merges import merge
from whence.capture.sql.statements.moves import Effects, move_of_relation
from whence.capture.sql.statements.targets import target_of
from whence.capture.sql.statements.updates import delete, update
from whence.capture.sql.statements.variables import assign_columns, assigned_columns, set_variable
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

Statement = Callable[[Reading, tree.Node], Effects]


class NoStatementError(Exception):
    """The parser read the text as an expression: `SELEC a` is a column with an alias."""


def returned_rows(reading: Reading, node: tree.Node, around: Scope) -> Relation:
    """Read a statement inside of WITH. Its effects are kept; its RETURNING is a query of the written table."""
    reading.nested = True
    effects = read_statement(reading, node, around)
    reading.nested = False
    reading.nested_effects.append(effects)
    if not effects.moves:
        return Relation([], reads=frozenset(effects.reads))
    move = effects.moves[0]
    written_relation = base_relation(reading.home(move.target), *reading.session.columns(move.target))
    scope = Scope(reading, around)
    scope.add(Source(move.target.parts[-1], written_relation, move.target.parts))
    for name in ("inserted", "deleted") if reading.dialect.name == "tsql" else ():
        scope.add(Source(name, written_relation), visible=False)
    returning = tree.arg(node, tree.RETURNING)
    outputs = project(scope, tree.items(returning)) if returning is not None else []
    return Relation(outputs, move.rows, frozenset(effects.reads))


def read_statement(reading: Reading, node: tree.Node, around: Scope | None = None) -> Effects:
    """Read the effects of a statement. `around`: the scope of the WITH that contains it. Raises BudgetSpentError,
    NoStatementError.
    """
    reading.ctes = around.ctes if around is not None else {}
    rule = _RULES.get(type(node))
    if rule is not None:
        return rule(reading, node)
    if isinstance(node, c.Query | c.Values | c.Pivot):
        return _select(reading, node)
    if isinstance(node, c.Condition | c.Alias) and not reading.procedural:
        raise NoStatementError
    return Effects(node.key, opaque=True)


def _select(reading: Reading, node: tree.Node) -> Effects:
    variables = assigned_columns(node)
    relation = query(node, Scope(reading))
    into = _into_clause(node)
    if variables:
        return assign_columns(reading, variables, relation)
    if isinstance(into, c.Into) and reading.procedural and reading.dialect.name != "tsql":
        return _into_variables(reading, relation, into)
    if not isinstance(into, c.Into):
        result = Effects("select")
        result.add_move(move_of_relation(RESULT, relation, adds=False), relation.reads)
        result.writes.clear()
        return result
    return select_into(reading, relation, into)


def _into_clause(node: tree.Node) -> tree.Node | None:
    """The INTO of a SELECT; of a set operation, that of its first SELECT."""
    while isinstance(node, c.SetOperation) or (isinstance(node, c.Subquery) and tree.arg(node, tree.INTO) is None):
        node = tree.this(node)
    into: tree.Node | None = tree.arg(node, tree.INTO) if isinstance(node, tree.Node) else None
    return into


def _into_variables(reading: Reading, relation: Relation, into: tree.Node) -> Effects:
    """SELECT … INTO variables, by position; BULK COLLECT INTO stores rows."""
    nodes = [tree.this(into)] if tree.this(into) is not None else tree.items(into)
    if tree.arg(into, "bulk_collect"):
        store_row(reading, relation, tuple(tree.text_of(tree.table_parts(child)[-1])[0].lower() for child in nodes))
        return Effects("select", reads=set(relation.reads))
    for node, output in zip(nodes, relation.outputs, strict=False):
        names = [tree.text_of(part)[0].lower() for part in tree.table_parts(node)]
        set_variable(reading, names, Output(names[-1], merge_flows(output.flow, relation.rows)))
    return Effects("select", reads=set(relation.reads))


def select_into(reading: Reading, relation: Relation, into: tree.Node) -> Effects:
    """SELECT … INTO a new table."""
    target = target_of(reading, tree.this(into))
    is_complete = all(output.name != STAR for output in relation.outputs)
    columns = tuple(output.name for output in relation.outputs) if is_complete else None
    temporary = bool(tree.arg(into, tree.TEMPORARY)) or reading.session.is_temporary(target)
    reading.session.declared[target] = DeclaredTable(columns, temporary)
    result = Effects("select")
    result.add_move(move_of_relation(target, relation, adds=False), relation.reads)
    return result


def _cache(reading: Reading, node: tree.Node) -> Effects:
    inside = tree.arg(node, tree.EXPRESSION)
    if inside is None:
        return Effects("cache", opaque=True)
    relation = query(inside, Scope(reading))
    target = target_of(reading, tree.this(node))
    columns = tuple(output.name for output in relation.outputs)
    reading.session.declared[target] = DeclaredTable(None if STAR in columns else columns, temporary=True)
    result = Effects("cache")
    result.add_move(move_of_relation(target, relation, adds=False), relation.reads)
    return result


def _truncate(reading: Reading, node: tree.Node) -> Effects:
    targets = [target_of(reading, item) for item in tree.items(node)]
    return Effects("truncate", writes=targets, emptied=targets)


def _locking(reading: Reading, node: tree.Node) -> Effects:
    return read_statement(reading, tree.arg(node, tree.EXPRESSION))


_RULES: dict[type, Statement] = {
    c.Select: _select,
    c.Insert: insert,
    c.MultitableInserts: multi_insert,
    c.Update: update,
    c.Delete: delete,
    c.Merge: merge,
    c.Create: create,
    c.Drop: drop,
    c.Alter: alter,
    c.Copy: copy,
    c.Export: export,
    c.LoadData: load,
    c.Cache: _cache,
    c.TruncateTable: _truncate,
    c.LockingStatement: _locking,
}
