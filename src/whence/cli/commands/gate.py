"""`whence gate`: what a pull request breaks in production, before it is merged."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import Data, Profile, ServerUrl, Store, choice_option
from whence.cli.commands.options import Form as OutputForm
from whence.cli.commands.source import open_questions
from whence.cli.gate.forms import Form, Publish
from whence.cli.output.streams import Output, reporting

_EPILOG = (
    "Exit codes: 0 pass or note; 5 blocked; 6 an approval is needed; 7 unknown: something could not be judged. "
    "1, 2 and 4 mean that there is no verdict: a mistake, wrong usage or rules, nobody to ask."
)

_EXPECT_EPILOG = "Exit codes: 0 all hold; 5 one is missing; 7 a budget left one open; 1, 2 and 4 as everywhere."


def add_to(app: typer.Typer) -> None:
    """Make these commands of the application."""
    app.command("gate", epilog=_EPILOG)(gate)
    app.command("expect", epilog=_EXPECT_EPILOG)(expect)


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
    sql: Annotated[
        str | None,
        typer.Option("--sql", metavar="FOLDER", help="Read the SQL files below this folder of the repository"),
    ] = None,
    dialect: Annotated[str, typer.Option("--dialect", help="Of --sql: postgres, snowflake, bigquery, spark, …")] = "",
    namespace: Annotated[
        str,
        typer.Option(
            "--namespace", help="Of --sql and --dbt: the namespace of the tables, such as postgres://host:5432"
        ),
    ] = "",
    database: Annotated[str, typer.Option("--database", help="Of --sql: the database of bare table names")] = "",
    schema: Annotated[str, typer.Option("--schema", help="Of --sql: the schema of bare table names")] = "",
    columns: Annotated[
        Path | None,
        typer.Option(
            "--columns",
            exists=True,
            dir_okay=False,
            help='Of --sql: JSON with the columns of tables that it does not build: {"db.table": ["column", …]}',
        ),
    ] = None,
    dbt: Annotated[
        Path | None,
        typer.Option(
            "--dbt",
            metavar="TARGET",
            exists=True,
            file_okay=False,
            help="The target directory of a dbt project, as dbt wrote it at the head",
        ),
    ] = None,
    dbt_base: Annotated[
        Path | None,
        typer.Option(
            "--dbt-base",
            metavar="TARGET",
            exists=True,
            file_okay=False,
            help="Of --dbt: the target directory, as dbt wrote it at the merge base",
        ),
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
        from whence.cli.gate.dbt_code import dbt_targets
        from whence.cli.gate.sql_code import SqlFolder, read_columns
        from whence.cli.gate.verdict import Wanted, exit_of, judge_head, publish_to, written

        if sql is not None and not (dialect and namespace):
            raise typer.BadParameter("--sql needs --dialect and --namespace")
        if (dbt is None) != (dbt_base is None):
            raise typer.BadParameter("--dbt and --dbt-base go together: the head's target directory, and the base's")
        known = read_columns(columns) if columns else {}
        folder = sql and SqlFolder(
            path=sql, dialect=dialect, namespace=namespace, database=database, schema=schema, columns=known
        )
        pull = publish_to(publish)
        wanted = Wanted(
            folder=repository,
            base=base,
            head=head,
            authors=tuple(author or ()),
            rules=rules,
            sql=folder or None,
            dbt=dbt_targets(dbt, dbt_base, repository, namespace),
        )
        judged = judge_head(wanted, questions, pull, approvals)
        for one, path in files:
            path.write_text(written(judged, one), "utf-8", errors="backslashreplace")
        sys.stdout.write(written(judged, output))
        if pull is not None:
            pull.publish(judged.judgement, judged.summary)
        raise typer.Exit(exit_of(judged.judgement.verdict))


def expect(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="YAML with the dependencies (docs/reference/gate.md)")
    ],
    url: ServerUrl = None,
    profile: Profile = None,
    data: Data = None,
    store: Store = None,
    output: OutputForm = Output.TEXT,
) -> None:
    """Check that the graph has the dependencies that a file states."""
    with reporting(output), open_questions(context) as questions:
        from whence.cli.gate.expectations import show_expectations

        raise typer.Exit(show_expectations(file, questions, output))
