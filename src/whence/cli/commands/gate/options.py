"""The options of `whence gate`, in groups."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import choice_option
from whence.cli.gate.forms import Form, Publish

Base = Annotated[
    str,
    typer.Option(
        "--base",
        envvar="WHENCE_GATE_BASE",
        help="The branch or commit that the head is to join; origin/HEAD, or the pull request's",
    ),
]
Head = Annotated[str, typer.Option("--head", help="The commit to judge; HEAD, or the pull request's")]
Checkout = Annotated[
    Path, typer.Option("--repository", exists=True, file_okay=False, help="The checkout, with its history")
]
RulesPath = Annotated[
    str, typer.Option("--rules", help="The path of the rules in the repository; whence/gate.yaml or gate.yaml")
]
PoliciesPath = Annotated[
    str, typer.Option("--policies", help="The path of the policies there; whence/policies.yaml or policies.yaml")
]
Approvals = Annotated[
    Path | None,
    typer.Option("--approvals", exists=True, dir_okay=False, help='JSON: [{"person": …, "commit": …}]'),
]
Authors = Annotated[
    list[str] | None,
    typer.Option("--author", help="Who wrote it, beside Git's authors: they do not approve it; may be repeated"),
]
Files = Annotated[
    list[str] | None,
    typer.Option("--write", metavar="FORM=FILE", help="Write a form to a file, too; may be repeated"),
]
SqlPath = Annotated[
    str | None,
    typer.Option("--sql", metavar="FOLDER", help="Read the SQL files below this folder of the repository"),
]
Dialect = Annotated[str, typer.Option("--dialect", help="Of --sql: postgres, snowflake, bigquery, spark, …")]
Namespace = Annotated[
    str,
    typer.Option("--namespace", help="Of --sql and --dbt: the namespace of the tables, such as postgres://host:5432"),
]
Database = Annotated[str, typer.Option("--database", help="Of --sql: the database of bare table names")]
Schema = Annotated[str, typer.Option("--schema", help="Of --sql: the schema of bare table names")]
Columns = Annotated[
    Path | None,
    typer.Option(
        "--columns",
        exists=True,
        dir_okay=False,
        help='Of --sql: JSON with the columns of tables that it does not build: {"db.table": ["column", …]}',
    ),
]
DbtTarget = Annotated[
    Path | None,
    typer.Option(
        "--dbt",
        metavar="TARGET",
        exists=True,
        file_okay=False,
        help="The target directory of a dbt project, as dbt wrote it at the head",
    ),
]
DbtBaseTarget = Annotated[
    Path | None,
    typer.Option(
        "--dbt-base",
        metavar="TARGET",
        exists=True,
        file_okay=False,
        help="Of --dbt: the target directory, as dbt wrote it at the merge base",
    ),
]
DbtRenames = Annotated[
    list[str] | None,
    typer.Option(
        "--dbt-rename",
        metavar="FROM=TO",
        help="Of --dbt: a schema of the compiled code by its name in production: "
        "duckdb://ci.duckdb:ci.pr=duckdb:///prod.duckdb:prod.main",
    ),
]
RunEvents = Annotated[
    Path | None,
    typer.Option(
        "--run-events",
        metavar="PATH",
        exists=True,
        help="OpenLineage events of a run of the head's code: a file, or a folder of them",
    ),
]
RunRenames = Annotated[
    list[str] | None,
    typer.Option(
        "--run-rename",
        metavar="FROM=TO",
        help="Of --run-events: a dataset, or all below it, by its name in production: file:/tmp/ci=s3://lake:shop",
    ),
]
TestsOnly = Annotated[
    bool, typer.Option("--tests", help="Print the tests that are enough for the head; the exit code is 0")
]
PublishTo = Annotated[
    Publish | None,
    choice_option(Publish, "--publish", help="Read reviews from, and write comment and check run to, the forge"),
]
Record = Annotated[
    bool,
    typer.Option(
        "--record",
        envvar="WHENCE_GATE_RECORD",
        help="Record the verdict at the server; its key must be a steward of the repository",
    ),
]
RepositoryName = Annotated[
    str,
    typer.Option(
        "--repository-name", help="In records, such as github.com/shop/pipeline; by default the address of `origin`"
    ),
]
PromotionRules = Annotated[
    Path | None,
    typer.Option("--rules", exists=True, dir_okay=False, help="The rules; whence/gate.yaml or gate.yaml, if there"),
]
CertifiedInputs = Annotated[bool, typer.Option("--certified-inputs", help="Every input must be certified")]
RecordPromotion = Annotated[
    bool,
    typer.Option(
        "--record",
        envvar="WHENCE_GATE_RECORD",
        help="Record the verdict at the server; its key must be a steward of the node's namespace",
    ),
]
VerdictForm = Annotated[Form, choice_option(Form, "--output", "-o", help="The form on stdout")]


@dataclass(frozen=True, slots=True)
class HeadOptions:
    """Which commit is judged, against which branch, by which rules, and who approved it."""

    base: Base = ""
    head: Head = ""
    repository: Checkout = Path(".")
    rules: RulesPath = ""
    policies: PoliciesPath = ""
    approvals: Approvals = None
    author: Authors = None


@dataclass(frozen=True, slots=True)
class SqlOptions:
    """Where the SQL files of the repository are, and what their tables are called in production."""

    sql: SqlPath = None
    dialect: Dialect = ""
    namespace: Namespace = ""
    database: Database = ""
    schema: Schema = ""
    columns: Columns = None


@dataclass(frozen=True, slots=True)
class DbtOptions:
    """Where dbt wrote the compiled code of the head and of the merge base."""

    dbt: DbtTarget = None
    dbt_base: DbtBaseTarget = None
    dbt_rename: DbtRenames = None


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run of the head's code reported."""

    run_events: RunEvents = None
    run_rename: RunRenames = None


@dataclass(frozen=True, slots=True)
class OutcomeOptions:
    """What becomes of the verdict, besides its text."""

    tests: TestsOnly = False
    publish: PublishTo = None
    record: Record = False
    repository_name: RepositoryName = ""


@dataclass(frozen=True, slots=True)
class PromotionOptions:
    """By which rules a model or a job is judged, and whether the verdict is recorded."""

    rules: PromotionRules = None
    certified_inputs: CertifiedInputs = False
    record: RecordPromotion = False


def form_and_file(text: str) -> tuple[Form, Path]:
    """Parse FORM=FILE."""
    form, _, path = text.partition("=")
    if form not in tuple(Form) or not path:
        raise typer.BadParameter(f"write FORM=FILE, with one of {', '.join(Form)}")
    return Form(form), Path(path)
