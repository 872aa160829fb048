"""INSERT: by list, position or name; into partitions; into several tables; with ON CONFLICT."""

from whence.capture.sql.lineage import RESULT, Table
from whence.capture.sql.names.names import column_name
from whence.capture.sql.provenance.flows import CONDITIONAL, FILTER, IDENTITY, Flow, absorb, merge_flows
from whence.capture.sql.provenance.relations import EMPTY, Output, Relation, base_relation, with_columns
from whence.capture.sql.queries.common_table_expressions import read_ctes
from whence.capture.sql.queries.conditions import add_condition
from whence.capture.sql.queries.expressions import gather
from whence.capture.sql.queries.projections import project
from whence.capture.sql.queries.queries import query, read_from
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope, Source, alias_name
from whence.capture.sql.statements.assignments import assigned_name, read_assignments
from whence.capture.sql.statements.moves import Effects, Move
from whence.capture.sql.statements.targets import keep_unplaced, listed_columns, place_by_position, target_of
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def insert(reading: Reading, node: tree.Node) -> Effects:
    """INSERT [OVERWRITE] … SELECT or VALUES."""
    scope = Scope(reading)
    read_ctes(node, scope)
    inside = tree.arg(node, tree.EXPRESSION) or tree.arg(node, tree.SOURCE)
    relation = query(inside, scope) if inside is not None else EMPTY
    result = Effects("insert")
    target = target_of(reading, tree.this(node))
    columns = _target_columns(reading, node, target, relation)
    adds = not tree.arg(node, tree.OVERWRITE)
    move = Move(target, columns, dict(relation.rows), adds, meaning=relation.meaning)
    if tree.arg(node, tree.WHERE) is not None:
        _add_replace_where(scope, node, move)
    result.add_move(move, relation.reads)
    if tree.arg(node, tree.CONFLICT) is not None:
        _add_on_conflict(scope, node, move, inside)
    add_returning(scope, node, move, result)
    return result


def _add_replace_where(scope: Scope, node: tree.Node, move: Move) -> None:
    """Spark's REPLACE WHERE: the condition filters the replaced rows."""
    inner = Scope(scope.reading)
    inner.add(Source("", base_relation(scope.reading.home(move.target), *scope.reading.session.columns(move.target))))
    add_condition(inner, tree.arg(node, tree.WHERE), FILTER, move.rows)


def _target_columns(reading: Reading, node: tree.Node, target: Table, relation: Relation) -> list[Output]:
    name_node = tree.this(node)
    names = listed_columns(reading, name_node)
    if tree.arg(node, tree.BY_NAME):
        return relation.outputs
    static, dynamic = _partitions(reading, tree.this(name_node) if isinstance(name_node, c.Schema) else name_node)
    if names:
        return place_by_position(reading, target, relation.outputs, [name for name in names if name not in static])
    known = reading.session.columns(target)[0]
    outputs = relation.outputs
    if dynamic and known is None and len(dynamic) <= len(outputs):
        position = len(outputs) - len(dynamic)
        dynamic_outputs = [output.with_name(name) for output, name in zip(outputs[position:], dynamic, strict=True)]
        return keep_unplaced(outputs[:position]) + dynamic_outputs
    if dynamic and known is not None:
        return place_by_position(
            reading, target, outputs, [n for n in known if n not in static and n not in dynamic] + dynamic
        )
    return place_by_position(reading, target, outputs, [], static)


def _partitions(reading: Reading, node: tree.Node) -> tuple[list[str], list[str]]:
    """Split Hive's PARTITION (a = 1, b) into the constant columns, and those that come last in the query."""
    static: list[str] = []
    dynamic: list[str] = []
    partition = tree.arg(node, tree.PARTITION)
    for item in tree.items(partition) if partition is not None else []:
        if isinstance(item, c.EQ):
            static.append(column_name(reading.dialect, tree.this(item)))
        elif isinstance(item, c.Column | c.Identifier):
            dynamic.append(column_name(reading.dialect, item))
    return static, dynamic


def _add_on_conflict(scope: Scope, node: tree.Node, move: Move, inside: tree.Node | None) -> None:
    """ON CONFLICT DO UPDATE, ON DUPLICATE KEY UPDATE. `excluded` is the row that was not inserted."""
    reading = scope.reading
    conflict = tree.arg(node, tree.CONFLICT)
    inner = Scope(reading, _query_scope(scope, inside))
    name_node = tree.this(tree.this(node)) if isinstance(tree.this(node), c.Schema) else tree.this(node)
    alias = tree.alias_of(name_node)
    target_relation = base_relation(reading.home(move.target), *reading.session.columns(move.target))
    name = alias_name(reading, alias) if alias is not None else move.target.parts[-1]
    assigned_nodes = [tree.this(item) for item in tree.items(conflict) if isinstance(item, c.EQ)]
    target_relation = with_columns(
        target_relation,
        [assigned_name(inner, lineage_set) for lineage_set in assigned_nodes if not isinstance(lineage_set, c.Tuple)],
    )
    inner.add(Source(name.lower() if reading.dialect.columns == "fold" else name, target_relation, move.target.parts))
    excluded = Relation(list(move.columns))
    for row_name in ("excluded", "new", "EXCLUDED"):
        inner.add(Source(row_name, excluded, bare=False), visible=False)
    inner.bound = frozenset()
    chooses: Flow = {}
    where = tree.arg(conflict, tree.WHERE)
    if where is not None:
        gather(inner, tree.this(where), CONDITIONAL, chooses)
    _name_excluded(conflict)
    for column, flow, text in read_assignments(inner, tree.items(conflict)):
        move.columns.append(Output(assigned_name(inner, column), merge_flows(flow, chooses), node=text))


