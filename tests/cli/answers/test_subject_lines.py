"""Where the data of a person is, as people see it: at the terminal, as rows, and as a report in Markdown."""

import csv
import io
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from query.sensitivity.test_data_subject import KEPT, MAIL
from query.worlds.sensitive_story import BODIES
from whence.cli.commands.app import app
from whence.store.connection.engine import sqlite_url

KEPT_TEXT = """\
   1. full          crm export; DROP TABLE  kept P90D
      email; owned by nobody; never seen written; read by load users, mail, staging
   2. full          prod/silver/users  kept for ever, its sources 90 days
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("subject")
    engine = open_migrated(sqlite_url(folder / "store.db"))
    apply_bodies(engine, [*BODIES, *KEPT])
    engine.dispose()
    return folder


def shown(data: Path, *arguments: str) -> str:
    done = CliRunner().invoke(app, ["subject", *arguments, "--data", str(data)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_datasets_are_listed_in_the_order_of_erasure(data: Path) -> None:
    assert shown(data, "--tag", "pii").startswith(KEPT_TEXT)


def test_a_limit_says_that_there_is_more(data: Path) -> None:
    lines = shown(data, "--tag", "pii", "--limit", "1").splitlines()
    assert lines[2] == "7 datasets. All: --limit, --output csv, --report"
    assert lines[-1] == "Columns not known: not all are reported by send."


def test_nothing_tagged_is_said_so(data: Path) -> None:
    assert shown(data, "--tag", "none such").startswith("Nothing is tagged as personal data")


def test_rows_are_for_programs(data: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(shown(data, "--tag", "pii", "--output", "csv"))))
    assert [row["step"] for row in rows] == ["1", "2", "2", "3", "3", "3", "4"]
    assert rows[5]["dataset"] == str(MAIL)
    assert (rows[5]["retention"], rows[5]["must_keep_days"]) == ("18 months", "90")


def test_the_report_has_every_dataset_and_way_and_no_markup_of_others(data: Path, tmp_path: Path) -> None:
    report = tmp_path / "subject.md"
    shown(data, "--tag", "pii", "--limit", "1", "--report", str(report))
    text = report.read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and line[2].isdecimal()]
    assert len(rows) == 7
    assert {row.count(" | ") for row in rows} == {7}  # names with a pipe or a line end are no cells
    assert "`for ever` (its sources: 90 days)" in text
    assert text.count("<b>") == text.count("`dataset:s3://prod:mail") + text.count("`datasetField:s3://prod:mail")
    assert text.endswith("- `job:prod:send` reports no columns for all it writes: data may pass there unseen.\n")
