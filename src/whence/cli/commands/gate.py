"""`whence gate`: what a pull request breaks in production, before it is merged."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import Data, Profile, ServerUrl, Store, choice_option
from whence.cli.commands.source import open_questions
from whence.cli.gate.forms import Form, Publish
from whence.cli.output.streams import Output, reporting

_EPILOG = (
    "Exit codes: 0 pass or note; 5 blocked; 6 an approval is needed; 7 unknown: something could not be judged. "
    "1, 2 and 4 mean that there is no verdict: a mistake, wrong usage or rules, nobody to ask."
)


def add_to(app: typer.Typer) -> None:
    """Make it a command of the application."""
    app.command("gate", epilog=_EPILOG)(gate)


def _form_and_file(text: str) -> tuple[Form, Path]:
    form, _, path = text.partition("=")
    if form not in tuple(Form) or not path:
        raise typer.BadParameter(f"write FORM=FILE, with one of {', '.join(Form)}")
    return Form(form), Path(path)


def gate(
    context: typer.Context,
    base: Annotated[
        str,
        typer.Option(
            "--base",
            envvar="WHENCE_GATE_BASE",
            help="The branch or commit that the head is to join; origin/HEAD, or the pull request's",
        ),
    ] = "",
    head: Annotated[str, typer.Option("--head", help="The commit to judge; HEAD, or the pull request's")] = "",
    repository: Annotated[
        Path, typer.Option("--repository", exists=True, file_okay=False, help="The checkout, with its history")
    ] = Path("."),
    rules: Annotated[
        str,
        typer.Option("--rules", help="The path of the rules in the repository; whence/gate.yaml or gate.yaml"),
    ] = "",
    approvals: Annotated[
        Path | None,
        typer.Option("--approvals", exists=True, dir_okay=False, help='JSON: [{"person": …, "commit": …}]'),
    ] = None,
    author: Annotated[
        list[str] | None,
        typer.Option("--author", help="Who wrote it, beside Git's authors: they do not approve it; may be repeated"),
    ] = None,
    write: Annotated[
        list[str] | None,
        typer.Option("--write", metavar="FORM=FILE", help="Write a form to a file, too; may be repeated"),
    ] = None,
    publish: Annotated[
        Publish | None,
        choice_option(Publish, "--publish", help="Read reviews from, and write comment and check run to, the forge"),
    ] = None,
    url: ServerUrl = None,
    profile: Profile = None,
    data: Data = None,
    store: Store = None,
    output: Annotated[Form, choice_option(Form, "--output", "-o", help="The form on stdout")] = Form.TEXT,
) -> None:
    """Judge what a commit changes: which columns, what depends on them in production, and who must approve."""
    files = [_form_and_file(one) for one in write or ()]
    form = Output.JSON if output is Form.JSON else Output.TEXT
    with reporting(form), open_questions(context) as questions:
        from whence.cli.gate.verdict import Wanted, exit_of, judge_head, publish_to, written

        pull = publish_to(publish)
        wanted = Wanted(folder=repository, base=base, head=head, authors=tuple(author or ()), rules=rules)
        judged = judge_head(wanted, questions, pull, approvals)
        for one, path in files:
            path.write_text(written(judged, one), "utf-8", errors="backslashreplace")
        sys.stdout.write(written(judged, output))
        if pull is not None:
            pull.publish(judged.judgement, judged.summary)
        raise typer.Exit(exit_of(judged.judgement.verdict))
