"""`whence log`: what is wrong with the event log, and mending it."""

from typing import Annotated

import typer

from whence.cli.commands.options import Archive, Data, EventLog, Form, Store
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import archive_uri, data_directory, log_url, store_url

log_commands = typer.Typer(name="log", help="The event log: find damage, and repair it.", no_args_is_help=True)


@log_commands.command()
def repair(
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Account what the archive does not have as lost, for good")
    ] = False,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    archive: Archive = None,
    output: Form = Output.TEXT,
) -> None:
    """Look for damage in all of the log, and restore it from the archive; exit code 1 if some of it cannot be."""
    from whence.cli.administration.log_repair import Repairing, show_repaired

    place = data_directory(data)
    what = Repairing(
        log=log_url(place, log),
        archive=archive_uri(place, archive),
        store=store_url(place, store),
        accept_loss=accept_loss,
    )
    with reporting(output):
        raise typer.Exit(show_repaired(what, output))
