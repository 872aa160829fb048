"""Commands that send events to a collector: those of files, and a probe."""

from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import Form, Url
from whence.cli.output.streams import Output, reporting


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    app.command()(ingest)
    app.command()(doctor)


def ingest(
    files: Annotated[list[Path], typer.Argument(exists=True, help="Events: JSON, JSON lines, gzip; or directories")],
    *,
    url: Url,
    strict: Annotated[bool, typer.Option("--strict", help="Reject events that violate the specification")] = False,
    output: Form = Output.TEXT,
) -> None:
    """Send events from files to a collector."""
    from whence.cli.process.serve import ingest as send
    from whence.cli.sending.reports import show_ingested

    with reporting(output):
        raise typer.Exit(show_ingested(send(files, url, strict=strict), output))


def doctor(
    *,
    url: Url,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0, help="Seconds until an event that is not in the graph has failed")
    ] = 30,
    output: Form = Output.TEXT,
) -> None:
    """Send a probe event, and print the result and duration of each station."""
    from whence.cli.process.serve import doctor as probe
    from whence.cli.sending.reports import show_diagnosis

    with reporting(output):
        raise typer.Exit(show_diagnosis(probe(url, timeout=timeout), output))
