"""`whence incident`: what is wrong now, and what people do about it."""

from typing import Annotated

import typer

from whence.cli.commands.options import Data, Form, ServerUrl, Store, Url, parse_age, parse_past_instant
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import data_directory, log_url, security_db, store_url

app = typer.Typer(
    name="incident",
    help="Incidents: what is wrong, one for each root, and what people do about it.",
    no_args_is_help=True,
)

AsOf = Annotated[
    int | None,
    typer.Option("--as-of", parser=parse_past_instant, metavar="TIME", help="As it was at this time: 2h ago"),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of the incident")]
Words = Annotated[str, typer.Option("--text", "-m", help="Why, in your words")]


@app.command(name="list")
def list_(
    dataset: Annotated[str, typer.Option("--dataset", help="Only those of this dataset: its node id")] = "",
    every: Annotated[bool, typer.Option("--all", help="Resolved ones of the last 30 days, too")] = False,
    as_of: AsOf = None,
    *,
    url: ServerUrl = None,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """List the incidents that are not resolved, those that began last first. Asks the store, or a server."""
    from whence.cli.incidents.shown import show_incidents
    from whence.cli.incidents.store import open_incidents
    from whence.client.questions import connect

    states = ("open", "acknowledged", "mitigated", "resolved") if every else ()
    with reporting(output):
        with connect(url) if url else open_incidents(store_url(data_directory(data), store)) as questions:
            code = show_incidents(questions, states, dataset, as_of, output)
        raise typer.Exit(code)


@app.command()
def show(
    incident: Id,
    as_of: AsOf = None,
    *,
    url: ServerUrl = None,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Show an incident: its root, what it explains, since when, and what people did. Asks the store, or a server."""
    from whence.cli.incidents.shown import show_incident
    from whence.cli.incidents.store import open_incidents
    from whence.client.questions import connect

    directory = data_directory(data)
    address = store_url(directory, store)
    with reporting(output):
        log, security = log_url(directory), "" if url else security_db(address)
        with connect(url) if url else open_incidents(address, log, security) as questions:
            code = show_incident(questions, incident, as_of, output)
        raise typer.Exit(code)


@app.command()
def acknowledge(incident: Id, text: Words = "", *, url: Url, output: Form = Output.TEXT) -> None:
    """Take an incident on: nobody else is paged for it. Needs a steward of the root's namespace, as all acts do."""
    from whence.cli.incidents.acts import act

    with reporting(output):
        raise typer.Exit(act(incident, "acknowledge", url, output, text=text))


@app.command()
def assign(
    incident: Id,
    person: Annotated[str, typer.Argument(help="To whom")],
    text: Words = "",
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Assign an incident to a person or team."""
    from whence.cli.incidents.acts import act

    with reporting(output):
        raise typer.Exit(act(incident, "assign", url, output, text=text, assignee=person))


@app.command()
def mitigate(incident: Id, text: Words = "", *, url: Url, output: Form = Output.TEXT) -> None:
    """Say that an incident does no more harm, although its root is not mended yet."""
    from whence.cli.incidents.acts import act

    with reporting(output):
        raise typer.Exit(act(incident, "mitigate", url, output, text=text))


@app.command()
def resolve(incident: Id, text: Words = "", *, url: Url, output: Form = Output.TEXT) -> None:
    """Resolve an incident before all its findings have ended. The next finding that begins opens it again."""
    from whence.cli.incidents.acts import act

    with reporting(output):
        raise typer.Exit(act(incident, "resolve", url, output, text=text))


@app.command()
def reopen(incident: Id, text: Words = "", *, url: Url, output: Form = Output.TEXT) -> None:
    """Open an incident again."""
    from whence.cli.incidents.acts import act

    with reporting(output):
        raise typer.Exit(act(incident, "reopen", url, output, text=text))


@app.command()
def silence(
    incident: Id,
    period: Annotated[int, typer.Option("--for", parser=parse_age, metavar="AGE", help="How long, such as 4h")],
    text: Words = "",
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Send no notification of an incident for a while."""
    from whence.cli.incidents.acts import act

    with reporting(output):
        raise typer.Exit(act(incident, "silence", url, output, text=text, seconds=period // 1_000_000))


@app.command()
def confirm(
    incident: Id,
    cause: Annotated[str, typer.Argument(help="The dataset, column or job that is the cause: its node id")],
    text: Words = "",
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Confirm the cause of an incident. Reports count how often and how soon it is found."""
    from whence.cli.incidents.acts import act

    with reporting(output):
        raise typer.Exit(act(incident, "confirm", url, output, text=text, cause=cause))


@app.command()
def comment(
    incident: Id, text: Annotated[str, typer.Argument(help="Your words")], *, url: Url, output: Form = Output.TEXT
) -> None:
    """Write a comment on an incident."""
    from whence.cli.incidents.acts import act

    with reporting(output):
        raise typer.Exit(act(incident, "comment", url, output, text=text))
