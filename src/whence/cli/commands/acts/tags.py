"""`whence tags plan`, `import` and `check`: tags of warehouses, by files."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.commands.options import Form, Grades, RowsForm, Url, choice_option
from whence.cli.output.streams import Output, Rows, reporting

if TYPE_CHECKING:
    from whence.cli.tags.shown import TagCommand


class System(StrEnum):
    """The systems whose tags are read and written."""

    SNOWFLAKE = "snowflake"
    BIGQUERY = "bigquery"
    UNITY_CATALOG = "unity-catalog"
    RANGER = "ranger"
    DBT = "dbt"


class ImportedSystem(StrEnum):
    """The systems whose tags are imported; dbt's come with `whence capture dbt`."""

    SNOWFLAKE = "snowflake"
    BIGQUERY = "bigquery"
    UNITY_CATALOG = "unity-catalog"
    RANGER = "ranger"


class Language(StrEnum):
    """The languages of words in names of columns."""

    ENGLISH = "en"
    GERMAN = "de"
    FRENCH = "fr"
    SPANISH = "es"
    ITALIAN = "it"


Systems = Annotated[System, typer.Argument(metavar="SYSTEM", help="snowflake, bigquery, unity-catalog, ranger, dbt")]
Imported = Annotated[
    ImportedSystem, typer.Argument(metavar="SYSTEM", help="snowflake, bigquery, unity-catalog, ranger")
]
Export = Annotated[Path, typer.Argument(metavar="FILE", help="An export of the tags of the system")]
Namespace = Annotated[
    str,
    typer.Option("--namespace", metavar="NAME", help="The namespace of its datasets, such as snowflake://org-account"),
]
AtLeast = Annotated[Grades, typer.Option("--at-least", help="The lowest grade that is tagged")]
TagSchema = Annotated[
    str, typer.Option("--tag-schema", metavar="DB.SCHEMA", help="Snowflake: where the tags of Whence are")
]
PolicyTags = Annotated[
    list[str] | None,
    typer.Option("--policy-tag", metavar="CATEGORY=RESOURCE", help="BigQuery: the policy tag of a category"),
]
PolicyTagNames = Annotated[
    Path | None,
    typer.Option("--policy-tag-names", metavar="FILE", help="BigQuery: policyTags.list, for the names of policy tags"),
]


