"""`whence lineage`: the lineage that somebody accepted for a dataset, and what differs from it."""

from typing import Annotated

import typer

from whence.cli.commands.options import Data, Form, ServerUrl, Store, Url, parse_past_instant
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import data_directory, store_url

app = typer.Typer(
    name="lineage",
    help="Accepted lineage of datasets that must not change unnoticed, and what differs from it.",
    no_args_is_help=True,
)

_EPILOG = (
    "Exit codes: 0 the lineage is as accepted; 5 it differs; 7 it has no baseline, or that cannot be known; "
    "1, 2 and 4 as everywhere."
)
AsOf = Annotated[
    int | None,
    typer.Option("--as-of", parser=parse_past_instant, metavar="TIME", help="As it was at this time: 2h ago"),
]
Dataset = Annotated[str, typer.Argument(help="The dataset: a node id, or the end of its name")]
Reason = Annotated[str, typer.Option("--reason", "-m", help="Why, in your words")]


@app.command()
def accept(dataset: Dataset, reason: Reason, *, url: Url, output: Form = Output.TEXT) -> None:
    """Accept all lineage upstream of a dataset as it is now. Needs a steward of its namespace."""
    from whence.cli.certification.lineage_baselines import accept as accept_lineage

    with reporting(output):
        raise typer.Exit(accept_lineage(dataset, reason, url, output))


@app.command()
def end(dataset: Dataset, reason: Reason, *, url: Url, output: Form = Output.TEXT) -> None:
    """End the baseline of a dataset: nobody wants to know any more when its lineage changes."""
    from whence.cli.certification.lineage_baselines import accept as accept_lineage

    with reporting(output):
        raise typer.Exit(accept_lineage(dataset, reason, url, output, end=True))


@app.command(epilog=_EPILOG)
def baseline(
    dataset: Dataset,
    as_of: AsOf = None,
    *,
    url: ServerUrl = None,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Show the accepted lineage of a dataset, and each edge that was added, removed or changed since."""
    from whence.cli.certification.lineage_baselines import open_baselines, show_baseline
    from whence.client.questions import connect

    with reporting(output):
        with connect(url) if url else open_baselines(store_url(data_directory(data), store)) as questions:
            code = show_baseline(questions, dataset, as_of, output)
        raise typer.Exit(code)


@app.command(name="list")
def list_(
    as_of: AsOf = None,
    *,
    url: ServerUrl = None,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """List the datasets whose lineage somebody accepted, and the certified datasets without a baseline."""
    from whence.cli.certification.lineage_baselines import open_baselines, show_baselines
    from whence.client.questions import connect

    with reporting(output):
        with connect(url) if url else open_baselines(store_url(data_directory(data), store)) as questions:
            code = show_baselines(questions, as_of, output)
        raise typer.Exit(code)
