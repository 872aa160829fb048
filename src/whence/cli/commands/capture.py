"""Commands that capture lineage from files of other tools: dbt artifacts, query logs.

They run in other people's pipelines (`dbt build && whence capture dbt target/`), so their exit code is 0 even if the
collector is unavailable: unsent events are kept in a file, and the message has the command that sends them. With
`--strict` it is an error. An argument that names no file is wrong usage, exit code 2 in any case.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.commands.options import COLUMNS, Data, Form, Store, Url, choice_option, parse_instant
from whence.cli.output.streams import Exit, Output, reporting
from whence.cli.settings import data_directory, store_url

if TYPE_CHECKING:
    from whence.capture.sql_log import Line

app = typer.Typer(name="capture", help="Capture lineage from dbt artifacts and query logs.", no_args_is_help=True)


class Sink(StrEnum):
    """The target of events: the collector, with a report as text or JSON; or stdout, a line each."""

    TEXT = "text"
    JSON = "json"
    NDJSON = "ndjson"


To = Annotated[
    Sink,
    choice_option(Sink, "--output", "-o", help="The form of the report; ndjson: print the events and send nothing"),
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail if anything could not be read or sent")]
Columns = Annotated[str | None, typer.Option("--columns", help=COLUMNS)]
Jobs = Annotated[
    str | None, typer.Option("--job-namespace", envvar="OPENLINEAGE_NAMESPACE", help="The namespace of the jobs")
]


Name = Annotated[str, typer.Argument(help="A capture of `whence capture list`")]
Option = Annotated[
    list[str] | None, typer.Option("--set", help="An option of the capture, NAME=VALUE; may be given several times")
]
Since = Annotated[str | None, typer.Option("--since", help="Only records from this time on, such as 2026-11-20")]
Until = Annotated[str | None, typer.Option("--until", help="Only records before this time")]


def _has_manifest(target: Path) -> Path:
    if not (target / "manifest.json").is_file():
        raise typer.BadParameter(f"no manifest.json in {target}; run `dbt build` first")
    return target


def _are_named(files: list[str]) -> list[str]:
    if not all(map(str.strip, files)):
        raise typer.BadParameter("the name of a file is empty")
    return files


def _refuse_missing(files: list[str]) -> None:
    for one in files:
        if one != "-" and not Path(one).exists():
            raise typer.BadParameter(f"there is no file {one}")


@app.command()
def dbt(
    target: Annotated[
        Path,
        typer.Argument(
            help="The project's target directory, with manifest.json",
            exists=True,
            file_okay=False,
            callback=_has_manifest,
        ),
    ],
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", help="The warehouse, such as postgres://host:5432; by default from profiles.yml"),
    ] = None,
    jobs: Jobs = None,
    project: Annotated[
        Path | None,
        typer.Option("--project-dir", help="The project's directory; by default the parent of target"),
    ] = None,
    columns: Columns = None,
    data: Data = None,
    store: Store = None,
    *,
    url: Url,
    strict: Strict = False,
    output: To = Sink.TEXT,
) -> None:
    """Capture a dbt project: models, sources, tests, exposures, and runs."""
    from whence.cli.sending.captured_events import DbtOptions, dbt_lines

    options = DbtOptions(
        namespace=namespace,
        jobs=jobs or "dbt",
        project=project,
        columns=columns,
        store=store_url(data_directory(data), store),
    )
    lines = dbt_lines(target, options)
    _deliver(lines, url, strict=strict, output=output)


@app.command("sql-log")
def sql_log(
    files: Annotated[list[str], typer.Argument(help="Logs, gzip too; - is standard input", callback=_are_named)],
    form: Annotated[str, typer.Option("--format", help="postgres, snowflake, bigquery, … (docs/how-to/sql-log.md)")],
    namespace: Annotated[str, typer.Option("--namespace", help="The database, such as postgres://host:5432")],
    dialect: Annotated[
        str | None, typer.Option("--dialect", help="The SQL dialect; by default that of the format")
    ] = None,
    database: Annotated[str, typer.Option("--database", help="The database, if the log does not name it")] = "",
    schema: Annotated[str, typer.Option("--schema", help="The schema of unqualified table names")] = "",
    columns: Columns = None,
    prefix: Annotated[
        str, typer.Option("--prefix", help="The server's log_line_prefix, for --format postgres")
    ] = "%m [%p] ",
    jobs: Jobs = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", "--processes", min=1, help="The number of processes; by default one per core"),
    ] = None,
    spark: Annotated[
        bool,
        typer.Option("--spark", help="Read with Spark: Delta tables, Parquet, JSON lines, CSV, or schema.table"),
    ] = False,
    data: Data = None,
    store: Store = None,
    *,
    url: Url,
    strict: Strict = False,
    output: To = Sink.TEXT,
) -> None:
    """Capture the queries in a log, each with its user and time."""
    from whence.cli.sending.captured_events import LogOptions, log_lines

    if not spark:
        _refuse_missing(files)
    options = LogOptions(
        form=form,
        dialect=dialect,
        namespace=namespace,
        jobs=jobs or namespace,
        database=database,
        schema=schema,
        columns=columns,
        prefix=prefix,
        workers=workers,
        spark=spark,
        store=store_url(data_directory(data), store),
    )
    _deliver(log_lines(files, options), url, strict=strict, output=output)


@app.command("list")
def list_registered(data: Data = None, output: Form = Output.TEXT) -> None:
    """The captures that are installed, what they found here, and how their sources stand."""
    from whence.cli.sending.captures import list_captures

    with reporting(output):
        raise typer.Exit(list_captures(data_directory(data), output))


@app.command()
def run(
    name: Name,
    settings: Option = None,
    every: Annotated[float, typer.Option("--every", min=0, help="Poll again after so many seconds; once if 0")] = 0,
    since: Since = None,
    until: Until = None,
    jobs: Jobs = None,
    data: Data = None,
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Poll a source from where the last poll ended."""
    _poll(name, settings, (since, until), jobs, data, url, output, every=every)


