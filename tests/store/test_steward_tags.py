"""Tags that only a steward assigns stay when somebody else replaces the tags, and tags that people assigned when a
steward's tool does, in whatever order the events arrive.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.readings_of_events import empty
from fixtures.stores_of_events import apply_accepted
from oracle import comparable
from oracle import dump as oracle_dump
from whence.model.access import Action
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName
from whence.model.traits import TRAIT_FACETS, read_traits
from whence.openlineage.accept import Accepted, accept
from whence.openlineage.authority.restrictions import FULL, Authority
from whence.openlineage.facets.steward_tags import TAG_FACETS
from whence.openlineage.write import dataset_event, deleted_facet, facet, job_event
from whence.query.lookup.search import search
from whence.store.catalog.facets import count_tags, find_tagged, read_facets, tags_in
from whence.store.connection.engine import reading
from whence.store.graph.runs import read_facets as read_rows
from whence.store.lifecycle.dump import dump
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

TABLE, JOB = DatasetName("postgres://prod:5432", "shop.orders"), JobName("airflow", "load")
WRITER = Authority(lambda action, _: action is Action.WRITE, lambda *_: False)
CERTIFIED, CANONICAL = ({"key": key, "value": "true", "source": "DBT"} for key in ("certified", "canonical"))
BY_HAND = {"key": "certified", "value": "true", "source": "USER"}
PII = {"key": "pii", "value": "high", "source": "USER", "field": "email"}
OF_WAREHOUSE = {"key": "mask", "value": "true", "source": "SNOWFLAKE"}
Json = dict[str, Any]


def tagged(
    at: int, sender: Authority, *tags: Json, of: DatasetName | JobName = TABLE, complete: bool = False
) -> Accepted:
    kind = "TagsJobFacet" if isinstance(of, JobName) else "TagsDatasetFacet"
    all_of_them = {"whence_complete": True} if complete else {}
    facets = {"tags": facet(kind, tags=list(tags), **all_of_them) if tags else deleted_facet(kind)}
    facets |= {"schema": facet("SchemaDatasetFacet", fields=[{"name": "email"}])} if of is TABLE else {}
    make = job_event(at, of, facets=facets) if isinstance(of, JobName) else dataset_event(at, of, facets=facets)
    return accept(json.dumps(make).encode(), authority=sender)


def plain(key: str, **more: str) -> Json:
    return {"key": key, "value": "true", "source": "DBT", **more}


STORIES: Mapping[str, tuple[Sequence[Accepted], set[str]]] = {
    "a writer replaces the tags": (
        [tagged(1, FULL, CERTIFIED, PII, plain("old")), tagged(2, WRITER, plain("new"))],
        {"certified", "pii", "new"},
    ),
    "a writer removes all tags": ([tagged(1, FULL, CERTIFIED, PII), tagged(2, WRITER)], {"certified", "pii"}),
    "a writer certifies": ([tagged(1, FULL, PII), tagged(2, WRITER, CERTIFIED, plain("new"))], {"pii", "new"}),
    "a steward withdraws": (
        [tagged(1, FULL, CERTIFIED, PII), tagged(2, WRITER, plain("new")), tagged(3, FULL, plain("legacy"))],
        {"legacy", "pii"},
    ),
    "a person withdraws": (
        [
            tagged(1, FULL, CERTIFIED, PII),
            tagged(2, WRITER, plain("new")),
            tagged(3, FULL, plain("new"), complete=True),
        ],
        {"new"},
    ),
    "a steward's tool leaves what people and warehouses assigned": (
        [
            tagged(1, FULL, BY_HAND, PII, OF_WAREHOUSE, plain("old"), complete=True),
            tagged(2, FULL, CANONICAL, plain("new")),
            tagged(3, FULL, plain("legacy")),
        ],
        {"certified", "pii", "mask", "legacy"},
    ),
    "a steward's tool that names one replaces them": (
        [tagged(1, FULL, BY_HAND, PII, complete=True), tagged(2, FULL, OF_WAREHOUSE, plain("new"))],
        {"mask", "new"},
    ),
    "a writer says that it lists all": (
        [tagged(1, FULL, BY_HAND, PII, complete=True), tagged(2, WRITER, plain("new"), complete=True)],
        {"certified", "pii", "new"},
    ),
    "a steward removes all tags": (
        [tagged(1, FULL, CERTIFIED), tagged(2, WRITER, plain("new")), tagged(3, FULL)],
        set(),
    ),
    "a steward withdraws, then a writer replaces": (
        [tagged(1, FULL, CERTIFIED), tagged(2, FULL, CANONICAL), tagged(3, WRITER, plain("new"))],
        {"canonical", "new"},
    ),
    "a writer was there first": ([tagged(1, WRITER, plain("new")), tagged(2, FULL, PII)], {"pii"}),
}


@pytest.mark.parametrize("story", STORIES)
def test_a_stewards_tags_stay_until_a_steward_removes_them(store: Engine, story: str) -> None:
    events, expected = STORIES[story]
    before = [shown_after(store, events[:count]) for count in range(len(events))]
    for arrival in permutations(events):
        empty(store)
        apply_accepted(store, arrival)
        assert comparable(dump(store)) == comparable(oracle_dump([one.payload for one in arrival]))
        assert shown(store, TABLE) == expected
        assert held(store, len(events) + 2) == [*before, expected, expected]


def test_who_is_no_steward_removes_none_of_a_job_either(store: Engine) -> None:
    """Of a job, `USER` is what a client has in its configuration: whoever may write replaces it."""
    configured = {"key": "team", "value": "a", "source": "USER"}
    events = [tagged(1, FULL, CERTIFIED, configured, of=JOB), tagged(2, WRITER, plain("new"), of=JOB)]
    apply_accepted(store, events)
    assert comparable(dump(store)) == comparable(oracle_dump([one.payload for one in events]))
    assert shown(store, JOB) == {"certified", "new"}


def test_a_stewards_tool_leaves_what_a_person_certified_of_a_job(store: Engine) -> None:
    configured = {"key": "team", "value": "a", "source": "USER"}
    events = [tagged(1, FULL, BY_HAND, configured, of=JOB, complete=True), tagged(2, FULL, plain("new"), of=JOB)]
    apply_accepted(store, events)
    assert comparable(dump(store)) == comparable(oracle_dump([one.payload for one in events]))
    assert shown(store, JOB) == {"certified", "new"}


def test_nothing_of_the_senders_event_is_withheld() -> None:
    replaced = tagged(2, WRITER, plain("new"))
    assert not replaced.restricted
    assert not [one for one in replaced.warnings if "not applied" in one]
    assert tagged(2, WRITER, CERTIFIED).restricted


def test_nobody_writes_the_tags_of_stewards_by_their_own_name(store: Engine) -> None:
    forged = dataset_event(1, TABLE, facets={one: {"tags": [CERTIFIED]} for one in TAG_FACETS[1:]})
    apply_accepted(store, [accept(json.dumps(forged).encode(), authority=one) for one in (WRITER, FULL)])
    assert shown(store, TABLE) == set()


def shown_after(store: Engine, events: Sequence[Accepted]) -> set[str]:
    """The keys of the table's tags in a store with these events alone."""
    empty(store)
    apply_accepted(store, events)
    return shown(store, TABLE)


