"""Data sources: the file, topic, table or query that each reads, named as other producers name it."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from whence.capture.bi.connections import Connection, connection_at
from whence.capture.members import object_at, text_at, texts_at
from whence.errors import ArtifactError
from whence.model.names import DatasetName
from whence.openlineage.json.wire import Json
from whence_client.naming import name_file, name_topic
from whence_client.naming.files import is_location

_OPTIONS = {
    "BATCH_ATHENA": ("athena", "athenaOptions"),
    "BATCH_BIGQUERY": ("bigquery", "bigqueryOptions"),
    "BATCH_REDSHIFT": ("redshift", "redshiftOptions"),
    "BATCH_SNOWFLAKE": ("snowflake", "snowflakeOptions"),
    "BATCH_SPARK": ("spark", "sparkOptions"),
    "BATCH_TRINO": ("trino", "trinoOptions"),
}
"""The systems that the registry has options for: their names in the file of connections, and the member."""
_CLASSES = {
    "ClickhouseSource": "clickhouse",
    "MsSqlServerSource": "mssql",
    "OracleSource": "oracle",
    "PostgreSQLSource": "postgres",
}
"""Feast's own sources whose options are JSON inside the message."""
_PARTS = {"athena": ("dataSource", "database"), "redshift": ("schema",), "snowflake": ("database", "schema")}
"""The qualifiers of a table that Feast writes before it, each quoted; other systems write the table as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A table or query of a database: the text after FROM, in the dialect of the connection."""

    connection: Connection
    text: str


Place = DatasetName | Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where the data of a registry is. `connections` are by system or source, `folder` has feature_store.yaml."""

    connections: Mapping[str, Connection]
    folder: Path | None = None

    def find(self, source: Json) -> Place:
        """What a data source reads. Raises ArtifactError if that is not known."""
        kind = text_at(source, "type")
        if kind == "BATCH_FILE":
            return self._file(text_at(object_at(source, "fileOptions"), "uri"))
        if kind == "STREAM_KAFKA":
            return _topic(object_at(source, "kafkaOptions"))
        system, options = _find_options(source, kind)
        if path := text_at(options, "path"):
            return self._file(path)
        return self._relation(source, system, options)

    def _file(self, uri: str) -> DatasetName:
        if not uri:
            raise ArtifactError("", "it names no file")
        if not is_location(uri) and self.folder is None:
            raise ArtifactError("", "its path is relative: set folder=DIRECTORY, the folder of feature_store.yaml")
        return DatasetName(*name_file(uri, folder=self.folder).key)

    def _relation(self, source: Json, system: str, options: Json) -> Relation:
        connection = self.connections.get(text_at(source, "name")) or self.connections.get(system)
        if connection is None and system == "bigquery":
            connection = connection_at("bigquery://")
        if connection is None:
            raise ArtifactError("", f"the registry has no address of {system}: name it in the file of connections")
        return Relation(connection=connection, text=_from_clause(system, options, connection))


def find_column(source: Json, feature: str) -> str:
    """The column of a data source that a feature or a join key is, by the source's field mapping."""
    columns = {name: column for column, name in texts_at(source, "fieldMapping").items()}
    return columns.get(feature, feature)


def _topic(options: Json) -> DatasetName:
    servers, topic = text_at(options, "kafkaBootstrapServers"), text_at(options, "topic")
    if not servers or not topic:
        raise ArtifactError("", "it names no topic of Kafka with its servers")
    return DatasetName(*name_topic(servers, topic).key)


def _find_options(source: Json, kind: str) -> tuple[str, Json]:
    """The system of a source in a database, and its options."""
    if kind in _OPTIONS:
        system, member = _OPTIONS[kind]
        return system, object_at(source, member)
    class_ = text_at(source, "dataSourceClassType").rpartition(".")[2]
    if kind == "CUSTOM_SOURCE" and class_ in _CLASSES:
        return _CLASSES[class_], _configuration(source)
    raise ArtifactError("", f"what a source of the type {class_ or kind or 'unknown'} reads is not known")


def _configuration(source: Json) -> Json:
    encoded = text_at(object_at(source, "customOptions"), "configuration")
    try:
        found = json.loads(base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError):
        found = None
    if not isinstance(found, dict):
        raise ArtifactError("", "its options cannot be read")
    return found


def _from_clause(system: str, options: Json, connection: Connection) -> str:
    """The text that Feast itself puts after FROM (`get_table_query_string`)."""
    table = text_at(options, "table") or text_at(options, "table_ref")
    if not table:
        if query := text_at(options, "query").strip().rstrip(";"):
            return f"({query}\n) AS source"
        raise ArtifactError("", "it names neither a table nor a query")
    if system == "bigquery":
        return connection.quote(table)
    if system not in _PARTS:
        return table
    return ".".join(
        connection.quote(one) for one in (*(text_at(options, part) for part in _PARTS[system]), table) if one
    )
