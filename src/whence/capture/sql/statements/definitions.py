"""CREATE, ALTER and DROP: the data they move, and their changes to the session."""

from whence.capture.sql.lineage import Table
from whence.capture.sql.names.catalog import TEMPORARY_SCHEMAS, DeclaredTable
from whence.capture.sql.names.names import column_name, table_of
from whence.capture.sql.provenance.relations import STAR, rename_outputs
from whence.capture.sql.queries.common_table_expressions import read_ctes
from whence.capture.sql.queries.queries import query
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.statements.moves import Effects, Move, copy_all_columns, move_of_relation
from whence.capture.sql.statements.targets import listed_columns, target_of
from whence.capture.sql.statements.updates import delete
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def create(reading: Reading, node: tree.Node) -> Effects:
    """CREATE TABLE, VIEW …: AS a query, LIKE or CLONE of a table, or with a column list."""
    if str(tree.arg(node, tree.KIND) or "").upper() not in ("TABLE", "VIEW", "MODEL"):
        return Effects("create", opaque=True)
    name_node = tree.this(node)
    temporary = tree.has_property(node, c.TemporaryProperty, c.VolatileProperty) or _is_volatile(node)
    name = table_of(reading.dialect, tree.this(name_node) if isinstance(name_node, c.Schema) else name_node)
    in_schema = len(name.parts) > 1 and name.parts[0].lower() in TEMPORARY_SCHEMAS
    if in_schema and reading.dialect.name in ("bigquery", "postgres", "redshift", "duckdb", "sqlite"):
        name, temporary = Table(name.parts[-1:]), True
    target = name if temporary else target_of(reading, name_node)
    if temporary and tree.has_property(node, c.GlobalProperty):
        target = Table(("global_temp", *name.parts[-1:]))
    temporary = temporary or reading.session.is_temporary(target)
    clone, source_node = tree.arg(node, tree.CLONE), tree.arg(node, tree.EXPRESSION)
    like = _like_property(node)
    if isinstance(source_node, c.Table) and _is_structure_only(reading, node):
        like, source_node = c.LikeProperty(this=source_node), None
    if clone is not None:
        return _create_clone(reading, target, tree.this(clone), temporary)
    if isinstance(source_node, c.Query | c.Table | c.Values):
        return _create_from_query(reading, node, target, temporary)
    columns = declared_columns(reading, name_node)
    result = Effects("create", writes=[target])
    if like is not None:
        other = target_of(reading, tree.this(like))
        result.reads.add(other)
        columns = (*(reading.session.columns(other)[0] or ()), *columns)
    _declare_table(reading, target, columns or None, temporary)
    return result


def _is_volatile(node: tree.Node) -> bool:
    """Whether Teradata's VOLATILE follows MULTISET or SET."""
    stability = tree.property_of(node, c.StabilityProperty)
    return stability is not None and tree.text_of(stability)[0].upper() == "VOLATILE"


def _declare_table(reading: Reading, target: Table, columns: tuple[str, ...] | None, temporary: bool) -> None:
    """Record the columns of a created table in the session."""
    if temporary:
        reading.session.make_temporary(target, columns)
    else:
        reading.session.declared[target] = DeclaredTable(columns)


def _create_from_query(reading: Reading, node: tree.Node, target: Table, temporary: bool) -> Effects:
    scope = Scope(reading)
    read_ctes(node, scope)
    name_node, query_node = tree.this(node), tree.arg(node, tree.EXPRESSION)
    relation = query(query_node, scope)
    names = listed_columns(reading, name_node)
    has_types = isinstance(name_node, c.Schema) and any(
        tree.arg(item, tree.KIND) for item in tree.items(name_node) if isinstance(item, c.ColumnDef)
    )
    unmatched_names = names if has_types and reading.dialect.name == "mysql" else []
    outputs = relation.outputs if unmatched_names else rename_outputs(relation.outputs, names)
    column_names = [name for name in unmatched_names if name not in {output.name for output in outputs}] + [
        output.name for output in outputs
    ]
    _declare_table(reading, target, None if STAR in column_names else tuple(column_names), temporary)
    result = Effects("create")
    if _is_without_data(node) and str(tree.arg(node, tree.KIND)).upper() == "TABLE":
        return Effects("create", reads=set(relation.reads), writes=[target])
    into = tree.property_of(node, c.ToTableProperty)
    if into is not None:
        target = target_of(reading, tree.this(into))
    move = Move(target, outputs, relation.rows, adds=False, meaning=relation.meaning)
    result.add_move(move, relation.reads)
    return result


def _is_structure_only(reading: Reading, node: tree.Node) -> bool:
    """Whether the statement copies no rows: `CREATE TABLE a AS b` in ClickHouse, or WITH NO DATA."""
    return reading.dialect.name == "clickhouse" or _is_without_data(node)


def _is_without_data(node: tree.Node) -> bool:
    data = tree.property_of(node, c.WithDataProperty)
    return data is not None and bool(tree.arg(data, tree.NO))


