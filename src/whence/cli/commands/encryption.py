"""Commands for the encryption of the store. They use the store and key files directly."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from whence.cli.commands.options import Data, Form, Store
from whence.cli.output.streams import Exit, Output, print_document, print_lines, reporting, safe
from whence.cli.settings import data_directory, store_url

encryption = typer.Typer(
    name="encryption", help="Encryption of SQL and source code in the store: its keys.", no_args_is_help=True
)


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    app.add_typer(encryption)


@encryption.command("create-key")
def create_key(
    file: Annotated[Path, typer.Argument(help="A new file, readable only by you")],
    output: Form = Output.TEXT,
) -> None:
    """Write a new random master key to a file, for WHENCE_MASTER_KEY_FILE. Without it, encrypted data is lost."""
    from whence.store.encryption.master_key import create_master

    with reporting(output):
        master = create_master(file)
        if output is Output.JSON:
            print_document({"file": str(file), "master_key": master.id})
            return
        print_lines(
            [Text(safe(f"{file} has master key {master.id}; keep a copy of it apart from backups of the store"))]
        )


@encryption.command()
def status(data: Data = None, store: Store = None, output: Form = Output.TEXT) -> None:
    """Print whether the store is encrypted, its keys, and whether the configured master key opens it."""
    from dataclasses import asdict

    from whence.query.answers.instants import iso
    from whence.store.connection.engine import reading
    from whence.store.encryption.encryption_state import read_encryption_state
    from whence.store.snapshots.graph import existing_store

    with reporting(output):
        engine = existing_store(store_url(data_directory(data), store))
        with reading(engine) as connection:
            found = read_encryption_state(connection)
        engine.dispose()
        if output is Output.JSON:
            print_document({"encrypted": bool(found.key), **asdict(found)})
        else:
            lines = ["the store is not encrypted"]
            if found.key:
                opens = found.trouble or "the configured master key opens it"
                lines = [f"encrypted since {iso(found.made_at)}", f"wrapped by master key {found.master}", opens]
            if found.plain:
                lines.append(
                    f"{found.plain:,} facets with SQL or code are not encrypted; `whence rebuild` with a key does"
                )
            print_lines([Text(safe(line)) for line in lines])
        raise typer.Exit(Exit.OUT_OF_SERVICE if found.trouble else Exit.OK)


@encryption.command()
def rotate(
    to: Annotated[Path, typer.Option("--to", exists=True, dir_okay=False, help="The file of the new master key")],
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Wrap the store's data key with another master key. The settings have the old one; running processes continue."""
    from whence.store.connection.engine import writing
    from whence.store.encryption.key_rotation import rewrap
    from whence.store.encryption.master_key import read_master
    from whence.store.snapshots.graph import existing_store

    with reporting(output):
        new = read_master(to)
        engine = existing_store(store_url(data_directory(data), store))
        with writing(engine) as connection:
            rewrap(connection, new)
        engine.dispose()
        if output is Output.JSON:
            print_document({"master_key": new.id})
            return
        print_lines(
            [Text(safe(f"the store is now of master key {new.id}: put {to} into the settings of every process"))]
        )
