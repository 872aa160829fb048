"""A steady load: each parcel is sent again until it is answered, whatever happens to API and broker."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TypeVar

from confluent_kafka import KafkaError, Message, Producer

import oracle
from bench.workloads.events import Arrival
from chaos.schedule import Parcel, Way
from chaos.wire import Answer, Wire, get, post
from whence.errors import EventError
from whence.log import Log
from whence.log.kafka.log import KafkaLog
from whence.openlineage.accept import accept
from whence.openlineage.message_keys import message_key

PER_SECOND = 40
"""Parcels."""
CONNECTIONS = 4
LOOK_SECONDS = 0.02
SKEWS_SECONDS = (0, -7 * 86_400, 50 * 60)
"""Of the clocks of those who write to the topic themselves; a broker refuses what comes more than an hour from now."""

T = TypeVar("T")


@dataclass(slots=True)
class Answered:
    """What was answered so far: keys of events, and positions of bodies that the API refused."""

    keys: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    """Position → reason."""
    parcels: int = 0


class Load:
    """Sends over a few connections, and writes to the topic itself as OpenLineage's clients do."""

    def __init__(self, port: int, log: Log) -> None:
        self._port = port
        self._topic = Topic(log) if isinstance(log, KafkaLog) else None
        self.answered = Answered()

    async def send(self, parcels: Sequence[Parcel]) -> None:
        """Send at a steady pace; return when all are answered."""
        due = asyncio.get_running_loop().time()
        left = iter([(due + place / PER_SECOND, one) for place, one in enumerate(parcels)])
        async with asyncio.TaskGroup() as tasks:
            for _ in range(CONNECTIONS):
                tasks.create_task(self._send(left))

    async def until(self, has_come: Callable[[], T | None]) -> T:
        """Wait until there is something."""
        while (found := has_come()) is None:
            await asyncio.sleep(LOOK_SECONDS)
        return found

    async def derived(self) -> None:
        """Wait until the store has all that is in the log now."""
        with closing(Wire(self._port)) as wire:
            while not (await wire.ask(get("/api/v2/progress?wait_for=head&timeout=5"))).json.get("reached"):
                await asyncio.sleep(LOOK_SECONDS)

    async def ready(self) -> None:
        """Wait until the API says that all stations work."""
        with closing(Wire(self._port)) as wire:
            while (await wire.ask(get("/health/ready"))).status != 200:
                await asyncio.sleep(LOOK_SECONDS)

    async def _send(self, left: Iterator[tuple[float, Parcel]]) -> None:
        loop = asyncio.get_running_loop()
        with closing(Wire(self._port)) as wire:
            for due, parcel in left:
                await asyncio.sleep(due - loop.time())
                await self._deliver(wire, parcel)
                self.answered.parcels += 1
                self.answered.keys |= {oracle.read(one.body).key for one in parcel.arrivals if one.kind != "malformed"}

    async def _deliver(self, wire: Wire, parcel: Parcel) -> None:
        bodies = [one.body for one in parcel.arrivals]
        match parcel.way:
            case Way.POST:
                (arrival,) = parcel.arrivals
                self._record(arrival, await _answer(wire, post("/api/v1/lineage", arrival.body)))
            case Way.BATCH:
                answer = await _answer(wire, post("/api/v1/lineage/batch", b"[" + b",".join(bodies) + b"]"))
                assert answer.json["summary"]["successful"] == len(bodies), answer
            case Way.TOPIC:
                assert self._topic is not None
                await asyncio.to_thread(self._topic.write, bodies)

    def _record(self, arrival: Arrival, answer: Answer) -> None:
        assert (answer.status == 201) is (arrival.kind != "malformed"), (answer, arrival)
        if answer.status == 201:
            assert answer.json["key"] == oracle.read(arrival.body).key
        else:
            self.answered.refused[answer.json["position"]] = answer.json["reason"]


async def _answer(wire: Wire, request: bytes) -> Answer:
    while (answer := await wire.ask(request)).status == 503:
        await asyncio.sleep(int(answer.headers["retry-after"]))
    return answer


class Topic:
    """A producer that is not Whence: keys as OpenLineage's clients give them, clocks that are off."""

    def __init__(self, log: KafkaLog) -> None:
        servers, self._name = log.address.servers, log.address.topic
        settings = {"bootstrap.servers": servers, "acks": "all", "enable.idempotence": True, "log_level": 0}
        self._producer = Producer({**settings, "message.timeout.ms": 60_000, "reconnect.backoff.max.ms": 500})

    def write(self, bodies: Sequence[bytes]) -> None:
        """Return once the broker has all of them."""
        outcomes, all_answered = list[KafkaError | None](), threading.Event()

        def note(error: KafkaError | None, _: Message) -> None:
            outcomes.append(error)
            if len(outcomes) == len(bodies):
                all_answered.set()

        for place, body in enumerate(bodies):
            timestamp = int(time.time() + SKEWS_SECONDS[place % len(SKEWS_SECONDS)]) * 1_000
            self._producer.produce(self._name, body, _key(body), timestamp=timestamp, on_delivery=note)
        while not all_answered.is_set():
            self._producer.poll(0.05)
        assert not any(outcomes), outcomes


def _key(body: bytes) -> str | None:
    try:
        return message_key(accept(body).event)
    except EventError:
        return None
