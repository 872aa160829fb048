"""Tables of Flink: the file, topic or table behind each, by the options of its connector."""

from collections.abc import Callable, Mapping

from whence.capture.members import object_at, objects_at, text_at
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json
from whence_client.events.datasets import Dataset
from whence_client.naming import name_file, name_table, name_table_of_jdbc, name_topic
from whence_client.naming.files import is_location

NOWHERE = frozenset(("blackhole", "datagen", "print"))
"""Connectors that make or drop rows: there is no dataset."""

Options = Mapping[str, str]


def find_dataset(table: Json) -> Dataset | None:
    """The dataset of a table in a plan; None if its connector keeps none. Raises ArtifactError if it is not known.

    Flink's own name of a table, `default_catalog.default_database.orders`, is one of its session: no other job has it.
    """
    options = {key: value for key, value in object_at(table, "resolvedTable", "options").items() if _is_text(value)}
    connector = options.get("connector", "")
    if connector in NOWHERE:
        return None
    if not connector:
        raise ArtifactError("", "the plan has no options of it: compile with table.plan.compile.catalog-objects=ALL")
    find = _FINDERS.get(connector)
    if find is None:
        raise ArtifactError("", f"what the connector {connector} reads and writes is not known")
    return find(options)


def column_names(table: Json) -> tuple[str, ...]:
    """The columns of a table that are stored, not computed or taken from metadata."""
    listed = objects_at(object_at(table, "resolvedTable", "schema"), "columns")
    return tuple(text_at(one, "name") for one in listed if text_at(one, "kind") in ("", "PHYSICAL"))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _file(options: Options) -> Dataset:
    path = options.get("path", "")
    if not is_location(path):
        raise ArtifactError("", "its path is relative" if path else "it names no path")
    return name_file(path)


def _topic(options: Options) -> Dataset:
    servers, topic = options.get("properties.bootstrap.servers", ""), options.get("topic", "")
    if not servers or not topic or ";" in topic:
        raise ArtifactError("", "it names not one topic with its servers")
    return name_topic(servers, topic)


def _jdbc(options: Options) -> Dataset:
    url, table = options.get("url", ""), options.get("table-name", "")
    named = name_table_of_jdbc(url, table) if table else None
    if named is None:
        raise ArtifactError("", "its url is of a form that is not known")
    return named


def _changes(system: str) -> Callable[[Options], Dataset]:
    """Flink CDC: the table whose changes are read."""

    def find(options: Options) -> Dataset:
        names = tuple(options.get(one, "") for one in ("database-name", "schema-name", "table-name"))
        port = options.get("port", "")
        if not names[2] or not options.get("hostname"):
            raise ArtifactError("", "it names no table with its host")
        return name_table(system, names, host=options["hostname"], port=int(port) if port.isdigit() else None)

    return find


_FINDERS: Mapping[str, Callable[[Options], Dataset]] = {
    "filesystem": _file,
    "jdbc": _jdbc,
    "kafka": _topic,
    "mysql-cdc": _changes("mysql"),
    "postgres-cdc": _changes("postgres"),
    "sqlserver-cdc": _changes("mssql"),
    "upsert-kafka": _topic,
}
