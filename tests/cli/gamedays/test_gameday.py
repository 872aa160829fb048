"""`whence gameday`: the scenarios that come with Whence pass, as the report card says; and a fault that nothing watches
fails.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fixtures.migrated_stores import open_migrated
from whence.cli.commands.app import app

DOCS = Path(__file__).parents[3] / "docs"
EXAMPLE = DOCS / "how-to/gamedays/late-orders.yaml"
CARD = (DOCS / "reference/gamedays.md").read_text().partition("## Report card")[2]
ROWS = {row[0]: row for row in (re.split(r" *\| *", line.strip("| ")) for line in CARD.splitlines() if "| " in line)}
NAMES = sorted(one.stem for one in (Path(__file__).parents[3] / "src/whence/govern/gamedays/scenarios").glob("*.yaml"))
Json = dict[str, Any]


def run(*arguments: str) -> tuple[int, Json]:
    result = CliRunner().invoke(app, ["gameday", "run", *arguments, "-o", "json"])
    return result.exit_code, json.loads(result.stdout) if result.stdout else {"error": result.stderr}


def observed(scenario: Json) -> dict[str, str]:
    return {one["name"]: one["observed"] for one in scenario["criteria"]}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every third scenario; all with `--long`."""
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", NAMES if metafunc.config.getoption("long") else NAMES[::3])


def test_a_shipped_scenario_passes_as_the_report_card_says(name: str) -> None:
    code, found = run(name)
    (scenario,) = found["scenarios"]
    assert (code, found["passed"]) == (0, 1), [one for one in scenario["criteria"] if not one["passed"]]
    seen = observed(scenario)
    place = seen["cause"].partition(":")[0].removeprefix("place ")
    assert ROWS[name] == [name, scenario["origin"], seen["detected"], place, seen["closed"]]


def test_the_report_card_has_all_that_are_listed() -> None:
    listed = CliRunner().invoke(app, ["gameday", "list", "-o", "json"])
    names = [one["name"] for one in json.loads(listed.stdout)["scenarios"]]
    assert names == NAMES
    assert len(names) >= 12
    assert sorted(ROWS) == sorted([*names, "scenario"])


def failed(tmp_path: Path, *changes: tuple[str, str]) -> Sequence[str]:
    """The criteria that the example does not pass once it is changed."""
    text = EXAMPLE.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    file = tmp_path / "changed.yaml"
    file.write_text(text)
    code, found = run(str(file))
    (scenario,) = found["scenarios"]
    assert code == (0 if scenario["passed"] else 5)
    return [one["name"] for one in scenario["criteria"] if not one["passed"]]


def test_each_criterion_can_fail(tmp_path: Path) -> None:
    assert failed(tmp_path, ("{delivery: {by: '05:00'}}", "{delivery: {by: '23:00'}}")) == [
        "detected",
        "one incident",
        "owner",
        "closed",
    ]
    assert failed(
        tmp_path,
        ("owner: team:checkout\n  contained", "owner: team:finance\n  contained"),
        ("contained: [build_report]", "contained: []"),
        ("detectedWithin: 6h", "detectedWithin: 4h"),
    ) == ["detected", "owner", "containment"]
    assert "closed" in failed(
        tmp_path, ("fixedAfter: 16h", "fixedAfter: 6h"), ("closedWithin: 10h", "closedWithin: 5m")
    )
    assert "one incident" in failed(tmp_path, ("root: orders", "root: report"))


def test_a_game_day_in_a_copy_leaves_the_store_as_it_is(tmp_path: Path) -> None:
    from whence.store.connection.engine import sqlite_url

    engine = open_migrated(sqlite_url(tmp_path / "whence.db"))
    engine.dispose()
    before = (tmp_path / "whence.db").read_bytes()
    code, found = run(str(EXAMPLE), "--copy", "--store", sqlite_url(tmp_path / "whence.db"))
    assert (code, found["passed"]) == (0, 1)
    assert (tmp_path / "whence.db").read_bytes() == before


def test_an_unknown_name_is_a_mistake_that_lists_the_names() -> None:
    code, found = run("null-bust")
    assert code != 0
    assert "null-burst" in found["error"]
