"""`whence log`: damage of the event log, and its repair."""

from typing import Annotated

import typer

from whence.cli.commands.options import Archive, Data, EventLog, Form, Store
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import archive_uri, data_directory, log_url, store_url

log_commands = typer.Typer(name="log", help="The event log: find damage, and repair it.", no_args_is_help=True)


@log_commands.command()
def repair(
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Account the records that the archive lacks as lost, permanently")
    ] = False,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    archive: Archive = None,
    output: Form = Output.TEXT,
) -> None:
    """Check the whole log for damage, and restore it from the archive. Exit code 1 if some damage remains."""
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
