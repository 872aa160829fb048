"""Results of checks as answers: of a dataset by any of its names, of a column; as of a time; for a viewer; as text."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.cli.commands.app import app
from whence.model.access import Grant, Role, Viewer
from whence.model.events import RunState
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.write import dataset, facet, run_event
from whence.query.questions.check_results import CheckResults, check_results
from whence.query.visibility.graph import seen_by
from whence.store.connection.engine import reading, sqlite_url
from whence.store.snapshots.graph import StoreGraph
from whence.store.status import data_quality

HOUR = 3_600_000_000
TABLE, PATH = DatasetName("prod", "gold.orders"), DatasetName("s3://lake", "orders")
STAGING = DatasetName("staging", "gold.orders")
LOAD, SCAN = JobName("spark", "load"), JobName("soda", "scan [bold]\x1b[31m")


def run_of(job: JobName, number: int) -> RunName:
    return RunName(f"01890000-0000-7000-8000-{int(job == SCAN):04d}{number:08d}", job)


def assertion(name: str, held: bool, **members: Any) -> dict[str, Any]:
    return {"assertion": name, "success": held, **members}


def scanned(number: int, table: DatasetName, *assertions: dict[str, Any]) -> bytes:
    found = facet("DataQualityAssertionsDatasetFacet", assertions=list(assertions))
    schema = facet("SchemaDatasetFacet", fields=[{"name": name, "type": "int"} for name in ("id", "total")])
    read = dataset(table, facets={"schema": schema}, inputFacets={"dataQualityAssertions": found})
    return json.dumps(run_event(number * HOUR, RunState.COMPLETE, run_of(SCAN, number), inputs=[read])).encode()


def loaded(number: int) -> bytes:
    """A run that writes the dataset under its path, which is a symlink of the table, and checks what it wrote."""
    link = {"namespace": TABLE.namespace, "name": TABLE.name, "type": "TABLE"}
    found = facet("DataQualityAssertionsDatasetFacet", assertions=[assertion("unique", True, column="id")])
    output = dataset(
        PATH,
        facets={"symlinks": facet("SymlinksDatasetFacet", identifiers=[link])},
        outputFacets={"dataQualityAssertions": found},
    )
    return json.dumps(run_event(number * HOUR, RunState.COMPLETE, run_of(LOAD, number), outputs=[output])).encode()


NOT_NULL = assertion("not_null", False, column="total", severity="error", expected="0", actual="4")
EVENTS = [
    loaded(1),
    scanned(2, TABLE, NOT_NULL, assertion("row_count > 0", True)),
    scanned(3, TABLE, assertion("not_null", True, column="total"), assertion("fresh", False, severity="warn")),
    scanned(4, STAGING, assertion("not_null", False, column="total")),
]
NEWEST = [(3, "s", "", "fresh", False), (3, "s", "total", "not_null", True)]
OLDER = [(2, "s", "", "row_count > 0", True), (2, "s", "total", "not_null", False)]
WRITTEN = [(1, "l", "id", "unique", True)]


@pytest.fixture
def ask(store: Engine) -> Iterator[Callable[..., CheckResults]]:
    apply_bodies(store, EVENTS)
    with ExitStack() as stack:

        def asked(node: Node = TABLE, at: int | None = None, viewer: Viewer | None = None) -> CheckResults:
            graph = StoreGraph(stack.enter_context(reading(store)))
            return check_results(seen_by(viewer, b"secret", graph) if viewer else graph, node, at)

        yield asked


def rows_of(found: CheckResults) -> list[tuple[Any, ...]]:
    jobs = {LOAD: "l", SCAN: "s"}
    return [
        (
            one.time // HOUR,
            one.run and jobs[one.run.job],
            one.assertion.column or "",
            one.assertion.name,
            one.assertion.held,
        )
        for one in found.results
    ]


def test_a_dataset_has_the_results_of_all_its_names_and_of_no_other_environment(
    ask: Callable[..., CheckResults],
) -> None:
    for name in (TABLE, PATH):
        found = ask(name)
        assert rows_of(found) == [*NEWEST, *OLDER, *WRITTEN]
        assert found.completeness.complete
    assert rows_of(ask(STAGING)) == [(4, "s", "total", "not_null", False)]
    failed = ask().results[3].assertion
    assert (failed.severity, failed.expected, failed.actual) == ("error", "0", "4")


def test_a_column_a_job_and_a_time(ask: Callable[..., CheckResults]) -> None:
    assert rows_of(ask(FieldName(TABLE, "total"))) == [NEWEST[1], OLDER[1]]
    assert rows_of(ask(at=2 * HOUR)) == [*OLDER, *WRITTEN]
    assert rows_of(ask(SCAN)) == []


def test_who_may_not_read_everything_is_told_so(ask: Callable[..., CheckResults]) -> None:
    viewer = Viewer(name="user:ada", grants=(Grant(Role.READER, "prod"),), hidings=())
    found = ask(viewer=viewer)
    assert found.results == ()
    assert (found.completeness.complete, found.completeness.stopped_by) == (False, "access")


def test_older_runs_than_are_read_are_not_left_out_in_silence(
    ask: Callable[..., CheckResults], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_quality, "MOST_RUNS", 2)
    found = ask()
    assert rows_of(found) == [*NEWEST, *OLDER]
    assert (found.completeness.complete, found.completeness.stopped_by) == (False, "checks")
    monkeypatch.setattr(data_quality, "MOST_RUNS", 3)
    assert ask().completeness.complete


def test_results_as_text_json_and_csv(tmp_path: Path) -> None:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    apply_bodies(engine, EVENTS)
    engine.dispose()

    def whence(*words: str) -> str:
        done = CliRunner().invoke(app, ["checks", *words, "--data", str(tmp_path)])
        assert done.exit_code == 0, done.output
        return done.stdout

    lines = whence(str(TABLE), "--limit", "4").splitlines()
    assert lines[1:] == [
        "1970-01-01T03:00:00  warned  fresh  by scan [bold]\\x1b[31m",
        "1970-01-01T03:00:00  held    total.not_null  by scan [bold]\\x1b[31m",
        "1970-01-01T02:00:00  held    row_count > 0  by scan [bold]\\x1b[31m",
        "1970-01-01T02:00:00  failed  total.not_null  expected 0  found 4  by scan [bold]\\x1b[31m",
        "There may be more: --limit, --output csv",
    ]
    assert whence(str(FieldName(TABLE, "id"))).splitlines()[1].split()[1:] == ["held", "id.unique", "by", "load"]
    found = json.loads(whence(str(STAGING), "-o", "json"))
    assert [(one["assertion"], one["held"], one["job"]) for one in found["checks"]] == [("not_null", False, str(SCAN))]
    assert whence(str(TABLE), "-o", "csv").splitlines()[0] == (
        "time,dataset,column,assertion,held,severity,expected,actual,failures,run,job"
    )
