"""Which of its names a group of aliases goes by: any arrival of symlinks gives the oracle's answer, on both stores."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from fixtures.examples import examples
from fixtures.readings_of_events import empty
from fixtures.stores_of_events import apply_bodies
from oracle import comparable
from oracle import dump as oracle_dump
from whence.model.names import DatasetName
from whence.openlineage.write import dataset_event
from whence.store.lifecycle.dump import dump

NAMES = (
    ("hive://meta:9083", "db.t"),
    ("hive://meta:9083", "db.t'; DROP TABLE alias; --"),
    ("arn:aws:glue:eu-west-1:1", "table/db/t"),
    ("file", "/wh/t:%2F\n"),
    ("s3://lake", "wh/t"),
    ("s3a://lake/", "wh//t/"),
    ("gs://lake", "日次 ‮t"),
    ("abfss://c@acct.dfs.core.windows.net", "/wh/t"),
    ("dbfs", "/user/hive/t"),
)
TYPES = ("TABLE", "TABLE", "LOCATION", "LOCATION", "LOCATION", "location", " TABLE", "", "DBT_RELATION")
WORDS = ("whence:cut", "whence:joined")
HIVE, GLUE = (DatasetName(*NAMES[place]) for place in (0, 2))
PATHS = tuple(
    DatasetName(*one)
    for one in (
        ("file", "/wh/t"),
        ("hdfs://nn:8020", "/wh/t"),
        ("s3://lake", "wh/t"),
        ("gs://lake", "wh/t"),
        ("abfss://c@acct.dfs.core.windows.net", "/wh/t"),
        ("dbfs", "/wh/t"),
    )
)

names = st.sampled_from(NAMES)


def link_event(at: int, of: tuple[str, str], facet: str, links: list[tuple[tuple[str, str], str]]) -> bytes:
    """A dataset event that links names."""
    identifiers = [{"namespace": space, "name": name, "type": type_} for (space, name), type_ in links]
    return json.dumps(dataset_event(at, DatasetName(*of), facets={facet: {"identifiers": identifiers}})).encode()


links = st.builds(
    link_event,
    st.integers(1, 3),
    names,
    st.just("symlinks"),
    st.lists(st.tuples(names, st.sampled_from(TYPES)), min_size=1, max_size=3),
)
words = st.builds(
    link_event,
    st.integers(1, 3),
    names,
    st.just("whence_aliases"),
    st.tuples(names, st.sampled_from(WORDS)).map(lambda one: [one]),
)


def groups(store: Engine) -> dict[str, list[str]]:
    """Representative → members."""
    lines = [json.loads(line) for line in dump(store)]
    return {one["representative"]: one["members"] for one in lines if one.get("derived") == "alias_group"}


def link(of: DatasetName, other: DatasetName, type_: str) -> bytes:
    return link_event(1, (of.namespace, of.name), "symlinks", [((other.namespace, other.name), type_)])


def test_any_arrival_of_symlinks_gives_the_oracles_groups(store: Engine) -> None:
    @settings(max_examples=examples(150), derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(history=st.lists(links | links | links | words, min_size=1, max_size=6), split=st.integers(0, 6))
    def check(history: list[bytes], split: int) -> None:
        expected = comparable(oracle_dump(history))
        for arrival in (history, history[::-1]):
            empty(store)
            apply_bodies(store, arrival[:split])
            apply_bodies(store, [*arrival[split:], *arrival[:1]], first=100)
            assert comparable(list(dump(store))) == expected

    check()


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_table_goes_by_its_own_name_not_by_its_path(sqlite_store: Engine, path: DatasetName) -> None:
    for events in (
        [link(HIVE, path, "LOCATION")],  # the Hive hook
        [link(path, HIVE, "TABLE")],  # openlineage-spark
        [link(path, HIVE, "TABLE"), link(HIVE, path, "LOCATION")],
    ):
        empty(sqlite_store)
        apply_bodies(sqlite_store, events)
        assert groups(sqlite_store) == {str(HIVE): sorted(map(str, (HIVE, path)))}


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_path_comes_after_every_table(sqlite_store: Engine, path: DatasetName) -> None:
    empty(sqlite_store)
    apply_bodies(sqlite_store, [link(HIVE, path, "LOCATION"), link(path, GLUE, "TABLE")])
    assert groups(sqlite_store) == {str(GLUE): sorted(map(str, (HIVE, GLUE, path)))}
