"""What commands write, by the class of each, and which of their plans has the rows."""

from __future__ import annotations

from typing import Any, Callable

from whence_client.lineage.columns import Dataset
from whence_client.spark.capture.records import Target
from whence_client.spark.capture.scala import call, class_name, read_option, read_texts
from whence_client.spark.capture.tables import (
    name_catalog_table,
    name_identifier,
    name_options,
    name_path,
    name_v2_table,
    name_warehouse_table,
)

Reader = Callable[[Any, Any], "Target | None"]

APPEND, OVERWRITE, CREATE, DROP, RENAME, TRUNCATE, ALTER = (
    ("", "OVERWRITE", "CREATE", "DROP", "RENAME", "TRUNCATE", "ALTER")
)  # fmt: skip


def _change(command: Any) -> str:
    mode = call(command, "mode")
    if mode is not None:
        return OVERWRITE if str(mode.toString()) == "Overwrite" else APPEND
    return OVERWRITE if call(command, "overwrite") is True else APPEND


def _columns(command: Any) -> tuple[str, ...]:
    names = call(command, "outputColumnNames")
    return read_texts(names) if names is not None else ()


def _files(command: Any, session: Any) -> Target:
    table = read_option(command.catalogTable())
    if table is not None:
        dataset, symlink = name_catalog_table(table, session)
        return Target(dataset, _columns(command), symlink, _change(command))
    path = name_path(str(command.outputPath().toString()))
    return Target(path, _columns(command), change=_change(command), table=name_warehouse_table(path, session))


def _table(*names: str) -> Reader:
    def read(command: Any, session: Any) -> Target:
        table = call(command, *names)
        dataset, symlink = name_catalog_table(table, session)
        is_unqualified = read_option(table.identifier().database()) is None
        return Target(dataset, _columns(command), symlink, _change(command), is_unqualified=is_unqualified)

    return read


def _directory(command: Any, session: Any) -> Target:
    return Target(name_path(str(command.storage().locationUri().get().toString())), change=OVERWRITE)


def _data_source(command: Any, session: Any) -> Target | None:
    found = name_options(class_name(command.dataSource()), command.options())
    return Target(found[0], change=_change(command)) if found else None


def _logical_relation(command: Any, session: Any) -> Target | None:
    from whence_client.spark.capture.leaves import read_leaf

    named = read_leaf(command.logicalRelation(), session)
    if isinstance(named.leaf, str):
        return None
    return Target(named.leaf[0], symlink=named.symlink, change=_change(command))


def _relation_v2(relation: Any, session: Any, change: str) -> Target | None:
    if class_name(relation) == "LogicalRelation":
        from whence_client.spark.capture.leaves import read_leaf

        named = read_leaf(relation, session)
        return None if isinstance(named.leaf, str) else Target(named.leaf[0], symlink=named.symlink, change=change)
    datasets, symlink = name_v2_table(relation, session)
    if not datasets:
        return None
    names = tuple(relation.output().apply(index).name() for index in range(relation.output().size()))
    return Target(datasets[0], names, symlink, change)


def _v2(change: str) -> Reader:
    return lambda command, session: _relation_v2(command.table(), session, change)


def _v2_rewritten(command: Any, session: Any) -> Target | None:
    # `table` is a wrapper around the table for this one operation.
    return _relation_v2(_without_alias(command.originalTable()), session, APPEND)


def _v2_rows(command: Any, session: Any) -> Target | None:
    return _relation_v2(_without_alias(call(command, "targetTable", "table", "target", "child")), session, APPEND)


def _without_alias(plan: Any) -> Any:
    while class_name(plan) in ("SubqueryAlias", "View", "Project"):
        plan = plan.child()
    return plan


def _v2_created(change: str) -> Reader:
    """A table that CTAS of a catalog made. It is looked up, since the plan has its name only."""

    def read(command: Any, session: Any) -> Target | None:
        name = command.name()
        catalog, identifier = call(name, "catalog"), call(name, "identifier")
        table = catalog.loadTable(identifier)
        location = table.properties().get("location")
        if not location:
            return None
        parts = ".".join([*identifier.namespace(), identifier.name()])
        symlink = None if catalog.name() == "spark_catalog" else Dataset(f"spark://{catalog.name()}", parts)
        return Target(name_path(str(location)), symlink=symlink, change=change)

    return read


def _delta_rows(command: Any, session: Any) -> Target | None:
    target = call(command, "target")
    if target is not None:
        return _relation_v2(_without_alias(target), session, APPEND)
    return _delta_index(command)


def _delta_index(command: Any) -> Target | None:
    index = call(command, "tahoeFileIndex", "targetFileIndex")
    return Target(name_path(str(index.path().toString()))) if index is not None else None


def _delta_write(command: Any, session: Any) -> Target:
    return Target(name_path(str(command.deltaLog().dataPath().toString())), change=_change(command))


