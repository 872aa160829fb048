"""Failed checks, as their runs reported them last."""

import json
import random
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.asked import asking
from api.dashboards.check_reports import CheckReport, check_event, check_reports
from api.dashboards.pages import paged
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.cli.answers.local.store import StoreQuestions
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, own_facet, run_event
from whence.query.answers.instants import iso
from whence.store.status import data_quality as quality

HOUR = 3_600_000_000
NOTHING_MORE = {"severity": None, "expected": None, "actual": None, "failures": None}


def _failed(reports: list[CheckReport]) -> list[dict[str, Any]]:
    """What did not hold, as it was said last, the run first that spoke last."""
    spoke: dict[RunName, int] = {}
    last: dict[tuple[RunName, DatasetName], CheckReport] = {}
    for one in sorted(reports, key=lambda one: one.time):
        spoke[one.run] = one.time
        last[one.run, one.of] = one
    rows = [
        {
            "dataset": str(of),
            "run": str(run),
            "job": str(run.job),
            "time": iso(spoke[run]),
            "failed": [
                {"assertion": name, "column": column, **NOTHING_MORE} for name, column, held in one.checks if not held
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
    facets = {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=checks)}
    error = {"errorMessage": facet("ErrorMessageRunFacet", message=message)} if message else {}
    inputs = [dataset(DatasetName("db://a", f"{job.namespace}.x"), inputFacets=facets)]
    return run_event(at, RunState.FAIL, run, run_facets={**invocation, **error}, inputs=inputs)


def test_what_dbt_ol_and_the_artifacts_report_of_one_invocation_is_one_attempt(store_url: str, tmp_path: Path) -> None:
    """Two projects, in prod and staging, each with two invocations of one node; a retry; and a run of no invocation."""
    now = time.time_ns() // 1_000
    events, number = [], 0
    for space in ("prod", "staging"):
        for project in ("shop", "other"):
            job = JobName(space, f"db.main.{project}.orders.test")
            for turn, minutes in enumerate((90, 60)):
                invocation, at = f"{space}/{project}/{turn}", now - minutes * 60_000_000
                captured = {"whence_dbtRun": own_facet("DbtRunFacet", invocationId=invocation)}
                live = {"dbt_run": {"invocation_id": invocation, "project_name": project}}
                events += [
                    _dbt_run(number + 1, at, job, captured, message=f"cannot convert {invocation}\nline 2"),
                    _dbt_run(number + 2, at + 1_000, job, live),
                ]
                number += 2
    alone = JobName("dev", "orders")
    events += [
        _dbt_run(number + n, now - n * 60_000_000, alone, {"dbt_run": {"invocation_id": ["odd"]}}) for n in (1, 2)
    ]
    engine = open_migrated(store_url)
    apply_bodies(engine, random.Random(7).sample([json.dumps(one).encode() for one in events], len(events)))
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


def test_checks_of_what_a_run_wrote_count_with_what_was_expected_and_found(store_url: str, tmp_path: Path) -> None:
    """A run that checks a dataset both as it read it and as it wrote it, and one that only wrote one."""
    now, job, of = time.time_ns() // 1_000, JobName("etl", "load"), DatasetName("db", "gold.orders")
    run = RunName("00000001-0000-4000-8000-00000000000e", job)

    def checks(**of_total: Any) -> dict[str, Any]:
        found = [{"assertion": "not_null", "column": "total", **of_total}, {"assertion": "unique", "success": True}]
        return {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=found)}

    more = {"severity": "ERROR", "expected": 0, "actual": "x" * 300, "failures": 17}
    outputs = [
        dataset(of, outputFacets=checks(success=False, **more)),
        dataset(DatasetName("db", "gold.totals"), facets=checks(success=False, failures=True)),
    ]
    event = run_event(
        now - HOUR, RunState.COMPLETE, run, inputs=[dataset(of, inputFacets=checks(success=True))], outputs=outputs
    )
    engine = open_migrated(store_url)
    apply_bodies(engine, [json.dumps(event).encode()])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        rows = client.get("/api/v2/failed-checks").json["data"]
        traits = client.get("/api/v2/traits", node="dataset:db:gold.totals").json["data"][0]
    assert {one["dataset"]: one["failed"] for one in rows} == {
        "dataset:db:gold.orders": [
            {
                "assertion": "not_null",
                "column": "total",
                "severity": "error",
                "expected": "0",
                "actual": "x" * 200,
                "failures": 17,
            }
        ],
        "dataset:db:gold.totals": [{"assertion": "not_null", "column": "total", **NOTHING_MORE}],
    }
    assert (traits["quality"]["failed"], traits["quality"]["held"]) == (1, 1)


@pytest.mark.parametrize("looked", [5_000, 4])
def test_checks_that_failed_as_their_runs_said_last(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looked: int
) -> None:
    monkeypatch.setattr(quality, "MOST_LOOKED", looked)
    reports = check_reports(3, time.time_ns() // 1_000)
    engine = open_migrated(store_url)
    apply_bodies(engine, random.Random(4).sample([check_event(one) for one in reports], len(reports)))
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        for limit in (3, 1_000):
            pages = list(paged(client, "/api/v2/failed-checks", limit=limit))
            rows = [one for page in pages for one in page["data"]]
            for page in pages:
                assert len(page["data"]) <= limit
            assert [one["time"] for one in rows] == sorted((one["time"] for one in rows), reverse=True)
            assert sorted(rows, key=_place, reverse=True) == _failed(reports)
            assert len(pages) > 1 or looked == 5_000


def test_the_known_checks_of_datasets_are_what_the_latest_run_of_each_job_reported(
    store_url: str, tmp_path: Path
) -> None:
    reports = check_reports(5, time.time_ns() // 1_000)
    engine = open_migrated(store_url)
    apply_bodies(engine, random.Random(4).sample([check_event(one) for one in reports], len(reports)))
    engine.dispose()
    asked = {DatasetName("db://a", name) for name in ("x", "y", "none")}
    with asking(tmp_path, store_url) as client:
        rows = client.get("/api/v2/checks", node=[str(one) for one in asked]).json["data"]
    there = StoreQuestions(store_url).checks([str(one) for one in asked])
    assert json.loads(msgspec.json.encode(there)) == rows
    assert [(one["dataset"], one["job"], one["run"], _of_checks(one["checks"])) for one in rows] == _known(
        reports, asked
    )


def _of_checks(checks: list[dict[str, Any]]) -> list[tuple[str, str | None, bool]]:
    return [(one["assertion"], one["column"], one["held"]) for one in checks]


def _known(
    reports: list[CheckReport], asked: set[DatasetName]
) -> list[tuple[str, str, str, list[tuple[str, str | None, bool]]]]:
    """What each run said last of a dataset; of a job's runs, that of the run that spoke last and had a check of it."""
    spoke: dict[RunName, int] = {}
    last: dict[tuple[RunName, DatasetName], CheckReport] = {}
    for one in sorted(reports, key=lambda one: one.time):
        spoke[one.run] = one.time
        last[one.run, one.of] = one
    found: dict[tuple[str, str], tuple[RunName, CheckReport]] = {}
    for (run, of), one in sorted(last.items(), key=lambda item: spoke[item[0][0]]):
        if of in asked and one.checks:
            found[str(of), str(run.job)] = run, one
    return [(of, job, str(run), list(one.checks)) for (of, job), (run, one) in sorted(found.items())]


def _place(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["time"], row["run"], row["dataset"]
