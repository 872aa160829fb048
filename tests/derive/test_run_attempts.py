"""Runs of several attempts: any arrival of their events gives the oracle's state, on both stores."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from fixtures.examples import examples
from fixtures.readings_of_events import empty
from fixtures.stores_of_events import apply_bodies
from generators import body
from oracle import comparable
from oracle import dump as oracle_dump
from oracle.stories import STREAMING, Json, run
from whence.store.lifecycle.dump import dump

STATES = ("START", "START", "RUNNING", "COMPLETE", "COMPLETE", "ABORT", "FAIL", "FAIL", None)
SLOW = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)

events = st.builds(
    run,
    number=st.integers(1, 2),
    state=st.sampled_from(STATES),
    at=st.integers(0, 3),
    reads=st.sampled_from(("a", "c")),
    writes=st.sampled_from(("", "b")),
    job=st.sampled_from(({}, {}, {}, STREAMING)),
)


def test_any_arrival_of_attempts_gives_the_oracles_state(store: Engine) -> None:
    @settings(max_examples=examples(60), derandomize=True, deadline=None, suppress_health_check=SLOW)
    @given(history=st.lists(events, min_size=2, max_size=8), split=st.integers(1, 8))
    def check(history: list[Json], split: int) -> None:
        bodies = [body(event) for event in history]
        expected = comparable(oracle_dump(bodies))
        for arrival in (bodies, bodies[::-1]):
            empty(store)
            apply_bodies(store, arrival[:split])
            apply_bodies(store, [*arrival[split:], *arrival[:1]], first=100)
            assert comparable(list(dump(store))) == expected

    check()
