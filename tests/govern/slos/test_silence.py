"""Whether data is late cannot be known while its source is silent: budgets, alerts and states wait."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.govern.slos.evaluation.facts import Facts, Silence, Write
from whence.govern.slos.evaluation.judge import Judgement, judge
from whence.govern.slos.evaluation.observations import observe_datasets
from whence.govern.slos.evaluation.silence import judge_silence
from whence.govern.slos.evaluation.states import find_states
from whence.govern.slos.objectives import Freshness, Objective
from whence.govern.slos.slo_file import read_slos
from whence.model.catalog import SourceJob
from whence.model.events import RunState
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, run_event
from whence.store.connection.engine import sqlite_url
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

HOUR, DAY = 3_600_000_000, 86_400_000_000
NOW = 1_790_000_000_000_000
ORDERS = DatasetName("postgres://prod:5432", "shop.orders")
LOAD, RATES, BOARD, AD_HOC, ELSEWHERE = (
    JobName(space, name)
    for space, name in (
        ("airflow", "load"), ("airflow", "rates"), ("airflow", "board [bold]"), ("airflow", "ad hoc"), ("dbt", "load"),
    )
)  # fmt: skip


def objective() -> Objective:
    """Orders are at most 3 h old."""
    one = {"name": "x", "dataset": str(ORDERS), "indicator": {"freshness": {"limit": "3h"}}}
    return read_slos(
        json.dumps({"version": 1, "service": "shop", "slos": [{**one, "objective": {"target": "99%"}}]})
    ).objectives[0]


def known(job: JobName, last: int, *, every: int = HOUR, runs: int = 100, heard: int | None = None) -> SourceJob:
    """A job that ran regularly until so many hours ago."""
    at = NOW - last * HOUR
    return SourceJob(
        node_id(job),
        job.namespace,
        at - (runs - 1) * every,
        at,
        every,
        runs,
        at if heard is None else NOW - heard * HOUR,
    )


@pytest.mark.parametrize(
    ("jobs", "since"),
    [
        # Hourly jobs are late 1.25 h after their last run.
        ([known(LOAD, 10), known(RATES, 9), known(BOARD, 9)], 7.75),
        ([known(LOAD, 10), known(RATES, 9), known(BOARD, 1)], None),
        ([known(LOAD, 10), known(RATES, 9)], None),
        ([known(LOAD, 10), known(RATES, 9), known(BOARD, 9, every=DAY)], None),
        ([known(LOAD, 10), known(RATES, 9), known(BOARD, 9), known(AD_HOC, 2, runs=1)], None),
        ([known(LOAD, 10, heard=2), known(RATES, 9), known(BOARD, 9)], None),
        ([known(LOAD, 10), known(RATES, 9), known(BOARD, 9, runs=3)], None),
        ([known(LOAD, 10), known(RATES, 9), known(BOARD, 9), known(ELSEWHERE, 1)], 7.75),
        ([], None),
    ],
)
def test_a_source_is_silent_if_its_other_regular_jobs_are_late_together(
    jobs: list[SourceJob], since: float | None
) -> None:
    found = judge_silence(jobs, frozenset({LOAD}), NOW)
    assert (found and (NOW - found.since) / HOUR) == since


def written(*hours: float, silence: Silence | None = None) -> Facts:
    return Facts(writes=tuple(Write(time=NOW - int(hour * HOUR), rows=1) for hour in hours), silence=silence)


def states(found: Judgement) -> list[tuple[str, float]]:
    """Each with the hours since it began; changes of alerts alone are left out."""
    several = [(one.state, (NOW - one.time) / HOUR) for one in find_states(objective(), found, NOW - 20 * HOUR)]
    return [one for place, one in enumerate(several) if not place or several[place - 1][0] != one[0]]


def test_data_that_becomes_too_old_in_the_silence_is_not_judged() -> None:
    silent = judge(objective(), written(30, 10, silence=Silence(since=NOW - 8 * HOUR, heard=NOW - 9 * HOUR)), NOW)
    assert (silent.outcome, silent.since) == ("not evaluated", NOW - 7 * HOUR)
    assert silent.reason.startswith("its source has been silent since 2026-")
    assert states(silent) == [("violated", 20), ("holds", 10), ("not evaluated", 7)]
    spoke = judge(objective(), written(30, 10), NOW)
    assert (spoke.outcome, spoke.since) == ("violated", NOW - 7 * HOUR)
    assert silent.budget
    assert spoke.budget
    assert (silent.budget.bad, silent.budget.suppressed) == (17 * HOUR, 7 * HOUR)
    assert (spoke.budget.bad, spoke.budget.suppressed) == (24 * HOUR, 0)


def test_data_that_was_too_old_before_stays_so_until_the_silence_and_its_alert_open() -> None:
    silence = Silence(since=NOW - 2 * HOUR, heard=NOW - 4 * HOUR)
    found = judge(objective(), written(30, 10, silence=silence), NOW)
    assert states(found) == [("violated", 20), ("holds", 10), ("violated", 7), ("not evaluated", 2)]
    assert found.open_alerts == judge(objective(), written(30, 10), NOW - 2 * HOUR).open_alerts != ()


def test_data_that_is_fresh_holds_whatever_its_source_does() -> None:
    silence = Silence(since=NOW - HOUR, heard=NOW - 3 * HOUR)
    assert judge(objective(), written(2, silence=silence), NOW).outcome == "holds"


def delivery() -> Objective:
    """Orders are there by 6:00 every day."""
    one = {"name": "y", "dataset": str(ORDERS), "indicator": {"delivery": {"by": "06:00"}}}
    return read_slos(
        json.dumps({"version": 1, "service": "shop", "slos": [{**one, "objective": {"target": "90%"}}]})
    ).objectives[0]


def test_a_deadline_in_the_silence_is_not_judged() -> None:
    deadline = NOW - NOW % DAY + 6 * HOUR - (DAY if NOW % DAY < 6 * HOUR else 0)
    before = deadline - 2 * HOUR
    writes = tuple(Write(time=before - number * DAY, rows=1) for number in (3, 2, 1))
    lacking = judge(delivery(), Facts(writes=writes), NOW)
    assert (lacking.outcome, lacking.since, lacking.unknown_since) == ("violated", deadline, None)
    silence = Silence(since=before, heard=before - HOUR)
    silent = judge(delivery(), Facts(writes=writes, silence=silence), NOW)
    assert (silent.outcome, silent.since, silent.reason) == ("not evaluated", deadline, silence.text)
    assert lacking.budget
    assert silent.budget
    assert (lacking.budget.bad, lacking.budget.suppressed) == (1, 0)
    assert (silent.budget.bad, silent.budget.suppressed) == (0, 1)
    assert (len(lacking.open_alerts), silent.open_alerts) == (1, ())
    # A deadline before the silence was missed, and stays so.
    late = Facts(writes=writes, silence=Silence(since=deadline + 1, heard=before))
    assert judge(delivery(), late, NOW).outcome == "violated"
    # What was delivered in time holds, whatever its source does.
    there = Facts(writes=(*writes, Write(time=before, rows=1)), silence=silence)
    assert judge(delivery(), there, NOW).outcome == "holds"


def test_it_is_read_from_the_store_at_any_time(tmp_path: Path) -> None:
    """Three jobs run every hour until 10 hours ago, and the others again since an hour ago."""
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    hours = [*range(10, 70), *(1, 0)]
    bodies = [
        json.dumps(
            run_event(
                NOW - hour * HOUR,
                RunState.COMPLETE,
                RunName(f"01890000-0000-7000-8000-{place * 100 + hour:012}", job),
                outputs=[dataset(ORDERS)] if job == LOAD else (),
            )
        ).encode()
        for place, job in enumerate((LOAD, RATES, BOARD))
        for hour in hours
        if hour >= 10 or job != LOAD
    ]
    apply_bodies(engine, bodies)
    with snapshot(engine) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)

        def outcome(ago: int) -> str:
            at = NOW - ago * HOUR
            # An objective that is far from its limit does not hide the silence from the other one.
            lenient = replace(objective(), indicator=Freshness(limit=30 * DAY))
            facts = observe_datasets(catalog, graph, [objective(), lenient], at, at)[ORDERS]
            return judge(objective(), facts, at).outcome

        assert [outcome(ago) for ago in (9, 8, 6, 2)] == ["holds", "holds", "not evaluated", "not evaluated"]
        assert outcome(0) == "violated"
    engine.dispose()
