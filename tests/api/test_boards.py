"""What dashboards are answered: against plain Python over the same runs, and never a name that is hidden."""

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from deltalake import write_deltalake
from fastapi import FastAPI

from api.asked import Client, asking
from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from fixtures.stores_of_events import apply, apply_bodies
from security.conftest import House
from security.conftest import house as house  # a fixture
from whence.api.dashboards.job_health import FAILED_WITHIN, REGULAR_WITHIN
from whence.api.server.app import create_app
from whence.api.settings import Settings
from whence.derive.delta.table import table_uri
from whence.derive.kpis.series import kpis
from whence.derive.publish.schema import KPI
from whence.log import Position
from whence.log.address import open_log
from whence.log.segments.files import segment_path
from whence.log.segments.read import committed_end, read_records, start_position
from whence.model.access import Grant, Role
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, dataset_event, facet, own_facet, parent_facet, run_event
from whence.query.answers.instants import iso
from whence.store.connection.engine import open_store
from whence.store.migrations.migrate import migrate
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant
from whence.store.status import data_quality as quality

HOUR = 3_600_000_000
SPACES = ("alpha", "beta", "gamma")


@dataclass(frozen=True)
class Ran:
    """A run: when it started and ended (µs), how, and within which run. `reports`: that run has events of its own."""

    job: JobName
    began: int
    ended: int
    state: RunState
    within: int = 0
    reports: bool = False


