"""What the leaves of a plan read, by the class of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable

from whence_client.lineage.columns import LEFT_THE_ENGINE, NO_SOURCE, NOT_CAPTURED, Dataset
from whence_client.spark.capture.scala import call, class_name, read_option, read_sequence
from whence_client.spark.capture.tables import (
    name_catalog_table,
    name_jdbc,
    name_kafka,
    name_options,
    name_path,
    name_paths,
    name_v2_table,
)

if TYPE_CHECKING:
    from whence_client.spark.plan.attributes import Leaf


@dataclass(frozen=True)
class LeafName:
    """What a leaf reads, and its dataset's name in a catalog."""

    leaf: Leaf
    symlink: Dataset | None = None


def read_leaf(leaf: Any, session: Any) -> LeafName:
    """What a leaf of a plan, a Java object, reads."""
    reader = _READERS.get(class_name(leaf))
    return reader(leaf, session) if reader else LeafName(NOT_CAPTURED)


def _logical_relation(leaf: Any, session: Any) -> LeafName:
    table = read_option(leaf.catalogTable())
    if table is not None:
        dataset, symlink = name_catalog_table(table, session)
        return LeafName((dataset,), symlink)
    relation = leaf.relation()
    kind = class_name(relation)
    if kind == "JDBCRelation":
        named = name_jdbc(relation.jdbcOptions().url(), relation.jdbcOptions().tableOrQuery())
        return LeafName((named,) if named else NOT_CAPTURED)
    if kind == "KafkaRelation":
        return LeafName(_kafka_relation(relation) or NOT_CAPTURED)
    location = call(relation, "location")  # of HadoopFsRelation, and of Delta's nameless class made of it
    if location is None:
        return LeafName(NOT_CAPTURED)
    return LeafName(name_paths(str(path.toString()) for path in read_sequence(location.rootPaths())))


def _kafka_relation(relation: Any) -> tuple[Dataset, ...]:
    """The topics of a batch read: its class shows them in its text only, and keeps the servers private."""
    topics = str(relation.toString()).partition("[")[2].partition("]")[0]
    field = relation.getClass().getDeclaredField("specifiedKafkaParams")
    field.setAccessible(True)
    servers = read_option(field.get(relation).get("bootstrap.servers"))
    return name_kafka(str(servers or ""), topics)


def _hive_relation(leaf: Any, session: Any) -> LeafName:
    dataset, symlink = name_catalog_table(leaf.tableMeta(), session)
    return LeafName((dataset,), symlink)


def _v2_relation(leaf: Any, session: Any) -> LeafName:
    datasets, symlink = name_v2_table(leaf, session)
    return LeafName(datasets or NOT_CAPTURED, symlink)


def _scan_relation(leaf: Any, session: Any) -> LeafName:
    return _v2_relation(leaf.relation(), session)


def _streaming_relation(leaf: Any, session: Any) -> LeafName:
    source = leaf.dataSource()
    table = read_option(source.catalogTable())
    if table is not None:
        dataset, symlink = name_catalog_table(table, session)
        return LeafName((dataset,), symlink)
    return LeafName(name_options(str(source.className()), source.options()) or NOT_CAPTURED)


def _streaming_relation_v2(leaf: Any, session: Any) -> LeafName:
    options = leaf.extraOptions()
    name = str(leaf.sourceName()).lower()
    if name == "kafka":
        topics = str(options.get("subscribe") or options.get("assign") or "")
        return LeafName(name_kafka(str(options.get("kafka.bootstrap.servers") or ""), topics) or NOT_CAPTURED)
    if name in ("rate", "rate-micro-batch", "ratestreamprovider"):
        return LeafName(NO_SOURCE)
    path = options.get("path")
    if path:
        return LeafName((name_path(str(path)),))
    datasets, symlink = name_v2_table(leaf, session)
    return LeafName(datasets or NOT_CAPTURED, symlink)


def _logical_rdd(leaf: Any, session: Any) -> LeafName:
    """Rows of an RDD. Those that the driver created may come from anywhere: `collect`, pandas, a file."""
    return LeafName(LEFT_THE_ENGINE)


def _local_relation(leaf: Any, session: Any) -> LeafName:
    """Rows in the plan itself: VALUES of a statement have a place in its text; others are of the driver, as pandas."""
    return LeafName(LEFT_THE_ENGINE if read_option(leaf.origin().sqlText()) is None else NO_SOURCE)


_READERS: dict[str, Callable[[Any, Any], LeafName]] = {
    "LogicalRelation": _logical_relation,
    "LogicalRelationWithTable": _logical_relation,
    "HiveTableRelation": _hive_relation,
    "DataSourceV2Relation": _v2_relation,
    "DataSourceV2ScanRelation": _scan_relation,
    "StreamingRelation": _streaming_relation,
    "StreamingRelationV2": _streaming_relation_v2,
    "LocalRelation": _local_relation,
    "LogicalRDD": _logical_rdd,
}
