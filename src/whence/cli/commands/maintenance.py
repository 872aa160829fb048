"""Maintenance commands: retention, decommissioning of jobs, backup and restore, repair of the log."""

import time
from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import Archive, Data, EventLog, Form, Security, Store, Url, parse_age
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import archive_uri, data_directory, log_url, security_db, store_url

retention = typer.Typer(name="retention", help="Retention: plan and apply deletions.", no_args_is_help=True)
log_commands = typer.Typer(name="log", help="The event log: find damage, and repair it.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    app.add_typer(retention)
    app.add_typer(log_commands)
    app.command()(decommission)
    app.command()(backup)
    app.command()(restore)


Runs = Annotated[int, typer.Option("--runs", parser=parse_age, metavar="AGE", help="Delete older runs and events")]
Keep = Annotated[int, typer.Option("--keep", min=0, help="Keep this number of latest runs of each job")]
History = Annotated[
    int, typer.Option("--history", parser=parse_age, metavar="AGE", help="Delete lineage that ended before this age")
]
Raw = Annotated[
    int | None,
    typer.Option(
        "--raw",
        parser=parse_age,
        metavar="AGE",
        help="Delete older days from the archive; then a rebuild is impossible",
    ),
]
Periods = Annotated[
    float, typer.Option("--stale-after", min=1, help="A job is stale if it was not seen for this number of periods")
]


@retention.command()
def plan(
    runs: Runs = "90d",  # type: ignore[assignment]  # parsed
    keep: Keep = 20,
    history: History = "400d",  # type: ignore[assignment]  # parsed
    raw: Raw = None,
    stale_after: Periods = 3,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List every row to delete")] = False,
    data: Data = None,
    store: Store = None,
    archive: Archive = None,
    output: Form = Output.TEXT,
) -> None:
    """Print what `retention apply` would delete now, and the stale jobs. Changes nothing."""
    from whence.cli.administration.retention import Keeping, show_plan
    from whence.govern.retention import Limits
    from whence.govern.stale_jobs import StalenessRule

    place, limits = data_directory(data), Limits(runs=runs, keep=keep, history=history)
    what = Keeping(store=store_url(place, store), archive=archive_uri(place, archive), limits=limits, raw=raw)
    with reporting(output):
        raise typer.Exit(show_plan(what, StalenessRule(periods=stale_after), verbose, output))


@retention.command()
def apply(
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan", exists=True, dir_okay=False, help="A plan as JSON: delete exactly these rows, or nothing"
        ),
    ] = None,
    runs: Runs = "90d",  # type: ignore[assignment]  # parsed
    keep: Keep = 20,
    history: History = "400d",  # type: ignore[assignment]  # parsed
    raw: Raw = None,
    shrink: Annotated[
        bool, typer.Option("--shrink", help="Then return free space to the file system; writers wait meanwhile")
    ] = False,
    data: Data = None,
    store: Store = None,
    archive: Archive = None,
    output: Form = Output.TEXT,
) -> None:
    """Delete the rows of the plan, after adding them to the summaries. The pipeline must not run; the collector may."""
    from whence.cli.administration.retention import Keeping, show_applied
    from whence.govern.retention import Limits

    place, limits = data_directory(data), Limits(runs=runs, keep=keep, history=history)
    what = Keeping(store=store_url(place, store), archive=archive_uri(place, archive), limits=limits, raw=raw)
    with reporting(output):
        raise typer.Exit(show_applied(what, plan, shrink, output))


def decommission(
    job: Annotated[str | None, typer.Argument(help="The job that ended: a node id, or the end of a name")] = None,
    unseen_for: Annotated[
        float | None,
        typer.Option(
            "--unseen-for", min=1, metavar="PERIODS", help="Every job that was not seen for this number of its periods"
        ),
    ] = None,
    at_least: Annotated[
        int,
        typer.Option("--at-least", parser=parse_age, metavar="AGE", help="With --unseen-for: and not seen for so long"),
    ] = "7d",  # type: ignore[assignment]  # parsed
    reason: Annotated[str, typer.Option("--reason", help="The reason, stored with the job")] = "",
    *,
    url: Url,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """End jobs that run no more. Their lineage ends now, and stays visible in the past. A new run revives a job."""
    from whence.cli.administration.decommission import Due, show_decommissioned
    from whence.govern.stale_jobs import StalenessRule

    if (job is None) == (unseen_for is None):
        raise typer.BadParameter("name a job, or give --unseen-for")
    patience = None if unseen_for is None else StalenessRule(periods=unseen_for, least=at_least)
    with reporting(output):
        due = Due(job=job, patience=patience, reason=reason, at=time.time_ns() // 1_000)
        raise typer.Exit(show_decommissioned(store_url(data_directory(data), store), url, due, output))


def backup(
    directory: Annotated[Path, typer.Argument(help="A new directory")],
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    archive: Archive = None,
    security: Security = None,
    output: Form = Output.TEXT,
) -> None:
    """Back up store, event log, archive, keys, grants and audit log, consistently, while everything runs."""
    from whence.cli.administration.backup import Addresses, show_backup

    place = data_directory(data)
    with reporting(output):
        url, archived = store_url(place, store), archive_uri(place, archive)
        what = Addresses(store=url, log=log_url(place, log), archive=archived, security=security_db(url, security))
        raise typer.Exit(show_backup(what, directory, output))


def restore(
    directory: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="A backup")],
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    archive: Archive = None,
    security: Security = None,
    output: Form = Output.TEXT,
) -> None:
    """Restore a backup into empty locations: store (of either kind), log, archive, keys, grants, audit log."""
    from whence.cli.administration.backup import Addresses, show_restored

    place = data_directory(data)
    with reporting(output):
        url, archived = store_url(place, store), archive_uri(place, archive)
        what = Addresses(store=url, log=log_url(place, log), archive=archived, security=security_db(url, security))
        raise typer.Exit(show_restored(directory, what, output))


@log_commands.command()
def repair(
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Account the records that the archive lacks as lost, permanently")
    ] = False,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    archive: Archive = None,
    output: Form = Output.TEXT,
) -> None:
    """Check the whole log for damage, and restore it from the archive. Exit code 1 if some damage remains."""
    from whence.cli.administration.log_repair import Repairing, show_repaired

    place = data_directory(data)
    what = Repairing(
        log=log_url(place, log),
        archive=archive_uri(place, archive),
        store=store_url(place, store),
        accept_loss=accept_loss,
    )
    with reporting(output):
        raise typer.Exit(show_repaired(what, output))
