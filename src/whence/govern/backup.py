"""Backup and restore: the store's content, who may do what and who did it, the archive, the event log up to where it is
durable, and a manifest that vouches for them.

They are copied in this order. So the log in a backup has all that the store has, and a pipeline goes on from there.
A backup that is not finished has no manifest and another name.
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
from whence.log.segments.files import segments, sync_directory, sync_file
from whence.log.segments.log import LANE, SegmentLog
from whence.store.copy import copy_in, copy_out, refuse_filled, upgraded
from whence.store.engine import open_store, read_progress, reading, sqlite_url
from whence.store.migrate import migrate
from whence.store.security.copy import copy_in_security, copy_out_security, is_there, refuse_guarded

FORMAT = 1
MANIFEST, STORE, SECURITY, LOG, ARCHIVE = "manifest.json", "store.db", "security.db", "log", "archive"


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of a backup, as it must be."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What is backed up, or restored into. `archive` is a directory, whether or not it is there; None: it is elsewhere
    and keeps itself. `security`: the security database, whether or not it is there; None: leave it out.
    """

    engine: Engine
    log: Log
    archive: Path | None = None
    security: Engine | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup holds. `reached`: how far the store has read each lane of the log; `log_end`: where the copy of the
    log ends, by lane; none if the log is a topic, which keeps its own copies. Times are microseconds UTC.
    """

    format: int
    whence: str
    made_at: int
    store: str
    reached: Mapping[str, int]
    log_end: Mapping[str, int]
    files: Mapping[str, File]


def back_up(place: Place, directory: Path) -> Manifest:
    """Write a backup; the directory appears when it is whole and durable. Raises BackupError, LogError."""
    if directory.exists():
        raise BackupError(f"{directory} is there already; give each backup a directory of its own")
    directory.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f"{directory.name}.partial-", dir=directory.parent))
    try:
        with place.log.retained():
            manifest = _write(place, partial)
        partial.chmod(0o750)
        partial.rename(directory)
        sync_directory(directory.parent)
    except (OSError, SQLAlchemyError, sqlite3.Error) as error:
        raise BackupError(f"the backup failed: {error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return manifest


def restore(directory: Path, place: Place) -> Manifest:
    """Check a backup, then put its log, archive, store and security database into empty places.

    Raises BackupError; then all is as it was, unless the disk failed.
    """
    manifest = check(directory)
    _refuse_filled(place, manifest)
    with tempfile.TemporaryDirectory(prefix="whence-restore-") as scratch:
        working = upgraded(directory / STORE, Path(scratch))
        try:
            if isinstance(place.log, SegmentLog) and manifest.log_end:
                copy_segments(directory / LOG, place.log.directory)
            if place.archive and (directory / ARCHIVE).is_dir():
                _copy_table(directory / ARCHIVE, place.archive)
            copy_in(working, place.engine)
            if place.security and SECURITY in manifest.files:
                guarded = shutil.copy(directory / SECURITY, Path(scratch) / SECURITY)  # it may need newer tables
                copy_in_security(Path(guarded), place.security)
        except (OSError, SQLAlchemyError) as error:
            raise BackupError(f"the restore failed: {error}; empty the place and try again") from error
    return manifest


def check(directory: Path) -> Manifest:
    """The manifest of a backup of which every file is as it was written. Raises BackupError."""
    manifest = _read(directory / MANIFEST)
    for name, expected in manifest.files.items():
        if not (directory / name).is_file() or _describe(directory / name) != expected:
            raise BackupError(f"{directory / name} is missing or damaged: its checksum is not that of the manifest")
    return manifest


def _write(place: Place, partial: Path) -> Manifest:
    copy_out(place.engine, partial / STORE)
    copied = open_store(sqlite_url(partial / STORE))
    reached = read_progress(copied, any_schema=True)
    copied.dispose()
    if place.security and is_there(place.security):
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
        files={str(path.relative_to(partial)): _describe(path) for path in files},
    )
    (partial / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n", "utf-8")
    sync_file(partial / MANIFEST)
    for path in (*(one for one in partial.rglob("*") if one.is_dir()), partial):
        sync_directory(path)
    return manifest


def _read(path: Path) -> Manifest:
    try:
        said = json.loads(path.read_text("utf-8"))
        if said["format"] != FORMAT:
            raise BackupError(f"{path} is of format {said['format']}; this release of Whence reads {FORMAT}")
        files = {name: File(**one) for name, one in said["files"].items()}
        return Manifest(**{**said, "files": files})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BackupError(f"{path.parent} is no whole backup: its {MANIFEST} cannot be read") from error


def _describe(path: Path) -> File:
    with path.open("rb") as stream:
        return File(bytes=path.stat().st_size, sha256=file_digest(stream, "sha256").hexdigest())


def _copy_table(source: Path, target: Path) -> None:
    """Copy a Delta table while it is written: its log first, so that every file that this names is there."""
    for part in sorted(source.iterdir(), key=lambda path: path.name != "_delta_log"):
        if part.is_dir():  # a day, or the table's log
            shutil.copytree(part, target / part.name, ignore=shutil.ignore_patterns("*.tmp", ".*"))


def _refuse_filled(place: Place, manifest: Manifest) -> None:
    taken = [place.archive] if place.archive and place.archive.exists() and any(place.archive.iterdir()) else []
    if isinstance(place.log, SegmentLog):
        taken += [place.log.directory] if segments(place.log.directory) else []
    elif manifest.log_end:
        raise BackupError("the backup has a log in segments: restore it into a directory (--log)")
    if place.engine.dialect.name == "sqlite":
        file = Path(str(place.engine.url.database))
        # What SQLite left beside a file that is gone it would replay into the one that is put in its place.
        beside = (file.with_name(f"{file.name}{end}") for end in ("", "-wal", "-shm", "-journal"))
        taken += [one for one in beside if one.exists()]
    if taken:
        raise BackupError(f"{' and '.join(map(str, taken))} is not empty; a backup is restored into an empty place")
    if place.engine.dialect.name != "sqlite":
        migrate(place.engine)
        with reading(place.engine) as connection:
            refuse_filled(connection)
    if place.security and SECURITY in manifest.files and is_there(place.security):
        with reading(place.security) as connection:
            refuse_guarded(connection)
