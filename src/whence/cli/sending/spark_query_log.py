"""`whence capture sql-log --spark`: a table of logged queries, read by Spark on the cores of this machine."""

import os
from collections.abc import Iterable, Iterator

import typer

from whence.capture.sql_log import FORMATS, Flaw, Line, Settings
from whence.derive.spark.session import close_session, open_session
from whence.derive.sql_log.source import read_rows
from whence.derive.sql_log.stages import logged_events


def spark_lines(tables: Iterable[str], form: str, settings: Settings, workers: int | None) -> Iterator[Line]:
    """The events of tables, in any order. Raises ArtifactError, TableError, JavaNotFoundError."""
    read = FORMATS[form].row
    if read is None:
        raise typer.BadParameter(f"--spark reads tables: {', '.join(name for name, one in FORMATS.items() if one.row)}")
    session = open_session(master=f"local[{workers or os.cpu_count() or 1}]")
    try:
        for table in tables:
            events = logged_events(read_rows(session, table), read, table, settings)
            for row in events.toLocalIterator():
                yield row.event.encode() if row.event is not None else Flaw(row.place, row.flaw)
    finally:
        close_session(session)