def add_to(tags: typer.Typer) -> None:
    """Add these commands to `whence tags`."""
    tags.command("plan")(plan_tags)
    tags.command("import")(import_tags)
    tags.command("check")(check_tags)
    tags.command("suggest")(suggest_tags)
    tags.command("sample")(sample_tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """The options of a command."""

    namespace: str
    export: Path | None
    url: str
    output: Output
    tag_schema: str = ""
    masking: list[str] | None = None
    policy_tags: list[str] | None = None
    policy_tag_names: Path | None = None
    service: str = ""


def plan_tags(
    system: Systems,
    target: Annotated[Path, typer.Option("-o", "--to", metavar="FILE", help="The plan, for the system's own client")],
    *,
    namespace: Namespace,
    current: Annotated[
        Path | None, typer.Option("--current", metavar="FILE", help="An export of the tags that the system has now")
    ] = None,
    at_least: AtLeast = Grades.PSEUDONYMOUS,
    tag_schema: TagSchema = "",
    masking: Annotated[
        list[str] | None,
        typer.Option(
            "--masking-policy", metavar="CATEGORY=POLICY", help="Snowflake: a policy for the tag of a category"
        ),
    ] = None,
    policy_tags: PolicyTags = None,
    service: Annotated[str, typer.Option("--service", help="Ranger: the service, if no export names it")] = "",
    url: Url,
    output: Annotated[Output, choice_option(Output, "--output", help="The form of the answer")] = Output.TEXT,
) -> None:
    """Write the tags that sensitivity labels ask for as a file that you apply. Only tags of Whence are changed."""
    from whence.cli.tags.shown import write_plan
    from whence.model.sensitivity import Grade

    with reporting(output):
        given = _Given(
            namespace=namespace,
            export=current,
            url=url,
            output=output,
            tag_schema=tag_schema,
            masking=masking,
            policy_tags=policy_tags,
            service=service,
        )
        raise typer.Exit(write_plan(_command(system, given), target, Grade[at_least.name]))


def import_tags(
    system: Imported,
    file: Export,
    *,
    namespace: Namespace,
    complete: Annotated[
        bool,
        typer.Option("--complete", help="The export has every tag of the namespace: forget all others of the system"),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print, and send nothing")] = False,
    tag_schema: TagSchema = "",
    policy_tags: PolicyTags = None,
    policy_tag_names: PolicyTagNames = None,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Send the tags in an export of a system as events. Needs a steward of the namespace."""
    from whence.cli.tags.shown import import_tags as send

    with reporting(output):
        given = _Given(
            namespace=namespace,
            export=file,
            url=url,
            output=output,
            tag_schema=tag_schema,
            policy_tags=policy_tags,
            policy_tag_names=policy_tag_names,
        )
        raise typer.Exit(send(_command(System(system.value), given), complete=complete, dry_run=dry_run))


def check_tags(
    system: Systems,
    file: Export,
    *,
    namespace: Namespace,
    at_least: AtLeast = Grades.PSEUDONYMOUS,
    tag_schema: TagSchema = "",
    policy_tags: PolicyTags = None,
    policy_tag_names: PolicyTagNames = None,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Compare the tags in an export of a system with labels and imported tags; exits with 5 if they differ."""
    from whence.cli.tags.shown import check
    from whence.model.sensitivity import Grade

    with reporting(output):
        given = _Given(
            namespace=namespace,
            export=file,
            url=url,
            output=output,
            tag_schema=tag_schema,
            policy_tags=policy_tags,
            policy_tag_names=policy_tag_names,
        )
        raise typer.Exit(check(_command(system, given), Grade[at_least.name]))


def suggest_tags(
    *,
    namespace: Namespace,
    language: Annotated[
        list[Language] | None, typer.Option("--language", help="Only words of this language; may be repeated")
    ] = None,
    url: Url,
    output: RowsForm = Rows.TEXT,
) -> None:
    """List columns whose names say that they are sensitive, and that no tag or label marks: in five languages."""
    from whence.cli.tags.suggested import show_suggestions

    with reporting(output.output):
        show_suggestions(url, namespace, [one.value for one in language or Language], output)


def sample_tags(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="The dataset of which the file has rows")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Comma-separated values with a first line of names")],
    *,
    most: Annotated[int, typer.Option("--rows", min=1, max=1_000_000, help="The most rows that are read")] = 10_000,
    presidio: Annotated[
        bool,
        typer.Option("--presidio", help="Numbers of states and health insurers, too; needs whence-lineage[presidio]"),
    ] = False,
    send: Annotated[bool, typer.Option("--send", help="Tag these columns on a server; no value is sent")] = False,
    url: Url,
    output: RowsForm = Rows.TEXT,
) -> None:
    """List columns whose values are e-mail addresses, telephone, card or account numbers, or IP addresses.

    Values are looked at on this machine: none is printed or sent. With --send, the columns that no tag decides on get
    one; this needs a steward of the namespace.
    """
    from whence.cli.tags.sampled import Sample, send_sample, show_sample

    sample = Sample(file=file, dataset=dataset, most=most, uses_presidio=presidio)
    with reporting(output.output):
        if send:
            send_sample(sample, url, output)
        else:
            show_sample(sample, output)


def _command(system: System, given: _Given) -> "TagCommand":
    from whence.cli.tags.knowledge import read_export_text
    from whence.cli.tags.shown import TagCommand
    from whence.govern.tags.systems.bigquery import read_policy_tags
    from whence.govern.tags.systems.choice import SystemName, SystemOptions, choose_system

    names = given.policy_tag_names
    options = SystemOptions(
        tag_schema=given.tag_schema,
        masking=given.masking or (),
        policy_tags=given.policy_tags or (),
        tag_names=None if names is None else read_policy_tags(read_export_text(names), str(names)),
        service=given.service,
    )
    name = SystemName(system.value)
    return TagCommand(
        name=name,
        system=choose_system(name, options),
        namespace=given.namespace,
        export=given.export,
        url=given.url,
        output=given.output,
    )
