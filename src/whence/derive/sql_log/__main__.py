"""`python -m whence.derive.sql_log`: a table of logged queries into files of events, on Spark (docs/how-to/sql-log.md).

Executors read, and write the files: JSON lines, gzip, `what=events` for `whence ingest` and `what=flaws` for people.
Prints one line of JSON: how many events and flaws there are.
"""

import argparse
import json
import logging
import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as f

from whence.capture.schemas import read_schema_file
from whence.capture.sql import Catalog
from whence.capture.sql_log import FORMATS, Settings
from whence.capture.sql_log.formats import RowReader
from whence.derive.spark.session import open_session
from whence.derive.sql_log.source import read_rows
from whence.derive.sql_log.stages import logged_events
from whence.diagnostics import log_to_stderr
from whence.errors import WhenceError

log = logging.getLogger(__name__)


def parser() -> argparse.ArgumentParser:
    """The arguments of this process."""
    parser = argparse.ArgumentParser(prog="whence.derive.sql_log", description=__doc__)
    parser.add_argument(
        "table", help="a Delta table, files of Parquet, JSON lines or CSV (path or URL), or schema.table"
    )
    parser.add_argument("--format", required=True, choices=[name for name, one in FORMATS.items() if one.row])
    parser.add_argument("--output", required=True, help="a directory (path or URL) that is not there yet")
    parser.add_argument("--namespace", required=True, help="the database, such as postgres://host:5432")
    parser.add_argument("--dialect", help="of the SQL; that of the format if not given")
    parser.add_argument("--job-namespace", help="the namespace of the jobs; --namespace if not given")
    parser.add_argument("--database", default="", help="the database, where the log does not say it")
    parser.add_argument("--schema", default="", help="the schema of bare table names")
    parser.add_argument("--columns", type=Path, help="what columns tables have: a JSON file, or dbt's target directory")
    parser.add_argument("--master", help="the Spark master; what spark-submit says, else all cores of this machine")
    return parser


def main() -> int:
    """Read, write and end: 1 if anything cannot be read or written."""
    given = parser().parse_args()
    log_to_stderr(logging.WARNING, wrap=True)
    try:
        session = open_session(master=given.master or "local[*]")
        rows = read_rows(session, given.table)
        events = logged_events(rows, _reader(given.format), given.table, _settings(given))
        counted = write_lines(events, given.output)
    except WhenceError as error:
        log.error("%s", error)
        return 1
    print(json.dumps(counted), flush=True)  # noqa: T201  # the answer
    return 0


def write_lines(events: DataFrame, output: str) -> dict[str, int]:
    """Write events and flaws, and count them. One pass: `EVENT_COLUMNS` in, a directory of lines out."""
    is_event = f.col("event").isNotNull()
    counts = Observation("captured")
    counted = events.observe(counts, f.count("event").alias("events"), f.count("flaw").alias("flaws"))
    lines = counted.select(
        f.when(is_event, "events").otherwise("flaws").alias("what"),
        f.coalesce("event", f.to_json(f.struct("place", "flaw"))).alias("value"),
    )
    lines.write.partitionBy("what").text(output, compression="gzip")
    return {name: int(count) for name, count in counts.get.items()}


def _reader(form: str) -> RowReader:
    read = FORMATS[form].row
    assert read is not None
    return read


def _settings(given: argparse.Namespace) -> Settings:
    dialect = given.dialect or FORMATS[given.format].dialect
    return Settings(
        dialect=dialect,
        namespace=given.namespace,
        jobs=given.job_namespace or given.namespace,
        time=time.time_ns() // 1_000,
        database=given.database,
        schema=given.schema,
        catalog=read_schema_file(given.columns, dialect) if given.columns else Catalog.from_columns({}, dialect),
    )


if __name__ == "__main__":
    sys.exit(main())
