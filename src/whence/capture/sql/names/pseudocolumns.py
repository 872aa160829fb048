"""Pseudo-columns per dialect: names that appear where a column can, and that no table declares.

A dialect reserves these names, or its engine adds them to each table. `date`, `time` and `timestamp` are functions only
with parentheses, except in Teradata. Sources: the reference manuals, chapters on pseudo-columns and on reserved words.
"""

from functools import cache
from typing import Final, Literal

from whence.capture.sql.dialects.dialects import Dialect
from whence.capture.sql.dialects.functions import words
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

Kind = Literal["column", "pseudo", "either"]
"""`either`: a column of that name takes precedence, and the reader cannot tell whether it exists."""

FILES: Final = words(
    "input__file__name block__offset__inside__file metadata$filename metadata$file_row_number _file_name "
    "_metadata $path"
)
"""Pseudo-columns of a table over files: the file of each row, and the position in it."""
_ANSI = (
    "current_date current_time current_timestamp current_user session_user system_user current_role current_catalog "
    "current_schema localtime localtimestamp"
)
_ANSI_WORDS = words(_ANSI)
_KEYWORDS: Final[dict[str, frozenset[str]]] = {
    "postgres": words(f"{_ANSI} user"),
    "redshift": words(f"{_ANSI} user sysdate"),
    "duckdb": words(_ANSI),
    "oracle": words(
        f"{_ANSI} user uid level rownum sysdate systimestamp sessiontimezone dbtimezone "
        "connect_by_isleaf connect_by_iscycle connect_by_root sqlcode sqlerrm"
    ),
    "tsql": words(f"{_ANSI} user"),
    "snowflake": words(_ANSI),
    "bigquery": words("current_date current_time current_timestamp current_datetime session_user"),
    "mysql": words("current_date current_time current_timestamp current_user localtime localtimestamp utc_date "
                   "utc_time utc_timestamp"),
    "teradata": words(f"{_ANSI} user"),
    "trino": words(_ANSI),
    "sqlite": words("current_date current_time current_timestamp"),
    "clickhouse": words("current_date current_timestamp"),
}  # fmt: skip
"""Names that denote no column unless they are quoted. Dialects that are not listed have those of ANSI SQL."""
_SYSTEM: Final[dict[str, frozenset[str]]] = {
    "postgres": words("ctid xmin xmax cmin cmax tableoid"),
    "redshift": words("ctid xmin xmax cmin cmax tableoid"),
    "duckdb": words("rowid"),
    "sqlite": words("rowid _rowid_"),
    "oracle": words("rowid ora_rowscn object_id object_value versions_starttime versions_endtime versions_startscn "
                    "versions_endscn versions_xid versions_operation"),
    "bigquery": words("_partitiontime _partitiondate _table_suffix _file_name _change_type _change_timestamp"),
    "snowflake": words("metadata$filename metadata$file_row_number metadata$file_content_key "
                       "metadata$file_last_modified metadata$start_scan_time"),
    "tsql": words("$action $identity $rowguid $partition"),
    "trino": words("$path $file_size $file_modified_time $partition $bucket"),
    "hive": words("input__file__name block__offset__inside__file row__id grouping__id"),
    "impala": words("input__file__name file__position"),
    "spark": words("input__file__name block__offset__inside__file _metadata grouping__id"),
    "databricks": words("input__file__name block__offset__inside__file _metadata grouping__id"),
    "clickhouse": words("_part _part_index _part_uuid _part_offset _partition_id _partition_value _table _database "
                        "_path _file _size _time _etag _sample_factor _block_number _block_offset _shard_num"),
    "generic": words("_partitiontime _partitiondate _table_suffix metadata$filename metadata$file_row_number"),
}  # fmt: skip
"""Names of the engine's own columns: quoted or not, qualified or not."""
_EITHER: Final[dict[str, frozenset[str]]] = {
    "spark": words("user"),
    "databricks": words("user"),
    "duckdb": words("user"),
    "generic": words("user rownum rowid sysdate"),
    "sqlite": words("oid"),
    "teradata": words("date time database session account role profile"),
}
"""Names that the manual allows for columns of tables too."""
_SEQUENCES: Final = {"oracle": ("nextval", "currval"), "snowflake": ("nextval",), "generic": ("nextval", "currval")}


@cache
def special_names(dialect: Dialect) -> frozenset[str]:
    """Names that may denote something other than a column."""
    name_lists = (_SYSTEM, _EITHER)
    engine_names = frozenset().union(
        *(names_by_dialect.get(dialect.name, frozenset()) for names_by_dialect in name_lists)
    )
    sequences = frozenset(_SEQUENCES.get(dialect.name, ()))
    return engine_names | sequences | _KEYWORDS.get(dialect.name, _ANSI_WORDS) | {"default", "level"}


def classify_name(dialect: Dialect, parts: list[tree.Node]) -> Kind:
    """Classify a path of names that no known column has. `parts` are identifiers, the outermost first."""
    text, quoted = tree.text_of(parts[-1])
    name = text.lower()
    if len(parts) > 1 and name in _SEQUENCES.get(dialect.name, ()):
        return "pseudo"
    if name in _SYSTEM.get(dialect.name, ()):
        return "either" if name in _EITHER.get(dialect.name, ()) else "pseudo"
    if quoted or len(parts) > 1:
        return "column"
    if name in _EITHER.get(dialect.name, ()):
        return "either"
    if name == "level" and _is_hierarchical(parts[-1]):
        return "pseudo"
    keyword = name in _KEYWORDS.get(dialect.name, _ANSI_WORDS) or (name == "default" and _is_value(parts[-1]))
    return "pseudo" if keyword else "column"


def _is_hierarchical(node: tree.Node) -> bool:
    """Whether the query around a name has CONNECT BY. There LEVEL is a pseudo-column in every dialect."""
    around = node.find_ancestor(c.Select)
    return around is not None and tree.arg(around, tree.CONNECT) is not None


def _is_value(node: tree.Node) -> bool:
    """Whether a name is a complete value of VALUES or SET, where DEFAULT is a keyword."""
    column = node.parent
    around = column.parent if isinstance(column, c.Column) else None
    if isinstance(around, c.EQ):
        return isinstance(around.parent, c.Update | c.OnConflict)
    return isinstance(around, c.Tuple | c.Values)
