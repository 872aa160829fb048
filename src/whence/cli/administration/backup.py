"""`whence backup` and `whence restore`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.filesize import decimal
from rich.text import Text
from sqlalchemy import Engine

from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.govern.backup import SECURITY, Manifest, Place, back_up, restore_backup
from whence.log import Position
from whence.log.address import open_log
from whence.store.connection.engine import open_store
from whence.store.snapshots.graph import existing_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """The addresses of store, log, archive and security database."""

    store: str
    log: str
    archive: str
    security: str


def show_backup(what: Addresses, directory: Path, output: Output) -> Exit:
    """Back up. Raises BackupError, StoreError, LogError."""
    manifest = back_up(_place(what, existing_store(what.store, any_schema=True)), directory)
    return _show(f"backed up to {directory}", manifest, output)


def show_restored(directory: Path, what: Addresses, output: Output) -> Exit:
    """Restore. Raises BackupError, StoreError, LogError."""
    manifest = restore_backup(directory, _place(what, open_store(what.store)))
    return _show(f"restored from {directory}", manifest, output)


def _place(what: Addresses, engine: Engine) -> Place:
    local = Path(what.archive.removeprefix("file://"))
    archive = None if "://" in str(local) else local
    return Place(engine=engine, log=open_log(what.log), archive=archive, security=open_store(what.security))


def _show(done: str, manifest: Manifest, output: Output) -> Exit:
    if output is Output.JSON:
        print_document(asdict(manifest))
        return Exit.OK
    total = sum(file.bytes for file in manifest.files.values())
    lines = [Text.assemble((safe(done), "bold"), f": {len(manifest.files)} files, {decimal(total)}")]
    lines += [Text(f"store at   {_places(manifest.reached)}"), Text(f"log up to  {_places(manifest.log_end)}")]
    if not manifest.log_end:
        lines[-1] = Text("the log is a topic, which keeps its own copies: it is not in the backup", "yellow")
    if SECURITY not in manifest.files:
        lines.append(Text("there is no security database: no keys, grants or audit log are in the backup", "yellow"))
    print_lines(lines)
    return Exit.OK


def _places(lanes: Mapping[str, int]) -> str:
    return ", ".join(f"{lane} {Position.from_int(place)}" for lane, place in sorted(lanes.items())) or "nothing yet"
