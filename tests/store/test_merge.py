"""The merge rules: the SQL upsert and the in-memory fold, on both stores, against each other in any order and
grouping.
"""

import random
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, Table, delete, select

from fixtures.examples import examples
from whence.errors import CollisionError
from whence.store.connection.engine import reading, writing
from whence.store.schema.columns import merge_rules, written_columns
from whence.store.schema.merge import Row, fold, merge
from whence.store.schema.tables import FACTS, dataset, facet, run

ANY_SETTINGS = settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])

times = st.integers(0, 5)
maybe_times = st.none() | times
runs = st.tuples(
    st.integers(1, 3),
    st.just("r"),
    st.just(2),
    st.integers(-1, 3),
    times,
    st.integers(0, 5),
    maybe_times,
    maybe_times,
    maybe_times,
    maybe_times,
    maybe_times,
    maybe_times,
    st.integers(0, 1),
    st.integers(0, 1),
    st.sampled_from([0, 8, 16, 32]),
)
facets = st.tuples(
    st.integers(1, 2),
    st.sampled_from(["schema", "sql"]),
    times,
    st.integers(0, 3),
    st.integers(5, 6),
    st.integers(7, 8),
)


def stored(engine: Engine, table: Table) -> list[Row]:
    with reading(engine) as connection:
        return sorted(tuple(row) for row in connection.execute(select(*written_columns(table))))


@pytest.mark.parametrize(("table", "strategy"), [(run, runs), (facet, facets)], ids=["run", "facet"])
@ANY_SETTINGS
@given(data=st.data())
def test_any_order_and_grouping_gives_the_fold(
    store: Engine, table: Table, strategy: st.SearchStrategy[Row], data: st.DataObject
) -> None:
    rows: Sequence[Row] = data.draw(st.lists(strategy, max_size=12))
    expected = sorted(fold(table, rows))
    shuffled = [*rows, *rows[: len(rows) // 2]]
    random.Random(len(rows)).shuffle(shuffled)
    cut = data.draw(st.integers(0, len(shuffled)))
    with writing(store) as connection:
        connection.execute(delete(table))
        merge(connection, table, shuffled[:cut])
    with writing(store) as connection:
        merge(connection, table, shuffled[cut:])
    assert stored(store, table) == expected


def _merge_both(engine: Engine, one: Row, other: Row) -> None:
    with writing(engine) as connection:
        merge(connection, dataset, [one])
        merge(connection, dataset, [other])


def test_a_second_identity_under_one_id_is_refused_and_changes_nothing(store: Engine) -> None:
    with writing(store) as connection:
        merge(connection, dataset, [(4, "ns", "a", 1, 2)])
    with pytest.raises(CollisionError):
        _merge_both(store, (8, "ns", "b", 1, 2), (4, "ns", "other", 0, 9))
    assert stored(store, dataset) == [(4, "ns", "a", 1, 2)]


def test_every_fact_column_has_a_rule() -> None:
    for table in FACTS:
        assert set(merge_rules(table).values()) <= {"key", "identity", "min", "max", "or", "latest", "earliest"}
        assert "key" in merge_rules(table).values()
