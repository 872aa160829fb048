"""Where to roll back to: the newest run that completed, whose checks held, and that read only good data."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from govern.containment.estates import AT, SECOND
from whence.govern.containment.rollback import RollbackPoint, find_rollback_point, runs_of
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, run_event
from whence.store.connection.engine import reading
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

SOURCE, RAW, CLEAN = (DatasetName("prod.db", name) for name in ("source", "raw", "clean.v2"))
LOAD, MAKE, CHECK = (JobName("prod.etl", name) for name in ("load", "make", "check"))


def run_of(job: JobName, number: int) -> RunName:
    return RunName(f"01890000-0000-7000-8000-{[LOAD, MAKE, CHECK].index(job):04d}{number:08d}", job)


def ran(job: JobName, number: int, reads: DatasetName | None, writes: DatasetName | None, **more: Any) -> bytes:
    """A run that starts at a second, and ends half a second later."""
    state = more.get("state", RunState.COMPLETE)
    event = run_event(
        AT + number * SECOND + SECOND // 2,
        state,
        run_of(job, number),
        inputs=[dataset(reads, facets=more.get("facets", {}))] if reads else [],
        outputs=[dataset(writes)] if writes else [],
    )
    if found := more.get("checks"):
        assertions = [{"assertion": name, "success": held} for name, held in found.items()]
        checked = facet("DataQualityAssertionsDatasetFacet", assertions=assertions)
        event["inputs"][0]["inputFacets"] = {"dataQualityAssertions": checked}
    started = run_event(AT + number * SECOND, RunState.START, run_of(job, number))
    return b"\n".join(json.dumps(one).encode() for one in (started, event))


@pytest.fixture
def ask(store: Engine) -> Callable[..., RollbackPoint]:
    """Days 1 to 6: each loads RAW, then makes CLEAN. What is broken differs by day."""
    bodies = [
        ran(LOAD, 10, SOURCE, RAW),
        ran(MAKE, 11, RAW, CLEAN),
        ran(LOAD, 20, SOURCE, RAW),
        ran(MAKE, 21, RAW, CLEAN),
        ran(LOAD, 30, SOURCE, RAW),
        ran(CHECK, 31, RAW, None, checks={"not_null(amount)": False}),  # so day 3 is wrong
        ran(MAKE, 32, RAW, CLEAN),
        ran(LOAD, 40, SOURCE, RAW, state=RunState.FAIL),
        ran(MAKE, 41, RAW, CLEAN),  # the load that failed may have written a part
        ran(LOAD, 50, SOURCE, RAW),
        ran(CHECK, 51, RAW, None, checks={"not_null(amount)": True}),
        ran(MAKE, 52, RAW, CLEAN),
        ran(CHECK, 53, CLEAN, None, checks={"unique(id)": False}),
    ]
    apply_bodies(store, [line for body in bodies for line in body.split(b"\n")])

    def asked(of: DatasetName, second: float) -> RollbackPoint:
        with reading(store) as connection:
            since = AT + int(second * SECOND)
            return find_rollback_point(StoreGraph(connection), StoreCatalog(connection), of, since)

    return asked


def test_the_newest_run_that_can_be_trusted_and_why_newer_ones_cannot(ask: Callable[..., RollbackPoint]) -> None:
    found = ask(CLEAN, 60)
    assert found.point
    assert (found.point.run, found.checked) == (run_of(MAKE, 21), True)
    reasons = {one.run: one.reason for one in found.rejected}
    read_of_day_3 = f"it read raw of run {run_of(LOAD, 30).run_id}: the check 'not_null(amount)' of raw failed"
    assert reasons == {
        run_of(MAKE, 52): "the check 'unique(id)' of clean.v2 failed",
        run_of(MAKE, 41): f"it read raw of run {run_of(LOAD, 40).run_id}: it ended as FAIL",
        run_of(MAKE, 32): read_of_day_3,
    }
    assert [one.run for one in runs_of(found.point)] == [run_of(MAKE, 21), run_of(LOAD, 20)]
    assert found.point.reads[0].origins == (SOURCE,)


def test_a_run_after_the_data_broke_is_no_point(ask: Callable[..., RollbackPoint]) -> None:
    found = ask(RAW, 60)
    assert found.point
    assert found.point.run == run_of(LOAD, 50)
    earlier = ask(RAW, 45)
    assert earlier.point
    assert (earlier.point.run, earlier.rejected[0].reason) == (run_of(LOAD, 20), "it wrote after the data broke")
    first = ask(CLEAN, 12)
    assert first.point
    assert first.point.run == run_of(MAKE, 11)


def test_without_a_run_that_can_be_trusted_there_is_no_point(ask: Callable[..., RollbackPoint]) -> None:
    found = ask(CLEAN, 5)
    assert (found.point, len(found.rejected), found.completeness.stopped_by) == (None, 5, "runs")
    assert ask(SOURCE, 60).point is None
