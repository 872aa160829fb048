"""Executors at work at the same time, some of them given up as lost: PostgreSQL ends in the oracle's state."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from fixtures.examples import examples
from fixtures.migrated_stores import open_migrated
from fixtures.readings_of_events import empty, readings_of
from fixtures.waits import wait_until
from generators import arrivals, body, histories
from oracle import comparable
from oracle import dump as oracle_dump
from services.postgres_waits import waiting
from whence.derive.reading.record import Reading
from whence.derive.writing.chunk_facts import collect_facts
from whence.store.ingest.facts import Rows, merge_facts
from whence.store.ingest.recompute import PARTS, recompute, recompute_part
from whence.store.lifecycle.dump import dump
from whence.store.schema.tables import dataset

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture)
EXECUTORS = 3


@pytest.fixture
def engine(postgres_url: str) -> Iterator[Engine]:
    """An empty store on PostgreSQL."""
    engine = open_migrated(postgres_url)
    yield engine
    engine.dispose()


def derive_apart(engine: Engine, batches: list[list[Reading]]) -> None:
    """Every batch is merged, and then every part settled, by all executors, each in an order of its own."""

    def merge_all(some: list[list[Reading]]) -> None:
        for one in some:
            merge_facts(engine, collect_facts(one))

    def recompute_all(parts: list[int]) -> None:
        for part in parts:
            recompute_part(engine, part)

    with ThreadPoolExecutor(EXECUTORS) as executors:
        shuffled = [Random(number).sample(batches, len(batches)) for number in range(EXECUTORS)]
        list(executors.map(merge_all, shuffled))
        orders = [Random(number).sample(range(PARTS), PARTS) for number in range(EXECUTORS)]
        list(executors.map(recompute_all, orders))


@settings(max_examples=examples(40), suppress_health_check=SLOW)
@given(data=st.data())
def test_any_interleaving_gives_the_oracles_state(engine: Engine, data: st.DataObject) -> None:
    history = data.draw(histories())
    batches = data.draw(arrivals(history))
    readings = readings_of([one for batch in batches for one in batch])
    empty(engine)
    half = len(batches) // 2
    starts = [sum(len(batch) for batch in batches[:place]) for place in range(len(batches) + 1)]
    tables = [readings[start:end] for start, end in pairwise(starts)]
    for some in (tables[:half], tables[half:]):
        derive_apart(engine, some)
        recompute(engine, {})
    expected = comparable(oracle_dump([body(event) for event in history]))
    assert comparable(list(dump(engine))) == expected


def test_a_merge_that_postgresql_breaks_off_is_done_again(engine: Engine) -> None:
    rows = [(1, "ns", "a", 5, 5), (2, "ns", "b", 5, 5)]
    merge_facts(engine, Rows({"dataset": rows}))
    later = Rows({"dataset": [(id_, namespace, name, 4, 6) for id_, namespace, name, _, _ in rows]})
    with ThreadPoolExecutor(1) as executor, engine.begin() as rival:
        rival.execute(text("set local deadlock_timeout = '1min'"))  # so that the merge is the one to give way
        rival.execute(dataset.update().where(dataset.c.id == 2).values(last_seen=7))
        merging = executor.submit(partial(merge_facts, engine, later))
        wait_until(lambda: waiting(rival) or merging.done())
        rival.execute(dataset.update().where(dataset.c.id == 1).values(last_seen=7))
        rival.commit()
        merging.result()
    with engine.connect() as connection:
        assert [tuple(row) for row in connection.execute(dataset.select().order_by(dataset.c.id))] == [
            (1, "ns", "a", 4, 7),
            (2, "ns", "b", 4, 7),
        ]
