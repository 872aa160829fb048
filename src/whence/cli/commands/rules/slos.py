"""`whence slo`: service level objectives next to the code."""

from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import Data, EventLog, Form, Store, Url, parse_age, parse_past_instant
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import data_directory, log_url, store_url

app = typer.Typer(
    name="slo",
    help="Service level objectives of datasets: freshness, deliveries, quality, volume.",
    no_args_is_help=True,
)

_CHECK_EPILOG = "Exit codes: 0 the file is valid; 5 it has a mistake; 1 it cannot be read; 2 wrong usage."
_EVALUATE_EPILOG = (
    "Exit codes: 0 all hold, or still learn from a short history; 5 one is violated; 7 none is violated, and one is "
    "not evaluated; 2 wrong usage, or a mistake in the file; 4 the store is unavailable."
)
_BACKTEST_EPILOG = (
    "Exit codes: 0 replayed, whatever was found; 2 wrong usage, or a mistake in the file; 4 the store is unavailable."
)

_SUGGEST_EPILOG = (
    "Exit codes: 0 printed, even if there is nothing to suggest; 1 no such dataset; 2 wrong usage; 4 the store is "
    "unavailable."
)
_EXPORT_EPILOG = "Exit codes: 0 written; 1 a file cannot be read or written; 2 wrong usage, or a mistake in the file."
_STATUS_EPILOG = (
    "Exit codes: 0 all hold, or still learn, or are suppressed; 5 one is violated; 7 none is violated, and one is not "
    "evaluated; 1, 2 and 4 as everywhere."
)

AsOf = Annotated[
    int | None,
    typer.Option("--as-of", parser=parse_past_instant, metavar="TIME", help="What held at this time: 2h ago"),
]
Dataset = Annotated[str, typer.Option("--dataset", help="Only the objectives of this dataset: its node id")]
File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The objectives, such as slos.yaml")]


@app.command(epilog=_CHECK_EPILOG)
def check(file: File, output: Form = Output.TEXT) -> None:
    """Check a file of objectives, and print them with the factors of their alerts. A mistake has its file and line."""
    from whence.cli.slos.files import show_checked

    with reporting(output):
        raise typer.Exit(show_checked(file, output))


@app.command(epilog=_EVALUATE_EPILOG)
def evaluate(
    file: File,
    as_of: AsOf = None,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    output: Form = Output.TEXT,
) -> None:
    """Evaluate the objectives of a file against the store: what holds, since when, and what is left of the budgets."""
    from whence.cli.slos.evaluation import show_evaluated

    directory = data_directory(data)
    with reporting(output):
        raise typer.Exit(show_evaluated(file, store_url(directory, store), log_url(directory, log), as_of, output))


@app.command(epilog=_BACKTEST_EPILOG)
def backtest(
    file: File,
    since: Annotated[
        int,
        typer.Option("--since", parser=parse_age, metavar="AGE", help="How far back, such as 90d", show_default="90d"),
    ] = "90d",  # type: ignore[assignment]
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    output: Form = Output.TEXT,
) -> None:
    """Replay the past of the store: which violations there were, and which pages and tickets would have been sent."""
    from whence.cli.slos.evaluation import show_backtest

    directory = data_directory(data)
    with reporting(output):
        raise typer.Exit(show_backtest(file, store_url(directory, store), log_url(directory, log), since, output))


@app.command(epilog=_SUGGEST_EPILOG)
def suggest(
    dataset: Annotated[list[str] | None, typer.Argument(help="Datasets; without any, those seen last")] = None,
    service: Annotated[str, typer.Option("--service", help="The service of the file")] = "suggested",
    as_of: AsOf = None,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
) -> None:
    """Suggest objectives that the last 30 days would have kept, and print them as a file for `whence slo apply`."""
    from whence.cli.slos.suggested import show_suggested

    directory = data_directory(data)
    with reporting(Output.TEXT):
        raise typer.Exit(
            show_suggested(dataset or [], store_url(directory, store), log_url(directory, log), service, as_of)
        )


Target = Path | None


@app.command(epilog=_EXPORT_EPILOG)
def export(
    file: File,
    prometheus: Annotated[
        Target, typer.Option("--prometheus", metavar="OUT", help="Alerting rules for Prometheus; `-` prints them")
    ] = None,
    grafana: Annotated[
        Target, typer.Option("--grafana", metavar="OUT", help="A dashboard for Grafana, as JSON; `-` prints it")
    ] = None,
    openslo: Annotated[
        Target, typer.Option("--openslo", metavar="OUT", help="Documents of OpenSLO v1; `-` prints them")
    ] = None,
) -> None:
    """Write the objectives of a file for other systems. All of them read `/metrics` of the server on which the
    objectives are declared. What OpenSLO has no words for is printed.
    """
    from whence.cli.slos.exported import export_slos

    every = {"prometheus": prometheus, "grafana": grafana, "openslo": openslo}
    targets = {form: target for form, target in every.items() if target}
    if not targets:
        raise typer.BadParameter("write --prometheus OUT, --grafana OUT or --openslo OUT")
    with reporting(Output.TEXT):
        raise typer.Exit(export_slos(file, targets))


@app.command()
def apply(
    file: File,
    prune: Annotated[
        bool, typer.Option("--prune", help="End the objectives of the file's service that are not in it")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would change")] = False,
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Declare the objectives of a file, as an event each. The server evaluates them from then on. Needs a steward."""
    from whence.cli.slos.applied import show_applied

    with reporting(output):
        raise typer.Exit(show_applied(file, url, output, prune=prune, dry_run=dry_run))


@app.command(name="list")
def list_(dataset: Dataset = "", as_of: AsOf = None, *, url: Url, output: Form = Output.TEXT) -> None:
    """List the declared objectives: state, and what is left of the budget."""
    from whence.cli.slos.status import show_slos
    from whence.client.questions import connect

    with reporting(output), connect(url) as questions:
        raise typer.Exit(show_slos(questions, dataset, as_of, output))


@app.command(epilog=_STATUS_EPILOG)
def status(dataset: Dataset = "", as_of: AsOf = None, *, url: Url, output: Form = Output.TEXT) -> None:
    """Evaluate the declared objectives on the server: what holds, since when, budgets, burn rates and open alerts."""
    from whence.cli.slos.status import show_status
    from whence.client.questions import connect

    with reporting(output), connect(url) as questions:
        raise typer.Exit(show_status(questions, dataset, as_of, output))


@app.command()
def show(
    slo: Annotated[str, typer.Argument(help="Its name, SERVICE/NAME, or its id")],
    as_of: AsOf = None,
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Show a declared objective with the history of its state."""
    from whence.cli.slos.status import show_slo
    from whence.client.questions import connect

    with reporting(output), connect(url) as questions:
        raise typer.Exit(show_slo(questions, slo, as_of, output))
