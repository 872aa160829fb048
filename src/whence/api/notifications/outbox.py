"""The outbox: sends notifications of incidents, and reports, while the server runs, in one instance at a time.

What is to be sent follows from the store alone. A delivery is done when its receipt is in the log. A process that is
killed between the two sends again, under the same id.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from whence.errors import DeliveryError, EventError, LogError, StoreBusyError, StoreError
from whence.govern.notifications.adapters.alertmanager import post_alerts
from whence.govern.notifications.adapters.http import Http, open_http
from whence.govern.notifications.deliver import deliver
from whence.govern.notifications.messages import Message
from whence.govern.notifications.notice import Act
from whence.govern.notifications.outbox import Delivery, Notices, find_alerts, find_deliveries, find_messages
from whence.govern.notifications.receipts import Receipts, receipt_event, receipt_of, receipts_of
from whence.govern.notifications.receivers import AlertmanagerReceiver, Receiver, Receivers
from whence.govern.notifications.rendering.alertmanager import Alert
from whence.govern.retraining.triggers import RetrainTrigger
from whence.model.records.notifications import ReceiptRecord

LOOK_SECONDS = 10.0
"""Between two looks at the store."""
REPEAT_SECONDS = 60.0
"""Between two posts of the alerts that fire."""
_SHARE = 0.05
"""The largest share of time that is spent on reading the store."""
_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 600.0

Json = dict[str, Any]
SendMessage = Callable[[Http, Receiver, Message, str], str]
"""Sends a message beside incidents, with links to an address. Returns where it is. Raises DeliveryError."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxState:
    """What is in the store: the notices of incidents, the receipts in order, and what triggers retraining."""

    incidents: Sequence[Notices]
    receipts: Sequence[ReceiptRecord]
    triggers: Sequence[RetrainTrigger] = ()


@dataclass(slots=True)
class Counts:
    """What one receiver was sent since this process began. `pending`: at the last look, the oldest since (s)."""

    sent: int = 0
    failed: int = 0
    pending: int = 0
    oldest: float = 0.0


@dataclass(slots=True)
class _Attempts:
    """Failed attempts of one act, and when the next one is due (s, monotonic)."""

    failed: int = 0
    due: float = 0.0

    def fail(self, error: DeliveryError, now: float) -> None:
        self.failed += 1
        pause = min(_FIRST_PAUSE * 2 ** min(self.failed - 1, 20), _LONGEST_PAUSE)
        self.due = now + max(pause, error.pause or 0.0)


@dataclass(slots=True)
class _Memory:
    """What one process knows beside the store. `receipts`: those that may not be in the store yet; `is_first`: nothing
    was looked at yet, so whatever is found may have been sent by the process before.
    """

    receipts: list[ReceiptRecord] = field(default_factory=list)
    attempts: dict[str, _Attempts] = field(default_factory=dict)
    alerts: dict[str, dict[str, list[Alert]]] = field(default_factory=dict)
    repeated_at: float = -REPEAT_SECONDS
    inherited: frozenset[str] = frozenset()
    is_first: bool = True


