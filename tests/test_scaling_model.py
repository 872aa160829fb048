"""What `bench.scaling.model` computes from measured costs, beside a simulation of executors that share one lock."""

from dataclasses import replace
from heapq import heapify, heapreplace

from hypothesis import given
from hypothesis import strategies as st

from bench.scaling.model import Costs

seconds = st.floats(1e-6, 1e-3)
costs = st.builds(
    Costs, read=seconds, write=seconds, settle=seconds, spark_shared=seconds, has_one_writer=st.booleans()
)


def simulated(one: Costs, cores: int, events: int = 4_000) -> float:
    """Events per second of executors that read one event after the other, and write each, alone if only one may."""
    free = [0.0] * cores
    heapify(free)
    unlocked = 0.0
    for _ in range(events):
        written = free[0] + one.read + one.spark_shared
        written = (max(written, unlocked) if one.has_one_writer else written) + one.write
        unlocked = written
        heapreplace(free, written)
    return events / (max(free) + events * one.settle)


@given(costs, st.sampled_from([1, 2, 4, 16, 64]))
def test_the_rate_is_that_of_a_simulation(one: Costs, cores: int) -> None:
    assert abs(one.rate(cores) / simulated(one, cores) - 1) < 0.06


@given(costs)
def test_more_cores_are_never_slower_and_never_beyond_the_limit(one: Costs) -> None:
    rates = [one.rate(cores) for cores in (1, 2, 4, 8, 16, 64, 4_096)]
    assert rates == sorted(rates)
    assert rates[-1] <= one.limit * (1 + 1e-9)
    assert abs(rates[0] * one.total - 1) < 1e-9
    assert replace(one, has_one_writer=False).rate(16) >= one.rate(16)
