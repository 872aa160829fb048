"""The log of a store on this machine, for questions that need events. Where it cannot be read, they say so."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from whence.api.requests.logged_owners import LoggedOwners
from whence.errors import LogError, StoreError
from whence.govern.containment.rollback_documents import Reported
from whence.govern.run_events.run_commits import read_run_commits
from whence.govern.run_events.run_reports import read_run_reports
from whence.log import Log
from whence.log.address import open_log
from whence.query.history.changes.code import ReadCommits
from whence.query.history.changes.owners import Declared, OwnerStatement, ReadOwners
from whence.query.runs.commits import Commit
from whence.store.security.signing import existing_signing_secret

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class LocalLog:
    """A log that may be out of reach: then nothing is read from it."""

    log: Log

    def commits(self, connection: Connection) -> ReadCommits:
        """Reads the commits of runs in a snapshot of the store."""

        def read(run_ids: Sequence[int]) -> Mapping[int, Commit]:
            return _or_nothing(partial(read_run_commits, connection, self.log, run_ids), {})

        return read

    def reports(self, connection: Connection) -> Callable[[Sequence[int]], Mapping[int, Reported]]:
        """Reads what runs reported themselves in a snapshot of the store."""

        def read(run_ids: Sequence[int]) -> Mapping[int, Reported]:
            return _or_nothing(partial(read_run_reports, connection, self.log, run_ids), {})

        return read

    def owners(self, connection: Connection) -> ReadOwners:
        """Reads what events said of owners in a snapshot of the store."""
        return _Owners(LoggedOwners(connection, self.log))


@dataclass(frozen=True, slots=True)
class _Owners:
    logged: LoggedOwners

    def declared(self, subjects: AbstractSet[int], since: int, until: int) -> Declared:
        return _or_nothing(partial(self.logged.declared, subjects, since, until), Declared(cut=frozenset(subjects)))

    def reported(self, runs: Iterable[int]) -> Mapping[int, Sequence[OwnerStatement]]:
        return _or_nothing(partial(self.logged.reported, runs), {})


def read_local_log(connection: Connection, address: str, security: str) -> tuple[ReadCommits | None, ReadOwners | None]:
    """Reads what events say of the commits of runs, and of owners, as far as the log at an address can be read."""
    log = open_local_log(address, security)
    return (None, None) if log is None else (log.commits(connection), log.owners(connection))


def open_local_log(address: str, security: str) -> LocalLog | None:
    """The log at an address. None without a directory there; and for a topic, without the security database (its URL)
    whose secret signs the messages.
    """
    if not address.startswith("kafka://"):
        return LocalLog(open_log(address)) if address and Path(address).is_dir() else None
    try:
        return LocalLog(open_log(address, partial(existing_signing_secret, security)))
    except (LogError, StoreError):
        return None


def _or_nothing(read: Callable[[], Found], nothing: Found) -> Found:
    try:
        return read()
    except LogError:
        return nothing
