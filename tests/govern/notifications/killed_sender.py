"""A sender that is killed and starts again: `python -m govern.notifications.killed_sender DATA STORE RECEIVERS`.

It is forked from a process that has imported everything, and writes its id to a file for whoever kills it.
"""

import asyncio
import os
import sys
from functools import partial
from pathlib import Path

from sqlalchemy import Engine

from whence.api.collector.collect import Collector
from whence.api.notifications.outbox import Outbox, OutboxState
from whence.api.operations.progress import ProgressWatch, is_current
from whence.api.settings import Settings
from whence.govern.incidents.records import list_incident_transitions
from whence.govern.notifications.incident_notices import list_notices
from whence.govern.notifications.receipts import list_receipts
from whence.govern.notifications.receivers_file import read_receivers
from whence.log.group_commit import GroupCommit
from whence.openlineage.authority.restrictions import FULL
from whence.store.connection.engine import open_store, read_progress
from whence.store.connection.lock import hold_outbox_lock
from whence.store.snapshots.catalog import StoreCatalog, snapshot


def read(engine: Engine, now: int) -> OutboxState:
    """Transitions and receipts in a store at a time (µs)."""
    with snapshot(engine) as connection:
        catalog = StoreCatalog(connection)
        notices = list_notices((), list_incident_transitions(catalog), {}, now)
        return OutboxState(incidents=notices, receipts=list_receipts(catalog))


async def run(data: Path, store: str, file: Path) -> None:
    """Send until nothing is left."""
    settings = Settings(data=data, store_url=store)
    log = settings.log
    commit = GroupCommit(log.open_writer, settings.commit)
    await commit.probe()
    engine = open_store(store)
    progress = ProgressWatch(partial(read_progress, engine))
    collector = Collector(settings, commit)
    receivers = read_receivers(file.read_text())

    async def append(bodies: object) -> object:
        return await collector.take(bodies, FULL)  # type: ignore[arg-type]  # as the outbox has them

    outbox = Outbox(
        lambda: receivers,
        partial(read, engine),
        append,
        partial(is_current, log, progress),
        partial(hold_outbox_lock, engine),
    )
    with hold_outbox_lock(engine):
        while not outbox.counts or any(one.pending for one in outbox.counts.values()):
            await outbox.send()
    await commit.close()


def main(data: Path, store: str, file: Path) -> None:
    """Start a sender whenever the one before it was killed."""
    while True:
        child = os.fork()
        if not child:
            (data / "sender").write_text(str(os.getpid()))
            asyncio.run(run(data, store, file))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            sys.exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
