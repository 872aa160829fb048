"""The archive's Delta table: its content and all its changes."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.transaction import AddAction, RemoveAction

from whence.derive.delta.table import commit, find_table, local_path, make_table, table_errors
from whence.derive.reading.records import RECORD_SCHEMA
from whence.log.segments.files import sync_directory, sync_file

DAY = "day"
SCHEMA = RECORD_SCHEMA.append(pa.field(DAY, pa.date32()))


@dataclass(frozen=True, slots=True)
class Reach:
    """The archived part [since, until) of one lane of the log, as integers of positions."""

    since: int
    until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveFile:
    """A Parquet file of the archive; `path` is relative to the table. Its positions ascend from `first` to `last`."""

    path: str
    size: int
    day: str
    records: int
    first: int
    last: int
    received_from: int
    received_to: int


@dataclass(frozen=True, slots=True)
class Archive:
    """The table at one version."""

    uri: str
    table: DeltaTable

    def reach(self, lane: str) -> Reach | None:
        """The archived part of a lane; None if nothing of it is archived."""
        since, until = (self.table.transaction_version(_app(lane, end)) for end in ("since", "until"))
        return None if since is None or until is None else Reach(since, until)

    def files(self) -> list[ArchiveFile]:
        """All files, by their first positions."""
        rows = pa.table(self.table.get_add_actions()).to_pylist()
        return sorted((_file(row) for row in rows), key=lambda file: file.first)

    def append(self, files: Iterable[ArchiveFile], reaches: Mapping[str, Reach]) -> "Archive":
        """Add files and move the ends of the lanes, in one commit. Raises TableBusyError if another archiver moved the
        end of one of these lanes since this version.
        """
        ends = [
            Transaction(_app(lane, end), version)
            for lane, reach in reaches.items()
            for end, version in (("since", reach.since), ("until", reach.until))
        ]
        metadata = {"whence.lanes": {lane: [reach.since, reach.until] for lane, reach in reaches.items()}}
        properties = CommitProperties(app_transactions=ends, custom_metadata=metadata)
        return self._commit([_add(file, is_new=True) for file in files], properties)

    def exchange(self, old: Iterable[ArchiveFile], new: Iterable[ArchiveFile], now_millis: int) -> "Archive":
        """Replace files by others with the same records. Raises TableBusyError after any commit since this version."""
        gone = [_remove(file, now_millis, is_lost=False) for file in old]
        # deltalake does not detect conflicts over removed files. Without retries, any other commit is a conflict.
        return self._commit(
            [*gone, *(_add(file, is_new=False) for file in new)], CommitProperties(max_commit_retries=0)
        )

    def forget(self, files: Iterable[ArchiveFile], begins: Mapping[str, int], now_millis: int) -> "Archive":
        """Remove files from the table, and move the starts of lanes. Raises TableBusyError if anybody committed since
        this version.
        """
        starts = [Transaction(_app(lane, "since"), position) for lane, position in begins.items()]
        properties = CommitProperties(app_transactions=starts, max_commit_retries=0)
        return self._commit([_remove(file, now_millis, is_lost=True) for file in files], properties)

    def vacuum(self) -> list[str]:
        """Delete files that no version of the last week refers to, such as those of killed archivers."""
        with table_errors(self.uri):
            return self.table.vacuum(dry_run=False, full=True)

    def make_durable(self) -> None:
        """Sync the table's files on local disks, before anything is deleted because it is archived."""
        root = local_path(self.uri)
        if root is None:
            return
        paths = [root / file.path for file in self.files()] + list((root / "_delta_log").iterdir())
        for path in (*paths, *{path.parent for path in paths}, root):
            sync_directory(path) if path.is_dir() else sync_file(path)

    def _commit(self, actions: list[AddAction | RemoveAction], properties: CommitProperties) -> "Archive":
        commit(self.uri, self.table, actions, SCHEMA, properties, partition_by=DAY)
        return open_archive(self.uri)


def open_archive(uri: str) -> Archive:
    """The archive at a path or a URL, created if it is missing. Raises TableError."""
    make_table(uri, SCHEMA, "whence_archive", partition_by=DAY)
    with table_errors(uri):
        return Archive(uri, DeltaTable(uri))


def find_archive(uri: str) -> Archive | None:
    """The archive at a path or a URL, or None if there is none. Raises TableError."""
    table = find_table(uri)
    return Archive(uri, table) if table else None


def _app(lane: str, end: str) -> str:
    return f"whence/{lane}/{end}"


def _add(file: ArchiveFile, *, is_new: bool) -> AddAction:
    stats = {
        "numRecords": file.records,
        "minValues": {"position": file.first, "received_at": file.received_from},
        "maxValues": {"position": file.last, "received_at": file.received_to},
        "nullCount": {"position": 0, "received_at": 0},
    }
    return AddAction(file.path, file.size, {DAY: file.day}, file.received_to // 1_000, is_new, json.dumps(stats))


def _remove(file: ArchiveFile, now_millis: int, *, is_lost: bool) -> RemoveAction:
    return RemoveAction(
        file.path,
        data_change=is_lost,
        deletion_timestamp=now_millis,
        size=file.size,
        partition_values={DAY: file.day},
    )


def _file(row: dict[str, Any]) -> ArchiveFile:
    low, high = row["min"], row["max"]
    return ArchiveFile(
        path=row["path"],
        size=row["size_bytes"],
        day=row["partition"][DAY].isoformat(),
        records=row["num_records"],
        first=low["position"],
        last=high["position"],
        received_from=low["received_at"],
        received_to=high["received_at"],
    )
