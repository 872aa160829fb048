"""The promise: any order, duplication, batching and split of the same events gives the same state, that of the
oracle.
"""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from fixtures.examples import examples
from fixtures.readings_of_events import arrive, empty, readings_of
from generators import arrivals, body, governed_events, histories, sent, viewers
from oracle import comparable
from oracle import dump as oracle_dump
from whence.store.lifecycle.dump import dump

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture)


@settings(max_examples=examples(100), suppress_health_check=SLOW)
@given(data=st.data())
def test_any_arrival_gives_the_oracles_state(sqlite_store: Engine, data: st.DataObject) -> None:
    history = data.draw(histories())
    batches = data.draw(arrivals(history))
    empty(sqlite_store)
    arrive(sqlite_store, readings_of([one for batch in batches for one in batch]), [len(batch) for batch in batches])
    expected = comparable(oracle_dump([body(event) for event in history]))
    assert comparable(list(dump(sqlite_store))) == expected


@settings(max_examples=25, suppress_health_check=SLOW)
@given(data=st.data())
def test_senders_of_differing_authority_in_any_order_give_the_oracles_state(
    sqlite_store: Engine, data: st.DataObject
) -> None:
    """The same event of two senders is two events, so who comes last does not decide."""
    events = data.draw(st.lists(governed_events(), min_size=1, max_size=5))
    senders = data.draw(st.lists(viewers, min_size=1, max_size=3))
    logged = [one for one in (sent(event, sender) for event in events for sender in senders) if one]
    batches = data.draw(arrivals(logged)) if logged else []
    empty(sqlite_store)
    if logged:
        readings = readings_of([one for batch in batches for one in batch])
        arrive(sqlite_store, readings, [len(batch) for batch in batches])
    expected = comparable(oracle_dump([body(event) for event in logged]))
    assert comparable(list(dump(sqlite_store))) == expected
