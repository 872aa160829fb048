"""Commands for lineage as tables and KPIs: publish, kpis."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from whence.cli.commands.options import Archive, Data, Form, Store, Tables
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import archive_uri, data_directory, store_url, tables_uri

Days = Annotated[float, typer.Option("--days", min=0, help="The period of KPIs, in days until now")]


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    app.command()(publish)
    app.command()(kpis)


def publish(
    days: Days = 7,
    data: Data = None,
    store: Store = None,
    archive: Archive = None,
    tables: Tables = None,
    output: Form = Output.TEXT,
) -> None:
    """Write the lineage as Delta tables, and measure the KPIs over them."""
    from whence.cli.administration.kpis import Publishing, show_published

    place = data_directory(data)
    what = Publishing(
        store=store_url(place, store), archive=archive_uri(place, archive), tables=tables_uri(place, tables)
    )
    with reporting(output):
        raise typer.Exit(show_published(what, datetime.now(UTC), days, output))


def kpis(
    explain: Annotated[bool, typer.Option("--explain", help="Print the definition of each KPI")] = False,
    data: Data = None,
    tables: Tables = None,
    output: Form = Output.TEXT,
) -> None:
    """Print the latest lineage KPIs, and their change since the previous measurement."""
    from whence.cli.administration.kpis import show_kpis

    with reporting(output):
        raise typer.Exit(show_kpis(tables_uri(data_directory(data), tables), explain, output))
