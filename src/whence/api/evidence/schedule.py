"""Signs the heads of both logs, and stores the packs of certified datasets, while the server runs."""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from whence.api.evidence.pack_stores import open_pack_store
from whence.errors import StoreBusyError, WhenceError
from whence.govern.evidence.installation import Installation
from whence.govern.evidence.signing.key_files import current_key
from whence.govern.evidence.stored_packs import StoredPacks, store_packs
from whence.govern.signed_heads.head_file import append_head
from whence.query.answers.instants import iso
from whence.store.connection.lock import hold_evidence_lock
from whence.store.security.audit import Head, verify_log
from whence.store.security.database import read_security
from whence.store.status.periodic_jobs import LastRun, read_runs, record_run

JOB = "evidence"
"""The name of the job in `/health/ready`."""
LOOK_SECONDS = 30.0
_STOP_SECONDS = 10.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSettings:
    """How often (s) heads are signed and packs are stored, and where: a path or a URL."""

    every: float
    packs: str


def run_once(installation: Installation, packs: str, now: int) -> StoredPacks:
    """Sign the next head, if a key signs, and store the packs of certified datasets that are not there yet.

    Raises EvidenceError, AuditError, StoreError, LogError; StoreBusyError if another instance does it.
    """
    with hold_evidence_lock(installation.store):
        if (key := current_key(installation.keys)) is not None:
            append_head(installation.heads, installation.log, _AuditLog(installation).verify, key, iso(now))
        return store_packs(installation, open_pack_store(packs))


@dataclass(frozen=True, slots=True)
class _AuditLog:
    installation: Installation

    def verify(self, earlier: Sequence[Head]) -> Head | None:
        if self.installation.security is None:
            return None
        with read_security(self.installation.security) as connection:
            return verify_log(connection, earlier)


class EvidenceSchedule:
    """Runs the job at its times until it is stopped. For one event loop."""

    def __init__(self, installation: Installation, settings: EvidenceSettings) -> None:
        self._installation, self._settings = installation, settings
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start; the loop must be running."""
        self._task = asyncio.get_running_loop().create_task(self._work())

    async def stop(self) -> None:
        """Stop, and wait within bounds for a run: it reads the store, which is closed next."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_STOP_SECONDS)

    async def _work(self) -> None:
        while True:
            run = asyncio.create_task(asyncio.to_thread(self._look))
            try:
                await asyncio.shield(run)
            except asyncio.CancelledError:
                await run
                raise
            await asyncio.sleep(min(LOOK_SECONDS, self._settings.every))

    def _look(self) -> None:
        """Run the job if it is due, and record how it ended: no failure of it may end the schedule."""
        with suppress(StoreBusyError):
            try:
                now = time.time_ns() // 1_000
                last = read_runs(self._installation.store).get(JOB)
                if last is None or not 0 <= now - last.started_at < self._settings.every * 1e6:
                    self._run(now)
            except (SQLAlchemyError, OSError) as error:
                _log.warning("the evidence job could not be looked after: %s", error)

    def _run(self, now: int) -> None:
        failure = ""
        try:
            run_once(self._installation, self._settings.packs, now)
        except StoreBusyError:
            raise
        except WhenceError as error:
            failure = str(error)
            _log.warning("the evidence job failed: %s", failure)
        record_run(self._installation.store, LastRun(JOB, now, time.time_ns() // 1_000, failure))