def held(store: Engine, times: int) -> list[set[str]]:
    """The keys of the table's tags at each time from 0 on, in which all that reads them agrees."""
    found = []
    with reading(store) as connection:
        graph, catalog = StoreGraph(connection), StoreCatalog(connection)
        for at in range(times):
            keys = {key for key, _, _ in read_traits(graph.tags_at([node_id(TABLE)], at)).tags}
            assert {one["key"] for _, payload in catalog.tag_facets(at) for one in tags_in(payload)} == keys
            found.append(keys)
    return found


def shown(store: Engine, of: DatasetName | JobName) -> set[str]:
    """The keys of its tags, in which all that reads tags agrees."""
    id_ = node_id(of)
    with reading(store) as connection:
        facets = read_facets(connection, [id_], ()).get(id_, {})
        listed = json.loads(facets["tags"].payload)["tags"] if "tags" in facets else []
        keys = {one["key"] for one in listed}
        assert not facets.keys() & set(TAG_FACETS[1:])
        assert len(listed) == len(keys), "none is there twice"
        assert read_facets(connection, [id_], ["tags"]).get(id_, {}).get("tags") == facets.get("tags")
        assert {one.name: one.uses for one in count_tags(connection)} == dict.fromkeys(keys, 1)
        assert {key for key in ("certified", "pii", "new", "old", "mask") if find_tagged(connection, key, 9)} <= keys
        assert all(find_tagged(connection, key, 9) == [id_] for key in keys)
        assert {key for key, _, _ in read_traits(read_rows(connection, [id_], TRAIT_FACETS)).tags} == keys
        graph = StoreGraph(connection)
        for key in ("certified", "canonical", "pii", "new", "old", "mask", "legacy"):
            found = search(graph, key)
            assert bool(found.names) == (key in keys), key
            assert set(found.by) <= {"tag"}
    return keys
