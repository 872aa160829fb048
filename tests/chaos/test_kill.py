"""`kill -9` of the API, the Spark driver and its JVM, at any moment, under load: nothing is lost or counted twice."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from bench.events import Noise, arrivals
from chaos.load import Load
from chaos.processes import VICTIMS, kill, marked
from chaos.state import assert_ledger_balances, assert_state_is_the_oracles, differences, records_of
from chaos.wire import Wire, get
from whence.cli.serve import plan, running
from whence.derive.rebuild import rebuild
from whence.log import Kind
from whence.log.segments.log import SegmentLog
from whence.store.dump import dump
from whence.store.engine import open_store, sqlite_url

NOISE = Noise(duplicates=0.1, late=0.1, malformed=0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One kill of a schedule: so many answers after the last one, or, if `caught_up`, after the pipeline has all."""

    victim: str
    caught_up: bool
    after: int


def schedule(seed: int, kills: int) -> Iterator[Kill]:
    """API, driver and JVM, a third each. Many come so soon after the last that what it killed is still starting."""
    random = Random(seed)
    victims = [list(VICTIMS)[place % len(VICTIMS)] for place in range(kills)]
    random.shuffle(victims)
    for victim in victims:
        caught_up = victim != "api" and random.random() < 0.5
        yield Kill(
            victim=victim, caught_up=caught_up, after=random.choice((0, random.randrange(40), random.randrange(240)))
        )


async def conduct(load: Load, data: Path, kills: Iterator[Kill]) -> Counter[str]:
    """Carry out the schedule. Returns how many of which were killed."""
    killed: Counter[str] = Counter()
    done: set[int] = set()
    for one in kills:
        if one.caught_up:
            await load.derived()
        await load.more(one.after)
        find = partial(_fresh, one.victim, data, done)
        while not await kill(pid := await load.until(find)):
            done.add(pid)
        done.add(pid)
        killed[one.victim] += 1
    return killed


def _fresh(victim: str, data: Path, killed: set[int]) -> int | None:
    pid = VICTIMS[victim](data)
    return None if pid in killed else pid


async def chaos(url: str, data: Path, kills: Iterator[Kill], seed: int) -> tuple[Load, Counter[str]]:
    """Load and kills, until the store has everything and all is well again."""
    port = int(url.rpartition(":")[2])
    load = Load(port, arrivals(seed=seed, jobs=40, days=10_000, noise=NOISE))
    killed = await load.during(conduct(load, data, kills))
    await load.derived()
    wire = Wire(port)
    ready = await wire.ask(get("/health/ready"))
    wire.close()
    assert ready.status == 200, ready.body
    return load, killed


@pytest.mark.parametrize(("store", "kills", "seed"), [("sqlite", 50, 1), ("postgres", 5, 2)])
def test_killed_at_any_moment_it_ends_where_it_would_have(
    store: str, kills: int, seed: int, spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    data = tmp_path / "data"
    store_url = sqlite_url(data / "store.db") if store == "sqlite" else request.getfixturevalue("postgres_url")
    with running(plan(data, store_url, port=0)) as url:
        load, killed = asyncio.run(chaos(url, data, schedule(seed, kills), seed))
    assert marked(data) == {}, "processes that nobody ended"
    assert killed.total() == kills
    assert max(killed.values()) - min(killed.values()) <= 1

    records = records_of(data / "log")
    assert load.said.keys == {one.key for one in records if one.kind is Kind.EVENT}
    refused = {str(one.position): one.reason for one in records if one.kind is Kind.QUARANTINED}
    assert load.said.refused.items() <= refused.items()
    assert min(load.said.kinds[kind] for kind in ("event", "duplicate", "malformed")) > 0

    engine = open_store(store_url)
    assert_ledger_balances(engine, records)
    undisturbed_url = sqlite_url(tmp_path / "undisturbed.db")
    rebuild(spark, SegmentLog(data / "log"), undisturbed_url)
    undisturbed = open_store(undisturbed_url)
    assert differences(dump(engine), dump(undisturbed)) == []
    assert_ledger_balances(undisturbed, records)
    assert_state_is_the_oracles(engine, records)
    engine.dispose()
    undisturbed.dispose()
