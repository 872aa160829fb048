"""Transitions of contracts: those that are read, and from when on these are all."""

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.govern.contracts.evaluation.transitions import MOST_TIMES, Transitions, find_transitions
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, run_event
from whence.query.lookup.contracts import ContractedDataset, ContractVersion, PromisedColumn, PromisedRule
from whence.store.connection.engine import reading, sqlite_url
from whence.store.ingest.retention_summary import RetentionHorizon
from whence.store.lifecycle.purge import enforce_horizon
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

HOUR = 3_600_000_000
ORDERS = DatasetName("postgres://prod:5432", "shop.orders")
LOADS = (JobName("airflow", "load"), JobName("airflow", "count"))


def contracted(at: int = 0) -> ContractedDataset:
    """Few nulls are promised from an hour on."""
    rule = PromisedRule(name="few nulls", column="id", metric="nullValues", operators={"mustBeLessThan": 3})
    held = ContractVersion(
        id="shop", version="1", applied_at=at * HOUR, columns=(PromisedColumn(name="id"),), rules=(rule,)
    )
    return ContractedDataset(name=ORDERS, versions=(held,))


def measured(hour: int, nulls: int, load: int = 0) -> bytes:
    """A run that measured all rows."""
    numbers = {"rowCount": 10, "columnMetrics": {"id": {"nullCount": nulls}}}
    output = dataset(
        ORDERS, outputFacets={"dataQualityMetrics": facet("DataQualityMetricsInputDatasetFacet", **numbers)}
    )
    run = RunName(f"01890000-0000-7000-8000-{hour * 10 + load:012}", LOADS[load])
    return json.dumps(run_event(hour * HOUR, RunState.COMPLETE, run, outputs=[output])).encode()


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    opened = open_migrated(sqlite_url(tmp_path / "store.db"))
    return opened


def find(engine: Engine, until: int, since: int | None = None, applied: int = 0) -> Transitions:
    with reading(engine) as connection:
        begin = None if since is None else since * HOUR
        return find_transitions(
            StoreCatalog(connection), StoreGraph(connection), contracted(applied), until * HOUR, begin
        )


def hours(found: Transitions) -> list[int]:
    return [one.time // HOUR for one in found.found if one.rule == "few nulls"]


def test_all_are_known_if_there_are_few(engine: Engine) -> None:
    apply_bodies(engine, [measured(hour, nulls=9 * (hour % 2)) for hour in range(1, 10)])
    found = find(engine, 20)
    assert (hours(found), found.known_from) == ([9, 8, 7, 6, 5, 4, 3, 2, 1], None)


def test_of_many_the_latest_are_known_and_from_when_on(engine: Engine) -> None:
    last = MOST_TIMES + 20
    apply_bodies(engine, [measured(hour, nulls=9 * (hour % 2)) for hour in range(1, last + 1)])
    found = find(engine, last)
    assert found.known_from == (last - MOST_TIMES + 1) * HOUR
    assert hours(found) == list(range(last, last - MOST_TIMES + 1, -1))
    # In a period that begins later nothing is missing.
    assert find(engine, last, since=last - 5).known_from is None
    assert hours(find(engine, last, since=last - 5))[:5] == list(range(last, last - 5, -1))
    assert find(engine, last, since=3).known_from == found.known_from


def test_reports_at_one_time_do_not_hide_that_others_were_not_read(engine: Engine) -> None:
    """Fewer times than are evaluated, and more reports than are read."""
    last = 40
    apply_bodies(engine, [measured(hour, 9 * (hour % 2), load) for hour in range(1, last + 1) for load in (0, 1)])
    found = find(engine, last)
    assert found.known_from is not None
    assert found.known_from > HOUR
    assert min(hours(found)) * HOUR > found.known_from
    assert sorted(hours(found)) == list(range(min(hours(found)), last + 1))


def test_what_retention_deleted_is_not_known(engine: Engine) -> None:
    apply_bodies(engine, [measured(hour, nulls=9 * (hour % 2)) for hour in range(1, 10)])
    enforce_horizon(engine, RetentionHorizon(runs=5 * HOUR + 1, keep=0, history=0))
    found = find(engine, 20)
    assert found.known_from == 5 * HOUR + 1
    assert set(hours(found)) <= {6, 7, 8, 9}
    assert {7, 8, 9} <= set(hours(found))
    assert find(engine, 20, since=6).known_from is None
    assert find(engine, 20, applied=6).known_from is None
