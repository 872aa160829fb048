"""`whence policy`: rules about nodes and the sensitive data in them, next to the code."""

from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import Data, Form, Profile, ServerUrl, Store, Url, parse_past_instant
from whence.cli.commands.source import open_questions
from whence.cli.output.streams import Output, reporting

app = typer.Typer(
    name="policy",
    help="Policies: what must hold of datasets, columns and the sensitive data in them.",
    no_args_is_help=True,
)

_CHECK_EPILOG = "Exit codes: 0 the file is valid; 5 it has a mistake; 1 it cannot be read; 2 wrong usage."
_TEST_EPILOG = "Exit codes: 0 every example comes out as it says; 5 one does not, or the file has a mistake; 1, 2."
_EXPORT_EPILOG = "Exit codes: 0 written; what it cannot say is on stderr. 2 a mistake in the file; 1 it cannot be read."
_EVALUATE_EPILOG = (
    "Exit codes: 0 all hold; 5 one is violated, or not evaluated on a way to a certified dataset; 7 none is violated, "
    "and one is not evaluated; 2 wrong usage, or a mistake in the file; 4 the server or store is unavailable."
)

File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The policies, such as policies.yaml")]


@app.command(epilog=_CHECK_EPILOG)
def check(file: File, output: Form = Output.TEXT) -> None:
    """Check a file of policies, and print them. A misspelt key or attribute is a mistake with its file and line."""
    from whence.cli.policies.files import show_checked

    with reporting(output):
        raise typer.Exit(show_checked(file, output))


@app.command("test", epilog=_TEST_EPILOG)
def judge_examples(file: File, output: Form = Output.TEXT) -> None:
    """Judge the examples of a file of policies, without a store: each comes out as it says, or is printed."""
    from whence.cli.policies.files import show_tested

    with reporting(output):
        raise typer.Exit(show_tested(file, output))


@app.command("export", epilog=_EXPORT_EPILOG)
def export_policies(
    file: File,
    ranger: Annotated[
        str,
        typer.Option("--ranger", metavar="SERVICE", help="As tag-based policies of this tag service of Apache Ranger"),
    ],
    access: Annotated[
        list[str] | None,
        typer.Option("--access", help="What is denied: hive:select (as without this option), trino:select"),
    ] = None,
    target: Annotated[Path | None, typer.Option("-o", "--to", dir_okay=False, help="Write into this file")] = None,
) -> None:
    """Write the policies that restrict reading for another system, which goes by the tags of `whence tags plan`."""
    from whence.cli.policies.exported import write_ranger

    with reporting(Output.TEXT):
        raise typer.Exit(write_ranger(file, ranger, access or ["hive:select"], target))


@app.command(epilog=_EVALUATE_EPILOG)
def evaluate(
    context: typer.Context,
    file: File,
    as_of: Annotated[
        int | None,
        typer.Option("--as-of", parser=parse_past_instant, metavar="TIME", help="The lineage at this time: 2h ago"),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="The most findings to print as text")] = 50,
    url: ServerUrl = None,
    profile: Profile = None,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Evaluate the policies of a file: of which datasets and columns they do not hold, and by which way.

    Of a server's, those that the key may see.
    """
    from whence.cli.policies.evaluation import show_evaluated

    with reporting(output), open_questions(context) as questions:
        raise typer.Exit(show_evaluated(questions, file, as_of, limit, output))


@app.command()
def apply(
    file: File,
    prune: Annotated[
        bool, typer.Option("--prune", help="End the policies of the file's namespaces that are not in it")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would change")] = False,
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Declare the policies of a file, as an event for each namespace. Needs a steward of these."""
    from whence.cli.policies.declared import show_applied

    with reporting(output):
        raise typer.Exit(show_applied(file, url, output, prune=prune, dry_run=dry_run))


@app.command(name="list")
def list_(
    namespace: Annotated[str, typer.Option("--namespace", help="Only the policies of this namespace")] = "",
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """List the declared policies of the namespaces that the key may read, and how many datasets violate each."""
    from whence.cli.policies.declared import show_list
    from whence.client.questions import connect

    with reporting(output), connect(url) as questions:
        raise typer.Exit(show_list(questions, namespace, output))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The name of a declared policy")],
    as_of: Annotated[
        int | None,
        typer.Option("--as-of", parser=parse_past_instant, metavar="TIME", help="What held at this time: 2h ago"),
    ] = None,
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Show a declared policy: where it holds, its conditions, and the datasets of which it does not hold."""
    from whence.cli.policies.declared import show_one
    from whence.client.questions import connect

    with reporting(output), connect(url) as questions:
        raise typer.Exit(show_one(questions, name, as_of, output))
