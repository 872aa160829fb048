"""What is at the other end of a topic, by the class of the connector and its documented settings."""

from collections.abc import Callable, Iterator, Mapping

from whence.capture.kafka_connect.records import ConnectorRecord
from whence.capture.kafka_connect.routing import route_topic
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset

Found = Dataset | str
"""A dataset, or the reason why it is not known."""

_RENAMED = "its transforms give topics names that cannot be followed"


def find_other_end(record: ConnectorRecord, topic: str, naming: Naming) -> Found:
    """The dataset that a topic's records come from, or go to; a reason if it is not known."""
    find = _FINDERS.get(record.kind)
    if find is None:
        return f"what {record.settings.get('connector.class', '')} reads and writes beside topics is not known"
    return find(record, topic, naming)


def _file(record: ConnectorRecord, topic: str, naming: Naming) -> Found:
    path = record.settings.get("file", "")
    return naming.file(path) if path.startswith("/") else "the file is relative to the worker's folder, or its console"


def _bucket(record: ConnectorRecord, topic: str, naming: Naming) -> Found:
    routed = route_topic(record.settings, topic)
    if routed is None:
        return _RENAMED
    bucket, folder = record.settings.get("s3.bucket.name", ""), record.settings.get("topics.dir", "topics")
    return naming.file(f"s3://{bucket}/{folder}/{routed}")


def _written_table(record: ConnectorRecord, topic: str, naming: Naming) -> Found:
    routed = route_topic(record.settings, topic)
    if routed is None:
        return _RENAMED
    form = record.settings.get("table.name.format", "${topic}")
    return _table(record, form.replace("${topic}", routed), naming)


def _read_table(record: ConnectorRecord, topic: str, naming: Naming) -> Found:
    if record.settings.get("query"):
        return "it reads a query, not a table"
    prefix = record.settings.get("topic.prefix", "")
    for table in (*record.tables, *_listed(record.settings, "table.whitelist", "table.include.list")):
        if route_topic(record.settings, prefix + table.rpartition(".")[2]) == topic:
            return _table(record, table, naming)
    return "neither its offsets nor its settings name the table"


def _table(record: ConnectorRecord, table: str, naming: Naming) -> Found:
    named = naming.table_of_jdbc(record.settings.get("connection.url", ""), table)
    return named or "its connection.url is of a form that is not known"


def _changes(system: str, default: int, parts: int) -> Callable[[ConnectorRecord, str, Naming], Found]:
    """Debezium: a topic is `PREFIX.SCHEMA.TABLE`, or `PREFIX.DATABASE.TABLE` in systems without schemas."""

    def find(record: ConnectorRecord, topic: str, naming: Naming) -> Found:
        settings = record.settings
        prefix = settings.get("topic.prefix") or settings.get("database.server.name", "")
        names = _captured(settings, prefix, topic, parts)
        if names is None:
            return _RENAMED
        database = (settings.get("database.dbname", ""),) if system == "postgres" else ()
        port = settings.get("database.port", "")
        where = {"host": settings.get("database.hostname", ""), "port": int(port) if port.isdigit() else default}
        return naming.table(system, (*database, *names), **where)

    return find


def _captured(settings: Mapping[str, str], prefix: str, topic: str, parts: int) -> tuple[str, ...] | None:
    """The table whose changes are in a topic: by its name if no transform changes it, else one of those listed."""
    start = f"{prefix}."
    if route_topic(settings, topic) == topic and topic.startswith(start):
        names = tuple(topic.removeprefix(start).split("."))
        return names if len(names) == parts else None
    for listed in _listed(settings, "table.include.list"):
        names = tuple(listed.replace("\\.", ".").split("."))
        if len(names) == parts and route_topic(settings, start + ".".join(names)) == topic:
            return names
    return None


def _listed(settings: Mapping[str, str], *names: str) -> Iterator[str]:
    for name in names:
        yield from (one.strip() for one in settings.get(name, "").split(",") if one.strip())


_FINDERS: Mapping[str, Callable[[ConnectorRecord, str, Naming], Found]] = {
    "FileStreamSource": _file,
    "FileStreamSink": _file,
    "JdbcSource": _read_table,
    "JdbcSink": _written_table,
    "S3Sink": _bucket,
    "Postgres": _changes("postgres", 5432, 2),
    "MySql": _changes("mysql", 3306, 2),
    "MariaDb": _changes("mysql", 3306, 2),
    "SqlServer": _changes("mssql", 1433, 3),
}
