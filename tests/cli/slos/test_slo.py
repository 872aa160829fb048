"""`whence slo`: a table in production, staging and development, its runs, and names that attack terminals."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.cli.commands.app import app
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, run_event
from whence.store.connection.engine import sqlite_url

HOUR = 3_600_000_000
MONDAY = int(datetime(2026, 9, 7, tzinfo=UTC).timestamp()) * 1_000_000
PROD, STAGING, DEV = (DatasetName(f"postgres://{name}:5432", "shop.revenue") for name in ("prod", "staging", "dev"))
EVIL = DatasetName("s3://\x1b[31m\u202e", "[bold]<b>%:/é\n")
LOAD = JobName("airflow", "load")


def written(
    name: DatasetName,
    hour: int,
    number: int,
    *,
    rows: int = 100,
    nulls: int = 0,
    state: RunState = RunState.COMPLETE,
    nominal: int | None = None,
) -> dict[str, Any]:
    columns = {"total_usd": {"nullCount": nulls}}
    metrics = facet("DataQualityMetricsInputDatasetFacet", rowCount=rows, columnMetrics=columns)
    statistics = facet("OutputStatisticsOutputDatasetFacet", rowCount=rows)
    schema = facet("SchemaDatasetFacet", fields=[{"name": "total_usd", "type": "int"}])
    output = dataset(
        name, facets={"schema": schema}, outputFacets={"outputStatistics": statistics, "dataQualityMetrics": metrics}
    )
    start = {} if nominal is None else {"nominalTime": facet("NominalTimeRunFacet", nominalStartTime=iso_hour(nominal))}
    source = dataset(DatasetName(name.namespace, "shop.orders"))
    run = RunName(f"01890000-0000-7000-8000-{number:012}", LOAD)
    return run_event(MONDAY + hour * HOUR, state, run, inputs=[source], outputs=[output], run_facets=start)


def iso_hour(hour: int) -> str:
    return datetime.fromtimestamp(MONDAY / 1_000_000 + hour * 3_600, UTC).isoformat()


EVENTS = [
    # Production: every hour for nine days; an outage on the second Tuesday, whose runs fail, write nothing or backfill.
    *(written(PROD, hour, hour) for hour in range(9 * 24) if not 200 <= hour < 206),
    written(PROD, 201, 901, state=RunState.FAIL),
    written(PROD, 202, 902, rows=0),
    written(PROD, 199, 903, nominal=199),
    written(PROD, 203, 904, nominal=24),
    # Staging is never late, and half of its last run is null. Development was written once.
    *(written(STAGING, hour, 1_000 + hour, nulls=0 if hour < 215 else 50) for hour in range(9 * 24)),
    written(DEV, 0, 2_000),
    written(EVIL, 0, 3_000),
]

SLO = """\
  - name: {name}
    dataset: {dataset}
    indicator: {indicator}
    objective: {{target: 99%}}
