"""The outbox of a server: what it reads from the store, and where it appends receipts."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from sqlalchemy import Engine

from whence.api.collector.collect import Collector
from whence.api.notifications.details import DetailReader
from whence.api.notifications.messages import MessageSender
from whence.api.notifications.outbox import Outbox, OutboxState
from whence.api.operations.progress import ProgressWatch, is_current
from whence.errors import ArtifactError
from whence.govern.incidents.current import read_all_traits, read_incidents, read_streaks
from whence.govern.notifications.incident_notices import list_notices
from whence.govern.notifications.receipts import list_receipts
from whence.govern.notifications.receivers import Receivers
from whence.govern.notifications.receivers_file import read_receivers
from whence.govern.notifications.viewers import limit_receivers
from whence.govern.retraining.reading import read_triggers
from whence.govern.retraining.triggers import RetrainRoute
from whence.log import Log
from whence.openlineage.authority.restrictions import FULL
from whence.store.connection.lock import hold_outbox_lock
from whence.store.security.database import read_security
from whence.store.security.policy import read_policy
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

log = logging.getLogger(__name__)


def make_outbox(
    file: Path,
    event_log: Log,
    progress: ProgressWatch,
    collector: Collector,
    engine: Engine,
    security: Callable[[], Engine | None],
) -> Outbox:
    """The outbox for a file of receivers. `security`: see `open_services`. Raises ArtifactError, RulesFileError."""
    receivers = ReceiversOnDisk(file)

    def read_limited() -> Receivers:
        return limit_by_policy(receivers.read(), security())

    async def append(bodies: Sequence[bytes]) -> object:
        return await collector.take(bodies, FULL)

    return Outbox(
        read_limited,
        lambda now: read_outbox_state(engine, now, receivers.read().retrain),
        append,
        partial(is_current, event_log, progress),
        partial(hold_outbox_lock, engine),
        DetailReader(engine, event_log).add_to,
        MessageSender(engine, event_log).send,
    )


def read_outbox_state(engine: Engine, now: int, retrain: Sequence[RetrainRoute] = ()) -> OutboxState:
    """The notices of incidents at a time (µs), the receipts, and the triggers of some routes. Raises StoreError."""
    with snapshot(engine) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)
        receipts = list_receipts(catalog)
        found = read_incidents(catalog, graph, read_streaks(connection, now), now, is_past=False)
        traits = read_all_traits(graph, {one.root for one in found.incidents})
        notices = list_notices(found.incidents, found.transitions, traits, now)
        triggers = list(read_triggers(catalog, graph, retrain, found.incidents, now))
        return OutboxState(incidents=notices, receipts=receipts, triggers=triggers)


def limit_by_policy(found: Receivers, security: Engine | None) -> Receivers:
    """The receivers, limited by the access policy as it is now; None: Whence runs open. Raises StoreError."""
    if security is None:
        return found
    with read_security(security) as connection:
        return limit_receivers(found, read_policy(connection))


class ReceiversOnDisk:
    """The receivers of a file, read again whenever it changes. A mistake in it leaves those before it."""

    def __init__(self, file: Path) -> None:
        self._file, self._changed_at, self._found = file, _changed_at(file), _load(file)

    def read(self) -> Receivers:
        """The receivers that the file states now."""
        if (changed_at := _changed_at(self._file)) != self._changed_at:
            self._changed_at = changed_at
            try:
                self._found = _load(self._file)
            except ArtifactError as error:
                log.warning("the receivers stay as they were: %s", error)
        return self._found


def _changed_at(file: Path) -> int:
    """When a file was changed (ns); 0 if it is not there."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def _load(file: Path) -> Receivers:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(file.as_posix(), str(error)) from None
    return read_receivers(text, file.as_posix())
