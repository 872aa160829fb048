"""A steady load on the collector: each body is sent again until it is answered, whatever happens to the server."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from bench.events import Arrival
from chaos.wire import Answer, Wire, get, post

PER_SECOND = 40
CONNECTIONS = 4

T = TypeVar("T")


@dataclass(slots=True)
class Said:
    """What the collector has answered so far: keys of events, and positions of refused bodies."""

    keys: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    """Position → reason."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Of the arrivals that were answered."""


class Load:
    """Arrivals at a steady pace over a few connections. What waits for it wakes at every tick and every answer."""

    def __init__(self, port: int, arrivals: Iterator[Arrival]) -> None:
        self._port = port
        self._arrivals = arrivals
        self._queue: asyncio.Queue[Arrival] = asyncio.Queue(CONNECTIONS)
        self._news = asyncio.Condition()
        self.said = Said()

    @property
    def answered(self) -> int:
        """How many bodies have been answered for good."""
        return self.said.kinds.total()

    async def during(self, work: Awaitable[T]) -> T:
        """Keep the load up while the work goes on; then wait until all that was sent is answered."""
        async with asyncio.TaskGroup() as tasks:
            senders = [tasks.create_task(self._send()) for _ in range(CONNECTIONS)]
            pace = tasks.create_task(self._pace())
            result = await work
            pace.cancel()
            await self._queue.join()
            for sender in senders:
                sender.cancel()
        return result

    async def until(self, has_come: Callable[[], T | None]) -> T:
        """Wait until there is something; look at every tick and every answer."""
        async with self._news:
            while (found := has_come()) is None:
                await self._news.wait()
            return found

    async def more(self, answers: int) -> None:
        """Wait for so many further answers."""
        goal = self.answered + answers
        await self.until(lambda: self.answered >= goal or None)

    async def derived(self) -> None:
        """Wait until the store has all that is in the log now."""
        wire = Wire(self._port)
        while not (await wire.ask(get("/api/v2/progress?wait_for=head&timeout=60"))).json.get("reached"):
            await self._notify()
        wire.close()

    async def _pace(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            if not self._queue.full():
                self._queue.put_nowait(next(self._arrivals))
            await self._notify()
            due = max(due + 1 / PER_SECOND, loop.time())
            await asyncio.sleep(due - loop.time())

    async def _send(self) -> None:
        wire = Wire(self._port)
        try:
            while True:
                arrival = await self._queue.get()
                self._record(arrival, await self._answer(wire, arrival.body))
                self._queue.task_done()
                await self._notify()
        finally:
            wire.close()

    async def _answer(self, wire: Wire, body: bytes) -> Answer:
        while (answer := await wire.ask(post("/api/v1/lineage", body))).status == 503:
            await asyncio.sleep(int(answer.headers["retry-after"]))
        return answer

    def _record(self, arrival: Arrival, answer: Answer) -> None:
        assert (answer.status == 201) is (arrival.kind != "malformed"), (answer, arrival)
        self.said.kinds[arrival.kind] += 1
        if answer.status == 201:
            self.said.keys.add(answer.json["key"])
        else:
            self.said.refused[answer.json["position"]] = answer.json["reason"]

    async def _notify(self) -> None:
        async with self._news:
            self._news.notify_all()
