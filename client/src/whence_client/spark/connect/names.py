"""What the leaves of an explained plan read, and what a command writes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from whence_client.lineage.columns import LEFT_THE_ENGINE, NO_SOURCE, NOT_CAPTURED, Dataset
from whence_client.naming import name_file, name_table_of_jdbc, name_topic
from whence_client.naming.files import is_location
from whence_client.spark.capture.records import Target
from whence_client.spark.connect.commands import SQL, find_reads
from whence_client.spark.connect.explanation import leaves_of
from whence_client.spark.plan.trees import expression_id, kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whence_client.spark.connect.commands import Command
    from whence_client.spark.connect.explanation import Explanation
    from whence_client.spark.connect.server import Server
    from whence_client.spark.plan.attributes import Leaf
    from whence_client.spark.plan.trees import Node

_QUOTED = re.compile(r"`[^`]+`(?:\.`[^`]+`)+")
_PATH_OF_SOURCE = re.compile(r"FileSource\[(.+?)\](?:,|$)")
_PATH_OF_COMMAND = re.compile(r"(?:file|s3a?|gs|abfss?|wasbs?|hdfs|dbfs):/.*?(?=, (?:false|true), )")
_TABLE_OF_V2 = re.compile(r"RelationV2\[.*?\] ([\w.`-]+)")
_REASONS = {"LogicalRDD": LEFT_THE_ENGINE, "LocalRelation": LEFT_THE_ENGINE, "Range": NO_SOURCE}
_OVERWRITE = "OVERWRITE"
_PATH_IN_SQL = re.compile(r"\b(?:parquet|orc|csv|json|text|avro|delta)\.`([^`]+)`", re.IGNORECASE)


@dataclass(frozen=True)
class Sources:
    """What a query was made from: the messages that it reads, those of each temporary view, and its text in SQL."""

    reads: Sequence[Any] = ()
    views: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    sql: str = ""


def name_leaves(
    explained: Explanation, sources: Sources, server: Server
) -> tuple[dict[int, Leaf], dict[Dataset, Dataset]]:
    """What each leaf reads, by the id of its first attribute, and the names of tables in their catalog.

    The explanation has no scans of a query that a command runs itself, and of cached ones: `sources` has those.
    """
    leaves: dict[int, Leaf] = {}
    symlinks: dict[Dataset, Dataset] = {}
    for node in leaves_of(explained.plan):
        first = expression_id(node["output"][0][0])
        if first is None or kind(node) == "CTERelationRef":
            continue
        table = _table_of(node)
        found = server.table(table) if table else None
        if found is not None:
            leaves[first] = (found.dataset,)
            if found.symlink:
                symlinks[found.dataset] = found.symlink
        elif kind(node) in _REASONS:
            leaves[first] = _REASONS[kind(node)]
        else:
            leaves[first] = _paths_of(node, explained) or _name_by_source(node, sources, server) or NOT_CAPTURED
    return leaves, symlinks


def _table_of(node: Node) -> str:
    """The quoted name of the table that a leaf reads."""
    text = str(node.get("table", ""))
    if kind(node) == "DataSourceV2Relation":
        text = str(node.get("text", "")).strip().partition(" ")[0]
    parts = text.split(".")
    return ".".join(f"`{one}`" for one in parts) if len(parts) > 1 and all(parts) else ""


def _paths_of(node: Node, explained: Explanation) -> tuple[Dataset, ...]:
    source = _PATH_OF_SOURCE.search(str(node.get("text", "")))
    if source:
        return (_name_path(source[1]),)
    for tree in node["output"]:
        paths = explained.locations.get(expression_id(tree[0]) or 0)
        if paths:
            return tuple(dict.fromkeys(map(_name_path, paths)))
    return ()


def _name_by_source(node: Node, sources: Sources, server: Server) -> tuple[Dataset, ...]:
    """What the leaf of a view, or of the query itself, reads: the only source that has its columns."""
    view = str(node.get("view", ""))
    if sources.sql and not view:
        paths = dict.fromkeys(_PATH_IN_SQL.findall(sources.sql))
        return tuple(map(_name_path, paths)) if len(paths) == 1 else ()
    columns = tuple(str(tree[0]["name"]) for tree in node["output"])
    found = {
        named
        for read in (sources.views.get(view, ()) if view else sources.reads)
        if (named := tuple(_name_read(read))) and server.columns_of(server.relation_of(read)) == columns
    }
    return found.pop() if len(found) == 1 else ()


def _name_read(read: Any) -> Iterator[Dataset]:
    if read.WhichOneof("read_type") != "data_source":
        return
    source = read.data_source
    named = name_options(source.format, dict(source.options))
    yield from named or (_name_path(one) for one in source.paths if is_location(one))


def expand_views(relation: Any, views: Mapping[str, Sequence[Any]]) -> list[Any]:
    """What a relation reads, with what its temporary views read."""
    found: list[Any] = []
    for read in find_reads(relation):
        name = read.named_table.unparsed_identifier if read.WhichOneof("read_type") == "named_table" else ""
        found += views.get(name.strip("`"), ()) if name else [read]
    return found


def name_options(format_: str, options: Mapping[str, str]) -> tuple[Dataset, ...]:
    """The datasets that the options of a reader or writer name: of JDBC and Kafka."""
    lower = {key.lower(): value for key, value in options.items()}
    if format_.lower() == "jdbc":
        table, url = lower.get("dbtable", ""), lower.get("url", "")
        if not url or not table or re.search(r"[\s(]", table.strip()):
            return ()
        named = name_table_of_jdbc(url, table)
        return (_plain(named),) if named else ()
    topics = lower.get("topic") or lower.get("subscribe") or ""
    if format_.lower() == "kafka" and topics:
        servers = lower.get("kafka.bootstrap.servers", "")
        return tuple(_plain(name_topic(servers, one.strip())) for one in topics.split(",") if one.strip())
    return ()


def name_target(command: Command, explained: Explanation, server: Server) -> Target | None:
    """What a command writes; None if it is nothing that lasts, or has no name. Tables must be there already."""
    change = _OVERWRITE if command.overwrites else ""
    if command.kind == SQL:
        return _name_sql_target(explained, server)
    if command.table:
        table = server.table(command.table)
        return Target(table.dataset, symlink=table.symlink, change=change) if table else None
    named = name_options(command.format, command.options)
    if named:
        return Target(named[0], change=change)
    return Target(_name_path(_qualify(command.path, server)), change=change) if command.path else None


def _qualify(path: str, server: Server) -> str:
    """The path as the server's file system names it; as it is written if the server does not say."""
    try:
        return server.qualify(path)
    except Exception:  # nothing is there: the command failed
        return path


def _name_sql_target(explained: Explanation, server: Server) -> Target | None:
    arguments = explained.arguments
    change = _OVERWRITE if "Overwrite" in f"{explained.command} {arguments}" else ""
    quoted = _QUOTED.search(arguments) or _TABLE_OF_V2.search(arguments)
    table = server.table(quoted[quoted.lastindex or 0]) if quoted else None
    if table:
        is_view = explained.command == "CreateViewCommand"
        return Target(table.dataset, symlink=None if is_view else table.symlink, change="" if is_view else change,
                      kind="VIEW" if is_view else "")  # fmt: skip
    path = _PATH_OF_COMMAND.match(arguments)
    return Target(_name_path(path[0]), change=change) if path else None


def _name_path(path: str) -> Dataset:
    return _plain(name_file(path))


def _plain(dataset: Any) -> Dataset:
    return Dataset(dataset.namespace, dataset.name)
