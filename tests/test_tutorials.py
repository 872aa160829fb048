"""The tutorials print what they show: the commands of the first one are run over its events."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from test_docs import page
from whence.cli.commands.app import app
from whence.store.connection.engine import sqlite_url

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial"
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
AGE = re.compile(r"\d+ (?:days?|months?|years?) ago")
SENT, WAITED = "whence ingest ", "whence doctor"


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a page, with what the page says that it prints."""
    for block in CONSOLE.findall(text):
        for step in block.split("$ ")[1:]:
            command, _, printed = step.partition("\n")
            yield command, printed


def test_the_first_graph_is_as_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_DATA", str(tmp_path))
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    position = 1
    asked = 0
    for command, shown in steps(page("docs/tutorial/first-graph.md")):
        if command.startswith(SENT):
            events = json.loads((TUTORIAL.parents[1] / command.removeprefix(SENT)).read_text("utf-8"))
            apply_bodies(engine, [json.dumps(one).encode() for one in events], position)
            position += len(events)
            assert shown.startswith(f"{len(events)} of {len(events)} events accepted")
            continue
        if command == WAITED:
            continue
        answer = CliRunner().invoke(app, command.split()[1:], prog_name="whence")
        assert answer.exit_code == 0, answer.output
        assert AGE.sub("ago", answer.stdout) == AGE.sub("ago", shown), command
        asked += 1
    engine.dispose()
    assert asked == 5


def test_the_quoted_code_is_that_of_the_job() -> None:
    (quoted,) = re.findall(r"^```python\n(.*?)^```", page("docs/tutorial/connect.md"), re.MULTILINE | re.DOTALL)
    assert quoted in (TUTORIAL / "spark_orders.py").read_text("utf-8")


def test_the_objectives_on_their_page_are_judged_as_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page("docs/how-to/slos.md")
    shown = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    how_to = TUTORIAL.parent / "how-to"
    assert shown[0] == (how_to / "slos" / "slos.yaml").read_text("utf-8")
    monkeypatch.setenv("WHENCE_DATA", str(tmp_path))
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    events = json.loads((how_to / "contracts" / "load_orders.json").read_text("utf-8"))
    apply_bodies(engine, [json.dumps(one).encode() for one in events])
    engine.dispose()
    for (command, printed), code in zip(steps(text), (0, 5), strict=True):
        answer = CliRunner().invoke(app, command.split()[1:], prog_name="whence")
        assert (answer.exit_code, answer.stdout) == (code, printed), answer.output


def test_the_contract_on_its_page_is_the_one_to_try() -> None:
    (shown,) = re.findall(r"^```yaml\n(.*?)^```", page("docs/how-to/contracts.md"), re.MULTILINE | re.DOTALL)
    assert shown == page("docs/how-to/contracts/orders.odcs.yaml")
    checked = CliRunner().invoke(app, ["contract", "check", str(TUTORIAL.parent / "how-to" / "contracts")])
    assert (checked.exit_code, checked.stdout) == (0, "1 of 1 contract valid\n")


def test_the_files_that_tutorials_name_exist() -> None:
    named = {
        name
        for path in TUTORIAL.glob("*.md")
        for name in re.findall(r"docs/tutorial/[\w./]+", path.read_text())
        if "/target/" not in name
    }
    assert len(named) > 4
    assert [name for name in named if not (TUTORIAL.parents[1] / name.rstrip(".")).exists()] == []