"""
FRESH, NULLS = (
    "{freshness: {limit: 90m}}",
    "{quality: {metric: nullValues, column: total_usd, unit: percent, mustBeLessThan: 5}}",
)


def slos(*some: tuple[str, DatasetName, str]) -> str:
    entries = [
        SLO.format(name=json.dumps(name), dataset=json.dumps(str(dataset)), indicator=indicator)
        for name, dataset, indicator in some
    ]
    return "version: 1\nservice: shop\nslos:\n" + "".join(entries)


ALL = slos(
    ("prod", PROD, FRESH),
    ("staging", STAGING, FRESH),
    ("staging nulls", STAGING, NULLS),
    ("volume", STAGING, "{volume: {}}"),
    ("columns", PROD, "{schema: {}}"),
    ("unknown", DatasetName("postgres://prod:5432", "shop.none"), FRESH),
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("slos")
    engine = open_migrated(sqlite_url(directory / "store.db"))
    apply_bodies(engine, [json.dumps(one).encode() for one in EVENTS])
    engine.dispose()
    return directory


def whence(command: str, text: str, directory: Path, *words: str) -> Result:
    file = directory / "slos.yaml"
    file.write_text(text, "utf-8")
    return CliRunner().invoke(app, ["slo", command, str(file), *words])


def outcomes(result: Result) -> dict[str, str]:
    return {one["name"]: one["outcome"] for one in json.loads(result.stdout)["slos"]}


def test_evaluation_at_times_of_the_past(data: Path, tmp_path: Path) -> None:
    at = whence("evaluate", ALL, tmp_path, "--data", str(data), "--as-of", iso_hour(204), "-o", "json")
    assert at.exit_code == 5, at.output
    expected = dict.fromkeys(("staging", "staging nulls", "volume", "columns"), "holds")
    assert outcomes(at) == {**expected, "prod": "violated", "unknown": "not evaluated"}
    (prod,) = [one for one in json.loads(at.stdout)["slos"] if one["name"] == "prod"]
    assert prod["since"] == "2026-09-15T08:30:00Z"  # 90 minutes after hour 199, whatever came in between
    assert [alert["notify"] for alert in prod["alerts"]] == ["page", "page", "ticket"]
    assert prod["budget"]["bad"] == 3.5 * 3_600
    assert prod["budget"]["remaining"] == pytest.approx(1 - 3.5 / (0.01 * 204))
    # At noon of the outage all of the last hour is bad, and 3.5 of the last 6 h: 100 and 58 times 1 %.
    rates = [[one["long_window"]["burn_rate"], one["short_window"]["burn_rate"]] for one in prod["burn_rates"]]
    assert rates == [[100, 100], [pytest.approx(350 / 6), 100], [pytest.approx(350 / 72), pytest.approx(350 / 6)]]
    before = whence("evaluate", ALL, tmp_path, "--data", str(data), "--as-of", iso_hour(199), "-o", "json")
    assert (outcomes(before)["prod"], before.exit_code) == ("holds", 7)
    after = whence("evaluate", ALL, tmp_path, "--data", str(data), "--as-of", iso_hour(215), "-o", "json")
    assert outcomes(after) == {**expected, "prod": "holds", "staging nulls": "violated", "unknown": "not evaluated"}


def test_evaluation_as_text(data: Path, tmp_path: Path) -> None:
    text = slos(("evil \x1b[2J\n", EVIL, FRESH))
    hostile = whence("evaluate", text, tmp_path, "--data", str(data), "--as-of", iso_hour(2))
    assert hostile.stdout.startswith("evil \\x1b[2J: violated since 2026-09-07T01:30:00Z"), hostile.output
    for command in ("check", "evaluate", "backtest"):
        result = whence(command, text, tmp_path, *(("--data", str(data)) if command != "check" else ()))
        assert result.exit_code in (0, 5), result.output
        assert "s3://" in result.stdout
        assert "\x1b" not in result.output
    text = slos(("staging", STAGING, FRESH))
    result = whence("evaluate", text, tmp_path, "--data", str(data), "--as-of", iso_hour(215))
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "staging: holds since 2026-09-07T00:00:00Z  dataset:postgres://staging:5432:shop.revenue",
        "  written last at 2026-09-15T23:00:00Z, expected at most 90 min old (wall)",
        "  budget: 0.00 of 2.15 h bad, in 215.00 open hours; 100.0% left",
        "  burns 0 times in 1 h, 0 in 5 min; page at 14.4",
        "  burns 0 times in 6 h, 0 in 30 min; page at 6",
        "  burns 0 times in 72 h, 0 in 6 h; ticket at 1",
    ]


def test_a_backtest_lists_what_would_have_been_sent(data: Path, tmp_path: Path) -> None:
    result = whence("backtest", ALL, tmp_path, "--data", str(data), "--since", "3650d", "-o", "json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    until = "2026-09-16T00:00:00Z"
    prod = [one for one in found["transitions"] if one["slo"] == "prod" and one["time"] < until]
    assert [(one["time"], one["change"]) for one in prod if one["notify"] is None] == [
        ("2026-09-15T08:30:00Z", "begins"),
        ("2026-09-15T14:00:00Z", "ends"),
    ]
    assert [one["change"] for one in prod if one["notify"] == "page"].count("begins") == 2
    assert {one["slo"] for one in found["transitions"] if one["time"] < until} == {"prod", "staging nulls"}
    text = whence("backtest", ALL, tmp_path, "--data", str(data), "--since", "3650d").stdout
    assert text.splitlines()[0].startswith("2026-09-15T08:30:00Z  prod  begins: violated  dataset:postgres://prod")
    assert text.splitlines()[-1].startswith(f"{found['pages']} pages, {found['tickets']} tickets, ")


def test_a_file_is_checked(tmp_path: Path) -> None:
    result = whence("check", ALL, tmp_path)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[:3] == [
        "prod  dataset:postgres://prod:5432:shop.revenue",
        "  freshness, target 99 % of 30 d",
        "  page: the budget burns 14.4 times too fast for 1 h and 5 min of open time",
    ]
    assert result.stdout.splitlines()[-1] == "6 objectives of shop, valid"
    assert len(json.loads(whence("check", ALL, tmp_path, "-o", "json").stdout)["slos"]) == 6


def test_a_mistake_has_its_line(data: Path, tmp_path: Path) -> None:
    wrong = ALL.replace("target: 99%", "taget: 99%", 1)
    result = whence("check", wrong, tmp_path)
    reason = f"{tmp_path.as_posix()}/slos.yaml:7: no key 'taget' belongs here; did you mean 'target'?"
    assert (result.exit_code, result.stdout) == (5, reason + "\n")
    (mistake,) = json.loads(whence("check", wrong, tmp_path, "-o", "json").stdout)["mistakes"]
    assert f"{mistake['file']}:{mistake['line']}: {mistake['text']}" == reason
    for command in ("evaluate", "backtest"):
        result = whence(command, wrong, tmp_path, "--data", str(data))
        assert (result.exit_code, result.stdout) == (2, "")
        assert "did you mean 'target'?" in result.stderr
    hostile = whence("check", ALL.replace("version: 1", 'version: 1\n"\\e[2J": x'), tmp_path)
    assert (hostile.exit_code, "\x1b" in hostile.stdout) == (5, False)


def suggest(data: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["slo", "suggest", *words, "--data", str(data), "--as-of", iso_hour(216)])


def test_suggestions_are_kept_and_no_higher_ones_are(data: Path, tmp_path: Path) -> None:
    result = suggest(data, "--service", "shop")
    assert result.exit_code == 0, result.output
    # Production was late in its outage; development, and the table with the evil name, were written only once.
    assert result.stdout.count("  - name:") == 4
    asked = ("--data", str(data), "--as-of", iso_hour(216), "-o", "json")
    assert whence("check", result.stdout, tmp_path).exit_code == 0
    found = json.loads(whence("evaluate", result.stdout, tmp_path, *asked).stdout)["slos"]
    budgets = {one["name"]: one["budget"] for one in found}
    assert list(budgets) == [
        "postgres://prod:5432 shop.revenue is fresh",
        "postgres://prod:5432 shop.revenue has its rows",
        "postgres://staging:5432 shop.revenue is fresh",
        "postgres://staging:5432 shop.revenue has its rows",
    ]
    assert all(one["bad"] <= one["allowed"] for one in budgets.values())
    # Two hours after hour 199 until hour 206: 5 of 216 hours. And one run wrote no rows.
    assert budgets["postgres://prod:5432 shop.revenue is fresh"]["bad"] == 5 * 3_600
    assert [line for line in result.stdout.splitlines() if "target" in line] == [
        f'    objective: {{"target": "{target}%"}}' for target in ("95", "99", "99.5", "99.5")
    ]
    higher = result.stdout.replace('"95%"', '"98%"')
    (late, *_) = json.loads(whence("evaluate", higher, tmp_path, *asked).stdout)["slos"]
    assert late["budget"]["bad"] > late["budget"]["allowed"]


def test_suggestions_for_named_datasets(data: Path) -> None:
    staging = suggest(data, str(STAGING))
    assert (staging.exit_code, staging.stdout.count("postgres://prod")) == (0, 0)
    assert staging.stdout.count(f'dataset: "{STAGING}"') == 2
    none = suggest(data, str(DEV))
    assert (none.exit_code, none.stdout) == (0, 'version: 1\nservice: "suggested"\nslos: []\n')
    assert none.stderr == (
        "whence: nothing to suggest (datasets: 1): it takes 10 writes in 30 days, and a target that they kept\n"
    )
    for unknown in ("shop.none", str(LOAD)):
        result = suggest(data, unknown)
        assert (result.exit_code, result.stdout) == (1, "")
    assert suggest(data, "--service", " ").exit_code == 2
