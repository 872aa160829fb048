"""The command line: each command parses its arguments, calls one function, and returns its result.

Exit codes: 0 answered · 1 a mistake (no such node, an ambiguous name) · 2 wrong usage · 3 answered, but a budget cut
the answer · 4 the store, the log or the API is unavailable.
"""

import gc
import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands import access as guarding
from whence.cli.commands import capture, encryption, profiles, publishing, questions, sending, sensitive_data
from whence.cli.commands import maintenance as upkeep
from whence.cli.commands.acts import containment, rerun
from whence.cli.commands.acts.versions import versions
from whence.cli.commands.evidence import card, evidence
from whence.cli.commands.gate import commands as gate
from whence.cli.commands.options import COLUMNS, Archive, Data, EventLog, Form, Security, Store, parse_instant
from whence.cli.commands.rules import (
    alerts,
    breaker,
    certification,
    contracts,
    gamedays,
    incidents,
    lineage,
    policies,
    quality_score,
    reports,
    slos,
)
from whence.cli.output.streams import Output, naming_missing_extra, reporting, until_reader_leaves
from whence.cli.settings import archive_uri, data_directory, log_url, security_db, store_url
from whence.file_modes import restrict_new_files

_EPILOG = (
    "Exit codes: 0 answered; 1 a mistake, such as no such node or an ambiguous name; 2 wrong usage; "
    "3 answered, but a budget cut the answer; 4 the store, the log or the API is unavailable; "
    "5 to 7 are verdicts of `whence gate`, `whence contract` and `whence slo`."
)

_COLLECT_AFTER = 50_000
"""New objects until garbage is collected. Most commands end before; collections took an eighth of a question's time."""

app = typer.Typer(
    name="whence",
    help="Where any number came from, and what breaks if it changes.",
    epilog=_EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
)


DemoData = Annotated[
    Path | None, typer.Option("--data", help="The directory for all data; a temporary one if not given")
]
Host = Annotated[str, typer.Option("--host", help="The address to listen on")]
TlsCert = Annotated[
    Path | None,
    typer.Option("--tls-cert", exists=True, dir_okay=False, help="Serve https with this certificate (PEM)"),
]
TlsKey = Annotated[
    Path | None,
    typer.Option("--tls-key", exists=True, dir_okay=False, help="Its private key, if it is in a separate file"),
]
Port = Annotated[int, typer.Option("--port", min=0, max=65_535, help="The port to listen on")]


def _show_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Where any number came from, and what breaks if it changes."""


@app.command()
def up(
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    security: Security = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Run collector, pipeline and API until Ctrl-C. The first start prints an administrator's key."""
    from whence.cli.administration.access import keys
    from whence.cli.process import serve

    directory = data_directory(data)
    with reporting(Output.TEXT):
        where, target = log_url(directory, log), store_url(directory, store)
        guard = serve.Guard(security=security_db(target, security), tls_cert=tls_cert, tls_key=tls_key)
        what = serve.plan(directory, target, log=where, host=host, port=port, guard=guard)
        serve.check_address(host, port)
        keys.show_first_key(guard.security)
        serve.up(what)


@app.command()
def demo(
    data: DemoData = None,
    once: Annotated[bool, typer.Option("--once", help="Stop after the answers")] = False,
    gate: Annotated[
        bool, typer.Option("--gate", help="Also judge a pull request that renames a contracted column")
    ] = False,
    governance: Annotated[
        bool, typer.Option("--governance", help="Also follow personal data, block it, report it and prove it")
    ] = False,
    incident: Annotated[
        bool,
        typer.Option("--incident", help="Lose values in the raw data instead of altering a join: incident, root, end"),
    ] = False,
    stack: Annotated[
        bool,
        typer.Option("--stack", help="Run Airflow, dbt, MLflow and Superset instead: from a dashboard to a raw file"),
    ] = False,
    port: Port = 8080,
) -> None:
    """Trace a real PySpark pipeline, from a prediction back to its raw columns."""
    from whence.cli.process import demo as tour

    if stack and (gate or governance or incident):
        raise typer.BadParameter("--stack is a demo of its own: leave out --gate, --governance and --incident")
    with reporting(Output.TEXT):
        raise typer.Exit(
            tour.demo(data, once=once, port=port, gate=gate, governance=governance, incident=incident, stack=stack)
        )


@app.command()
def rebuild(
    as_of: Annotated[
        int | None,
        typer.Option(
            "--as-of", parser=parse_instant, metavar="TIME", help="Only events received before this time; needs --into"
        ),
    ] = None,
    into: Annotated[
        str | None,
        typer.Option("--into", help="Build in this data directory or store URL; the live store is unchanged"),
    ] = None,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    archive: Archive = None,
) -> None:
    """Rebuild the store from archive and log, and replace the old one."""
    from whence.cli.administration.archive import Archiving, rebuild_store

    if as_of is not None and into is None:
        raise typer.BadParameter("--as-of needs --into: the live store is not replaced by a past one")
    directory = data_directory(data)
    live = store_url(directory, store)
    what = Archiving(log=log_url(directory, log), archive=archive_uri(directory, archive), security=security_db(live))
    with reporting(Output.TEXT):
        rebuild_store(what, live, into, as_of)


