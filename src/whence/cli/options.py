"""Options that several modules of commands share."""

import time
from pathlib import Path
from typing import Annotated

import typer

from whence.cli.output import Output, Rows
from whence.cli.settings import ARCHIVE, DATA, LOG, SECURITY, STORE, TABLES
from whence.query.instants import instant

MOST = 1_000_000_000
"""The largest limit: databases count no further than 2⁶³."""
Data = Annotated[Path | None, typer.Option("--data", envvar=DATA, help="The data directory")]
Store = Annotated[
    str | None, typer.Option("--store", envvar=STORE, help="The store's URL; SQLite in the data directory if not given")
]
EventLog = Annotated[
    str | None,
    typer.Option(
        "--log",
        envvar=LOG,
        help="The event log: a directory, or kafka://HOST:PORT/TOPIC; in the data directory if not given",
    ),
]
Archive = Annotated[
    str | None,
    typer.Option("--archive", envvar=ARCHIVE, help="The archive's path or URL; in the data directory if not given"),
]
Tables = Annotated[
    str | None,
    typer.Option(
        "--tables", envvar=TABLES, help="The published tables' path or URL; in the data directory if not given"
    ),
]
COLUMNS = (
    'What columns tables have: a JSON file {"db.table": ["column", …]}, dbt\'s target directory, the URL of a database '
    "(postgresql://…), or `whence`: its own store"
)
"""The help of options that say it."""
Security = Annotated[
    str | None,
    typer.Option("--security", envvar=SECURITY, help="The security database's URL; beside the store if not given"),
]
Form = Annotated[Output, typer.Option("--output", "-o", help="The form of the answer")]
RowsForm = Annotated[Rows, typer.Option("--output", "-o", help="The form of the answer; csv: its rows")]
Url = Annotated[str, typer.Option("--url", envvar="OPENLINEAGE_URL", help="The collector's address")]


def parse_instant(text: str) -> int:
    """A time as people write it, in microseconds UTC."""
    try:
        return instant(text, time.time_ns() // 1_000)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
