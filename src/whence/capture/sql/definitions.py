"""CREATE, ALTER and DROP: what they move, and what the session learns."""

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.catalog import TEMPORARY_SCHEMAS, Known
from whence.capture.sql.lineage import Table
from whence.capture.sql.moves import Move, Moved, whole
from whence.capture.sql.names import column_name, table_of
from whence.capture.sql.queries import query, with_ctes
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import STAR, renamed
from whence.capture.sql.scopes import Scope
from whence.capture.sql.targets import listed_columns, target_of
from whence.capture.sql.updates import delete


def create(reading: Reading, node: tree.Node) -> Moved:
    """CREATE TABLE, VIEW …: AS a query, LIKE or CLONE of a table, or with a column list."""
    if str(tree.arg(node, tree.KIND) or "").upper() not in ("TABLE", "VIEW", "MODEL"):
        return Moved("create", opaque=True)
    place = tree.this(node)
    temporary = tree.has_property(node, c.TemporaryProperty, c.VolatileProperty) or _is_volatile(node)
    named = table_of(reading.dialect, tree.this(place) if isinstance(place, c.Schema) else place)
    in_schema = len(named.parts) > 1 and named.parts[0].lower() in TEMPORARY_SCHEMAS
    if in_schema and reading.dialect.name in ("bigquery", "postgres", "redshift", "duckdb", "sqlite"):
        named, temporary = Table(named.parts[-1:]), True
    target = named if temporary else target_of(reading, place)
    if temporary and tree.has_property(node, c.GlobalProperty):
        target = Table(("global_temp", *named.parts[-1:]))
    temporary = temporary or reading.session.is_temporary(target)
    clone, inside = tree.arg(node, tree.CLONE), tree.arg(node, tree.EXPRESSION)
    like = _liked(node)
    if isinstance(inside, c.Table) and _structure_only(reading, node):
        like, inside = c.LikeProperty(this=inside), None
    if clone is not None:
        return _copied(reading, target, tree.this(clone), temporary)
    if isinstance(inside, c.Query | c.Table | c.Values):
        return _as_query(reading, node, target, temporary)
    columns = declared_columns(reading, place)
    result = Moved("create", writes=[target])
    if like is not None:
        other = target_of(reading, tree.this(like))
        result.reads.add(other)
        columns = (*(reading.session.columns(other)[0] or ()), *columns)
    _learn(reading, target, columns or None, temporary)
    return result


def _is_volatile(node: tree.Node) -> bool:
    """Teradata's VOLATILE behind MULTISET or SET."""
    found = tree.property_of(node, c.StabilityProperty)
    return found is not None and tree.text_of(found)[0].upper() == "VOLATILE"


def _learn(reading: Reading, target: Table, columns: tuple[str, ...] | None, temporary: bool) -> None:
    """Note what a table is made with."""
    if temporary:
        reading.session.make_temporary(target, columns)
    else:
        reading.session.own[target] = Known(columns)


def _as_query(reading: Reading, node: tree.Node, target: Table, temporary: bool) -> Moved:
    scope = Scope(reading)
    with_ctes(node, scope)
    place, inside = tree.this(node), tree.arg(node, tree.EXPRESSION)
    relation = query(inside, scope)
    names = listed_columns(reading, place)
    typed = isinstance(place, c.Schema) and any(
        tree.arg(one, tree.KIND) for one in tree.items(place) if isinstance(one, c.ColumnDef)
    )
    extra = names if typed and reading.dialect.name == "mysql" else []
    outputs = relation.outputs if extra else renamed(relation.outputs, names)
    known = [name for name in extra if name not in {one.name for one in outputs}] + [one.name for one in outputs]
    _learn(reading, target, None if STAR in known else tuple(known), temporary)
    result = Moved("create")
    if _without_data(node) and str(tree.arg(node, tree.KIND)).upper() == "TABLE":
        return Moved("create", reads=set(relation.reads), writes=[target])
    into = tree.property_of(node, c.ToTableProperty)
    if into is not None:
        target = target_of(reading, tree.this(into))
    result.into(Move(target, outputs, relation.rows, adds=False), relation.reads)
    return result


def _structure_only(reading: Reading, node: tree.Node) -> bool:
    """`CREATE TABLE a AS b` copies no rows in ClickHouse, nor WITH NO DATA."""
    return reading.dialect.name == "clickhouse" or _without_data(node)


def _without_data(node: tree.Node) -> bool:
    data = tree.property_of(node, c.WithDataProperty)
    return data is not None and bool(tree.arg(data, tree.NO))


