"""Each KPI is what plain Python computes from the plan of an organisation, of which the events were sent."""

import math
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conftest import STORES
from fixtures.kpi_organisation import AT, DAYS, Estate, Run, estate, micros
from fixtures.received_events import append, segments
from whence.derive.archive.copy import archive_log
from whence.derive.blast_radius.job import compute
from whence.derive.kpis.measure import measure
from whence.derive.kpis.series import Measured, kpis, read_series
from whence.derive.lineage_tables.job import publish
from whence.derive.rebuild import rebuild
from whence.errors import TableError
from whence.store.connection.engine import open_store, sqlite_url

SINCE = AT - timedelta(days=DAYS)
SCORES = {"columns": 1.0, "stated": 0.5, "inferred": 0.25}
DAY = timedelta(days=1)
SEEDS = {"sqlite": 15, "postgres": 17}
"""Of the plan that is measured from each store."""

Value = tuple[float | None, float | None, float]
"""Value, numerator, denominator."""

Pairs = set[tuple[str, str]]


def measured(spark: SparkSession, made: Estate, store_url: str, place: Path) -> dict[str, Value]:
    """What Whence measures, of the events."""
    log, engine = segments(place / "log"), open_store(store_url)
    append(log, made.drafts())
    rebuild(spark, log, store_url)
    archive_log(spark, log, str(place / "archive"))
    compute(spark, engine, micros(AT), shares=1)
    publish(spark, engine, str(place / "tables"))
    found = measure(spark, str(place / "tables"), str(place / "archive"), AT, DAYS)
    engine.dispose()
    return {one.name: value_of(one) for one in found}


def value_of(one: Measured) -> Value:
    assert one.denominator is not None
    return one.value, one.numerator, one.denominator


def expected(made: Estate) -> dict[str, Value]:
    """What the plan says."""
    tables, jobs = made.tables, made.jobs
    pairs = {(a, b) for job in jobs for a in job.reads for b in job.writes if a != b}
    reporting = [job for job in jobs if job.reads and job.writes]
    columns = {end for job in reporting if job.reports == "columns" for end in (*job.reads, *job.writes)}
    linked = {end for pair in pairs for end in pair}
    written = {name for job in jobs for name in job.writes}
    unknown = {name for name, table in tables.items() if name not in written and not table.origin}
    certified = {name for name, table in tables.items() if table.certified}
    shown = {name for name, table in tables.items() if table.terminal or table.type != "TABLE"}
    outputs = [(job, name) for job in jobs for name in job.writes if not tables[name].origin]
    inside = [one for one in made.received if SINCE <= one.at < AT]
    delays = [one.delay.total_seconds() for one in inside if one.delay is not None]
    ages = [(AT - max(tables[name].mentioned)).total_seconds() for name in linked]
    checks = [held for run in made.runs if SINCE <= run.times["RUNNING"] < AT for held in run.checks]
    read = {name for job in jobs for name in job.reads}
    lost, due = losses(run for run in made.runs if SINCE <= min(run.times.values()) < AT)
    return {
        "capture_latency_median": quantile(delays, 0.5),
        "capture_latency_p95": quantile(delays, 0.95),
        "certified_path_integrity": share(certified - downstream(unknown, pairs), certified),
        "column_coverage_datasets": share(columns, tables),
        "column_coverage_jobs": share([job for job in reporting if job.reports == "columns"], jobs),
        "contract_violation_rate": share([held for held in checks if not held], checks),
        "event_loss_rate": ratio(lost, due),
        "event_refusal_rate": share([one for one in inside if one.refused], inside),
        "false_positive_rate": share([pair for pair in pairs if pair[0] in tables[pair[1]].wrong], pairs),
        "granularity_score": mean([SCORES[job.reports] if job.reads else 0.0 for job, _ in outputs]),
        "lineage_coverage_datasets": share(linked, tables),
        "lineage_coverage_jobs": share(reporting, jobs),
        "median_blast_radius": quantile([impact(made, name, pairs) for name in tables], 0.5),
        "staleness_max": quantile(ages, 1),
        "staleness_median": quantile(ages, 0.5),
        "unknown_downstream_rate": share(written - shown - read, written - shown),
        "unknown_upstream_rate": share([pair for pair in pairs if pair[0] in unknown], pairs),
    }


