"""Options that several modules of commands share."""

from pathlib import Path
from typing import Annotated

import typer

from whence.cli.output import Output
from whence.cli.settings import ARCHIVE, DATA, LOG, STORE, TABLES

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
Form = Annotated[Output, typer.Option("--output", "-o", help="The form of the answer")]
Url = Annotated[str, typer.Option("--url", envvar="OPENLINEAGE_URL", help="The collector's address")]
