"""`whence tags` and the page about personal data, on a running server: its SQL files give the report that it shows."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.process import Api, Serving
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import applying
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/how-to/sensitive-data.md").read_text("utf-8")


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A server without events, that `WHENCE_URL` names, and the checkout as the working directory."""
    serving = Serving(tmp_path)
    made = serving()
    engine = open_migrated(made.store_url)
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("WHENCE_URL", f"http://127.0.0.1:{made.port}")
    with applying(engine, made.data / "log"):
        yield made
    engine.dispose()
    serving.end()


def run(command: str) -> Result:
    return CliRunner().invoke(app, command.replace("\\\n", " ").split()[1:])


def wait_for_all(api: Api) -> None:
    assert api.ask("GET", "/api/v2/progress?wait_for=head&timeout=30").json["reached"]


def test_the_first_report_is_as_shown(api: Api) -> None:
    (capture,) = re.findall(r"^(whence capture sql-log .*?columns\.json)$", PAGE, re.MULTILINE | re.DOTALL)
    (tag,) = re.findall(r"^whence tags add .*$", PAGE, re.MULTILINE)
    (shown,) = re.findall(r"^```\n(gold\.features  sensitive.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert run(capture).stdout == "3 of 3 events accepted\n"
    wait_for_all(api)
    assert "No column is tagged" in run("whence sensitivity gold.features").stdout
    (suggested,) = re.findall(r"^```\n(pii  crm.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert run("whence tags suggest --namespace postgres://db:5432").stdout == suggested
    looked, refused = re.findall(r"^```\n(pii        crm.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    sample = "whence tags sample crm.customers docs/how-to/sensitive-data/customers.csv"
    assert run(sample).stdout == looked
    assert run(tag).stdout == "crm.customers.email now has pii\n"
    wait_for_all(api)
    assert run(f"{sample} --send").stdout == refused
    assert run("whence sensitivity gold.features").stdout.startswith(shown)
    assert "suggests" in run("whence tags suggest --namespace postgres://db:5432").stdout
    found = run("whence search label:pii>=pseudonymous --kind field --output csv")
    assert found.stdout.count("datasetField:") == 7
    assert run("whence tags remove crm.customers.email pii").stdout == "crm.customers.email no longer has pii\n"
    wait_for_all(api)
    assert "No column is tagged" in run("whence sensitivity gold.features").stdout


def test_a_tag_with_a_value_and_mistakes(api: Api) -> None:
    (capture,) = re.findall(r"^(whence capture sql-log .*?columns\.json)$", PAGE, re.MULTILINE | re.DOTALL)
    assert run(capture).exit_code == 0
    wait_for_all(api)
    assert run("whence tags add staging.users masking=mail=x team").exit_code == 0
    wait_for_all(api)
    assert [one["node"] for one in api.ask("GET", "/api/v2/search?q=masking").json["data"]["nodes"]] == [
        "dataset:postgres://db:5432:shop.staging.users"
    ]
    nobody = run("whence tags add staging.nobody pii")
    assert (nobody.exit_code, "did you mean" in nobody.stderr) == (Exit.MISTAKE, True)
    assert run("whence tags add staging.users =x").exit_code == Exit.USAGE
    assert run("whence tags add users.id").exit_code == Exit.USAGE
