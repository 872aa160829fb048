"""`whence gate`: what a pull request breaks in production, before it is merged."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.commands.gate.options import (
    Checkout,
    DbtOptions,
    Files,
    HeadOptions,
    OutcomeOptions,
    PromotionOptions,
    RepositoryName,
    RunOptions,
    SqlOptions,
    VerdictForm,
    form_and_file,
)
from whence.cli.commands.option_groups import ServerOrStore, with_option_groups
from whence.cli.commands.options import Form as OutputForm
from whence.cli.commands.source import open_questions
from whence.cli.gate.forms import Form
from whence.cli.output.streams import Output, reporting

if TYPE_CHECKING:
    from whence.cli.gate.verdict import Wanted
    from whence.model.names import DatasetName, JobName

_EPILOG = (
    "Exit codes: 0 pass or note; 5 blocked; 6 an approval is needed; 7 unknown: something could not be judged. "
    "1, 2 and 4 mean that there is no verdict: a mistake, wrong usage or rules, nobody to ask."
)

_EXPECT_EPILOG = "Exit codes: 0 all hold; 5 one is missing; 7 a budget left one open; 1, 2 and 4 as everywhere."

_PROMOTION_EPILOG = (
    "Exit codes: 0 pass; 5 a criterion is not met; 7 unknown: something could not be judged. "
    "1, 2 and 4 mean that there is no verdict: no such node, wrong usage or rules, nobody to ask."
)


def add_to(app: typer.Typer) -> None:
    """Make these commands of the application."""
    commands = typer.Typer()
    commands.callback(invoke_without_command=True, epilog=_EPILOG)(gate)
    commands.command("model", epilog=_PROMOTION_EPILOG)(model)
    commands.command("job", epilog=_PROMOTION_EPILOG)(job)
    commands.command("approve")(approve)
    commands.command("waive")(waive)
    commands.command("waivers")(waivers)
    app.add_typer(commands, name="gate")
    app.command("expect", epilog=_EXPECT_EPILOG)(expect)


@with_option_groups
def gate(
    context: typer.Context,
    *,
    judged: HeadOptions,
    write: Files = None,
    sql: SqlOptions,
    dbt: DbtOptions,
    runs: RunOptions,
    outcome: OutcomeOptions,
    answering: ServerOrStore,
    output: VerdictForm = Form.TEXT,
) -> None:
    """Judge what a commit changes: which columns, what depends on them in production, and who must approve."""
    if context.invoked_subcommand is not None:
        return
    files = [form_and_file(one) for one in write or ()]
    with reporting(Output.JSON if output is Form.JSON else Output.TEXT), open_questions(context) as questions:
        from whence.cli.gate.forms import exit_of
        from whence.cli.gate.relevant_tests import written_tests
        from whence.cli.gate.verdict import judge_head, publish_to, record_judged, written

        _check_options(sql, dbt, outcome, output)
        wanted = _wanted(judged, sql, dbt, runs, outcome)
        pull = publish_to(outcome.publish)
        verdict = judge_head(wanted, questions, pull, judged.approvals)
        if outcome.record:
            verdict = record_judged(verdict, questions, pull)
        for form, path in files:
            path.write_text(written(verdict, form), "utf-8", errors="backslashreplace")
        if outcome.tests:
            sys.stdout.write(written_tests(verdict, wanted, questions, output))
            return
        sys.stdout.write(written(verdict, output))
        if pull is not None:
            pull.publish(verdict.judgement, verdict.summary, verdict.link)
        raise typer.Exit(exit_of(verdict.judgement.verdict))


def _check_options(sql: SqlOptions, dbt: DbtOptions, outcome: OutcomeOptions, output: Form) -> None:
    """Raises BadParameter for options that do not go together."""
    if outcome.tests and (outcome.publish or output not in (Form.TEXT, Form.JSON)):
        raise typer.BadParameter("--tests is text or JSON, and is not published")
    if sql.sql is not None and not (sql.dialect and sql.namespace):
        raise typer.BadParameter("--sql needs --dialect and --namespace")
    if (dbt.dbt is None) != (dbt.dbt_base is None):
        raise typer.BadParameter("--dbt and --dbt-base go together: the head's target directory, and the base's")


def _wanted(
    judged: HeadOptions, sql: SqlOptions, dbt: DbtOptions, runs: RunOptions, outcome: OutcomeOptions
) -> "Wanted":
    """What the options ask to be judged. Raises ArtifactError for files that cannot be read."""
    from whence.cli.gate.dbt_code import dbt_targets
    from whence.cli.gate.repository import root_of
    from whence.cli.gate.run_events import NO_RUNS, read_runs
    from whence.cli.gate.sql_code import sql_folder
    from whence.cli.gate.verdict import Wanted

    root = root_of(judged.repository)
    return Wanted(
        folder=root,
        base=judged.base,
        head=judged.head,
        authors=tuple(judged.author or ()),
        rules=judged.rules,
        policies=judged.policies,
        sql=sql_folder(
            sql.sql, sql.dialect, sql.namespace, database=sql.database, schema=sql.schema, columns=sql.columns
        ),
        dbt=dbt_targets(dbt.dbt, dbt.dbt_base, root, sql.namespace, dbt.dbt_rename or ()),
        runs=read_runs(runs.run_events, runs.run_rename or ()) if runs.run_events else NO_RUNS,
        repository=outcome.repository_name,
    )


@with_option_groups
def expect(
    context: typer.Context,
    *,
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="YAML with the dependencies (docs/reference/gate.md)")
    ],
    answering: ServerOrStore,
    output: OutputForm = Output.TEXT,
) -> None:
    """Check that the graph has the dependencies that a file states."""
    with reporting(output), open_questions(context) as questions:
        from whence.cli.gate.expectations import show_expectations

        raise typer.Exit(show_expectations(file, questions, output))


@with_option_groups
def model(
    context: typer.Context,
    *,
    name: Annotated[str, typer.Argument(help="A dataset: a model, a table, a file")],
    promotion: PromotionOptions,
    answering: ServerOrStore,
    output: OutputForm = Output.TEXT,
) -> None:
    """Judge whether a model or dataset may be promoted: coverage of columns, checks, certification upstream."""
    from whence.model.names import DatasetName

    _judge_promotion(context, name, DatasetName, promotion, output)


@with_option_groups
def job(
    context: typer.Context,
    *,
    name: Annotated[str, typer.Argument(help="A job")],
    promotion: PromotionOptions,
    answering: ServerOrStore,
    output: OutputForm = Output.TEXT,
) -> None:
    """Judge whether a job may be promoted: what it reads and writes, and all that is upstream."""
    from whence.model.names import JobName

    _judge_promotion(context, name, JobName, promotion, output)


@with_option_groups
def approve(
    context: typer.Context,
    *,
    commit: Annotated[str, typer.Argument(help="A commit that has a recorded verdict")] = "HEAD",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Withdraw your approval")] = False,
    repository: Checkout = Path("."),
    repository_name: RepositoryName = "",
    answering: ServerOrStore,
    output: OutputForm = Output.TEXT,
) -> None:
    """Approve a commit, in the name of your key: it counts for that commit alone, when the gate runs next."""
    with reporting(output), open_questions(context) as questions:
        from whence.cli.gate.records import Place, approve_commit

        approve_commit(questions, Place(repository, repository_name), commit, output, withdraw=withdraw)


@with_option_groups
def waive(
    context: typer.Context,
    *,
    change: Annotated[str, typer.Argument(help="The id of a change, as a verdict shows it: C-1f3a9c42d0")],
    reason: Annotated[str, typer.Option("--reason", help="Why it may pass")] = "",
    until: Annotated[str, typer.Option("--until", metavar="DAY", help="Its last day, UTC: 2027-01-31")] = "",
    end: Annotated[bool, typer.Option("--end", help="End the waiver")] = False,
    repository: Checkout = Path("."),
    repository_name: RepositoryName = "",
    answering: ServerOrStore,
) -> None:
    """Let a change pass until the end of a day, in the name of your key."""
    if end == bool(reason or until) or bool(reason) != bool(until):
        raise typer.BadParameter("give --reason and --until, or --end alone")
    with reporting(Output.TEXT), open_questions(context) as questions:
        from whence.cli.gate.records import Place, waive_change

        waive_change(questions, Place(repository, repository_name), change, None if end else (reason, until))


@with_option_groups
def waivers(
    context: typer.Context,
    *,
    repository: Checkout = Path("."),
    repository_name: RepositoryName = "",
    answering: ServerOrStore,
    output: OutputForm = Output.TEXT,
) -> None:
    """List the recorded waivers of a repository, expired ones among them."""
    with reporting(output), open_questions(context) as questions:
        from whence.cli.gate.records import Place, list_waivers

        list_waivers(questions, Place(repository, repository_name), output)


def _judge_promotion(
    context: typer.Context,
    name: str,
    kind: "type[DatasetName | JobName]",
    options: PromotionOptions,
    output: Output,
) -> None:
    with reporting(output), open_questions(context) as questions:
        from whence.cli.gate.promotion import rules_here, show_promotion

        rules = rules_here(options.rules, certified_inputs=options.certified_inputs)
        raise typer.Exit(show_promotion(questions, name, kind, rules, output, record=options.record))
