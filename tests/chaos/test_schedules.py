"""`kill -9` of anything at any moment, while events come twice, late, in any order and by clocks that are wrong: the state
is that of the undisturbed, ordered run.

A schedule follows from its seed, and has its own names in a store that many share. The ordinary run takes the first few
seeds of each stack, so many that each of its victims comes first at least once; `--schedules 200` takes all (`make chaos`).
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from bench.events import Arrival
from chaos.conductor import Conductor, carry_out
from chaos.processes import marked
from chaos.schedule import Schedule, schedule_of
from chaos.slices import MARK
from chaos.stacks import STACKS
from chaos.state import assert_ledger_balances, assert_state_is_the_oracles, differences
from filling import fill
from logs import records_of
from whence.derive.rebuild import rebuild
from whence.errors import EventError
from whence.log import Kind, Record
from whence.log.address import open_log
from whence.openlineage.accept import accept
from whence.store.dump import dump
from whence.store.engine import open_store, sqlite_url

SHARES = {"embedded": 0.2, "kafka": 0.5, "cluster": 0.3}
"""Of the schedules, on each stack."""


def seeds_of(stack: str, schedules: int) -> range:
    """The seeds of a stack: with more schedules there are more of the same."""
    start = 1_000 * list(STACKS).index(stack)
    return range(start, start + round(schedules * SHARES[stack]))


@pytest.mark.parametrize("name", list(STACKS))
def test_killed_at_any_moment_it_ends_where_it_would_have(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    seeds = seeds_of(name, request.config.getoption("--schedules"))
    with STACKS[name](tmp_path) as stack:
        schedules = [schedule_of(one, list(stack.victims), stack.ways, stack.moments) for one in seeds]
        conductor = Conductor.of(stack)
        outcomes = asyncio.run(carry_out(conductor, schedules))
        said, engine, records = conductor.load.said, conductor.engine, as_derived(records_of(stack.log))

        assert said.keys == {one.key for one in records if one.kind is Kind.EVENT}
        refused = {str(one.position): one.reason for one in records if one.kind is Kind.QUARANTINED}
        assert said.refused.items() <= refused.items()
        assert_ledger_balances(engine, records)
        assert_state_is_the_oracles(engine, records)
        lines = list(dump(engine))
        engine.dispose()
        spark: SparkSession = request.getfixturevalue("spark")
        rebuilt, in_order = (sqlite_url(tmp_path / f"{one}.db") for one in ("rebuilt", "in_order"))
        rebuild(spark, stack.log, rebuilt)
        assert differences(lines, dump(open_store(rebuilt))) == []
    assert marked(stack.data) == {}, "processes that nobody ended"

    ordered = open_log(str(tmp_path / "in order"))
    fill(ordered, (body for one in schedules for body in one.slice.in_order))
    rebuild(spark, ordered, in_order)
    expected = by_schedule(dump(open_store(in_order)))
    found = by_schedule(lines)
    wrong = {mark: differences(found[mark], expected[mark]) for mark in expected if digest(found[mark]) != digest(expected[mark])}
    assert not wrong, wrong
    assert found.keys() == {one.slice.mark for one in schedules}
    killed = Counter(act.victim for one in schedules for act in one.acts)


def by_schedule(lines: Iterable[str]) -> dict[str, list[str]]:
    """The lines of each schedule, by its mark; there is none that is not of exactly one."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        (mark,) = set(MARK.findall(line))
        found[mark].append(line)
    return found


def digest(lines: Sequence[str]) -> str:
    return sha256("\n".join(lines).encode()).hexdigest()


def as_derived(records: Iterable[Record]) -> list[Record]:
    """The records with those refused that the collector would have refused: who writes to a topic himself is not asked."""
    return [_judged(one) if one.kind is Kind.EVENT else one for one in records]


def _judged(record: Record) -> Record:
    try:
        accept(record.payload)
    except EventError as error:
        return replace(record, kind=Kind.QUARANTINED, pointer=error.pointer, reason=error.reason)
    return record