def _copied(reading: Reading, target: Table, source_node: tree.Node, temporary: bool) -> Moved:
    source = target_of(reading, source_node)
    reading.session.own[target] = Known(reading.session.columns(source)[0], temporary)
    result = Moved("create")
    move = whole(reading, target, source)
    move.adds = False
    result.into(move, [source])
    return result


def _liked(node: tree.Node) -> tree.Node | None:
    """LIKE, behind the name or in the column list."""
    place = tree.this(node)
    listed = (
        [one for one in tree.items(place) if isinstance(one, c.LikeProperty)] if isinstance(place, c.Schema) else []
    )
    return tree.property_of(node, c.LikeProperty) or (listed[0] if listed else None)


def declared_columns(reading: Reading, place: tree.Node) -> tuple[str, ...]:
    """The columns of a column list."""
    if not isinstance(place, c.Schema):
        return ()
    defined = [one for one in tree.items(place) if isinstance(one, c.ColumnDef | c.Identifier)]
    return tuple(
        column_name(reading.dialect, tree.this(one) if isinstance(one, c.ColumnDef) else one) for one in defined
    )


def drop(reading: Reading, node: tree.Node) -> Moved:
    """What is dropped is not known any more; a temporary table uncovers the one that it hid."""
    if str(tree.arg(node, tree.KIND) or "").upper() not in ("TABLE", "VIEW"):
        return Moved("drop", opaque=True)
    dropped = [
        target_of(reading, one) for one in tree.listed(node, tree.TABLES) or [tree.this(node)] if one is not None
    ]
    for one in dropped:
        reading.session.own.pop(one, None)
    return Moved("drop", emptied=dropped, opaque=True)


def alter(reading: Reading, node: tree.Node) -> Moved:
    """RENAME, SWAP, ADD and DROP COLUMN; ALTER VIEW … AS."""
    result = Moved("alter")
    for action in tree.listed(node, tree.ACTIONS):
        _altered(reading, node, action, result)
    result.opaque = not result.moves and not result.writes
    return result


def _altered(reading: Reading, node: tree.Node, action: tree.Node, result: Moved) -> None:
    target = target_of(reading, tree.this(node))
    match action:
        case c.AlterRename():
            rename(reading, target, _renamed_to(reading, target, tree.this(action)), result)
        case c.SwapTable():
            swap(reading, target, target_of(reading, tree.this(action)), result)
        case c.Query():
            relation = query(action, Scope(reading))
            result.into(Move(target, relation.outputs, relation.rows, adds=False), relation.reads)
        case c.ReplacePartition():
            source = target_of(reading, tree.arg(action, tree.SOURCE))
            result.into(whole(reading, target, source), [source])
        case c.Delete():
            action.set(tree.THIS, tree.this(node).copy())
            deleted = delete(reading, action)
            result.moves, result.writes = deleted.moves, deleted.writes
        case c.ColumnDef() | c.RenameColumn() | c.Drop():
            _columns_altered(reading, target, action)


def _renamed_to(reading: Reading, old: Table, node: tree.Node) -> Table:
    """A new name without a schema stays in the schema of the old one."""
    new = table_of(reading.dialect, node)
    return Table((*old.parts[: -len(new.parts)], *new.parts)) if len(new.parts) < len(old.parts) else new


def rename(reading: Reading, old: Table, new: Table, result: Moved) -> None:
    """The same table under another name: it keeps its columns."""
    columns = reading.session.columns(old)[0]
    known = reading.session.own.pop(old, None)
    reading.session.own[new] = Known(columns, known is not None and known.temporary)
    result.reads.add(old)
    result.writes.append(new)
    result.renames.append((old, new))


def swap(reading: Reading, one: Table, other: Table, result: Moved) -> None:
    """Two tables change names: each gets the other's data."""
    result.into(whole(reading, one, other), [other])
    result.into(whole(reading, other, one), [one])
    mine, its = reading.session.columns(one)[0], reading.session.columns(other)[0]
    temporary = [reading.session.is_temporary(table) for table in (one, other)]
    reading.session.own[one], reading.session.own[other] = Known(its, temporary[1]), Known(mine, temporary[0])
    for move in result.moves:
        move.adds = False


def _columns_altered(reading: Reading, target: Table, action: tree.Node) -> None:
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
    before = reading.session.own.get(target)
    reading.session.own[target] = Known(columns, before is not None and before.temporary)
