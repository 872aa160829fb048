"""Statements: what each kind reads, writes and moves, and what it tells the session."""

from collections.abc import Callable

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.catalog import Known
from whence.capture.sql.cursors import keep_row
from whence.capture.sql.definitions import alter, create, drop
from whence.capture.sql.files import copy, export, load
from whence.capture.sql.flows import joined
from whence.capture.sql.inserts import insert, multi_insert
from whence.capture.sql.lineage import RESULT
from whence.capture.sql.merges import merge
from whence.capture.sql.moves import Moved, of_relation
from whence.capture.sql.projections import project
from whence.capture.sql.queries import query
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import STAR, Output, Relation, base
from whence.capture.sql.scopes import Scope, Source
from whence.capture.sql.targets import target_of
from whence.capture.sql.updates import delete, update
from whence.capture.sql.variables import assign_columns, assigned_columns, set_variable

Statement = Callable[[Reading, tree.Node], Moved]


class NoStatementError(Exception):
    """The parser made an expression of the text: `SELEC a` is a column with an alias to it."""


def returned_rows(reading: Reading, node: tree.Node, around: Scope) -> Relation:
    """A statement inside of WITH: it does what it does; its RETURNING is a query of the table that it wrote."""
    reading.nested = True
    done = moved(reading, node, around)
    reading.nested = False
    reading.also.append(done)
    if not done.moves:
        return Relation([], reads=frozenset(done.reads))
    move = done.moves[0]
    own = base(reading.home(move.target), *reading.session.columns(move.target))
    scope = Scope(reading, around)
    scope.add(Source(move.target.parts[-1], own, move.target.parts))
    for name in ("inserted", "deleted") if reading.dialect.name == "tsql" else ():
        scope.add(Source(name, own), visible=False)
    returning = tree.arg(node, tree.RETURNING)
    outputs = project(scope, tree.items(returning)) if returning is not None else []
    return Relation(outputs, move.rows, frozenset(done.reads))


def moved(reading: Reading, node: tree.Node, around: Scope | None = None) -> Moved:
    """What a statement does; `around`: the scope of the WITH that it stands in. Raises BudgetSpentError."""
    reading.ctes = around.ctes if around is not None else {}
    rule = _RULES.get(type(node))
    if rule is not None:
        return rule(reading, node)
    if isinstance(node, c.Query | c.Values | c.Pivot):
        return _select(reading, node)
    if isinstance(node, c.Condition | c.Alias) and not reading.procedural:
        raise NoStatementError
    return Moved(node.key, opaque=True)


def _select(reading: Reading, node: tree.Node) -> Moved:
    variables = assigned_columns(node)
    relation = query(node, Scope(reading))
    into = _into(node)
    if variables:
        return assign_columns(reading, variables, relation)
    if isinstance(into, c.Into) and reading.procedural and reading.dialect.name != "tsql":
        return _into_variables(reading, relation, into)
    if not isinstance(into, c.Into):
        result = Moved("select")
        result.into(of_relation(RESULT, relation, adds=False), relation.reads)
        result.writes.clear()
        return result
    return select_into(reading, relation, into)


def _into(node: tree.Node) -> tree.Node | None:
    """INTO of a SELECT; of a set operation, that of its first SELECT."""
    while isinstance(node, c.SetOperation) or (isinstance(node, c.Subquery) and tree.arg(node, tree.INTO) is None):
        node = tree.this(node)
    found: tree.Node | None = tree.arg(node, tree.INTO) if isinstance(node, tree.Node) else None
    return found


def _into_variables(reading: Reading, relation: Relation, into: tree.Node) -> Moved:
    """SELECT … INTO variables: by position; BULK COLLECT INTO keeps rows."""
    nodes = [tree.this(into)] if tree.this(into) is not None else tree.items(into)
    if tree.arg(into, "bulk_collect"):
        keep_row(reading, relation, tuple(tree.text_of(tree.table_parts(one)[-1])[0].lower() for one in nodes))
        return Moved("select", reads=set(relation.reads))
    for node, output in zip(nodes, relation.outputs, strict=False):
        names = [tree.text_of(part)[0].lower() for part in tree.table_parts(node)]
        set_variable(reading, names, Output(names[-1], joined(output.flow, relation.rows)))
    return Moved("select", reads=set(relation.reads))


def select_into(reading: Reading, relation: Relation, into: tree.Node) -> Moved:
    """SELECT … INTO a new table."""
    target = target_of(reading, tree.this(into))
    closed = all(output.name != STAR for output in relation.outputs)
    columns = tuple(output.name for output in relation.outputs) if closed else None
    temporary = bool(tree.arg(into, tree.TEMPORARY)) or reading.session.is_temporary(target)
    reading.session.own[target] = Known(columns, temporary)
    result = Moved("select")
    result.into(of_relation(target, relation, adds=False), relation.reads)
    return result


def _cache(reading: Reading, node: tree.Node) -> Moved:
    inside = tree.arg(node, tree.EXPRESSION)
    if inside is None:
        return Moved("cache", opaque=True)
    relation = query(inside, Scope(reading))
    target = target_of(reading, tree.this(node))
    columns = tuple(output.name for output in relation.outputs)
    reading.session.own[target] = Known(None if STAR in columns else columns, temporary=True)
    result = Moved("cache")
    result.into(of_relation(target, relation, adds=False), relation.reads)
    return result


def _truncate(reading: Reading, node: tree.Node) -> Moved:
    targets = [target_of(reading, one) for one in tree.items(node)]
    return Moved("truncate", writes=targets, emptied=targets)


def _locking(reading: Reading, node: tree.Node) -> Moved:
    return moved(reading, tree.arg(node, tree.EXPRESSION))


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
