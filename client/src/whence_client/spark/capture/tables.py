"""The names of what plans read and write: paths, tables of catalogs, tables of other databases, topics."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from whence_client.lineage.columns import Dataset
from whence_client.naming import name_file, name_table_of_jdbc, name_topic
from whence_client.spark.capture.scala import call, class_name, read_map, read_option, read_sequence

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_PATHS = 16


def name_path(path: str) -> Dataset:
    """The dataset at a path."""
    return _plain(name_file(path))


def name_paths(paths: Iterable[str]) -> tuple[Dataset, ...]:
    """The datasets at some paths. Of more than a few files, such as those of a pattern, their folders."""
    texts = list(paths)
    if len(texts) > _MOST_PATHS:
        texts = [text.rpartition("/")[0] for text in texts]
    return tuple(dict.fromkeys(map(name_path, texts)))[: 4 * _MOST_PATHS]


def name_jdbc(url: str, table: str) -> Dataset | None:
    """The table behind a JDBC URL. None for a query in the place of a table, or a URL that names no server."""
    if not table or re.search(r"[\s(]", table.strip()):
        return None
    named = name_table_of_jdbc(url, table)
    return _plain(named) if named else None


def name_kafka(servers: str, topics: str) -> tuple[Dataset, ...]:
    """The topics of a subscription, which has commas."""
    return tuple(_plain(name_topic(servers, topic.strip())) for topic in topics.split(",") if topic.strip())


def name_options(source: str, options: Any) -> tuple[Dataset, ...]:
    """The datasets that the options of a reader or writer name. `source` is its format or class; a Scala Map."""
    kind = source.lower()
    if "jdbc" in kind:
        table = name_jdbc(read_map(options, "url"), read_map(options, "dbtable"))
        return (table,) if table else ()
    if "kafka" in kind:
        topics = read_map(options, "topic", "subscribe")
        return name_kafka(read_map(options, "kafka.bootstrap.servers"), topics)
    path = read_map(options, "path")
    return (name_path(path),) if path else ()


def name_catalog_table(table: Any, session: Any) -> tuple[Dataset, Dataset | None]:
    """The location of a table of Spark's own catalog, and its name in the catalog."""
    identifier = table.identifier()
    location = read_option(table.storage().locationUri())
    if location is None:
        catalog = session.sessionState().catalog()
        try:
            location = catalog.getTableMetadata(identifier).location()
        except Exception:  # the table does not exist: the command failed, or dropped it
            location = catalog.defaultTablePath(identifier)
    return name_path(str(location.toString())), name_identifier(identifier, session)


def name_identifier(identifier: Any, session: Any) -> Dataset:
    """A table's name in Spark's own catalog: of the Hive metastore, or else of the warehouse's folder."""
    database = read_option(identifier.database()) or session.sessionState().catalog().getCurrentDatabase()
    name = f"{database}.{identifier.table()}"
    metastore = str(session.sparkContext().hadoopConfiguration().get("hive.metastore.uris") or "")
    if metastore.startswith("thrift://"):
        return Dataset("hive" + metastore.partition(",")[0][len("thrift") :], name)
    warehouse = name_file(session.conf().get("spark.sql.warehouse.dir"))
    return Dataset(warehouse.namespace, f"{warehouse.name}/{name}")


def name_warehouse_table(path: Dataset, session: Any) -> str:
    """`database.table` of a folder of the warehouse: a statement that creates a table writes its folder first. Empty
    for other folders.
    """
    warehouse = name_file(session.conf().get("spark.sql.warehouse.dir"))
    folder, _, table = path.name.rpartition("/")
    database = folder[len(warehouse.name) + 1 :] if folder.startswith(f"{warehouse.name}/") else ""
    if folder == warehouse.name:
        return f"default.{table}"
    is_database = database.endswith(".db") and "/" not in database
    return f"{database[: -len('.db')]}.{table}" if is_database else ""


def name_v2_table(relation: Any, session: Any) -> tuple[tuple[Dataset, ...], Dataset | None]:
    """The datasets of a `DataSourceV2Relation`, and its name in its catalog."""
    table = relation.table()
    kind = class_name(table)
    if kind == "V1Table":
        dataset, symlink = name_catalog_table(table.v1Table(), session)
        return (dataset,), symlink
    if kind in _FILE_TABLES:
        return name_paths(read_sequence(table.paths())), None
    properties = call(table, "properties")
    location = properties.get("location") if properties is not None else None
    if not location and kind.startswith("Delta"):
        location = str(table.path().toString())
    if location:
        return (name_path(str(location)),), _catalog_name(relation)
    if kind == "JDBCTable":
        named = name_jdbc(table.jdbcOptions().url(), table.jdbcOptions().tableOrQuery())
        return ((named,) if named else ()), None
    return _name_of_options(kind, relation), None


_FILE_TABLES = frozenset(f"{one}Table" for one in ("Parquet", "Orc", "CSV", "Json", "Text", "Avro"))


def _name_of_options(kind: str, relation: Any) -> tuple[Dataset, ...]:
    options = call(relation, "options")
    if options is None:
        return ()
    if "kafka" in kind.lower():
        topics = options.get("topic") or options.get("subscribe")
        return name_kafka(str(options.get("kafka.bootstrap.servers") or ""), str(topics or ""))
    path = options.get("path")
    return (name_path(str(path)),) if path else ()


def _catalog_name(relation: Any) -> Dataset | None:
    identifier, catalog = read_option(call(relation, "identifier")), read_option(call(relation, "catalog"))
    if identifier is None or catalog is None:
        return None
    parts = ".".join([*identifier.namespace(), identifier.name()])
    return Dataset(f"spark://{catalog.name()}", parts) if catalog.name() != "spark_catalog" else None


def _plain(dataset: Any) -> Dataset:
    return Dataset(dataset.namespace, dataset.name)