def runs(seed: int, now: int) -> list[Ran]:
    """Jobs of several habits: hourly, by chance, given up, mapped, within others; each run ends well or badly."""
    rng = random.Random(seed)
    told = []
    for number in range(60):
        job = JobName(rng.choice(SPACES), f"job_{number}")
        at = now - rng.randrange(1, 1_300) * HOUR // 4
        pause = rng.choice((HOUR, 6 * HOUR, 24 * HOUR))
        habit = rng.choice(("alone", "alone", "mapped", "within", "moved"))
        for turn in range(rng.randrange(1, 20)):
            ended = at + rng.randrange(1, HOUR // 2)
            if ended > now:
                break
            within = 0 if habit == "alone" else 1_000 * number + turn + 1
            reports = habit == "within" or (habit == "moved" and turn > 8)
            for copy in range(3 if habit == "mapped" else 1):
                state = rng.choice((RunState.COMPLETE, RunState.COMPLETE, RunState.FAIL, RunState.ABORT))
                told.append(Ran(job, at + copy, ended, state, within, reports))
            at += pause + rng.randrange(HOUR // 4) if rng.random() < 0.9 else rng.randrange(1, 20) * HOUR
    return told


def events(one: Ran, number: int) -> Iterator[bytes]:
    run = RunName(f"{number:08x}-0000-4000-8000-000000000001", one.job)
    out = [dataset(DatasetName("db://x", f"{one.job.namespace}.{one.job.name}"))]
    above = RunName(
        f"{one.within:08x}-0000-4000-8000-000000000002", JobName(one.job.namespace, f"{one.job.name}.above")
    )
    facets = {"parent": parent_facet(above)} if one.within else {}
    yield json.dumps(run_event(one.began, RunState.START, run, run_facets=facets, outputs=out)).encode()
    yield json.dumps(run_event(one.ended, one.state, run, run_facets=facets, outputs=out)).encode()
    if one.reports:
        yield json.dumps(run_event(HOUR, RunState.COMPLETE, above)).encode()  # long ago: it is never late itself


def failing(told: list[Ran], now: int) -> set[str]:
    """Jobs that failed of late, and did not complete since."""
    found = set()
    for job in {one.job for one in told}:
        own = [one for one in told if one.job == job]
        good = max((one.ended for one in own if one.state is RunState.COMPLETE), default=0)
        bad = [one.ended for one in own if one.state is not RunState.COMPLETE and one.ended >= now - FAILED_WITHIN]
        if any(ended > good for ended in bad):
            found.add(str(job))
    return found


def late(told: list[Ran], now: int) -> set[str]:
    """Jobs that ran regularly for two days, and not for longer than they ever paused. What runs within a run that
    reports is that run's; what runs within one that does not is one run.
    """
    found = set()
    for job in {one.job for one in told}:
        own = [one for one in told if one.job == job and one.ended >= now - REGULAR_WITHIN]
        alone = [one.began for one in own if not one.within]
        shared = {one.within for one in own if one.within and not one.reports}
        starts = sorted(alone + [min(one.began for one in own if one.within == run) for run in shared])
        pauses = [b - a for a, b in pairwise(starts)]
        if len(starts) < 4 or sum(pauses) < 48 * HOUR or any(one.reports and one.began > starts[-1] for one in own):
            continue
        is_regular = max(pauses) * len(pauses) <= 3 * sum(pauses)
        if is_regular and now - starts[-1] > 1.25 * max(pauses):
            found.add(str(job))
    return found


def _scheduled(starts: list[float], copies: int = 1, reports: bool = False) -> Callable[[JobName, int], list[Ran]]:
    """Runs that began so many hours ago, `copies` of each at once within one run that reports nothing if many."""

    def of(job: JobName, now: int) -> list[Ran]:
        began = [(turn, now - round(hours * HOUR)) for turn, hours in enumerate(starts, 1)]
        return [
            Ran(
                job,
                at + copy * 3_000_000,
                at + 60_000_000,
                RunState.COMPLETE,
                turn if copies > 1 or reports else 0,
                reports,
            )
            for turn, at in began
            for copy in range(copies)
        ]

    return of


DAILY = [24.0 * day - 18 for day in range(1, 9)]
LATE_STORIES = {
    "minutes": (_scheduled([0.25 + minute / 60 for minute in range(6)]), False),
    "mapped": (_scheduled([1.0], copies=6), False),
    "mapped_daily": (_scheduled(DAILY, copies=3), False),
    "mapped_missed": (_scheduled([24.0 * day + 10 for day in range(1, 9)], copies=3), True),
    "two_periods": (_scheduled([60.0, 84.0, 108.0]), False),
    "script_days_ago": (_scheduled([72 + minute / 60 for minute in range(9)]), False),
    "daily": (_scheduled(DAILY), False),
    "stopped": (_scheduled([24.0 * day + 60 for day in range(1, 9)]), True),
    "stopped_for_good": (_scheduled([24.0 * day + 15 * 24 for day in range(1, 9)]), False),
    "irregular": (_scheduled([50.0, 51.0, 51.5, 52.0, 52.2, 160.0]), False),
    "clock_put_back": (_scheduled([25.0, 49.0, 73.0, 98.0, 122.0]), False),
    "action_of_a_script": (_scheduled(DAILY, reports=True), False),
}
"""By the name of the job: when it ran, and whether it is late."""


def test_only_what_is_scheduled_for_days_is_late(store_url: str, tmp_path: Path) -> None:
    now = time.time_ns() // 1_000
    told = [
        one
        for name, (story, _) in LATE_STORIES.items()
        for space in ("prod", "staging")
        for one in story(JobName(space, name), now)
    ]
    engine = open_store(store_url)
    migrate(engine)
    apply_bodies(engine, [body for number, one in enumerate(told) for body in events(one, number)])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        found = client.get("/api/v2/troubles", trouble="late", limit=100).json["data"]["jobs"]
    wanted = {
        str(JobName(space, name))
        for name, (_, is_late) in LATE_STORIES.items()
        for space in ("prod", "staging")
        if is_late
    }
    assert {one["job"] for one in found} == wanted


@pytest.mark.parametrize("seed", range(4))
def test_jobs_in_trouble_are_those_that_plain_python_finds(seed: int, store_url: str, tmp_path: Path) -> None:
    now = time.time_ns() // 1_000
    told = runs(seed, now)
    engine = open_store(store_url)
    migrate(engine)
    apply_bodies(engine, [body for number, one in enumerate(told) for body in events(one, number)])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        pages = list(paged(client, "/api/v2/troubles", limit=3))
        jobs = [one for page in pages for one in page["data"]["jobs"]]
    found = {kind: {one["job"] for one in jobs if one["trouble"] == kind} for kind in ("failing", "late")}
    assert found == {"failing": failing(told, now), "late": late(told, now)}
    assert len(jobs) == len(found["failing"]) + len(found["late"])
    assert (pages[0]["data"]["failing"], pages[0]["data"]["late"]) == (len(found["failing"]), len(found["late"]))
    for one in jobs:
        own = [ran for ran in told if str(ran.job) == one["job"]]
        good = max((ran.ended for ran in own if ran.state is RunState.COMPLETE), default=None)
        assert (one["last_good"] is None) == (good is None)
        if good is not None:
            assert datetime.fromisoformat(one["last_good"]["ended_at"]) == datetime.fromtimestamp(good / 1e6, UTC)


def paged(client: Client, path: str, **asked: object) -> Iterator[dict[str, Any]]:
    cursor = ""
    while True:
        answer = client.get(path, cursor=cursor, **asked)
        assert answer.status == 200, answer.body
        yield answer.json
        cursor = answer.json["page"]["next"] or ""
        if not cursor:
            return


def test_coverage_counts_what_is_known_and_lists_what_is_not(store_url: str, tmp_path: Path) -> None:
    told = _estate()
    engine = open_store(store_url)
    migrate(engine)
    apply_bodies(engine, [json.dumps(one).encode() for one in told])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        rows = [one for page in paged(client, "/api/v2/coverage", limit=1) for one in page["data"]["namespaces"]]
        assert rows == [
            {"namespace": "db://a", "datasets": 3, "lineage": 2, "columns": 1, "owner": 1, "description": 0},
            {"namespace": "db://b", "datasets": 1, "lineage": 1, "columns": 1, "owner": 0, "description": 1},
        ]
        for what in ("lineage", "columns", "owner", "description"):
            lacking = [
                one["node"]
                for page in paged(client, "/api/v2/coverage/lacking", what=what, limit=1)
                for one in page["data"]
            ]
            assert len(lacking) == len(set(lacking)) == sum(row["datasets"] - row[what] for row in rows)
        assert client.get("/api/v2/coverage/lacking", what="lineage").json["data"][0]["node"] == "dataset:db://a:alone"


def test_what_others_depend_on_and_nobody_knows_where_it_comes_from(store_url: str, tmp_path: Path) -> None:
    engine = open_store(store_url)
    migrate(engine)
    origin = {"whence_boundary": own_facet("BoundaryDatasetFacet", origin=True)}
    told = [*_estate(), dataset_event(HOUR, DatasetName("db://a", "other"), facets=origin)]
    apply_bodies(engine, [json.dumps(one).encode() for one in told])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        rows = [one for page in paged(client, "/api/v2/coverage/lacking", what="upstream") for one in page["data"]]
    assert [one["node"] for one in rows] == ["dataset:db://a:raw"]


def test_datasets_of_which_nothing_was_heard_for_long_come_first(store_url: str, tmp_path: Path) -> None:
    engine = open_store(store_url)
    migrate(engine)
    told = [*_estate(), dataset_event(2 * HOUR, DatasetName("db://a", "raw"), facets={})]
    apply_bodies(engine, [json.dumps(one).encode() for one in told])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        rows = [one for page in paged(client, "/api/v2/silent-datasets", limit=1) for one in page["data"]]
    assert {one["node"] for one in rows[:2]} == {"dataset:db://a:other", "dataset:db://b:mart"}
    assert [one["node"] for one in rows[2:]] == ["dataset:db://a:raw"]


def test_runs_that_lack_their_end_or_their_start(store_url: str, tmp_path: Path) -> None:
    now = time.time_ns() // 1_000
    ids = [RunName(f"0000000{n}-0000-4000-8000-000000000001", JobName("j", f"job{n}")) for n in range(5)]
    told = [
        run_event(now - 30 * HOUR, RunState.START, ids[0]),
        run_event(now - 26 * HOUR, RunState.RUNNING, ids[1]),
        run_event(now - HOUR, RunState.START, ids[2]),
        run_event(now - 30 * HOUR, RunState.START, ids[3]),
        run_event(now - 29 * HOUR, RunState.FAIL, ids[3]),
        run_event(now - HOUR, RunState.COMPLETE, ids[4]),
    ]
    engine = open_store(store_url)
    migrate(engine)
    apply_bodies(engine, [json.dumps(one).encode() for one in told])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        found = {
            lacks: [
                (one["job"], one["state"])
                for page in paged(client, "/api/v2/unfinished-runs", lacks=lacks, limit=1)
                for one in page["data"]
            ]
            for lacks in ("end", "start")
        }
    assert found == {
        "end": [("job:j:job1", "RUNNING"), ("job:j:job0", "START")],
        "start": [("job:j:job4", "COMPLETE"), ("job:j:job1", "RUNNING")],
    }


@dataclass(frozen=True)
class Said:
    """What an event of a run says of checks: of which dataset, which of them held."""

    run: RunName
    time: int
    of: DatasetName
    checks: tuple[tuple[str, str | None, bool], ...]


def _checking(seed: int, now: int) -> list[Said]:
    """Runs that check two datasets, twice each: what a run says later replaces what it said before."""
    rng = random.Random(seed)
    tables = [DatasetName("db://a", name) for name in ("x", "y", "z")]
    told = []
    for number in range(30):
        run = RunName(f"{number:08}-0000-4000-8000-000000000001", JobName("j", f"job{number % 4}"))
        for of in rng.sample(tables, 2):
            for moment in sorted(rng.sample(range(1, 1_000), 2)):
                names = rng.sample(["unique", "not_null", "accepted_values"], rng.randrange(4))
                checks = tuple((name, rng.choice([None, "id"]), rng.random() < 0.7) for name in names)
                told.append(Said(run, now - number // 3 * HOUR - moment, of, checks))
    return told


def _check_event(one: Said) -> bytes:
    checks = [
        {"assertion": name, "success": held, **({"column": column} if column else {})}
        for name, column, held in one.checks
    ]
    odd = [{"assertion": 5, "success": False}, {"assertion": "no result"}, {"success": False}, "text"]
    said = facet("DataQualityAssertionsDatasetFacet", assertions=[*checks, *odd])
    read_records = dataset(one.of, inputFacets={"dataQualityAssertions": said})
    return json.dumps(run_event(one.time, RunState.RUNNING, one.run, inputs=[read_records])).encode()


def _failed(told: list[Said]) -> list[dict[str, Any]]:
    """What did not hold, as it was said last, the run first that spoke last."""
    spoke: dict[RunName, int] = {}
    last: dict[tuple[RunName, DatasetName], Said] = {}
    for one in sorted(told, key=lambda one: one.time):
        spoke[one.run] = one.time
        last[one.run, one.of] = one
    rows = [
        {
            "dataset": str(of),
            "run": str(run),
            "job": str(run.job),
            "time": iso(spoke[run]),
            "failed": [
                {"assertion": name, "column": column, "severity": None} for name, column, held in one.checks if not held
            ],
            "held": sum(held for _, _, held in one.checks),
        }
        for (run, of), one in last.items()
        if not all(held for _, _, held in one.checks)
    ]
    return sorted(rows, key=lambda row: (row["time"], row["run"], row["dataset"]), reverse=True)


def _dbt_run(number: int, at: int, job: JobName, invocation: dict[str, Any], *, message: str = "") -> dict[str, Any]:
    """How a run of a node failed, as dbt-ol reports it (no message), or `whence capture dbt`."""
    run = RunName(f"{number:08}-0000-4000-8000-00000000000d", job)
    checks = [
        {"assertion": "not_null", "column": "id", "success": False, "severity": "error"},
        {"assertion": "accepted_values", "column": "id", "success": False, "severity": "WARN"},
        {"assertion": "unique", "column": "id", "success": True},
    ]
    said = {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=checks)}
    error = {"errorMessage": facet("ErrorMessageRunFacet", message=message)} if message else {}
    inputs = [dataset(DatasetName("db://a", f"{job.namespace}.x"), inputFacets=said)]
    return run_event(at, RunState.FAIL, run, run_facets={**invocation, **error}, inputs=inputs)


def test_what_dbt_ol_and_the_artifacts_report_of_one_invocation_is_one_attempt(store_url: str, tmp_path: Path) -> None:
    """Two projects, in prod and staging, each with two invocations of one node; a retry; and a run of no invocation."""
    now = time.time_ns() // 1_000
    told, number = [], 0
    for space in ("prod", "staging"):
        for project in ("shop", "other"):
            job = JobName(space, f"db.main.{project}.orders.test")
            for turn, minutes in enumerate((90, 60)):
                invocation, at = f"{space}/{project}/{turn}", now - minutes * 60_000_000
                captured = {"whence_dbtRun": own_facet("DbtRunFacet", invocationId=invocation)}
                live = {"dbt_run": {"invocation_id": invocation, "project_name": project}}
                told += [
                    _dbt_run(number + 1, at, job, captured, message=f"cannot convert {invocation}\nline 2"),
                    _dbt_run(number + 2, at + 1_000, job, live),
                ]
                number += 2
    alone = JobName("dev", "orders")
    told += [_dbt_run(number + n, now - n * 60_000_000, alone, {"dbt_run": {"invocation_id": ["odd"]}}) for n in (1, 2)]
    engine = open_store(store_url)
    migrate(engine)
    apply_bodies(engine, random.Random(7).sample([json.dumps(one).encode() for one in told], len(told)))
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        jobs = client.get("/api/v2/troubles", trouble="failing").json["data"]["jobs"]
        checks = [one for page in paged(client, "/api/v2/failed-checks", limit=2) for one in page["data"]]
        traits = client.get("/api/v2/traits", node="dataset:db://a:prod.x").json["data"][0]
    assert {one["job"]: (one["failures"], one["last"]["error"]) for one in jobs} == {
        **{
            str(JobName(space, f"db.main.{project}.orders.test")): (2, f"cannot convert {space}/{project}/1")
            for space in ("prod", "staging")
            for project in ("shop", "other")
        },
        str(alone): (2, None),
    }
    assert len(checks) == 2 * 2 * 2 + 2
    assert len({(one["job"], one["time"]) for one in checks}) == len(checks)
    assert {tuple((its["assertion"], its["severity"]) for its in one["failed"]) for one in checks} == {
        (("not_null", "error"), ("accepted_values", "warn"))
    }
    assert (traits["quality"]["failed"], traits["quality"]["warned"], traits["quality"]["held"]) == (1, 1, 1)


@pytest.mark.parametrize("looked", [5_000, 4])
def test_checks_that_failed_as_their_runs_said_last(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looked: int
) -> None:
    monkeypatch.setattr(quality, "MOST_LOOKED", looked)
    told = _checking(3, time.time_ns() // 1_000)
    engine = open_store(store_url)
    migrate(engine)
    apply_bodies(engine, random.Random(4).sample([_check_event(one) for one in told], len(told)))
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        for limit in (3, 1_000):
            pages = list(paged(client, "/api/v2/failed-checks", limit=limit))
            rows = [one for page in pages for one in page["data"]]
            for page in pages:
                assert len(page["data"]) <= limit
            assert [one["time"] for one in rows] == sorted((one["time"] for one in rows), reverse=True)
            assert sorted(rows, key=_place, reverse=True) == _failed(told)
            assert len(pages) > 1 or looked == 5_000


def _place(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["time"], row["run"], row["dataset"]


def test_records_without_an_outcome_are_listed(store_url: str, tmp_path: Path) -> None:
    log = open_log(str(tmp_path / "log"))
    fill(log, [_check_event(one) for one in _checking(5, HOUR * 1_000)])
    every = records_of(log)
    lost = {every[7].position, every[8].position, every[50].position}
    engine = open_store(store_url)
    migrate(engine)
    apply(engine, [one for one in every if one.position not in lost], log.list_lanes()[0].end)
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        pages = list(paged(client, "/api/v2/lost-records", limit=2))
        assert [one["position"] for page in pages for one in page["data"]["records"]] == [*map(str, sorted(lost))]
        assert [page["data"]["looked"] for page in pages] == [120, 111]
        assert client.get("/api/v2/lost-records", cursor="WzE3XQ").status == 200  # [17]: no record begins there


def _estate() -> list[dict[str, Any]]:
    """Two tables by columns, one by inputs and outputs, one alone."""
    names = {name: DatasetName("db://a", name) for name in ("raw", "other", "alone")}
    out = DatasetName("db://b", "mart")
    fields = [{"namespace": "db://a", "name": "raw", "field": "x"}]
    columns = facet("ColumnLineageDatasetFacet", fields={"y": {"inputFields": fields}})
    run = [RunName(f"0000000{n}-0000-4000-8000-000000000001", JobName("j", f"job{n}")) for n in (1, 2)]
    return [
        run_event(
            HOUR,
            RunState.COMPLETE,
            run[0],
            inputs=[dataset(names["raw"])],
            outputs=[dataset(out, facets={"columnLineage": columns})],
        ),
        run_event(HOUR, RunState.COMPLETE, run[1], inputs=[dataset(names["other"])], outputs=[dataset(out)]),
        dataset_event(
            HOUR,
            names["alone"],
            facets={"ownership": facet("OwnershipDatasetFacet", owners=[{"name": "team", "type": "OWNER"}])},
        ),
        dataset_event(HOUR, out, facets={"documentation": facet("DocumentationDatasetFacet", description="All of it")}),
    ]


def test_kpis_before_and_after_they_were_measured(store_url: str, tmp_path: Path) -> None:
    engine = open_store(store_url)
    migrate(engine)
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        empty = client.get("/api/v2/kpis").json["data"]
    assert [one["name"] for one in empty] == [one.name for one in kpis()]
    assert all(one["value"] is None and one["measured_at"] is None and one["series"] == [] for one in empty)
    days = [datetime(2026, 11, day, tzinfo=UTC) for day in (1, 2)]
    rows = [
        {
            "measured_at": day,
            "name": "event_loss_rate",
            "value": value,
            "unit": "ratio",
            "numerator": 1,
            "denominator": 4,
        }
        for day, value in zip(days, (0.5, 0.25), strict=True)
    ]
    write_deltalake(table_uri(str(tmp_path / "tables"), "kpi"), pa.Table.from_pylist(rows, KPI.plain))
    with asking(tmp_path, store_url) as client:
        by = {one["name"]: one for one in client.get("/api/v2/kpis").json["data"]}
    assert by["event_loss_rate"]["value"] == 0.25
    assert [point["value"] for point in by["event_loss_rate"]["series"]] == [0.5, 0.25]
    assert datetime.fromisoformat(by["event_loss_rate"]["measured_at"]) == days[1]
    assert by["staleness_max"]["value"] is None


def test_schema_changes_are_the_latest_first(store_url: str, tmp_path: Path) -> None:
    table, now = DatasetName("db://a", "t"), time.time_ns() // 1_000

    def said(at: int, **columns: str) -> bytes:
        fields = [{"name": name, "type": type_} for name, type_ in columns.items()]
        schema = {"schema": facet("SchemaDatasetFacet", fields=fields)}
        return json.dumps(dataset_event(at, table, facets=schema)).encode()

    engine = open_store(store_url)
    migrate(engine)
    apply_bodies(
        engine,
        [said(now - 30 * 24 * HOUR, a="int"), said(now - 2 * HOUR, a="int", b="text"), said(now - HOUR, a="long")],
    )
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        pages = list(paged(client, "/api/v2/schema-changes", limit=1))
    changes = [one for page in pages for one in page["data"]]
    assert [(one["added"], one["removed"], one["retyped"]) for one in changes] == [
        ([], ["b"], [{"column": "a", "before": "int", "after": "long"}]),
        (["b"], [], []),
    ]
    assert {one["dataset"] for one in changes} == {str(table)}


BAD = json.dumps({"eventType": "START", "eventTime": "2026-11-20T06:00:00Z", "job": {"namespace": "alpha"}}).encode()


@pytest.fixture
def refused(tmp_path: Path) -> Settings:
    """A log with a refused body in it, and its store."""
    return Settings(data=tmp_path, store_url=f"sqlite:///{tmp_path / 'store.db'}", open=True)


async def _refuse(client: httpx.AsyncClient, settings: Settings) -> str:
    answer = await client.post("/api/v1/lineage", content=BAD)
    assert answer.status_code == 422
    log = settings.data / "log"
    engine = open_store(settings.store_url)
    migrate(engine)
    apply(engine, list(read_records(log, start_position(log), committed_end(log))), committed_end(log))
    engine.dispose()
    return str(answer.json()["position"])


def test_what_was_refused_is_listed_mended_and_sent_again(refused: Settings) -> None:
    async def work() -> None:
        app = create_app(refused)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            position = await _refuse(client, refused)
            listed = (await client.get("/api/v2/quarantine")).json()["data"]
            assert [(one["position"], one["refusal"]) for one in listed] == [(position, "job")]
            assert (await client.get("/api/v2/quarantine", params={"reason": "json"})).json()["data"] == []
            one = (await client.get(f"/api/v2/quarantine/{position}")).json()["data"]
            assert (one["body"], one["cut"]) == (BAD.decode(), False)
            again = await client.post(f"/api/v2/quarantine/{position}/replay")
            assert (again.status_code, again.json()["reason"]) == (422, one["reason"].partition(": ")[2])
            mended = json.loads(BAD) | {
                "run": {"runId": "0190b3a1-0000-7000-8000-000000000001"},
                "job": {"namespace": "alpha", "name": "mended"},
                "producer": "https://example.org",
            }
            sent = await client.post(f"/api/v2/quarantine/{position}/replay", json={"body": json.dumps(mended)})
            assert sent.status_code == 200
            assert sent.json()["data"]["position"] != position
            place = Position.parse(position)
            inside = Position(place.segment, place.offset + 1)
            for other in ("1:99999999", inside):
                assert (await client.get(f"/api/v2/quarantine/{other}")).status_code == 404
                assert (await client.post(f"/api/v2/quarantine/{other}/replay")).status_code == 404
            _damage(refused.data / "log", place)
            assert (await client.get(f"/api/v2/quarantine/{position}")).status_code == 503

    asyncio.run(work())


def _damage(log: Path, at: Position) -> None:
    file = segment_path(log, at.segment)
    content = bytearray(file.read_bytes())
    content[at.offset + 40] ^= 1
    file.write_bytes(content)


def test_what_is_mended_goes_only_where_one_may_write(house: Callable[..., House]) -> None:
    """The namespace is that of the event as it will be read, whatever it is."""
    made = house()
    keeper = made.key("keeper", Role.READER)
    with write_security(made.engine) as connection:
        add_grant(connection, "key:keeper", Grant(Role.STEWARD, "mine"))
    run = RunName("0190b3a1-0000-7000-8000-000000000001", JobName("theirs", "load"))
    theirs = [dataset_event(5, DatasetName("theirs", "t"), facets={}), run_event(5, RunState.COMPLETE, run)]
    theirs += [one | {"producer": 5} for one in theirs]
    mine = dataset_event(5, DatasetName("mine", "t"), facets={})

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        sent = await client.post("/api/v1/lineage", content=b'{"nope": 1}', headers=keeper)
        path = f"/api/v2/quarantine/{sent.json()['position'].replace(':', '%3A')}"
        assert (await client.get(path, headers=keeper)).json()["data"]["body"] == '{"nope": 1}'
        for body in theirs:
            asked = {"body": json.dumps(body)}
            assert (await client.post(f"{path}/replay", headers=keeper, json=asked)).status_code == 403, body
        assert (await client.post(f"{path}/replay", headers=keeper, json={"body": json.dumps(mine)})).status_code == 200

    made.run(work)


def test_a_failed_spark_action_is_in_trouble_with_its_exception(store_url: str, tmp_path: Path) -> None:
    """openlineage-spark ends a failed action with FAIL and, right after, with COMPLETE."""
    now = time.time_ns() // 1_000
    spark = RunName("0190b3a1-0000-7000-8000-000000000002", JobName("n", "script.save"))
    blank = RunName("0190b3a1-0000-7000-8000-000000000001", JobName("n", "load"))
    said = [
        run_event(now - HOUR, RunState.START, spark),
        run_event(now - HOUR + 5, RunState.FAIL, spark, run_facets={"spark.exception": {"message": "boom\n\tat x"}}),
        run_event(now - HOUR + 6, RunState.COMPLETE, spark),
        run_event(now, RunState.FAIL, blank, run_facets={"errorMessage": {"message": " \n "}}),
    ]
    engine = open_store(store_url)
    migrate(engine)
    apply_bodies(engine, [json.dumps(one).encode() for one in said])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        jobs = client.get("/api/v2/troubles").json["data"]["jobs"]
        (run,) = client.get(f"/api/v2/runs/{spark.run_id}").json["data"]
    assert {one["job"]: one["last"]["error"] for one in jobs} == {"job:n:script.save": "boom", "job:n:load": None}
    assert (run["state"], run["error"]) == ("FAIL", "boom\n\tat x")
    assert run["ended_at"] == iso(now - HOUR + 5)


def test_hidden_names_are_in_no_answer(house: Callable[..., House]) -> None:
    made = house()
    now = time.time_ns() // 1_000
    told = [Ran(JobName(space, f"secret_{space}"), now - HOUR, now - HOUR // 2, RunState.FAIL) for space in SPACES]
    facets = {"schema": facet("SchemaDatasetFacet", fields=[{"name": "f", "type": "int"}])}
    tables = [DatasetName(space, f"secret_{space}") for space in SPACES]
    bodies = [body for number, one in enumerate(told) for body in events(one, number)]
    bodies += [json.dumps(dataset_event(now - HOUR, one, facets=facets)).encode() for one in tables]
    bodies += [json.dumps(_startless(number, space, now - HOUR)).encode() for number, space in enumerate(SPACES)]
    engine = open_store(made.settings.store_url)
    apply_bodies(engine, bodies)
    engine.dispose()
    beta = made.key("beta", Role.STEWARD, "beta")
    nodes = [str(one) for one in tables]

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for path, params in (
            ("troubles", {}),
            ("coverage", {}),
            ("coverage/lacking", {"what": "owner"}),
            ("coverage/lacking", {"what": "columns"}),
            ("unfinished-runs", {"lacks": "start"}),
            ("silent-datasets", {}),
            ("schema-changes", {}),
            ("traits", {"node": nodes}),
            ("kpis", {}),
        ):
            answer = await client.get(f"/api/v2/{path}", params=params, headers=beta)
            assert answer.status_code == 200, answer.text
            assert ("alpha" in answer.text, "gamma" in answer.text) == (False, False), path
            assert ("secret_beta" in answer.text) == (path not in ("coverage", "kpis")), path
        troubles = (await client.get("/api/v2/troubles", headers=beta)).json()["data"]
        assert (troubles["failing"], troubles["hidden"], troubles["jobs"][0]["outputs"]) == (1, 2, [])
        assert (await client.get("/api/v2/coverage", headers=beta)).json()["data"]["hidden"] == 3
        for path in ("quarantine", "quarantine/1:16", "failed-checks"):
            assert (await client.get(f"/api/v2/{path}", headers=beta)).status_code == 403
        assert (await client.post("/api/v2/quarantine/1:16/replay", headers=beta)).status_code == 403

    made.run(work)


def _startless(number: int, space: str, at: int) -> dict[str, object]:
    run = RunName(f"1000000{number}-0000-4000-8000-000000000001", JobName(space, f"secret_{space}_copy"))
    ends = [dataset(DatasetName(space, f"secret_{space}_{end}")) for end in ("in", "out")]
    return run_event(at, RunState.COMPLETE, run, inputs=ends[:1], outputs=ends[1:])


def test_answers_have_the_documented_shapes(store_url: str, tmp_path: Path) -> None:
    now = time.time_ns() // 1_000
    engine = open_store(store_url)
    migrate(engine)
    told = runs(1, now)
    apply_bodies(engine, [body for number, one in enumerate(told) for body in events(one, number)])
    engine.dispose()
    node = f"dataset:db://x:{told[0].job.namespace}.{told[0].job.name}"
    with asking(tmp_path, store_url) as client:
        for path in (
            *("troubles", "coverage", "coverage/lacking", "unfinished-runs", "silent-datasets", "kpis", "quarantine"),
            *("lost-records", "failed-checks", "schema-changes"),
        ):
            assert client.get(f"/api/v2/{path}").status == 200  # and as documented: see `asked`
        traits = client.get("/api/v2/traits", node=node).json["data"][0]
        own = [one for one in told if one.job == told[0].job]
        last = max(own, key=lambda one: one.ended)
        assert traits["latest"]["state"] == last.state.name
        good = [one.ended for one in own if one.state is RunState.COMPLETE]
        assert (traits["written"] is None) == (not good)
        entry = client.get(f"/api/v2/datasets/db%3A%2F%2Fx/{told[0].job.namespace}.{told[0].job.name}").json["data"]
        assert (traits["first_seen"], traits["deleted"]) == (entry["first_seen"], False)
        assert client.get("/api/v2/traits", node="no node").status == 422


def test_kpis_are_not_read_anew_for_every_question(store_url: str, tmp_path: Path) -> None:
    engine = open_store(store_url)
    migrate(engine)
    engine.dispose()
    row = {
        "measured_at": datetime.now(UTC) - timedelta(days=1),
        "name": "staleness_max",
        "value": 1.0,
        "unit": "seconds",
    }
    with asking(tmp_path, store_url) as client:
        before = client.get("/api/v2/kpis").json
        write_deltalake(table_uri(str(tmp_path / "tables"), "kpi"), pa.Table.from_pylist([row], KPI.plain))
        assert client.get("/api/v2/kpis").json == before
