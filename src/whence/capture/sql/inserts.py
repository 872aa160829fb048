"""INSERT: by list, position or name; into partitions; into several tables; with ON CONFLICT."""

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.assignments import assigned, set_name
from whence.capture.sql.conditions import choose
from whence.capture.sql.expressions import gather
from whence.capture.sql.flows import CONDITIONAL, FILTER, IDENTITY, Flow, absorb, joined
from whence.capture.sql.lineage import RESULT, Table
from whence.capture.sql.moves import Move, Moved
from whence.capture.sql.names import column_name
from whence.capture.sql.projections import project
from whence.capture.sql.queries import query, read_from, with_ctes
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import EMPTY, Output, Relation, base, with_columns
from whence.capture.sql.scopes import Scope, Source, alias_name
from whence.capture.sql.targets import listed_columns, placed, target_of, unplaced


def insert(reading: Reading, node: tree.Node) -> Moved:
    """INSERT [OVERWRITE] … SELECT or VALUES."""
    scope = Scope(reading)
    with_ctes(node, scope)
    inside = tree.arg(node, tree.EXPRESSION) or tree.arg(node, tree.SOURCE)
    relation = query(inside, scope) if inside is not None else EMPTY
    result = Moved("insert")
    target = target_of(reading, tree.this(node))
    columns = _columns(reading, node, target, relation)
    move = Move(target, columns, dict(relation.rows), adds=not tree.arg(node, tree.OVERWRITE))
    if tree.arg(node, tree.WHERE) is not None:
        _replaced(scope, node, move)
    result.into(move, relation.reads)
    if tree.arg(node, tree.CONFLICT) is not None:
        _conflict(scope, node, move, inside)
    returned(scope, node, move, result)
    return result


def _replaced(scope: Scope, node: tree.Node, move: Move) -> None:
    """Spark's REPLACE WHERE: the condition looks at the rows that go."""
    inner = Scope(scope.reading)
    inner.add(Source("", base(scope.reading.home(move.target), *scope.reading.session.columns(move.target))))
    choose(inner, tree.arg(node, tree.WHERE), FILTER, move.rows)


def _columns(reading: Reading, node: tree.Node, target: Table, relation: Relation) -> list[Output]:
    place = tree.this(node)
    names = listed_columns(reading, place)
    if tree.arg(node, tree.BY_NAME):
        return relation.outputs
    static, dynamic = _partitions(reading, tree.this(place) if isinstance(place, c.Schema) else place)
    if names:
        return placed(reading, target, relation.outputs, [name for name in names if name not in static])
    known = reading.session.columns(target)[0]
    outputs = relation.outputs
    if dynamic and known is None and len(dynamic) <= len(outputs):
        first = len(outputs) - len(dynamic)
        last = [one.called(name) for one, name in zip(outputs[first:], dynamic, strict=True)]
        return unplaced(outputs[:first]) + last
    if dynamic and known is not None:
        return placed(reading, target, outputs, [n for n in known if n not in static and n not in dynamic] + dynamic)
    return placed(reading, target, outputs, [], static)


def _partitions(reading: Reading, node: tree.Node) -> tuple[list[str], list[str]]:
    """Hive's PARTITION (a = 1, b): the columns set to a constant, and those that come last in the query."""
    static: list[str] = []
    dynamic: list[str] = []
    partition = tree.arg(node, tree.PARTITION)
    for one in tree.items(partition) if partition is not None else []:
        if isinstance(one, c.EQ):
            static.append(column_name(reading.dialect, tree.this(one)))
        elif isinstance(one, c.Column | c.Identifier):
            dynamic.append(column_name(reading.dialect, one))
    return static, dynamic


def _conflict(scope: Scope, node: tree.Node, move: Move, inside: tree.Node | None) -> None:
    """ON CONFLICT DO UPDATE, ON DUPLICATE KEY UPDATE: `excluded` is the row that was to be inserted."""
    reading = scope.reading
    conflict = tree.arg(node, tree.CONFLICT)
    inner = Scope(reading, _query_scope(scope, inside))
    place = tree.this(tree.this(node)) if isinstance(tree.this(node), c.Schema) else tree.this(node)
    alias = tree.alias_of(place)
    own = base(reading.home(move.target), *reading.session.columns(move.target))
    name = alias_name(reading, alias) if alias is not None else move.target.parts[-1]
    sets = [tree.this(one) for one in tree.items(conflict) if isinstance(one, c.EQ)]
    own = with_columns(own, [set_name(inner, one) for one in sets if not isinstance(one, c.Tuple)])
    inner.add(Source(name.lower() if reading.dialect.columns == "fold" else name, own, move.target.parts))
    excluded = Relation(list(move.columns))
    for called in ("excluded", "new", "EXCLUDED"):
        inner.add(Source(called, excluded, bare=False), visible=False)
    inner.bound = frozenset()
    chooses: Flow = {}
    where = tree.arg(conflict, tree.WHERE)
    if where is not None:
        gather(inner, tree.this(where), CONDITIONAL, chooses)
    _name_excluded(conflict)
    for column, flow, text in assigned(inner, tree.items(conflict)):
        move.columns.append(Output(set_name(inner, column), joined(flow, chooses), node=text))


