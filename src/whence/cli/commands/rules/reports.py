"""`whence report`: what happened in a week, what ends soon, and datasets that say the same."""

from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import Data, EventLog, Form, ServerUrl, Store, Url, parse_instant, parse_past_instant
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import data_directory, log_url, store_url

app = typer.Typer(
    name="report",
    help="Reports: what happened in a week, what ends soon, and datasets that say the same.",
    no_args_is_help=True,
)


@app.callback()
def reports() -> None:
    """Reports: what happened in a week, what ends soon, and datasets that say the same."""


@app.command()
def weekly(
    week: Annotated[
        str, typer.Option("--week", help="A week such as 2026-W47, in UTC; the last one that is over if not given")
    ] = "",
    until: Annotated[
        int | None,
        typer.Option("--until", parser=parse_instant, metavar="TIME", help="In place of a week: the end of seven days"),
    ] = None,
    as_of: Annotated[
        int | None,
        typer.Option("--as-of", parser=parse_past_instant, metavar="TIME", help="What happened later is not known"),
    ] = None,
    receiver: Annotated[
        list[str] | None, typer.Option("--receiver", metavar="NAME", help="Whom of --send; may be repeated")
    ] = None,
    *,
    send: Annotated[
        Path | None,
        typer.Option(
            "--send", exists=True, dir_okay=False, help="Send it to receivers of this file by e-mail or Slack"
        ),
    ] = None,
    html: Annotated[bool, typer.Option("--html", help="Print HTML in place of Markdown; it has no scripts")] = False,
    url: ServerUrl = None,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    output: Form = Output.TEXT,
) -> None:
    """Report a week: coverage, incidents, downtime, budgets, violations, unknown upstreams, gates, unused datasets.

    Prints Markdown. Asks the store and the log, or a server. The same store and week give the same report. With --send
    each receiver gets what it may see; one that may not see everything is served from the store.
    """
    from whence.cli.reports.sending import send_weekly
    from whence.cli.reports.store import open_reports
    from whence.cli.reports.weekly import show_weekly
    from whence.client.questions import connect

    if bool(send) != bool(receiver):
        raise typer.BadParameter("write --send FILE and --receiver NAME together")
    directory = data_directory(data)
    with reporting(output):
        with connect(url) if url else open_reports(store_url(directory, store), log_url(directory, log)) as questions:
            if send:
                code = send_weekly(questions, (week, until, as_of), send, receiver or [], output)
            else:
                code = show_weekly(questions, week, until, as_of, output, html=html)
        raise typer.Exit(code)


@app.command()
def expirations(
    within: Annotated[str, typer.Option("--within", metavar="TIME", help="From now on: 30d, 2w, 12h")] = "30d",
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """List what ends soon: certifications, waivers, exceptions of policies, and API keys.

    Certifications are those that lapse if nothing more is reported until then.
    """
    from whence.cli.reports.expirations import show_expirations
    from whence.client.questions import connect

    with reporting(output), connect(url) as questions:
        raise typer.Exit(show_expirations(questions, within, output))


@app.command()
def twins(
    as_of: Annotated[
        int | None,
        typer.Option("--as-of", parser=parse_past_instant, metavar="TIME", help="The lineage at this time: 2h ago"),
    ] = None,
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """List twins: datasets from the same sources by the same formulas, and who reads one that is not preferred.

    Preferred are those tagged canonical; without one, the certified ones.
    """
    from whence.cli.reports.twins import show_twins
    from whence.client.questions import connect
    from whence.query.answers.instants import iso

    with reporting(output), connect(url) as questions:
        raise typer.Exit(show_twins(questions, None if as_of is None else iso(as_of), output))
