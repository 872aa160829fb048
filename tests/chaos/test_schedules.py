"""`kill -9` of anything at any moment, while events come twice, late, in any order and by clocks that are wrong: the
state is that of the undisturbed, ordered run.

A schedule follows from its seed, and has its own names in a store that many share. The ordinary run takes the first
seed of each stack but the cluster. `make nightly-chaos` runs two hundred; `--seeds 1017-1017` repeats one of them.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from chaos.conductor import Conductor, carry_out
from chaos.load import Answered
from chaos.processes import marked
from chaos.schedule import Schedule, schedule_of
from chaos.slices import MARK
from chaos.stacks import STACKS, Stack
from chaos.state import assert_ledger_balances, assert_state_is_the_oracles, differences
from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from whence.derive.rebuild import rebuild
from whence.errors import EventError
from whence.log import Kind, Log, Record
from whence.log.address import open_log
from whence.openlineage.accept import accept
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.lifecycle.dump import dump

SHARES = {"embedded": 0.1, "kafka": 0.5, "cluster": 0.3, "embedded spark": 0.1}
"""Of the schedules, on each stack."""

ORDINARY = {"embedded": 1, "kafka": 1}
"""Schedules on each stack in the ordinary run. `derive/test_cluster.py` kills an executor of the cluster there."""

VICTIMS = {"embedded": 4, "kafka": 7, "cluster": 9, "embedded spark": 5}
"""How many there are on each stack."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All stacks where schedules or seeds are given, otherwise those of the ordinary run."""
    if "name" in metafunc.fixturenames:
        is_given = metafunc.config.getoption("schedules") or metafunc.config.getoption("seeds")
        metafunc.parametrize("name", list(STACKS if is_given else ORDINARY))


def test_killed_at_any_moment_it_ends_where_it_would_have(
    name: str, pytestconfig: pytest.Config, tmp_path: Path, spark: SparkSession
) -> None:
    if not (seeds := seeds_of(name, pytestconfig)):
        pytest.skip("none of the seeds is for this stack")
    with STACKS[name](tmp_path) as stack:
        assert len(stack.victims) == VICTIMS[name]
        schedules = schedules_on(stack, seeds)
        conductor = Conductor.of(stack, pytestconfig.getoption("--back"))
        asyncio.run(carry_out(conductor, schedules))
        records = as_derived(records_of(stack.log))
        assert_log_has_what_was_answered(records, conductor.load.answered)
        assert_ledger_balances(conductor.engine, records)
        assert_state_is_the_oracles(conductor.engine, records)
        found = state(conductor.engine)
        assert differences(found, rebuilt(spark, stack.log, tmp_path / "rebuilt.db")) == []
    assert marked(stack.data) == {}, "processes that nobody ended"

    ordered = open_log(str(tmp_path / "in order"))
    fill(ordered, (body for one in schedules for body in one.slice.in_order))
    expected = by_schedule(rebuilt(spark, ordered, tmp_path / "in order.db"))
    assert expected.keys() == {one.slice.mark for one in schedules}
    assert digests(by_schedule(found)) == digests(expected)


def seeds_of(name: str, config: pytest.Config) -> Sequence[int]:
    """The seeds of a stack: with more schedules there are more of the same."""
    first = 1_000 * list(STACKS).index(name)
    if given := config.getoption("--seeds"):
        start, _, last = str(given).partition("-")
        return [seed for seed in range(int(start), int(last) + 1) if seed // 1_000 * 1_000 == first]
    schedules = config.getoption("--schedules")
    return range(first, first + (round(schedules * SHARES[name]) if schedules else ORDINARY[name]))


def schedules_on(stack: Stack, seeds: Iterable[int]) -> list[Schedule]:
    return [schedule_of(seed, list(stack.victims), stack.ways, stack.moments) for seed in seeds]


def assert_log_has_what_was_answered(records: Sequence[Record], answered: Answered) -> None:
    """All that was answered, and no event that nobody sent."""
    assert answered.keys == {one.key for one in records if one.kind is Kind.EVENT}
    refused = {str(one.position): one.reason for one in records if one.kind is Kind.QUARANTINED}
    assert answered.refused.items() <= refused.items()


def state(engine: Engine) -> list[str]:
    """The dump; the engine is not needed any more."""
    lines = list(dump(engine))
    engine.dispose()
    return lines


def rebuilt(spark: SparkSession, log: Log, path: Path) -> list[str]:
    """The dump of a store that is derived from a log at one go."""
    rebuild(spark, log, sqlite_url(path))
    return state(open_store(sqlite_url(path)))


def by_schedule(lines: Iterable[str]) -> dict[str, list[str]]:
    """The lines of each schedule, by its mark; each is of exactly one."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        (mark,) = set(MARK.findall(line))
        found[mark].append(line)
    return found


def digests(lines: dict[str, list[str]]) -> dict[str, str]:
    return {mark: sha256("\n".join(some).encode()).hexdigest() for mark, some in lines.items()}


def as_derived(records: Iterable[Record]) -> list[Record]:
    """With those refused that the collector would have refused: who writes to a topic himself does not ask it."""
    return [_judged(one) if one.kind is Kind.EVENT else one for one in records]


def _judged(record: Record) -> Record:
    try:
        accept(record.payload)
    except EventError as error:
        return replace(record, kind=Kind.QUARANTINED, pointer=error.pointer, reason=error.reason)
    return record
