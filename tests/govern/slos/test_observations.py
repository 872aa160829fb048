"""The facts of objectives are the same, however many datasets are read together."""

import json
from pathlib import Path

import pytest

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.govern.slos.evaluation import observations
from whence.govern.slos.evaluation.facts import Write
from whence.govern.slos.evaluation.observations import observe_datasets
from whence.govern.slos.objectives import DAY, Objective
from whence.govern.slos.slo_file import read_slos
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, run_event
from whence.store.connection.engine import sqlite_url
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

NOW = 1_790_000_000_000_000
DAYS = (300, 200, 100, 89, 10, 9, 3, 2, 1)
"""Ages of the runs: the last write before the history of 90 days is that of 100 days ago."""
NAMES = tuple(
    DatasetName(f"postgres://{stage}:5432", name)
    for stage in ("prod", "staging", "dev")
    for name in ("shop.orders", "shop.'; drop table run --", "shop.\u202enever\u00e9")
)


def _bodies() -> list[bytes]:
    """Each run writes two datasets; every fourth fails, and some are for an earlier period."""
    found = list[bytes]()
    for place, name in enumerate(NAMES):
        for number, days in enumerate(DAYS):
            run = RunName(f"01890000-0000-7000-8000-{place * 100 + number:012}", JobName("airflow", f"load {name}"))
            rows = facet("OutputStatisticsOutputDatasetFacet", rowCount=number)
            outputs = [dataset(one, outputFacets={"outputStatistics": rows}) for one in (name, NAMES[place - 1])]
            state = RunState.FAIL if number % 4 == 1 else RunState.COMPLETE
            event = run_event(NOW - days * DAY + place, state, run, outputs=outputs)
            period = facet("NominalTimeRunFacet", nominalStartTime=f"2026-0{1 + number % 3}-01T00:00:00Z")
            event["run"]["facets"] = {**event["run"].get("facets", {}), "nominalTime": period}
            found.append(json.dumps(event).encode())
    return found


def _objectives() -> tuple[Objective, ...]:
    slos = [
        {
            "name": f"s{place}",
            "dataset": str(name),
            "indicator": {"freshness": {"limit": "36h"}},
            "objective": {"target": "95%"},
        }
        for place, name in enumerate(NAMES)
    ]
    return read_slos(json.dumps({"version": 1, "service": "shop", "slos": slos})).objectives


def test_facts_read_together_are_those_read_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    apply_bodies(engine, _bodies())
    objectives = _objectives()
    with snapshot(engine) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)
        together = observe_datasets(catalog, graph, objectives, NOW, NOW)
        apart = {one.dataset: observe_datasets(catalog, graph, [one], NOW, NOW)[one.dataset] for one in objectives}
        monkeypatch.setattr(observations, "_AT_ONCE", 5)
        paged = observe_datasets(catalog, graph, objectives, NOW, NOW)
    assert together == apart == paged
    for place, name in enumerate(NAMES):
        assert sorted(map(_seen, together[name].writes)) == _expected(place)


def _seen(one: Write) -> tuple[int, int | float | None, bool]:
    return one.time, one.rows, one.nominal is None


def _expected(place: int) -> list[tuple[int, int, bool]]:
    """By the story: the completed runs of the last 90 days, and the one before them."""
    writers = (place, (place + 1) % len(NAMES))
    every = sorted(
        (NOW - days * DAY + writer, number, False)
        for writer in writers
        for number, days in enumerate(DAYS)
        if number % 4 != 1
    )
    older = [one for one in every if one[0] < NOW - 90 * DAY]
    return [*older[-1:], *every[len(older) :]]