def downstream(roots: Iterable[str], pairs: Pairs) -> set[str]:
    """The roots and all that depends on them."""
    found = set(roots)
    while more := {b for a, b in pairs if a in found} - found:
        found |= more
    return found


def impact(made: Estate, name: str, pairs: Pairs) -> float:
    """The datasets downstream, and the jobs that read them or the dataset itself."""
    reached = downstream([name], pairs)
    return len(reached) - 1 + sum(any(one in reached for one in job.reads) for job in made.jobs)


def losses(runs: Iterable[Run]) -> tuple[int, int]:
    """Starts and ends that never came, and those that were to come."""
    lost = due = 0
    for run in runs:
        is_silent = not run.job.streaming and max(run.times.values()) < AT - DAY
        ends = run.reports_end or is_silent
        due += 1 + ends
        lost += (not run.reports_start) + (ends and not run.reports_end)
    return lost, due


def ratio(part: float, whole: float) -> Value:
    return part / whole if whole else None, part, whole


def share(part: Iterable[object], whole: Iterable[object]) -> Value:
    return ratio(len([*part]), len([*whole]))


def mean(values: list[float]) -> Value:
    return (sum(values) / len(values), sum(values), len(values)) if values else (None, None, 0)


def quantile(values: list[float], part: float) -> Value:
    """The least value that so large a part of them does not exceed."""
    ordered = sorted(values)
    return (ordered[max(math.ceil(part * len(ordered)), 1) - 1] if ordered else None), None, len(ordered)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Measure what comes from SQLite; with `--long` what comes from PostgreSQL, too."""
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize("kind", STORES if metafunc.config.getoption("long") else STORES[:1])


def test_every_kpi_is_what_the_plan_says(
    kind: str, spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    is_file = kind == "sqlite"
    store_url = sqlite_url(tmp_path / "store.db") if is_file else str(request.getfixturevalue("postgres_url"))
    made = estate(SEEDS[kind])
    wanted = expected(made)
    assert set(wanted) == {one.name for one in kpis()}
    found = measured(spark, made, store_url, tmp_path)
    assert {name: _rounded(value) for name, value in found.items()} == {
        name: _rounded(value) for name, value in wanted.items()
    }


@pytest.mark.parametrize("seed", SEEDS.values())
def test_the_plans_are_not_trivial(seed: int) -> None:
    """Every KPI has something to measure, and ratios are neither 0 nor 1."""
    assert [name for name, (value, *_) in expected(estate(seed)).items() if value in (None, 0, 1)] == []


def test_measurements_add_up_to_a_series(spark: SparkSession, tmp_path: Path) -> None:
    store_url = sqlite_url(tmp_path / "store.db")
    assert read_series(str(tmp_path)) == {}
    with pytest.raises(TableError, match="not published yet"):
        measure(spark, str(tmp_path), None, AT)
    rebuild(spark, segments(tmp_path / "log"), store_url)
    engine = open_store(store_url)
    publish(spark, engine, str(tmp_path))
    engine.dispose()
    for days in (0, 1):
        measure(spark, str(tmp_path), None, AT + days * DAY)
    series = read_series(str(tmp_path))
    assert set(series) == {one.name for one in kpis()}
    assert {tuple(one.measured_at for one in some) for some in series.values()} == {(AT, AT + DAY)}
    assert {one.value for some in series.values() for one in some} == {None}  # of nothing, nothing is known


def _rounded(value: Value) -> tuple[float | None, ...]:
    return tuple(None if one is None else round(one, 6) for one in value)
