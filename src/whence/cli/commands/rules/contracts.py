"""`whence contract`: data contracts next to the code."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import Data, Form, Profile, ServerUrl, Store, Url, choice_option, parse_past_instant
from whence.cli.commands.source import open_questions
from whence.cli.gate.forms import Report
from whence.cli.output.streams import Output, reporting

app = typer.Typer(
    name="contract", help="Data contracts of the Open Data Contract Standard, and of dbt.", no_args_is_help=True
)

_CHECK_EPILOG = (
    "Exit codes: 0 all are valid; 5 one has a mistake; 1 a file cannot be read, or a directory has no contract; "
    "2 wrong usage."
)

_DIFF_EPILOG = (
    "Exit codes: 0 pass or note; 5 blocked: something is missing; 6 the owners' approval is needed; "
    "1, 2 and 4 as everywhere: a mistake, wrong usage or a mistake in a contract, nobody to ask."
)

_APPLY_EPILOG = (
    "Exit codes: 0 applied, or unchanged; 5 blocked and 6 the owners' approval is needed: nothing was sent; "
    "1, 2 and 4 as everywhere."
)

Days = Annotated[int, typer.Option("--readers-within-days", min=1, help="Who has not read for longer is no reader")]
AsOf = Annotated[
    int | None,
    typer.Option("--as-of", parser=parse_past_instant, metavar="TIME", help="The contract at this time: 2h ago"),
]
Namespace = Annotated[
    str, typer.Option("--namespace", help="Of tables without a server: their namespace, such as postgres://host:5432")
]
Environment = Annotated[
    str, typer.Option("--environment", help="Only the servers of this environment, such as prod; all if not given")
]
Contracts = Annotated[
    list[Path],
    typer.Argument(
        exists=True, help="Contracts, files of dbt, or directories with files *.odcs.yaml or of dbt; may be repeated"
    ),
]


@app.command(epilog=_CHECK_EPILOG)
def check(
    files: Contracts,
    output: Annotated[Report, choice_option(Report, "--output", "-o", help="The form of the report")] = Report.TEXT,
) -> None:
    """Check contracts against the schema of their standard: every mistake with its file and line."""
    from whence.cli.gate.contracts.files import show_checked

    with reporting(Output.JSON if output is Report.JSON else Output.TEXT):
        raise typer.Exit(show_checked(files, output))


@app.command(epilog=_DIFF_EPILOG)
def diff(
    context: typer.Context,
    old: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="The older version of the contract, or of a file of dbt")
    ],
    new: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The newer version")],
    readers_within_days: Days = 90,
    no_readers: Annotated[
        bool, typer.Option("--offline", help="Ask nobody for readers: everything may be read by somebody")
    ] = False,
    namespace: Namespace = "",
    environment: Environment = "",
    url: ServerUrl = None,
    profile: Profile = None,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Compare two versions of a contract: the class of each change by its real readers, and what the version needs."""
    with reporting(output), ExitStack() as opened:
        from whence.cli.gate.contracts.review import Naming, show_review

        questions = None if no_readers else opened.enter_context(open_questions(context))
        naming = Naming(namespace=namespace, environment=environment)
        raise typer.Exit(show_review(old, new, naming, questions, readers_within_days, output))


@app.command(epilog=_APPLY_EPILOG)
def apply(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The contract")],
    approved_by: Annotated[
        list[str] | None,
        typer.Option("--approved-by", metavar="OWNER", help="An owner who approved a breaking change; may be repeated"),
    ] = None,
    readers_within_days: Days = 90,
    namespace: Namespace = "",
    environment: Environment = "",
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Record a contract as an event for each of its datasets, after a review against the version that holds."""
    from whence.cli.gate.contracts.apply import Application, show_applied
    from whence.cli.gate.contracts.review import Naming

    with reporting(output):
        how = Application(
            url=url,
            naming=Naming(namespace=namespace, environment=environment),
            approved_by=tuple(approved_by or ()),
            days=readers_within_days,
        )
        raise typer.Exit(show_applied(file, how, output))


@app.command(name="list")
def list_(
    context: typer.Context,
    dataset: Annotated[str | None, typer.Argument(help="A dataset, to list the versions of its contract")] = None,
    as_of: AsOf = None,
    text: Annotated[bool, typer.Option("--text", help="Print the file as it was applied, and nothing else")] = False,
    transitions: Annotated[
        bool, typer.Option("--transitions", help="Also when rules began and ceased to be violated")
    ] = False,
    url: ServerUrl = None,
    profile: Profile = None,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """List the contracts that hold; of one dataset, the contract at a time and all its versions."""
    if dataset is None and (text or transitions or as_of is not None):
        raise typer.BadParameter("--text, --transitions and --as-of need a dataset")
    with reporting(output), open_questions(context) as questions:
        from whence.cli.gate.contracts.listing import show_contract, show_contracts

        if dataset is None:
            raise typer.Exit(show_contracts(questions, output))
        raise typer.Exit(show_contract(questions, dataset, as_of, output, text=text, transitions=transitions))
