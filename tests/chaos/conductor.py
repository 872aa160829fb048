"""Carrying out schedules on a running stack: sending, killing at the chosen moment, and waiting until all is well."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine, select, text
from sqlalchemy.exc import DBAPIError

from chaos.load import Load
from chaos.processes import kill, state_of
from chaos.schedule import Act, Moment, Schedule
from chaos.stacks import Stack
from services.postgres_waits import waiting
from whence.model.ids import event_id
from whence.store.connection.engine import open_store, reading
from whence.store.schema.tables import dirty_key, event, progress

logger = logging.getLogger(__name__)

STUCK_SECONDS = 600
"""No schedule takes so long: a kill that does not come is a mistake of the test."""

HELD = {Moment.MERGING: dirty_key, Moment.SETTLING: progress}
"""What the transaction of a merge, and that of a settlement, write last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What happened in a schedule."""

    schedule: Schedule
    seconds: float
    back_after: float
    """Seconds from the last kill until all was well."""

    def __str__(self) -> str:
        return f"{self.seconds:5.1f} s, back after {self.back_after:4.1f} s, {self.schedule}"


@dataclass(slots=True)
class Conductor:
    """Carries out schedules, one after the other."""

    stack: Stack
    load: Load
    engine: Engine
    back_seconds: float
    """How long after the last kill of a schedule all that was answered must be in the store, and the API be ready."""
    _killed: set[int] = field(default_factory=set)
    _reviving: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)

    @classmethod
    def of(cls, stack: Stack, back_seconds: float) -> "Conductor":
        """One for a running stack."""
        return cls(stack, Load(stack.port, stack.log), open_store(stack.store_url), back_seconds)

    async def carry_out(self, schedule: Schedule) -> Outcome:
        """All acts of a schedule, until all is well again. Raises AssertionError if that takes too long."""
        began = last_kill = time.monotonic()
        async with asyncio.timeout(STUCK_SECONDS):
            for act in schedule.acts:
                last_kill = await self._perform(act)
        try:
            async with asyncio.timeout(last_kill + self.back_seconds - time.monotonic()):
                await asyncio.gather(*self._reviving.values())
                await self.load.derived()
                await self.load.ready()
        except TimeoutError:
            raise AssertionError(f"not back within {self.back_seconds} s: {state_of(self.stack.data)}") from None
        self._assert_nothing_is_lost()
        now = time.monotonic()
        return Outcome(schedule=schedule, seconds=now - began, back_after=now - last_kill)

    async def _perform(self, act: Act) -> float:
        """When the victim was killed."""
        if act.moment is Moment.IDLE:
            await self.load.derived()
        goal = self.load.answered.parcels + act.after
        async with asyncio.TaskGroup() as tasks:
            await self._restarted("postgres")
            with self._held(act.moment) as connection:
                tasks.create_task(self.load.send(act.parcels))
                await self.load.until(lambda: self.load.answered.parcels >= goal or None)
                if connection is not None:
                    await self.load.until(lambda: waiting(connection) or None)
                await self._kill(act.victim)
                return time.monotonic()

    @contextmanager
    def _held(self, moment: Moment) -> Iterator[Connection | None]:
        """While this is open, no micro-batch gets past its moment."""
        if moment not in HELD:
            yield None
            return
        with self.engine.connect() as connection:
            connection.execute(text(f"LOCK TABLE {HELD[moment].name} IN EXCLUSIVE MODE"))
            yield connection
            try:
                connection.rollback()
            except DBAPIError:
                connection.invalidate()  # PostgreSQL was the victim

    async def _kill(self, name: str) -> None:
        await self._restarted(name)
        victim = self.stack.victims[name]
        while True:
            pids = await self.load.until(lambda: [one for one in victim.pids() if one not in self._killed] or None)
            self._killed |= set(pids)
            if any([await kill(pid) for pid in pids]):
                break
        if victim.revive:
            self._reviving[name] = asyncio.create_task(asyncio.to_thread(victim.revive))

    async def _restarted(self, name: str) -> None:
        if name in self._reviving:
            await self._reviving[name]

    def _assert_nothing_is_lost(self) -> None:
        with reading(self.engine) as connection:
            stored = set(connection.execute(select(event.c.id)).scalars())
        lost = [key for key in self.load.answered.keys if event_id(key) not in stored]
        assert not lost, lost[:5]


async def carry_out(conductor: Conductor, schedules: Sequence[Schedule]) -> None:
    """All schedules in turn. An error says which one it was."""
    outcomes: list[Outcome] = []
    for one in schedules:
        try:
            outcomes.append(await conductor.carry_out(one))
        except BaseException as error:
            conductor.engine.dispose()
            error.add_note(f"in schedule {one}")
            raise
        logger.info("%s", outcomes[-1])
    killed = Counter(act.victim for one in schedules for act in one.acts)
    slowest = max(outcomes, key=lambda one: one.back_after)
    logger.info("%s schedules, kills: %s; slowest: %s", len(outcomes), dict(killed), slowest)
