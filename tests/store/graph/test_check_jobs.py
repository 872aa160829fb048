"""Jobs that only check data: by what they reported until a time, in any order, and so on an upgraded store."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from fixtures.examples import examples
from fixtures.migrated_stores import open_migrated
from fixtures.readings_of_events import empty
from fixtures.stores_of_events import apply_bodies
from oracle import dump as oracle_dump
from store.test_upgrade import FIRST, copy_content, migrate_to
from whence.model.events import RunState
from whence.model.ids import node_id
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName, parse_node
from whence.openlineage.write import dataset, facet, job_event, job_lineage, run_event
from whence.store.connection.data_key import provide_key
from whence.store.connection.engine import open_store, reading, sqlite_url, writing
from whence.store.encryption.master_key import KEY_FILE, create_master
from whence.store.lifecycle.dump import dump
from whence.store.migrations.migrate import migrate
from whence.store.snapshots.graph import StoreGraph

HOUR = 3_600_000_000
ORDERS, CUSTOMERS, GOLD = (DatasetName("db", name) for name in ("orders", "customers", "gold"))
SODA, NOTEBOOK, LATER, HALF, TRIED, BUILD = (
    JobName("prod", name) for name in ("soda", "notebook", "later", "half", "tried", "build")
)
JOBS = (SODA, NOTEBOOK, LATER, HALF, TRIED, BUILD)


def checked(name: DatasetName, *results: Any) -> dict[str, Any]:
    """An input with results of checks."""
    entries = [{"assertion": "not_null", "column": "id", "success": one} for one in results]
    return dataset(
        name, inputFacets={"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=entries)}
    )


def ran(
    job: JobName,
    hour: int,
    inputs: list[dict[str, Any]],
    outputs: list[dict[str, Any]] | None = None,
    state: RunState = RunState.COMPLETE,
) -> bytes:
    run = RunName(f"01890000-0000-7000-8000-{JOBS.index(job):04}{hour:08}", job)
    return json.dumps(run_event(hour * HOUR, state, run, inputs=inputs, outputs=outputs or [])).encode()


BODIES = [
    ran(SODA, 2, [checked(ORDERS, True), checked(CUSTOMERS, False)]),
    ran(SODA, 4, [checked(ORDERS, True), dataset(CUSTOMERS)]),  # this time it had no results for one
    ran(NOTEBOOK, 1, [dataset(ORDERS)]),
    ran(LATER, 1, [dataset(ORDERS)]),  # reads before it checks, and writes after that
    ran(LATER, 3, [checked(ORDERS, True)]),
    ran(LATER, 5, [checked(ORDERS, True)], [dataset(GOLD)]),
    ran(HALF, 2, [checked(ORDERS, True), dataset(CUSTOMERS)]),  # it uses one table to look at it, not to check it
    ran(TRIED, 2, [checked(ORDERS)]),  # no results, none that says whether it held
    ran(TRIED, 3, [checked(ORDERS, "yes")]),
    ran(BUILD, 2, [dataset(CUSTOMERS)], [checked(ORDERS, True)]),  # it checks what it writes
]


def check_jobs(engine: Engine, hour: int | None) -> set[str]:
    with reading(engine) as connection:
        at = None if hour is None else hour * HOUR
        found = StoreGraph(connection).check_jobs(map(node_id, (*JOBS, JobName("prod", "unknown"))), at)
    return {job.name for job in JOBS if node_id(job) in found}


EXPECTED = {1: set[str](), 2: {"soda"}, 3: {"soda", "later"}, 4: {"soda", "later"}, 5: {"soda"}, None: {"soda"}}


def test_a_job_that_checks_all_that_it_reads_and_writes_nothing(store: Engine) -> None:
    apply_bodies(store, BODIES)
    assert {hour: check_jobs(store, hour) for hour in EXPECTED} == EXPECTED
    assert list(dump(store)) == oracle_dump(BODIES)


def test_every_order_gives_the_same(tmp_path: Path) -> None:
    of_one = [body for body in BODIES if b'"later"' in body or b'"half"' in body]
    for number, order in enumerate(list(permutations(of_one))[::5]):
        engine = open_migrated(sqlite_url(tmp_path / f"{number}.db"))
        apply_bodies(engine, order)
        apply_bodies(engine, order[:2], first=20)
        assert [check_jobs(engine, hour) for hour in (1, 3, 5)] == [set(), {"later"}, set()]
        engine.dispose()


def test_declared_lineage_counts_like_that_of_runs(store: Engine) -> None:
    reads = job_event(6 * HOUR, SODA, inputs=[dataset(ORDERS)])
    writes = job_event(7 * HOUR, SODA, facets={"lineage": job_lineage([Edge(source=ORDERS, target=GOLD)])})
    apply_bodies(store, [*BODIES, *(json.dumps(one).encode() for one in (reads, writes))])
    assert [check_jobs(store, hour) for hour in (5, 6, 7)] == [{"soda"}, {"soda"}, set()]


def test_a_run_that_failed_is_a_check_too(store: Engine) -> None:
    """A test that found a failure may end its run as failed, and report what it found with that."""
    apply_bodies(store, [ran(HALF, 1, [dataset(ORDERS)], state=RunState.START)])
    assert check_jobs(store, None) == set()
    apply_bodies(store, [ran(HALF, 1, [checked(ORDERS, False)], state=RunState.FAIL)], first=10)
    assert check_jobs(store, None) == {"half"}


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
@pytest.mark.parametrize("encrypted", [False, True])
def test_an_upgraded_store_knows_them(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encrypted: bool
) -> None:
    fresh, old = open_store(sqlite_url(tmp_path / "fresh.db")), open_store(store_url)
    migrate(fresh)
    if encrypted:
        create_master(tmp_path / "master.key")
        monkeypatch.setenv(KEY_FILE, str(tmp_path / "master.key"))
        provide_key(fresh)
    apply_bodies(fresh, BODIES)
    migrate_to(old, FIRST)
    with reading(fresh) as source, writing(old) as target:
        copy_content(source, target)
    migrate(old)
    assert list(dump(old)) == list(dump(fresh))
    assert check_jobs(old, None) == {"soda"}
    for engine in (fresh, old):
        engine.dispose()


STATES = st.sampled_from([RunState.START, RunState.COMPLETE, RunState.COMPLETE, RunState.FAIL])
INPUTS = st.lists(
    st.sampled_from([dataset(ORDERS), dataset(CUSTOMERS), checked(ORDERS, True), checked(CUSTOMERS, True)])
)
EVENTS = st.builds(
    lambda job, hour, inputs, outputs, state: ran(job, hour, inputs, outputs, state),
    st.sampled_from((SODA, LATER)),
    st.integers(1, 4),
    INPUTS,
    st.sampled_from([[], [], [], [dataset(GOLD)]]),
    STATES,
)


@settings(max_examples=examples(100), suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(bodies=st.lists(EVENTS, min_size=1, max_size=5))
def test_any_history_gives_the_jobs_that_its_dump_implies(sqlite_store: Engine, bodies: list[bytes]) -> None:
    empty(sqlite_store)
    apply_bodies(sqlite_store, bodies)
    lines = [json.loads(line) for line in oracle_dump(bodies)]
    jobs = {line["node"] for line in lines if line.get("fact") == "job"}
    ids = {node_id(name): job for job in jobs if (name := parse_node(job))}
    times = sorted({line["time"] for line in lines if line.get("fact") == "event"})
    for at in (*times, None):
        with reading(sqlite_store) as connection:
            found = {ids[id_] for id_ in StoreGraph(connection).check_jobs(ids, at)}
        assert found == {job for job in jobs if only_checks(lines, job, at)}, at


def only_checks(lines: list[dict[str, Any]], job: str, at: int | None) -> bool:
    """By the lines of the dump: what the job's lineage reads and writes at a time, and what it has checked by then."""
    sets = {line["set"]: line for line in lines if line.get("fact") == "set"}
    held = [
        sets[one]
        for line in lines
        if line.get("derived") == "validity_interval" and line["owner"] == job
        if (line["to"] is None if at is None else line["from"] <= at and (line["to"] is None or at < line["to"]))
        for one in line["sets"]
    ]
    reports = [line for line in lines if line.get("fact") == "checked_dataset" and line["job"] == job]
    checks = {line["dataset"] for line in reports if at is None or line["first_seen"] <= at}
    reads = {whole(edge[0]) for one in held for edge in one["edges"]}
    return bool(checks) and reads <= checks and all(one["output"] is None for one in held)


def whole(node: str) -> str:
    name = parse_node(node)
    return str(name.dataset) if isinstance(name, FieldName) else node
