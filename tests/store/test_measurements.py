"""Measurements in a store: a facet replaces the earlier one whole, in any order, and so on an upgraded store."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from oracle import dump as oracle_dump
from store.test_upgrade import FIRST, copy_content, migrate_to
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.facets.measurements import is_measurement_facet
from whence.openlineage.write import dataset, dataset_event, facet, run_event
from whence.store.connection.data_key import provide_key
from whence.store.connection.engine import open_store, reading, sqlite_url, writing
from whence.store.encryption.master_key import KEY_FILE, create_master
from whence.store.lifecycle.dump import dump
from whence.store.migrations.migrate import migrate
from whence.store.schema.packed import MEASURED_FACETS

ORDERS, DAY = DatasetName("db", "orders"), 86_400_000_000
RUN = RunName("01890000-0000-7000-8000-000000000001", JobName("n", "load"))


def metrics(**members: Any) -> dict[str, Any]:
    return facet("DataQualityMetricsInputDatasetFacet", **members)


def statistics(rows: int) -> dict[str, Any]:
    return facet("OutputStatisticsOutputDatasetFacet", rowCount=rows)


def written(time: int, state: RunState, **facets: dict[str, Any]) -> dict[str, Any]:
    return run_event(time, state, RUN, outputs=[dataset(ORDERS, outputFacets=facets)])


EVENTS = [
    written(1 * DAY, RunState.RUNNING, outputStatistics=statistics(3), dataQualityMetrics=metrics(rowCount=3, bytes=9)),
    written(2 * DAY, RunState.COMPLETE, outputStatistics=statistics(7), dataQualityMetrics=metrics(rowCount=7)),
    written(3 * DAY, RunState.RUNNING, outputStatistics=statistics(5)),
    dataset_event(1 * DAY, ORDERS, facets={"dataQualityMetrics": metrics(columnMetrics={"total": {"nullCount": 1}})}),
    dataset_event(2 * DAY, ORDERS, facets={"dataQualityMetrics": metrics(columnMetrics={"total": {"nullCount": 0}})}),
    run_event(
        2 * DAY, RunState.OTHER, RUN, inputs=[dataset(ORDERS, facets={"dataQualityMetrics": metrics(rowCount=6)})]
    ),
]
BODIES = [json.dumps(event).encode() for event in EVENTS]


def measured(engine: Engine) -> list[tuple[Any, ...]]:
    """Role, column, metric, value and day of each measurement."""
    lines = [line for line in map(json.loads, dump(engine)) if line.get("fact") == "measurement"]
    return sorted(
        ((one["role"], one["column"] or "", one["metric"], one["value"], one["time"] // DAY) for one in lines), key=repr
    )


EXPECTED = sorted(
    [
        ("output", "", "rowCount", 5, 3),  # outputStatistics: the last event of the run
        ("output", "", "rowCount", 7, 2),  # dataQualityMetrics: the bytes of the earlier one are gone
        ("input", "", "rowCount", 6, 2),
        ("", "total", "nullCount", 1, 1),  # every dataset event is a source of its own
        ("", "total", "nullCount", 0, 2),
    ],
    key=repr,
)


def test_the_latest_report_of_a_run_replaces_the_facet_whole(store: Engine) -> None:
    apply_bodies(store, BODIES)
    assert measured(store) == EXPECTED
    assert list(dump(store)) == oracle_dump(BODIES)


def test_every_order_gives_the_same(tmp_path: Path) -> None:
    for number, order in enumerate(list(permutations(BODIES))[::97]):
        engine = open_migrated(sqlite_url(tmp_path / f"{number}.db"))
        apply_bodies(engine, order)
        apply_bodies(engine, order[:3], first=20)
        assert measured(engine) == EXPECTED
        engine.dispose()


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_an_encrypted_store_is_upgraded_and_stays_sealed(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_master(tmp_path / "master.key")
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "master.key"))
    fresh, old = open_store(sqlite_url(tmp_path / "fresh.db")), open_store(store_url)
    migrate(fresh)
    provide_key(fresh)
    of_runs = [body for body in BODIES if b"DatasetEvent" not in body]
    apply_bodies(fresh, of_runs)
    migrate_to(old, FIRST)
    with reading(fresh) as source, writing(old) as target:
        copy_content(source, target)
    migrate(old)
    assert measured(old) == measured(fresh) != []
    with reading(fresh) as one, reading(old) as other:
        rows = [sorted(c.exec_driver_sql("SELECT * FROM measurement").all(), key=repr) for c in (one, other)]
    assert [tuple(row) for row in rows[0]] == [tuple(row) for row in rows[1]]
    assert all(bytes(row[-1]).startswith(b"2") for row in rows[0])
    for engine in (fresh, old):
        engine.dispose()


def test_every_measured_facet_has_a_number() -> None:
    names = {name for _, name in MEASURED_FACETS}
    measured = {(role, name) for role in ("", "input", "output") for name in names if is_measurement_facet(role, name)}
    assert set(MEASURED_FACETS) == measured
    assert names == {"dataQualityMetrics", "inputStatistics", "outputStatistics"}


def test_an_upgrade_numbers_the_facets_of_all_roles(store_url: str) -> None:
    old = open_store(store_url)
    migrate_to(old, "0003")
    named = text("INSERT INTO measurement VALUES (:source, 4, :role, :facet, 1, 3, 5, :content)")
    with writing(old) as connection:
        for source, (role, name) in enumerate(MEASURED_FACETS):
            connection.execute(named, {"source": source, "role": role, "facet": name, "content": b"content"})
    migrate(old)
    with reading(old) as connection:
        rows = connection.execute(text("SELECT source_id, facet, content FROM measurement ORDER BY source_id")).all()
    assert [(source, number, bytes(content)) for source, number, content in rows] == [
        (source, source, b"content") for source in range(len(MEASURED_FACETS))
    ]
    old.dispose()
