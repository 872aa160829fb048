"""Questions to the server of a Spark Connect session, over the network: explanations, tables, settings."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from inspect import signature
from typing import Any

from whence_client.lineage.columns import Dataset
from whence_client.naming import name_file
from whence_client.spark.connect.explanation import find_locations, is_truncated

ROOM = {
    "spark.sql.debug.maxToStringFields": "100000",
    "spark.sql.maxMetadataStringLength": "100000",
}
"""Settings without which an explanation leaves out columns and paths."""
_WAREHOUSE = "spark.sql.warehouse.dir"


@dataclass(frozen=True)
class Table:
    """A table as the server describes it. `symlink` is its name in the catalog."""

    dataset: Dataset
    symlink: Dataset | None = None


class Server:
    """The server behind one client. Its answers about tables are kept until `forget`."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._messages = sys.modules["pyspark.sql.connect.proto"]
        self._tables: dict[str, Table | None] = {}
        self._columns: dict[bytes, tuple[str, ...]] = {}
        self._warehouse = ""

    def explain(self, relation: Any) -> str:
        """The explanation of a relation, with room for all of its columns and paths."""
        plan = self._messages.Plan(root=relation)
        return self._with_room(lambda: str(self._client.explain_string(plan, "extended")))

    def explain_command(self, command: Any) -> str:
        """The explanation of a command in SQL, which it does not run. `command` is the client's message."""
        relation = self._sql_relation(command)
        message = relation
        while message.WhichOneof("rel_type") == "with_relations":
            message = message.with_relations.root
        message.sql.query = f"EXPLAIN EXTENDED {message.sql.query}"
        return self._with_room(lambda: str(self._rows(relation)[0][0]))

    def columns_of(self, relation: Any) -> tuple[str, ...]:
        """The names of a relation's columns."""
        key = relation.SerializeToString(deterministic=True)
        if key not in self._columns:
            schema = self._client.schema(self._messages.Plan(root=relation))
            self._columns[key] = tuple(schema.names)
        return self._columns[key]

    def relation_of(self, read: Any) -> Any:
        """The relation that reads what a `Read` names."""
        return self._messages.Relation(read=read)

    def cached_relation(self, number: str) -> Any:
        """The relation of a checkpoint."""
        cached = self._messages.CachedRemoteRelation(relation_id=number)
        return self._messages.Relation(cached_remote_relation=cached)

    def table(self, name: str) -> Table | None:
        """Where a table is; None if the server does not say, as of a view."""
        if name not in self._tables:
            self._tables[name] = self._describe(name)
        return self._tables[name]

    def qualify(self, path: str) -> str:
        """A path with the scheme that the server gives it; as it is if it has one, or if nothing is there."""
        if "://" in path or path.partition("/")[0].endswith(":"):
            return path
        source = self._messages.Read.DataSource(format="binaryFile", paths=[path])
        text = self.explain(self._messages.Relation(read=self._messages.Read(data_source=source)))
        return next(iter(find_locations(text)), path)

    def forget(self) -> None:
        """Ask again about tables: they may be others now."""
        self._tables.clear()

    def _describe(self, name: str) -> Table | None:
        query = f"DESCRIBE TABLE EXTENDED {name}"
        rows = self._rows(self._messages.Relation(sql=self._messages.SQL(query=query)))
        start = next((index for index, row in enumerate(rows) if str(row[0]).startswith("# Detailed")), len(rows))
        facts = {str(row[0]): str(row[1]) for row in rows[start:]}
        location = facts.get("Location", "")
        parts = [facts.get("Catalog", "spark_catalog"), facts.get("Database", ""), facts.get("Table", "")]
        if not parts[2]:  # a catalog of version 2 has a name only
            parts = [one.strip("`") for one in (facts.get("Name") or name).split(".")]
        symlink = self._symlink(parts)
        if facts.get("Type") == "VIEW":
            return Table(symlink) if symlink else None
        named = name_file(location) if location else None
        return Table(Dataset(named.namespace, named.name), symlink) if named else None

    def _symlink(self, parts: list[str]) -> Dataset | None:
        name = ".".join(parts[1:])
        if parts[0] != "spark_catalog":
            return Dataset(f"spark://{parts[0]}", name)
        if not self._warehouse:
            self._warehouse = self._settings([_WAREHOUSE]).get(_WAREHOUSE) or ""
        warehouse = name_file(self._warehouse)
        return Dataset(warehouse.namespace, f"{warehouse.name}/{name}") if self._warehouse else None

    def _sql_relation(self, command: Any) -> Any:
        if "input" in command.DESCRIPTOR.fields_by_name and command.HasField("input"):
            relation = self._messages.Relation()
            relation.CopyFrom(command.input)
            return relation
        return self._messages.Relation(sql=self._messages.SQL(query=command.sql))

    def _rows(self, relation: Any) -> list[tuple[Any, ...]]:
        plan = self._messages.Plan(root=relation)
        observed: tuple[Any, ...] = ({},) if "observations" in signature(self._client.to_table).parameters else ()
        table = self._client.to_table(plan, *observed)[0]
        return list(zip(*(column.to_pylist() for column in table.columns)))

    def _with_room(self, ask: Any) -> str:
        text: str = ask()
        if not is_truncated(text):
            return text
        before = self._settings(list(ROOM))
        self._set(ROOM)
        try:
            return str(ask())
        finally:
            self._set({name: value for name, value in before.items() if value is not None})
            self._unset([name for name, value in before.items() if value is None])

    def _settings(self, names: list[str]) -> dict[str, str | None]:
        operation = self._messages.ConfigRequest.Operation
        request = operation(get_option=self._messages.ConfigRequest.GetOption(keys=names))
        return dict(self._client.config(request).pairs)

    def _set(self, settings: dict[str, str]) -> None:
        if settings:
            pairs = [self._messages.KeyValue(key=key, value=value) for key, value in settings.items()]
            self._configure(set=self._messages.ConfigRequest.Set(pairs=pairs))

    def _unset(self, names: list[str]) -> None:
        if names:
            self._configure(unset=self._messages.ConfigRequest.Unset(keys=names))

    def _configure(self, **operation: Any) -> None:
        self._client.config(self._messages.ConfigRequest.Operation(**operation))
