"""Which record of an event is applied: that at the least position, in whatever order and grouping records come."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, delete

from fixtures.examples import examples
from whence.errors import CollisionError
from whence.store.connection.engine import writing
from whence.store.ingest.duplicate_events import place_events
from whence.store.schema.merge import Row
from whence.store.schema.tables import event, receipt
from whence.store.status.ledger import Ledger, read_all_receipts, read_ledger

KEYS = st.integers(1, 4)


def row(position: int, key: int, rest: int = 0) -> Row:
    return key, rest, 0, 0, 0, 0, 0, "", position


def expected(records: dict[int, int]) -> dict[int, tuple[str, int]]:
    """Position → outcome and key, of position → key."""
    first = {key: min(at for at, of in records.items() if of == key) for key in records.values()}
    return {at: ("applied" if first[key] == at else "duplicate", key) for at, key in records.items()}


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=st.dictionaries(st.integers(0, 30), KEYS, max_size=12), data=st.data())
def test_the_least_position_is_applied_in_any_order_and_grouping(
    store: Engine, records: dict[int, int], data: st.DataObject
) -> None:
    arriving = data.draw(st.permutations([*records.items(), *list(records.items())[:3]]))
    cut = data.draw(st.integers(0, len(arriving)))
    with writing(store) as connection:
        connection.execute(delete(event))
        connection.execute(delete(receipt))
    for some in (arriving[:cut], arriving[cut:]):
        with writing(store) as connection:
            place_events(connection, [row(at, key) for at, key in some], [])
    found = {one.position: (one.outcome, int(one.key[:16], 16) - (1 << 63)) for one in read_all_receipts(store)}
    assert found == expected(records)
    assert read_ledger(store) == Ledger(
        applied=len(set(records.values())), duplicate=len(records) - len({*records.values()})
    )


def test_two_keys_that_share_their_first_half_are_refused(store: Engine) -> None:
    with writing(store) as connection:
        place_events(connection, [row(1, 7, rest=1)], [])
    with pytest.raises(CollisionError), writing(store) as connection:
        place_events(connection, [row(2, 7, rest=2)], [])
    assert [one.position for one in read_all_receipts(store)] == [1]


def test_a_quarantined_record_keeps_its_reason(store: Engine) -> None:
    with writing(store) as connection:
        place_events(connection, [row(1, 7)], [(2, 7, 0, ""), (3, 9, 0, "/job: no name")])
    assert [(one.outcome, one.reason) for one in read_all_receipts(store)] == [
        ("applied", ""),
        ("duplicate", ""),
        ("quarantined", "/job: no name"),
    ]