def _view(command: Any, session: Any) -> Target | None:
    if not class_name(command.viewType()).startswith("PersistedView") or _is_older_view(command, session):
        return None
    names = tuple(command.userSpecifiedColumns().apply(i)._1() for i in range(command.userSpecifiedColumns().size()))
    return Target(name_identifier(command.name(), session), names, kind="VIEW")


def _is_older_view(command: Any, session: Any) -> bool:
    """Whether CREATE VIEW IF NOT EXISTS left a view as it was."""
    if not command.allowExisting():
        return False
    stored = session.sessionState().catalog().getTableMetadata(command.name()).viewOriginalText()
    return bool(read_option(stored) != read_option(command.originalText()))


def _created(command: Any, session: Any) -> Target:
    dataset, symlink = name_catalog_table(command.table(), session)
    return Target(dataset, symlink=symlink, change=CREATE)


def _identified(change: str, *names: str) -> Reader:
    def read(command: Any, session: Any) -> Target:
        identifier = call(command, *names)
        location = _location_of(identifier, session)
        return Target(location, symlink=name_identifier(identifier, session), change=change)

    return read


def _location_of(identifier: Any, session: Any) -> Dataset:
    catalog = session.sessionState().catalog()
    try:
        return name_path(str(catalog.getTableMetadata(identifier).location().toString()))
    except Exception:  # it was dropped
        return name_path(str(catalog.defaultTablePath(identifier).toString()))


def _renamed(command: Any, session: Any) -> Target | None:
    if command.isView():
        return None
    old, new = command.oldName(), command.newName()
    if read_option(new.database()) is None:
        new = new.copy(new.table(), old.database(), new.catalog())
    catalog = session.sessionState().catalog()
    before = name_path(str(catalog.defaultTablePath(old).toString()))
    return Target(_location_of(new, session), symlink=name_identifier(new, session), change=RENAME, previous=before)


def _dropped(command: Any, session: Any) -> Target | None:
    """`DropTable` of a catalog of version 2; only Spark's own catalog has the location of the table."""
    resolved = command.child()
    catalog, identifier = call(resolved, "catalog"), call(resolved, "identifier")
    if catalog is None or catalog.name() != "spark_catalog":
        return None
    return _dropped_identifier(identifier, session)


def _dropped_identifier(identifier: Any, session: Any) -> Target:
    namespace = list(identifier.namespace())
    warehouse = str(session.conf().get("spark.sql.warehouse.dir")).rstrip("/")
    database = namespace[0] if namespace else "default"
    folder = warehouse if database == "default" else f"{warehouse}/{database}.db"
    symlink = name_path(warehouse)
    name = f"{symlink.name}/{database}.{identifier.name()}"
    return Target(name_path(f"{folder}/{identifier.name()}"), symlink=Dataset(symlink.namespace, name), change=DROP)


WRITES: dict[str, Reader] = {
    "InsertIntoHadoopFsRelationCommand": _files,
    **dict.fromkeys(
        (
            "CreateDataSourceTableAsSelectCommand",
            "SaveAsV1TableCommand",
            "CreateHiveTableAsSelectCommand",
            "OptimizedCreateHiveTableAsSelectCommand",
            "InsertIntoHiveTable",
        ),
        _table("table", "tableDesc"),
    ),
    **dict.fromkeys(("InsertIntoHiveDirCommand", "InsertIntoDataSourceDirCommand"), _directory),
    "SaveIntoDataSourceCommand": _data_source,
    "InsertIntoDataSourceCommand": _logical_relation,
    "AppendData": _v2(APPEND),
    **dict.fromkeys(("OverwriteByExpression", "OverwritePartitionsDynamic"), _v2(OVERWRITE)),
    **dict.fromkeys(("ReplaceData", "WriteDelta"), _v2_rewritten),
    "CreateTableAsSelect": _v2_created(APPEND),
    "ReplaceTableAsSelect": _v2_created(OVERWRITE),
    **dict.fromkeys(("MergeIntoTable", "UpdateTable", "DeleteFromTable"), _v2_rows),
    **dict.fromkeys(("MergeIntoCommand", "DeltaMergeInto", "UpdateCommand", "DeleteCommand"), _delta_rows),
    "WriteIntoDelta": _delta_write,
    "CreateDeltaTableCommand": _table("table"),
    "CreateViewCommand": _view,
}
"""Commands that write rows, and views."""

CHANGES: dict[str, Reader] = {
    **dict.fromkeys(("CreateDataSourceTableCommand", "CreateTableCommand"), _created),
    "DropTableCommand": _identified(DROP, "tableName"),
    "DropTable": _dropped,
    "TruncateTableCommand": _identified(TRUNCATE, "tableName"),
    "AlterTableRenameCommand": _renamed,
}
"""Commands that change a table as a whole."""
