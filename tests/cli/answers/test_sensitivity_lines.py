"""Sensitivity labels as people see them: the grade, the column, the way, and what is not known."""

from pathlib import Path

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from fixtures.stores_of_events import apply_bodies
from query.worlds.sensitive_story import BODIES, EMAIL, FEATURES
from whence.cli.commands.app import app
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate

FEATURES_TEXT = """\
features  sensitive data in it
full          features.code  pii  assumed; proven: influenced
    crm export; DROP TABLE.email → users.contact → features.code
pseudonymous  features.id  pii
    crm export; DROP TABLE.email → users.email_hash → features.id
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sensitive")
    engine: Engine = open_store(sqlite_url(folder / "store.db"))
    migrate(engine)
    apply_bodies(engine, BODIES)
    engine.dispose()
    return folder


def shown(data: Path, *arguments: str) -> str:
    done = CliRunner().invoke(app, ["sensitivity", *arguments, "--data", str(data)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_labels_are_listed_with_their_ways(data: Path) -> None:
    text = shown(data, str(FEATURES))
    assert text.startswith(FEATURES_TEXT)
    assert text.splitlines()[-1].endswith("All: --at-least influenced")


def test_labels_of_the_past_say_of_when_they_are(data: Path) -> None:
    lines = shown(data, str(FEATURES), "--as-of", "2026-01-01").splitlines()
    assert "As of 2026-01-01T00:00:00Z." in lines
    assert not any(line.startswith("As of") for line in shown(data, str(FEATURES)).splitlines())


def test_a_limit_says_that_there_is_more(data: Path) -> None:
    text = shown(data, str(EMAIL), "--down", "--limit", "1")
    assert text.splitlines()[0].endswith("email  where its data goes")
    assert text.splitlines()[-1].endswith("All: --limit, --output csv")


def test_no_tag_is_said_so(data: Path) -> None:
    assert "No column is tagged as sensitive" in shown(data, str(FEATURES), "--tag", "none such")


def test_rows_have_the_whole_way(data: Path) -> None:
    head, *rows = shown(data, str(FEATURES), "--output", "csv").splitlines()
    assert head == "node,category,grade,assumed,proven,source,path,steps"
    assert len(rows) == 4
