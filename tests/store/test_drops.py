"""Datasets that are created, renamed and dropped: any order of arrival gives the oracle's state, and what it means."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from fixtures.examples import examples
from fixtures.readings_of_events import empty
from fixtures.stores_of_events import apply_bodies
from oracle import comparable
from oracle import dump as oracle_dump
from oracle.stories import dataset, dataset_event, moment, run, span_lines
from whence.model.ids import Kind, node_id
from whence.model.names import DatasetName
from whence.store.catalog.listings import read_deleted
from whence.store.connection.engine import reading
from whence.store.lifecycle.dump import dump

Json = dict[str, Any]
NAMES = ("prod.t", "staging.t", "dev.t", 'we"ird %3A日')
JOBS = ("etl", "user_script.drop_table", "dbt.model")
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture)


def changed(name: str, word: str, before: str | None = None, *columns: str, **links: str) -> Json:
    """A dataset whose facets report a change of its life."""
    facet: Json = {"lifecycleStateChange": word}
    if before is not None:
        facet["previousIdentifier"] = {"namespace": "n", "name": before}
    facets: Json = {"lifecycleStateChange": facet}
    if columns:
        facets["schema"] = {"fields": [{"name": column} for column in columns]}
    if links:
        identifiers = [{"namespace": "n", "name": link, "type": kind} for link, kind in links.items()]
        facets["symlinks"] = {"identifiers": identifiers}
    return dataset(name, facets)


def of_job(job: str, event: Json) -> Json:
    return event | {"job": event["job"] | {"name": job}}


@st.composite
def _events(draw: st.DrawFn) -> Json:
    name, before = draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMES))
    words = ("DROP", "DROP", "RENAME", "RENAME", "CREATE", "TRUNCATE", "OVERWRITE")
    change = changed(name, draw(st.sampled_from(words)), before, *draw(st.sampled_from([(), ("id",), ("id", "x.y")])))
    if not draw(st.integers(0, 5)):
        return dataset_event(draw(st.integers(1, 9)), name, change["facets"])
    writes = [dataset(name)] if draw(st.booleans()) else [change, *draw(st.lists(st.just(dataset(before)), max_size=1))]
    reads = draw(st.sampled_from(["", "src", "src", *(variable for variable in NAMES if " " not in variable)]))
    state = draw(st.sampled_from(["START", "COMPLETE", "COMPLETE", "COMPLETE", "FAIL"]))
    event = run(draw(st.integers(1, 6)), state, draw(st.integers(1, 9)), reads, writes)
    return of_job(draw(st.sampled_from(JOBS)), event)


@settings(max_examples=examples(60), suppress_health_check=SLOW)
@given(events=st.lists(_events(), min_size=2, max_size=12), seed=st.integers(0, 2**32))
def test_any_arrival_of_drops_and_renames_gives_the_oracles_state(
    sqlite_store: Engine, events: list[Json], seed: int
) -> None:
    empty(sqlite_store)
    _arrive(sqlite_store, events, random.Random(seed))
    expected = comparable(oracle_dump(json.dumps(event).encode() for event in events))
    assert comparable(list(dump(sqlite_store))) == expected


def _arrive(engine: Engine, events: list[Json], rng: random.Random) -> None:
    """Shuffled, some twice, in batches of any size."""
    arriving = [*events, *rng.sample(events, rng.randint(0, len(events)))]
    rng.shuffle(arriving)
    place = 0
    while place < len(arriving):
        size = rng.randint(1, len(arriving) - place)
        apply_bodies(engine, [json.dumps(one).encode() for one in arriving[place : place + size]], place + 1)
        place += size


WRITTEN = of_job("etl", run(1, "COMPLETE", 1, "src", "t"))
CTAS = of_job("etl", run(2, "COMPLETE", 2, "src", [changed("t", "CREATE", None, "id")]))
DROP = of_job("user_script.drop_table", run(3, "COMPLETE", 5, "", [changed("t", "DROP")]))
STARTED_DROP = of_job("user_script.drop_table", run(3, "START", 4, "", [changed("t", "DROP")]))
FAILED_DROP = of_job("user_script.drop_table", run(3, "FAIL", 5, "", [changed("t", "DROP")]))
RENAME = of_job("rename", run(4, "COMPLETE", 6, "", [changed("new", "RENAME", "t", "id")]))
BACK = of_job("rename", run(5, "COMPLETE", 8, "", [changed("t", "RENAME", "new", "id")]))
ELSEWHERE = of_job("rename", run(6, "COMPLETE", 7, "", [changed("newest", "RENAME", "new")]))

STORIES: dict[str, tuple[list[Json], list[str], list[str]]] = {
    "what was written into a dropped table ends, as of before it held": (
        [WRITTEN, DROP],
        ["@etl observed 1-5 sure: -@etl>t -src>@etl ~src>t", "@etl observed 5- sure: -src>@etl"],
        ["t"],
    ),
    "a drop that only started, or failed, ends nothing": (
        [WRITTEN, STARTED_DROP, FAILED_DROP],
        ["@etl observed 1- sure: -@etl>t -src>@etl ~src>t"],
        [],
    ),
    "a later write revives it, by its own lineage alone": (
        [WRITTEN, DROP, of_job("dbt.model", run(7, "COMPLETE", 9, "other", "t"))],
        [
            "@dbt.model observed 9- sure: -@dbt.model>t -other>@dbt.model ~other>t",
            "@etl observed 1-5 sure: -@etl>t -src>@etl ~src>t",
            "@etl observed 5- sure: -src>@etl",
        ],
        [],
    ),
    "lineage goes on through a staging table that is dropped": (
        [WRITTEN, of_job("mart", run(7, "COMPLETE", 3, "t", "mart")), DROP],
        [
            "@etl observed 1- sure: -@etl>t -src>@etl ~src>t",
            "@mart observed 3- sure: -@mart>mart -t>@mart ~t>mart",
        ],
        ["t"],
    ),
    "a table that was made of it only after it was dropped keeps nothing": (
        [WRITTEN, DROP, of_job("mart", run(7, "COMPLETE", 8, "t", "mart"))],
        [
            "@etl observed 1-5 sure: -@etl>t -src>@etl ~src>t",
            "@etl observed 5- sure: -src>@etl",
            "@mart observed 8- sure: -@mart>mart -t>@mart ~t>mart",
        ],
        [],
    ),
    "a rename carries history and columns on": (
        [WRITTEN, RENAME],
        [
            "@etl observed 1- sure: -@etl>t -src>@etl ~src>t",
            "@rename observed 6- sure: »t.id>new.id[DIRECT/IDENTITY] »t>new[DIRECT]",
        ],
        ["t"],
    ),
    "renames of one job add up": (
        [RENAME, ELSEWHERE],
        [
            "@rename observed 6-7 sure: »t.id>new.id[DIRECT/IDENTITY] »t>new[DIRECT]",
            "@rename observed 7- sure: »new>newest[DIRECT] »t.id>new.id[DIRECT/IDENTITY] »t>new[DIRECT]",
        ],
        ["t", "new"],
    ),
    "renamed back it lives": (
        [RENAME, BACK],
        [
            "@rename observed 6-8 sure: »t.id>new.id[DIRECT/IDENTITY] »t>new[DIRECT]",
            "@rename observed 8- sure: »new.id>t.id[DIRECT/IDENTITY] »new>t[DIRECT] "
            "»t.id>new.id[DIRECT/IDENTITY] »t>new[DIRECT]",
        ],
        ["new"],
    ),
    "two names swapped in one event both live": (
        [of_job("rename", run(4, "COMPLETE", 6, "", [changed("a", "RENAME", "b"), changed("b", "RENAME", "a")]))],
        ["@rename observed 6- sure: »a>b[DIRECT] »b>a[DIRECT]"],
        [],
    ),
    "create, alter and truncate write nothing": (
        [
            of_job("ddl", run(number, "COMPLETE", number, "", [changed("t", word, None, "id")]))
            for number, word in enumerate(("CREATE", "ALTER", "TRUNCATE"), 1)
        ],
        [],
        [],
    ),
    "create table as select, and overwrite, write": (
        [CTAS, of_job("o", run(7, "COMPLETE", 3, "", [changed("t", "OVERWRITE")]))],
        ["@etl observed 2- sure: -@etl>t -src>@etl ~src>t", "@o observed 3- sure: -@o>t"],
        [],
    ),
    "a dataset event drops too": (
        [WRITTEN, dataset_event(5, "t", changed("t", "DROP")["facets"])],
        ["@etl observed 1-5 sure: -@etl>t -src>@etl ~src>t", "@etl observed 5- sure: -src>@etl"],
        ["t"],
    ),
    "dropped by path it is dropped by the name of the table, too": (
        [
            of_job("etl", run(1, "COMPLETE", 1, "src", "t")),
            of_job("spark", run(2, "COMPLETE", 5, "", [changed("wh/t", "DROP", t="TABLE")])),
        ],
        ["@etl observed 1-5 sure: -@etl>t -src>@etl ~src>t", "@etl observed 5- sure: -src>@etl"],
        ["t", "wh/t"],
    ),
}


@pytest.mark.parametrize("name", STORIES)
def test_what_drops_and_renames_mean(name: str, sqlite_store: Engine) -> None:
    events, spans, deleted = STORIES[name]
    empty(sqlite_store)
    _arrive(sqlite_store, events, random.Random(name))
    lines = [json.loads(line) for line in dump(sqlite_store)]
    assert span_lines(lines, boundary=True) == spans
    names = {node_id(DatasetName("n", one["node"].split(":", 2)[2])): one["node"] for one in _datasets(lines)}
    with reading(sqlite_store) as connection:
        found = {names[id_] for id_ in read_deleted(connection, Kind.DATASET, names)}
    assert found == {f"dataset:n:{one}" for one in deleted}


def _datasets(lines: list[Json]) -> Iterator[Json]:
    yield from (line for line in lines if line.get("fact") == "dataset")


def test_both_stores_agree_on_many_drops(store: Engine) -> None:
    """One large history, with names that are written, dropped and renamed again and again, by several jobs."""
    rng, events = random.Random(16), []
    for number in range(120):
        name, before = rng.choice(NAMES), rng.choice(NAMES)
        word = rng.choice(("DROP", "RENAME", "CREATE"))
        writes = rng.choice(([dataset(name)], [changed(name, word, before, "id")]))
        state = rng.choice(("COMPLETE", "COMPLETE", "COMPLETE", "FAIL"))
        event = run(number + 1, state, 1, rng.choice(("src", "prod.t", "")), writes)
        events.append(of_job(rng.choice(JOBS), event | {"eventTime": moment(number % 50)}))
    _arrive(store, events, rng)
    assert comparable(list(dump(store))) == comparable(oracle_dump(json.dumps(one).encode() for one in events))