class Outbox:
    """Looks and sends until it is stopped. For one event loop; requests never wait for it."""

    def __init__(
        self,
        receivers: Callable[[], Receivers],
        read: Callable[[int], OutboxState],
        append: Callable[[Sequence[bytes]], Awaitable[object]],
        is_current: Callable[[], Awaitable[bool]],
        hold_lock: Callable[[], AbstractContextManager[Callable[[], None]]],
        add_details: Callable[[Act], Act] = lambda act: act,
        send_message: SendMessage | None = None,
    ) -> None:
        self._receivers, self._read, self._append = receivers, read, append
        self._is_current, self._hold_lock, self._add_details = is_current, hold_lock, add_details
        self._send_message = send_message
        self._memory = _Memory()
        self._task: asyncio.Task[None] | None = None
        self.counts: dict[str, Counts] = {}
        """By the name of a receiver: what `/metrics` serves."""
        self.took = 0.0
        """Seconds of the last look at the store."""

    def start(self) -> None:
        """Start; the loop must be running."""
        self._task = asyncio.get_running_loop().create_task(self._work())

    async def stop(self) -> None:
        """Stop. A delivery that runs is not waited for."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def send(self) -> int:
        """Look once, and send what is due. Returns the number of deliveries; 0 while events wait for the pipeline.

        Raises StoreError, LogError, EventError.
        """
        if not await self._is_current():
            return 0
        receivers, began = await asyncio.to_thread(self._receivers), time.time()
        state = await asyncio.to_thread(self._read, int(began * 1e6))
        self.took = time.time() - began
        stored = {one.act for one in state.receipts}
        self._memory.receipts = [one for one in self._memory.receipts if one.act not in stored]
        receipts = receipts_of((*state.receipts, *self._memory.receipts))
        found = list(find_deliveries(state.incidents, receivers, receipts, int(began * 1e6)))
        if self._send_message:
            found += find_messages(receivers, receipts, int(began * 1e6), state.triggers)
        self._remember(found, receivers, began)
        with open_http() as http:
            by_receiver = [[one for one in found if one.receiver.name == name] for name in self.counts]
            sent = await asyncio.gather(*(self._send_all(http, some, receivers.url) for some in by_receiver if some))
            await self._repeat_alerts(http, state.incidents, receivers, state.receipts)
        return sum(sent)

    def _remember(self, found: Sequence[Delivery], receivers: Receivers, now: float) -> None:
        memory = self._memory
        ids = {one.act.id for one in found}
        if memory.is_first:
            memory.inherited, memory.is_first = frozenset(ids), False
        memory.attempts = {id_: one for id_, one in memory.attempts.items() if id_ in ids}
        self.counts = {one.name: self.counts.get(one.name, Counts()) for one in receivers.receivers}
        for name, counts in self.counts.items():
            times = [one.act.at / 1e6 for one in found if one.receiver.name == name]
            counts.pending, counts.oldest = len(times), max(now - min(times), 0.0) if times else 0.0

    async def _send_all(self, http: Http, found: Iterable[Delivery], base: str) -> int:
        """Send to one receiver. What follows a failed act of a thread waits, and all do if the receiver is away."""
        blocked, sent = set[str](), 0
        for one in found:
            attempts = self._memory.attempts.setdefault(one.act.id, _Attempts())
            if one.act.thread in blocked or attempts.due > time.monotonic():
                blocked.add(one.act.thread)
                continue
            try:
                await self._send(http, one, attempts, base)
                sent += 1
            except DeliveryError as error:
                self._fail(one, attempts, error)
                blocked.add(one.act.thread)
                if error.is_away:
                    break
        return sent

    async def _send(self, http: Http, one: Delivery, attempts: _Attempts, base: str) -> None:
        """Deliver, then record the receipt. Raises DeliveryError, LogError, EventError."""
        is_repeated = attempts.failed > 0 or one.act.id in self._memory.inherited
        known = receipts_of(self._memory.receipts).references.get(one.act.thread, "")
        act = replace(one.act, is_repeated=is_repeated, reference=one.act.reference or known)
        reference = await asyncio.to_thread(self._deliver, http, one.receiver, act, base)
        receipt = receipt_of(act, reference, attempts.failed + 1)
        self._memory.receipts.append(receipt)
        counts = self.counts[one.receiver.name]
        counts.sent, counts.pending = counts.sent + 1, counts.pending - 1
        counts.oldest = counts.oldest if counts.pending else 0.0
        event = receipt_event(act, receipt, time.time_ns() // 1_000)
        await self._append([json.dumps(event, ensure_ascii=False).encode()])

    def _deliver(self, http: Http, receiver: Receiver, act: Act | Message, base: str) -> str:
        match act:
            case Act():
                return deliver(http, receiver, self._add_details(act), base)
            case Message():
                assert self._send_message is not None
                return self._send_message(http, receiver, act, base)

    def _fail(self, one: Delivery, attempts: _Attempts, error: DeliveryError) -> None:
        self.counts[one.receiver.name].failed += 1
        attempts.fail(error, time.monotonic())
        if attempts.failed == 1:
            log.warning("the receiver %s was not notified, and is tried again: %s", one.receiver.name, error)

    async def _repeat_alerts(
        self, http: Http, incidents: Sequence[Notices], receivers: Receivers, stored: Sequence[ReceiptRecord]
    ) -> None:
        memory = self._memory
        if time.monotonic() < memory.repeated_at + REPEAT_SECONDS:
            return
        memory.repeated_at = time.monotonic()
        receipts = receipts_of((*stored, *memory.receipts))
        for receiver in receivers.receivers:
            if isinstance(receiver.target, AlertmanagerReceiver):
                await self._repeat(http, receiver, receiver.target, incidents, receipts, receivers.url)

    async def _repeat(
        self,
        http: Http,
        receiver: Receiver,
        target: AlertmanagerReceiver,
        incidents: Sequence[Notices],
        receipts: Receipts,
        base: str,
    ) -> None:
        earlier = self._memory.alerts.get(receiver.name, {})
        found = find_alerts(incidents, receiver, receipts, time.time_ns() // 1_000, base, earlier)
        posted = [alert for some in found.values() for alert in some]
        try:
            if posted:
                await asyncio.to_thread(post_alerts, http, target, posted)
            self._memory.alerts[receiver.name] = found
        except DeliveryError as error:
            self.counts[receiver.name].failed += 1
            log.warning("the alerts of %s are not sent again: %s", receiver.name, error)

    async def _work(self) -> None:
        complaint = ""
        while True:
            try:
                await self._lead()
            except StoreBusyError:  # another instance sends
                self.counts = {}
            except (StoreError, LogError, EventError) as error:  # the next look may succeed
                before, complaint = complaint, str(error)
                if complaint != before:
                    log.warning("notifications are not sent: %s", complaint)
            await asyncio.sleep(LOOK_SECONDS)

    async def _lead(self) -> None:
        """Send while this process has the lock. Raises StoreBusyError if another one has it."""
        with ExitStack() as stack:
            check = await asyncio.to_thread(stack.enter_context, self._hold_lock())
            self._memory = _Memory()
            while True:
                await asyncio.to_thread(check)
                await self.send()
                await asyncio.sleep(max(LOOK_SECONDS, self.took / _SHARE))
