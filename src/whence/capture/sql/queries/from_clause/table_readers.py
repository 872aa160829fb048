"""Functions in FROM that read a file, or a table named by an argument: each is a dataset of its own."""

from functools import reduce
from typing import Final

from whence.capture.sql.dialects.functions import words
from whence.capture.sql.lineage import Table
from whence.capture.sql.names.names import parse_name_parts
from whence.capture.sql.provenance.confidence import SINGLE
from whence.capture.sql.provenance.flows import IDENTITY, Flow
from whence.capture.sql.provenance.relations import STAR, Output, Relation, base_relation
from whence.capture.sql.provenance.unions import merge_by_name, merge_rows_and_reads
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

_PATHS: Final = words(
    "read_files read_csv read_csv_auto read_json read_json_auto read_json_objects read_json_objects_auto read_ndjson "
    "read_ndjson_auto read_ndjson_objects read_parquet parquet_scan read_text read_blob delta_scan iceberg_scan "
    "read_xlsx st_read sniff_csv read_avro glob s3 gcs url file hdfs azureblobstorage deltalake iceberg icebergs3 "
    "iceberglocal icebergazure deltalakes3 hudi oss cosn cloud_files"
)
"""The first argument is a path, or a list of paths."""
_CLUSTER_PATHS: Final = words(
    "s3cluster urlcluster filecluster hdfscluster azureblobstoragecluster deltalakecluster icebergs3cluster hudicluster"
)
"""The second argument is a path; the first one is the name of a cluster."""
_NAMES: Final = words("table_changes hudi_table_changes query_table")
"""The first argument is the name of a table, as text."""
_NAME_POSITIONS: Final = {
    "remote": (1, 3),
    "remotesecure": (1, 3),
    "cluster": (1, 3),
    "clusterallreplicas": (1, 3),
    "mysql": (1, 3),
    "postgresql": (1, 3),
    "mongodb": (1, 3),
    "sqlite": (1, 2),
    "odbc": (1, 3),
    "jdbc": (1, 3),
    "postgres_scan": (1, 3),
    "mysql_scan": (1, 3),
    "sqlite_scan": (1, 2),
    "dictionary": (0, 1),
}
"""The positions of the parts of a table's name among the arguments."""


def read_source(reading: Reading, node: tree.Node) -> Relation | None:
    """The files or the table that a function reads. Returns None if it has no such argument."""
    name, arguments = _call(node)
    if name in _PATHS | _CLUSTER_PATHS:
        return _files(reading, arguments[name in _CLUSTER_PATHS :])
    if name in _NAMES and arguments and isinstance(arguments[0], c.Literal):
        return _table_relation(reading, Table(parse_name_parts(reading.dialect, tree.text_of(arguments[0])[0])))
    if name in _NAME_POSITIONS:
        return _located_table(reading, arguments, *_NAME_POSITIONS[name])
    return None


def _call(node: tree.Node) -> tuple[str, list[tree.Node]]:
    """The name of a function in lower case, and its arguments."""
    if isinstance(node, c.Anonymous):
        return str(tree.this(node)).lower(), tree.items(node)
    if not isinstance(node, c.Func):
        return "", []
    first = [tree.this(node)] if isinstance(tree.this(node), tree.Node) else []
    return str(node.sql_names()[0]).lower(), first + tree.items(node)


def _files(reading: Reading, arguments: list[tree.Node]) -> Relation | None:
    first, options = arguments[:1], arguments[1:]
    path_nodes = tree.items(first[0]) if first and isinstance(first[0], c.Array | c.Tuple) else first
    paths = [Table((tree.text_of(item)[0],)) for item in path_nodes if isinstance(item, c.Literal)]
    if len(paths) == 1:
        return _table_relation(reading, paths[0])
    if any(map(_is_union_by_name, options)):
        relations = [_table_relation(reading, path) for path in paths]
        if relations and not any(relation.stars for relation in relations):
            return reduce(_union_by_name, relations)
    flow: Flow = {reading.home(path).leaf(STAR, *SINGLE): IDENTITY for path in paths}
    return Relation([Output(STAR, flow)], reads=frozenset(paths)) if paths else None


def _union_by_name(left: Relation, right: Relation) -> Relation:
    return Relation(merge_by_name(left.outputs, right.outputs), *merge_rows_and_reads(left, right))


def _is_union_by_name(option: tree.Node) -> bool:
    """Whether an option is DuckDB's `union_by_name`, and not switched off."""
    if not isinstance(option, c.EQ | c.PropertyEQ | c.Kwarg):
        return False
    name, value = tree.text_of(tree.this(option))[0], tree.arg(option, "expression")
    return name.lower() == "union_by_name" and str(tree.this(value)).lower() not in ("false", "0")


def _located_table(reading: Reading, arguments: list[tree.Node], first: int, last: int) -> Relation | None:
    """`f('host', 'db', 'table')` or `f('host', db.table)`."""
    parts = _parts(
        reading, [argument for argument in arguments[first:last] if not isinstance(argument, c.Kwarg | c.Func)]
    )
    return _table_relation(reading, Table(parts)) if parts else None


def _parts(reading: Reading, nodes: list[tree.Node]) -> tuple[str, ...]:
    """The parts of a name from literals, columns and tables. A literal with dots has several parts."""
    parts: list[str] = []
    for node in nodes:
        if isinstance(node, c.Table):
            parts += [tree.text_of(part)[0] for part in tree.table_parts(node)]
        elif isinstance(node, c.Column):
            parts += [tree.text_of(part)[0] for part in tree.column_parts(node)]
        elif isinstance(node, c.Literal) and not (parts and len(parts) > 1):
            parts += parse_name_parts(reading.dialect, tree.text_of(node)[0])
    return tuple(parts)


def _table_relation(reading: Reading, table: Table) -> Relation:
    table = reading.session.resolve(table)
    return base_relation(reading.home(table), *reading.session.columns(table))