@app.command()
def archive(
    drop_segments: Annotated[
        bool, typer.Option("--drop-segments", help="Then delete the log segments that are archived and applied")
    ] = False,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    archive: Archive = None,
    output: Form = Output.TEXT,
) -> None:
    """Copy the records of the log into the archive, a Delta table."""
    from whence.cli.administration.archive import Archiving, show_archived

    directory = data_directory(data)
    live = store_url(directory, store)
    what = Archiving(log=log_url(directory, log), archive=archive_uri(directory, archive), security=security_db(live))
    with reporting(output):
        raise typer.Exit(show_archived(what, live if drop_segments else None, output))


@app.command()
def blast(data: Data = None, store: Store = None) -> None:
    """Compute the blast radius of every node now; `whence up` does it on a schedule."""
    from whence.cli.administration.blast_radius import count_now

    with reporting(Output.TEXT):
        done = count_now(store_url(data_directory(data), store))
        typer.echo(f"{done.rows:,} nodes counted" if done.changed else "the graph has not changed since the last count")


@app.command()
def dump(data: Data = None, store: Store = None) -> None:
    """Print the canonical state as sorted JSON lines: equal for equal sets of events."""
    from whence.cli.administration.dump import dump_state

    with reporting(Output.TEXT):
        dump_state(store_url(data_directory(data), store))


@app.command()
def ledger(
    receipt: Annotated[str | None, typer.Argument(help="An event's key, or a position in the log (1:16)")] = None,
    lost: Annotated[
        bool,
        typer.Option("--lost", help="List records of the log without an outcome; exit code 1 if there are any"),
    ] = False,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    output: Form = Output.TEXT,
) -> None:
    """Print the outcomes of received records: applied, duplicate, or quarantined with a reason."""
    from whence.cli.administration.ledger import show_ledger, show_lost

    directory = data_directory(data)
    if lost and receipt:
        raise typer.BadParameter("--lost checks the whole log, not one record")
    with reporting(output):
        if lost:
            raise typer.Exit(show_lost(store_url(directory, store), log_url(directory, log), output))
        raise typer.Exit(show_ledger(store_url(directory, store), receipt, output))


@app.command()
def sql(
    text: Annotated[list[str], typer.Argument(help="SQL text, files, directories of .sql files, or - for stdin")],
    dialect: Annotated[
        str, typer.Option("--dialect", help="postgres, snowflake, bigquery, spark, tsql, …")
    ] = "generic",
    schema: Annotated[str | None, typer.Option("--schema", help=COLUMNS)] = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", help="With --schema whence: only the datasets of this namespace")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Print only failed statements and unknown names, with their positions")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="With --check: unknown names are errors, too")] = False,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Print the lineage in SQL text: tables, columns, and unknown names."""
    from whence.cli.sql.check_report import show_problems
    from whence.cli.sql.lineage import show_lineage
    from whence.cli.sql.schemas import columns_from
    from whence.cli.sql.scripts import scripts_of

    with reporting(output):
        catalog = columns_from(schema, dialect, store_url(data_directory(data), store), namespace)
        if check:
            raise typer.Exit(show_problems(scripts_of(text), dialect, catalog, output, strict=strict))
        raise typer.Exit(show_lineage(scripts_of(text), dialect, catalog, output))


sending.add_to(app)
questions.add_to(app)
sensitive_data.add_to(app)
gate.add_to(app)
profiles.add_to(app)
app.add_typer(contracts.app)
app.add_typer(slos.app)
app.add_typer(certification.app)
app.add_typer(lineage.app)
app.add_typer(incidents.app)
breaker.add_to(app)
quality_score.add_to(app)
app.add_typer(reports.app)
app.add_typer(gamedays.app)
app.add_typer(alerts.app)
app.add_typer(policies.app)
app.add_typer(containment.app)
app.add_typer(rerun.app)
app.command()(versions)
app.add_typer(evidence)
app.command()(card)
app.add_typer(capture.app)
app.command("run", context_settings={"ignore_unknown_options": True})(capture.run_job)
upkeep.add_to(app)
publishing.add_to(app)
guarding.add_to(app)
encryption.add_to(app)


@app.command()
def version() -> None:
    """Print the version of Whence."""
    from whence import __version__

    typer.echo(__version__)


def main() -> None:
    """The `whence` command."""
    gc.set_threshold(_COLLECT_AFTER)
    restrict_new_files()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name may have characters that the terminal lacks
    with until_reader_leaves(), naming_missing_extra():
        app()