@app.command()
def backfill(
    name: Name,
    since: Since,
    settings: Option = None,
    until: Until = None,
    rate: Annotated[float, typer.Option("--rate", min=0, help="Events a second, at most; no limit if 0")] = 0,
    jobs: Jobs = None,
    data: Data = None,
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Read a time of the past, with a cursor of its own; a poll may run beside it."""
    _poll(name, settings, (since, until), jobs, data, url, output, rate=rate, slot=f"/{since}/{until or ''}")


def _poll(
    name: str,
    settings: list[str] | None,
    times: tuple[str | None, str | None],
    jobs: str | None,
    data: Path | None,
    url: str,
    output: Output,
    **options: Any,
) -> None:
    from whence.cli.sending.captures import PollOptions, run_capture
    from whence_client.captures import Window

    with reporting(output):
        poll = PollOptions(
            data=data_directory(data),
            url=url,
            namespace=jobs or name,
            window=Window(_instant(times[0]), _instant(times[1])),
            **options,
        )
        raise typer.Exit(run_capture(name, _pairs(settings or []), poll, output))


def _pairs(settings: list[str]) -> dict[str, str]:
    if wrong := next((one for one in settings if "=" not in one), ""):
        raise typer.BadParameter(f"{wrong}: say NAME=VALUE")
    return dict(one.split("=", 1) for one in settings)


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromtimestamp(parse_instant(text) / 1_000_000, UTC)


@app.command()
def flush(
    strict: Annotated[bool, typer.Option("--strict", help="End with an error if events still wait")] = False,
    output: Form = Output.TEXT,
) -> None:
    """Send the events that captures and jobs of this user could not send."""
    from whence.cli.sending.unsent import flush_unsent

    with reporting(output):
        code = flush_unsent(output)
        raise typer.Exit(code if strict else Exit.OK)


def run_job(
    command: Annotated[list[str], typer.Argument(help="The command, after --")],
    job: Annotated[str, typer.Option("--job", help="The name of the job; that of the script if not given")] = "",
    namespace: Annotated[
        str, typer.Option("--namespace", envvar="OPENLINEAGE_NAMESPACE", help="The namespace of the job")
    ] = "",
) -> None:
    """Run a command as a job, with captures of what a Python script imports.

    Output and exit code are the command's. Its events go where the environment says (docs/reference/configuration.md).
    A person at a terminal also reads whether the collector took them.
    """
    from whence.cli.sending.unsent import delivery_sentence
    from whence_client.runs.command import run_command

    try:
        code = run_command(command, job=job, namespace=namespace)
    except OSError as error:
        raise typer.BadParameter(f"{command[0]} cannot be started: {error.strerror}") from None
    if sys.stderr is not None and sys.stderr.isatty() and (sentence := delivery_sentence()):
        typer.echo(f"whence: {sentence}", err=True)
    raise typer.Exit(code)


def _deliver(lines: "Iterator[Line]", url: str, *, strict: bool, output: Sink) -> None:
    from whence.cli.sending.captured_events import forgiving, send, show

    with reporting(Output.JSON if output is Sink.JSON else Output.TEXT), forgiving(strict):
        if output is Sink.NDJSON:
            raise typer.Exit(show(lines, strict=strict))
        raise typer.Exit(send(lines, url, strict=strict, as_json=output is Sink.JSON))
