"""`whence alert`: who is notified of incidents."""

from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import Form
from whence.cli.output.streams import Output, reporting

app = typer.Typer(
    name="alert",
    help="Notifications of incidents: receivers, routes, and trials.",
    no_args_is_help=True,
)

_TEST_EPILOG = (
    "Exit codes: 0 printed, or sent to all; 1 the file cannot be read; 2 wrong usage, or a mistake in the file; "
    "4 a receiver did not accept it."
)
_RECEIVERS_EPILOG = "Exit codes: 0 the file is valid; 5 it has a mistake; 1 it cannot be read; 2 wrong usage."

File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The receivers, such as receivers.yaml")]


@app.command(name="test", epilog=_TEST_EPILOG)
def trial(
    file: File,
    receiver: Annotated[
        list[str] | None, typer.Option("--receiver", help="Only this receiver; without it, those of the routes")
    ] = None,
    severity: Annotated[str, typer.Option("--severity", help="page or ticket")] = "page",
    owner: Annotated[str, typer.Option("--owner", help="Who owns the root of the incident")] = "",
    tier: Annotated[str, typer.Option("--tier", help="The tier of its root")] = "",
    domain: Annotated[str, typer.Option("--domain", help="The domain of its root")] = "",
    namespace: Annotated[str, typer.Option("--namespace", help="The namespace of its root")] = "prod",
    *,
    resolve: Annotated[bool, typer.Option("--resolve", help="The incident is over")] = False,
    retrain: Annotated[
        str, typer.Option("--retrain", metavar="MODEL", help="In place of an incident: this model is to be retrained")
    ] = "",
    send: Annotated[bool, typer.Option("--send", help="Send it; without this it is only printed")] = False,
    output: Form = Output.TEXT,
) -> None:
    """Print whom the routes choose for an incident, and what each receiver would get. With --send, send it."""
    from whence.cli.alerts.retrain_trial import RetrainTrial
    from whence.cli.alerts.trial import Trial, show_trial
    from whence.govern.notifications.notice import Severity

    if severity not in tuple(Severity):
        raise typer.BadParameter("write page or ticket", param_hint="--severity")
    incident = Trial(
        severity=Severity(severity), owner=owner, tier=tier, domain=domain, namespace=namespace, is_over=resolve
    )
    chosen = RetrainTrial(namespace=namespace, model=retrain) if retrain else incident
    with reporting(output):
        raise typer.Exit(show_trial(file, chosen, receiver or [], output, is_sent=send))


@app.command(epilog=_RECEIVERS_EPILOG)
def receivers(file: File, output: Form = Output.TEXT) -> None:
    """Check a file of receivers and routes, and print the receivers. A mistake has its file and line."""
    from whence.cli.alerts.trial import show_receivers

    with reporting(output):
        raise typer.Exit(show_receivers(file, output))
