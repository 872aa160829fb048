"""Sources of logged queries: a Delta table, files of Parquet, JSON lines or CSV, or a table in Spark's catalog."""

from deltalake import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from whence.derive.delta.table import find_table
from whence.errors import ArtifactError, TableError

BROKEN = "_corrupt_record"
"""The column that holds lines that Spark cannot parse."""

_DIFFERENT = ("deletionVectors", "columnMapping")
"""Delta features with which the table's rows differ from the rows of its files."""


def read_rows(session: SparkSession, where: str) -> DataFrame:
    """The rows of a path, a URL, or a table called `schema.table`. Raises ArtifactError, TableError."""
    try:
        match _ending(where):
            case "json" | "jsonl" | "ndjson":
                return session.read.json(where)
            case "csv":
                return _csv(session, where)
            case "parquet":
                return session.read.parquet(where)
        return _table(session, where)
    except AnalysisException as error:
        reason = error.getMessage() or type(error).__name__
        raise ArtifactError(where, f"Spark cannot read it: {' '.join(reason.split())}") from error


def _csv(session: SparkSession, where: str) -> DataFrame:
    """Read all columns as text. Spark only detects rows that do not fit the header if its error column is requested."""
    read = session.read.options(header=True, multiLine=True, escape='"')
    return read.schema(read.csv(where).schema.add(BROKEN, "string")).csv(where)


def _table(session: SparkSession, where: str) -> DataFrame:
    """Read a Delta table, otherwise a directory of Parquet, otherwise a table of the catalog."""
    table = find_table(where)
    if table is None:
        return session.read.parquet(where) if "/" in where else session.table(where)
    files = _files(where, table)
    return session.read.parquet(*files) if files else session.createDataFrame([], "place string")


def _ending(where: str) -> str:
    return where.removesuffix(".gz").rpartition(".")[2].lower()


def _files(where: str, table: DeltaTable) -> list[str]:
    features = {*(table.protocol().reader_features or ()), *_mapped(table)} & {*_DIFFERENT}
    if features:
        reason = f"it uses {', '.join(sorted(features))}: read it as schema.table where Spark has Delta's own connector"
        raise TableError(where, reason)
    return list(table.file_uris())


def _mapped(table: DeltaTable) -> list[str]:
    mode = table.metadata().configuration.get("delta.columnMapping.mode") or "none"
    return [] if mode == "none" else ["columnMapping"]