def _query_scope(scope: Scope, inside: tree.Node | None) -> Scope:
    """MySQL: the sources of the query are seen behind ON DUPLICATE KEY."""
    found = tree.query_in(inside) if inside is not None else None
    if scope.reading.dialect.name != "mysql" or not isinstance(found, c.Select):
        return scope
    inner = Scope(scope.reading, scope)
    read_from(inner, found, {})
    return inner


def _name_excluded(conflict: tree.Node) -> None:
    """MySQL's VALUES(a) is the value that was to be inserted: excluded.a."""
    for one in list(conflict.find_all(c.Anonymous)):
        named = next(iter(tree.items(one)), None)
        if str(tree.this(one)).upper() == "VALUES" and named is not None:
            one.replace(c.Column(this=named.copy(), table=c.Identifier(this="excluded")))


def returned(scope: Scope, node: tree.Node, move: Move, result: Moved) -> None:
    """RETURNING gives rows to the caller; T-SQL's OUTPUT inserted.a INTO gives them to another table."""
    returning = tree.arg(node, tree.RETURNING)
    if returning is None:
        return
    into = tree.arg(returning, tree.INTO)
    reading = scope.reading
    around = Scope(reading)
    around.ctes = scope.ctes
    around.sources = [one for one in scope.sources if move.target not in one.relation.reads]
    inner = Scope(reading, around)
    inner.shared = True
    own = base(reading.home(move.target), *reading.session.columns(move.target))
    inner.add(Source("inserted", own))
    inner.add(Source("deleted", own), visible=False)
    inner.sources.append(Source(move.target.parts[-1], own))
    if not into or reading.dialect.name != "tsql":
        outputs = project(inner, tree.items(returning))
        if not reading.nested and any(one.flow for one in outputs):
            result.moves.append(Move(RESULT, outputs, move.rows, adds=False))
        return
    named = isinstance(into, c.Anonymous)
    # A schema before the target is written with `$$` by a repair: the parser takes no dots here.
    parts = tuple(tree.text_of(tree.this(into))[0].lower().split("$$")) if named else ()
    target = reading.session.resolve(Table(parts)) if named else target_of(reading, into)
    names = [column_name(reading.dialect, one) for one in tree.items(into)] if named else listed_columns(reading, into)
    columns = placed(reading, target, project(inner, tree.items(returning)), names)
    result.into(Move(target, columns, move.rows))


def multi_insert(reading: Reading, node: tree.Node) -> Moved:
    """INSERT ALL / FIRST of Snowflake and Oracle; FROM … INSERT … INSERT of Hive and Spark."""
    source = tree.arg(node, tree.SOURCE)
    result = Moved("insert")
    scope = Scope(reading)
    with_ctes(node, scope)
    if not isinstance(source, c.Query) or isinstance(source, c.Subquery):
        for one in tree.items(node):
            _from_first(scope, one, source, result)
        return result
    relation = query(source, scope)
    scope.add(Source("", relation))
    first = str(tree.arg(node, tree.KIND) or "").upper() == "FIRST"
    before: list[tree.Node] = []
    for one in tree.items(node):
        _conditional(scope, one, relation, result, before if first or tree.arg(one, tree.ELSE) else [])
        if tree.arg(one, tree.EXPRESSION) is not None:
            before.append(tree.arg(one, tree.EXPRESSION))
    return result


def _from_first(scope: Scope, node: tree.Node, source: tree.Node, result: Moved) -> None:
    inside = tree.arg(node, tree.EXPRESSION)
    if isinstance(inside, c.Select) and tree.arg(inside, tree.FROM) is None:
        inside.set(tree.FROM, c.From(this=source.copy()))
    relation = query(inside, scope) if inside is not None else EMPTY
    target = target_of(scope.reading, tree.this(node))
    columns = _columns(scope.reading, node, target, relation)
    result.into(Move(target, columns, dict(relation.rows)), relation.reads)


def _conditional(scope: Scope, node: tree.Node, relation: Relation, result: Moved, before: list[tree.Node]) -> None:
    """One branch; `before`: conditions that must have failed for it to be reached."""
    reading = scope.reading
    inside = tree.this(node) if isinstance(node, c.ConditionalInsert) else node
    place = tree.this(inside)
    target = target_of(reading, place)
    values = tree.arg(inside, tree.EXPRESSION)
    outputs = relation.outputs
    if values is not None:
        row = tree.items(values)[0]
        outputs = project(scope, tree.items(row) if isinstance(row, c.Tuple) else [row])
    rows: Flow = {}
    absorb(rows, relation.rows, IDENTITY)
    condition = tree.arg(node, tree.EXPRESSION) if isinstance(node, c.ConditionalInsert) else None
    for one in [*before, *([condition] if condition is not None else [])]:
        choose(scope, one, FILTER, rows)
    names = listed_columns(reading, place)
    result.into(Move(target, placed(reading, target, outputs, names), rows), relation.reads)