def _query_scope(scope: Scope, inside: tree.Node | None) -> Scope:
    """MySQL: ON DUPLICATE KEY sees the sources of the query."""
    select = tree.query_in(inside) if inside is not None else None
    if scope.reading.dialect.name != "mysql" or not isinstance(select, c.Select):
        return scope
    inner = Scope(scope.reading, scope)
    read_from(inner, select, {})
    return inner


def _name_excluded(conflict: tree.Node) -> None:
    """Rewrite MySQL's VALUES(a), the value that was not inserted, as excluded.a."""
    for node in list(conflict.find_all(c.Anonymous)):
        column = next(iter(tree.items(node)), None)
        if str(tree.this(node)).upper() == "VALUES" and column is not None:
            node.replace(c.Column(this=column.copy(), table=c.Identifier(this="excluded")))


def add_returning(scope: Scope, node: tree.Node, move: Move, result: Effects) -> None:
    """Read RETURNING, which returns rows to the caller, or T-SQL's OUTPUT inserted.a INTO, which writes them to a
    table.
    """
    returning = tree.arg(node, tree.RETURNING)
    if returning is None:
        return
    into = tree.arg(returning, tree.INTO)
    reading = scope.reading
    outer_scope = Scope(reading)
    outer_scope.ctes = scope.ctes
    outer_scope.sources = [source for source in scope.sources if move.target not in source.relation.reads]
    inner = Scope(reading, outer_scope)
    inner.shared = True
    target_relation = base_relation(reading.home(move.target), *reading.session.columns(move.target))
    inner.add(Source("inserted", target_relation))
    inner.add(Source("deleted", target_relation), visible=False)
    inner.sources.append(Source(move.target.parts[-1], target_relation))
    if not into or reading.dialect.name != "tsql":
        outputs = project(inner, tree.items(returning))
        if not reading.nested and any(output.flow for output in outputs):
            result.moves.append(Move(RESULT, outputs, move.rows, adds=False))
        return
    is_function = isinstance(into, c.Anonymous)
    # A repair joins the target's schema with `$$`, since the parser accepts no dots here.
    parts = tuple(tree.text_of(tree.this(into))[0].lower().split("$$")) if is_function else ()
    target = reading.session.resolve(Table(parts)) if is_function else target_of(reading, into)
    names = (
        [column_name(reading.dialect, item) for item in tree.items(into)]
        if is_function
        else listed_columns(reading, into)
    )
    columns = place_by_position(reading, target, project(inner, tree.items(returning)), names)
    result.add_move(Move(target, columns, move.rows))


def multi_insert(reading: Reading, node: tree.Node) -> Effects:
    """Read INSERT ALL / FIRST of Snowflake and Oracle, and FROM … INSERT … INSERT of Hive and Spark."""
    source = tree.arg(node, tree.SOURCE)
    result = Effects("insert")
    scope = Scope(reading)
    read_ctes(node, scope)
    if not isinstance(source, c.Query) or isinstance(source, c.Subquery):
        for item in tree.items(node):
            _insert_from(scope, item, source, result)
        return result
    relation = query(source, scope)
    scope.add(Source("", relation))
    is_first = str(tree.arg(node, tree.KIND) or "").upper() == "FIRST"
    previous_conditions: list[tree.Node] = []
    for item in tree.items(node):
        _insert_branch(
            scope, item, relation, result, previous_conditions if is_first or tree.arg(item, tree.ELSE) else []
        )
        if tree.arg(item, tree.EXPRESSION) is not None:
            previous_conditions.append(tree.arg(item, tree.EXPRESSION))
    return result


def _insert_from(scope: Scope, node: tree.Node, source: tree.Node, result: Effects) -> None:
    inside = tree.arg(node, tree.EXPRESSION)
    if isinstance(inside, c.Select) and tree.arg(inside, tree.FROM) is None:
        inside.set(tree.FROM, c.From(this=source.copy()))
    relation = query(inside, scope) if inside is not None else EMPTY
    target = target_of(scope.reading, tree.this(node))
    columns = _target_columns(scope.reading, node, target, relation)
    result.add_move(Move(target, columns, dict(relation.rows)), relation.reads)


def _insert_branch(scope: Scope, node: tree.Node, relation: Relation, result: Effects, before: list[tree.Node]) -> None:
    """Read one branch. `before`: conditions that must have failed before it."""
    reading = scope.reading
    inside = tree.this(node) if isinstance(node, c.ConditionalInsert) else node
    name_node = tree.this(inside)
    target = target_of(reading, name_node)
    values = tree.arg(inside, tree.EXPRESSION)
    outputs = relation.outputs
    if values is not None:
        row = tree.items(values)[0]
        outputs = project(scope, tree.items(row) if isinstance(row, c.Tuple) else [row])
    rows: Flow = {}
    absorb(rows, relation.rows, IDENTITY)
    condition = tree.arg(node, tree.EXPRESSION) if isinstance(node, c.ConditionalInsert) else None
    for filter_node in [*before, *([condition] if condition is not None else [])]:
        add_condition(scope, filter_node, FILTER, rows)
    names = listed_columns(reading, name_node)
    result.add_move(Move(target, place_by_position(reading, target, outputs, names), rows), relation.reads)