def _create_clone(reading: Reading, target: Table, source_node: tree.Node, temporary: bool) -> Effects:
    source = target_of(reading, source_node)
    reading.session.declared[target] = DeclaredTable(reading.session.columns(source)[0], temporary)
    result = Effects("create")
    move = copy_all_columns(reading, target, source)
    move.adds = False
    result.add_move(move, [source])
    return result


def _like_property(node: tree.Node) -> tree.Node | None:
    """The LIKE after the name or in the column list, or None."""
    name_node = tree.this(node)
    column_list_items = (
        [item for item in tree.items(name_node) if isinstance(item, c.LikeProperty)]
        if isinstance(name_node, c.Schema)
        else []
    )
    return tree.property_of(node, c.LikeProperty) or (column_list_items[0] if column_list_items else None)


def declared_columns(reading: Reading, name_node: tree.Node) -> tuple[str, ...]:
    """The names in a column list."""
    if not isinstance(name_node, c.Schema):
        return ()
    defined = [item for item in tree.items(name_node) if isinstance(item, c.ColumnDef | c.Identifier)]
    return tuple(
        column_name(reading.dialect, tree.this(column) if isinstance(column, c.ColumnDef) else column)
        for column in defined
    )


def drop(reading: Reading, node: tree.Node) -> Effects:
    """Remove a table's columns from the session. Dropping a temporary table reveals the table that it hid."""
    if str(tree.arg(node, tree.KIND) or "").upper() not in ("TABLE", "VIEW"):
        return Effects("drop", opaque=True)
    dropped = [
        target_of(reading, table)
        for table in tree.list_arg(node, tree.TABLES) or [tree.this(node)]
        if table is not None
    ]
    for table in dropped:
        reading.session.declared.pop(table, None)
    return Effects("drop", emptied=dropped, opaque=True)


def alter(reading: Reading, node: tree.Node) -> Effects:
    """RENAME, SWAP, ADD and DROP COLUMN; ALTER VIEW … AS."""
    result = Effects("alter")
    for action in tree.list_arg(node, tree.ACTIONS):
        _apply_action(reading, node, action, result)
    result.opaque = not result.moves and not result.writes
    return result


def _apply_action(reading: Reading, node: tree.Node, action: tree.Node, result: Effects) -> None:
    target = target_of(reading, tree.this(node))
    match action:
        case c.AlterRename():
            rename(reading, target, _new_name(reading, target, tree.this(action)), result)
        case c.SwapTable():
            swap(reading, target, target_of(reading, tree.this(action)), result)
        case c.Query():
            relation = query(action, Scope(reading))
            result.add_move(move_of_relation(target, relation, adds=False), relation.reads)
        case c.ReplacePartition():
            source = target_of(reading, tree.arg(action, tree.SOURCE))
            result.add_move(copy_all_columns(reading, target, source), [source])
        case c.Delete():
            action.set(tree.THIS, tree.this(node).copy())
            deleted = delete(reading, action)
            result.moves, result.writes = deleted.moves, deleted.writes
        case c.ColumnDef() | c.RenameColumn() | c.Drop():
            _alter_columns(reading, target, action)


def _new_name(reading: Reading, old: Table, node: tree.Node) -> Table:
    """The new name of a table. Without a schema it stays in the schema of the old one."""
    new = table_of(reading.dialect, node)
    return Table((*old.parts[: -len(new.parts)], *new.parts)) if len(new.parts) < len(old.parts) else new


def rename(reading: Reading, old: Table, new: Table, result: Effects) -> None:
    """Rename a table. It keeps its columns."""
    columns = reading.session.columns(old)[0]
    before = reading.session.declared.pop(old, None)
    reading.session.declared[new] = DeclaredTable(columns, before is not None and before.temporary)
    result.reads.add(old)
    result.writes.append(new)
    result.renames.append((old, new))


def swap(reading: Reading, table: Table, other_table: Table, result: Effects) -> None:
    """Exchange two tables: each receives the other's data."""
    result.add_move(copy_all_columns(reading, table, other_table), [other_table])
    result.add_move(copy_all_columns(reading, other_table, table), [table])
    columns, other_columns = reading.session.columns(table)[0], reading.session.columns(other_table)[0]
    temporary = [reading.session.is_temporary(member) for member in (table, other_table)]
    reading.session.declared[table], reading.session.declared[other_table] = (
        DeclaredTable(other_columns, temporary[1]),
        DeclaredTable(columns, temporary[0]),
    )
    for move in result.moves:
        move.adds = False


def _alter_columns(reading: Reading, target: Table, action: tree.Node) -> None:
    columns = reading.session.columns(target)[0]
    if columns is None:
        return
    dialect = reading.dialect
    match action:
        case c.ColumnDef():
            columns = (*columns, column_name(dialect, tree.this(action)))
        case c.RenameColumn():
            old, new = column_name(dialect, tree.this(action)), column_name(dialect, tree.arg(action, tree.TO))
            columns = tuple(new if name == old else name for name in columns)
        case c.Drop() if tree.this(action) is not None:
            gone = column_name(dialect, tree.this(action))
            columns = tuple(name for name in columns if name != gone)
    before = reading.session.declared.get(target)
    reading.session.declared[target] = DeclaredTable(columns, before is not None and before.temporary)
