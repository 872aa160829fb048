"""Backup and restore: the store's content, grants and audit log, the archive, the event log up to its committed end,
and a manifest with their checksums.

They are copied in this order. The log in a backup therefore has every record that the store has derived, and a pipeline
continues from there. An unfinished backup has no manifest and another name.
"""

import json
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import file_digest
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from whence import __version__
from whence.errors import BackupError
from whence.log import Log, Position
from whence.log.segments.copy import copy_segments
from whence.log.segments.files import list_segments, sync_directory, sync_file
from whence.log.segments.log import LANE, SegmentLog
from whence.store.connection.engine import open_store, read_progress, reading, sqlite_url
from whence.store.lifecycle.copy import copy_in, copy_out, refuse_filled, upgrade_copy
from whence.store.migrations.migrate import migrate
from whence.store.security.copy import copy_in_security, copy_out_security, has_security_database, refuse_guarded

FORMAT = 1
MANIFEST, STORE, SECURITY, LOG, ARCHIVE = "manifest.json", "store.db", "security.db", "log", "archive"


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """The expected size and checksum of a file in a backup."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The installation that is backed up or restored into.

    `archive` is its directory, which may not exist; None: it is stored elsewhere and has backups of its own. `security`
    is the security database, which may not exist; None: leave it out.
    """

    engine: Engine
    log: Log
    archive: Path | None = None
    security: Engine | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The content of a backup. `reached` is the store's progress in each lane of the log. `log_end` is the end of the
    log's copy, by lane; empty if the log is a topic, which keeps its own copies. Times are microseconds UTC.
    """

    format: int
    whence: str
    made_at: int
    store: str
    reached: Mapping[str, int]
    log_end: Mapping[str, int]
    files: Mapping[str, File]


def back_up(place: Place, directory: Path) -> Manifest:
    """Write a backup. The directory appears once it is complete and durable. Raises BackupError, LogError."""
    if directory.exists():
        raise BackupError(f"{directory} already exists; choose a new directory for each backup")
    directory.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f"{directory.name}.partial-", dir=directory.parent))
    try:
        with place.log.prevent_deletion():
            manifest = _write_backup(place, partial)
        partial.chmod(0o750)
        partial.rename(directory)
        sync_directory(directory.parent)
    except (OSError, SQLAlchemyError, sqlite3.Error) as error:
        raise BackupError(f"the backup failed: {error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return manifest


def restore_backup(directory: Path, place: Place) -> Manifest:
    """Check a backup, then restore its log, archive, store and security database into empty places.

    Raises BackupError; everything is then unchanged, unless the disk failed.
    """
    manifest = check_backup(directory)
    _require_empty(place, manifest)
    with tempfile.TemporaryDirectory(prefix="whence-restore-") as scratch:
        working = upgrade_copy(directory / STORE, Path(scratch))
        try:
            if isinstance(place.log, SegmentLog) and manifest.log_end:
                copy_segments(directory / LOG, place.log.directory)
            if place.archive and (directory / ARCHIVE).is_dir():
                _copy_table(directory / ARCHIVE, place.archive)
            copy_in(working, place.engine)
            if place.security and SECURITY in manifest.files:
                guarded = shutil.copy(directory / SECURITY, Path(scratch) / SECURITY)  # its tables may need an upgrade
                copy_in_security(Path(guarded), place.security)
        except (OSError, SQLAlchemyError) as error:
            raise BackupError(f"the restore failed: {error}; empty the target and try again") from error
    return manifest


def check_backup(directory: Path) -> Manifest:
    """The manifest of a backup whose files are all as they were written. Raises BackupError."""
    manifest = _read_manifest(directory / MANIFEST)
    for name, expected in manifest.files.items():
        if not (directory / name).is_file() or _describe_file(directory / name) != expected:
            raise BackupError(f"{directory / name} is missing or damaged: its checksum is not that of the manifest")
    return manifest


def _write_backup(place: Place, partial: Path) -> Manifest:
    copy_out(place.engine, partial / STORE)
    copied = open_store(sqlite_url(partial / STORE))
    reached = read_progress(copied, any_schema=True)
    copied.dispose()
    if place.security and has_security_database(place.security):
        copy_out_security(place.security, partial / SECURITY)
    ends: dict[str, Position] = {}
    if place.archive and place.archive.is_dir():
        _copy_table(place.archive, partial / ARCHIVE)
    if isinstance(place.log, SegmentLog):
        ends[LANE] = copy_segments(place.log.directory, partial / LOG)
    files = sorted(path for path in partial.rglob("*") if path.is_file())
    for path in files:
        sync_file(path)
    manifest = Manifest(
        format=FORMAT,
        whence=__version__,
        made_at=time.time_ns() // 1_000,
        store=place.engine.dialect.name,
        reached=reached,
        log_end={lane: end.as_int for lane, end in ends.items()},
        files={str(path.relative_to(partial)): _describe_file(path) for path in files},
    )
    (partial / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n", "utf-8")
    sync_file(partial / MANIFEST)
    for path in (*(path_ for path_ in partial.rglob("*") if path_.is_dir()), partial):
        sync_directory(path)
    return manifest


def _read_manifest(path: Path) -> Manifest:
    try:
        document = json.loads(path.read_text("utf-8"))
        if document["format"] != FORMAT:
            raise BackupError(f"{path} is of format {document['format']}; this release of Whence reads {FORMAT}")
        files = {name: File(**entry) for name, entry in document["files"].items()}
        return Manifest(**{**document, "files": files})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BackupError(f"{path.parent} is not a complete backup: its {MANIFEST} cannot be read") from error


def _describe_file(path: Path) -> File:
    with path.open("rb") as stream:
        return File(bytes=path.stat().st_size, sha256=file_digest(stream, "sha256").hexdigest())


def _copy_table(source: Path, target: Path) -> None:
    """Copy a Delta table while it is written: its log first, so that every file that the copied log names exists."""
    for part in sorted(source.iterdir(), key=lambda path: path.name != "_delta_log"):
        if part.is_dir():  # a day, or the table's log
            shutil.copytree(part, target / part.name, ignore=shutil.ignore_patterns("*.tmp", ".*"))


def _require_empty(place: Place, manifest: Manifest) -> None:
    occupied = [place.archive] if place.archive and place.archive.exists() and any(place.archive.iterdir()) else []
    if isinstance(place.log, SegmentLog):
        occupied += [place.log.directory] if list_segments(place.log.directory) else []
    elif manifest.log_end:
        raise BackupError("the event log of this backup consists of segments: restore it into a directory with --log")
    if place.engine.dialect.name == "sqlite":
        file = Path(str(place.engine.url.database))
        # SQLite would replay leftovers of a deleted file into the restored one.
        beside = (file.with_name(f"{file.name}{end}") for end in ("", "-wal", "-shm", "-journal"))
        occupied += [file_ for file_ in beside if file_.exists()]
    if occupied:
        raise BackupError(
            f"{' and '.join(map(str, occupied))} is not empty; restore a backup into an empty directory and store"
        )
    if place.engine.dialect.name != "sqlite":
        migrate(place.engine)
        with reading(place.engine) as connection:
            refuse_filled(connection)
    if place.security and SECURITY in manifest.files and has_security_database(place.security):
        with reading(place.security) as connection:
            refuse_guarded(connection)
