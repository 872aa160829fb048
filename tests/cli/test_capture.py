"""`whence capture` in other people's pipelines: it sends, or keeps what it could not send, and ends well."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.process import Serving
from fixtures.collectors import collecting
from whence.cli.commands.app import app
from whence.cli.sending import captured_events as captured
from whence.log import Kind

LOG = Path(__file__).parents[1] / "capture" / "sql_log" / "golden" / "postgres.log"
COMMAND = ["capture", "sql-log", str(LOG), "--format", "postgres", "--prefix", "%m [%p] %u@%d %c ", "--namespace", "pg"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("WHENCE_OUTBOX", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(captured, "PATIENCE_SECONDS", 0)
    return tmp_path / "cache"


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    made = Serving(tmp_path)
    yield made
    made.end()


def kept(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.events"))


def nobody() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return f"http://127.0.0.1:{closed.getsockname()[1]}"


def test_events_are_sent_and_sending_them_again_changes_nothing(serving: Serving, cache: Path) -> None:
    api = serving()
    command = [*COMMAND, "--url", f"http://127.0.0.1:{api.port}", "-o", "json"]
    result = CliRunner().invoke(app, command)
    report = json.loads(result.stdout)
    assert (result.exit_code, report["events"], report["accepted"], report["unread"]) == (0, 10, 10, 1)
    assert report["flaws"][0]["place"] == "postgres.log:9"
    assert [record.kind for record in api.records()] == [Kind.EVENT] * 10
    assert kept(cache) == []
    assert CliRunner().invoke(app, command).exit_code == 0
    assert {record.kind for record in api.records()[10:]} == {Kind.RECEIPT}


def test_what_the_collector_did_not_take_is_kept_and_can_be_sent(cache: Path) -> None:
    with collecting() as collector:
        collector.status = 503
        result = CliRunner().invoke(app, [*COMMAND, "--url", collector.url])
        assert (result.exit_code, len(kept(cache)), collector.events) == (0, 1, [])
        assert "`whence capture flush`" in " ".join(result.stdout.split())
        collector.status = 201
        sent = CliRunner().invoke(app, ["capture", "flush", "--strict"])
        assert (sent.exit_code, len(collector.events), kept(cache)) == (0, 10, [])


@pytest.mark.parametrize(("strict", "code"), [([], 0), (["--strict"], 4)])
def test_the_pipeline_around_it_goes_on_unless_it_is_strict(strict: list[str], code: int) -> None:
    assert CliRunner().invoke(app, [*COMMAND, "--url", nobody(), *strict]).exit_code == code


@pytest.mark.parametrize("strict", [[], ["--strict"]])
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["dbt", "."], "no manifest.json in ."),
        (["dbt", "nowhere"], "does not exist"),
        (["dbt", ""], "no manifest.json"),
        (["dbt"], "Missing argument"),
        (["sql-log", "nofile.csv", "--format", "postgres", "--namespace", "postgres://prod"], "no file nofile.csv"),
        (["sql-log", "", "--format", "postgres", "--namespace", "postgres://prod"], "is empty"),
    ],
)
def test_an_argument_that_names_nothing_is_never_forgiven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: str, strict: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["capture", *arguments, "-o", "ndjson", *strict])
    assert result.exit_code == 2
    assert expected in " ".join(result.stderr.replace("│", " ").split())


def test_events_can_be_printed(cache: Path) -> None:
    result = CliRunner().invoke(app, [*COMMAND, "-o", "ndjson"])
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["eventType"] for event in events].count("START") == 5
    assert "postgres.log:9" in result.stderr
    assert not cache.exists()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [(["--format", "oracle9"], "snowflake"), (["--dialect", "cobol"], "postgres"), (["--format", "sql"], "--dialect")],
)
def test_wrong_usage_says_what_is_right(wrong: list[str], right: str) -> None:
    result = CliRunner().invoke(app, [*COMMAND, *wrong, "-o", "ndjson"])
    assert result.exit_code == 2
    assert right in result.stderr


@pytest.mark.parametrize(("strict", "code"), [([], 0), (["--strict"], 1)])
@pytest.mark.parametrize("command", ["generate", "compile", "parse"])
def test_results_of_another_command_than_a_build_are_said_loudly(
    tmp_path: Path, command: str, strict: list[str], code: int
) -> None:
    _write_project(tmp_path, command)
    result = CliRunner().invoke(app, ["capture", "dbt", str(tmp_path), "--namespace", "pg", "-o", "ndjson", *strict])
    assert result.exit_code == code
    named = {"generate": "docs generate"}.get(command, command)
    assert f"these are the results of `dbt {named}`" in result.stderr.replace("\n", " ")
    assert "run" not in {key for line in result.stdout.splitlines() for key in json.loads(line)}


def test_results_of_a_build_are_captured_without_a_word(tmp_path: Path) -> None:
    _write_project(tmp_path, "build")
    result = CliRunner().invoke(app, ["capture", "dbt", str(tmp_path), "--namespace", "pg", "-o", "ndjson", "--strict"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert any("run" in json.loads(line) for line in result.stdout.splitlines())


def _write_project(target: Path, command: str) -> None:
    schema = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    head = {"dbt_schema_version": schema, "generated_at": "2026-02-01T00:00:00Z", "adapter_type": "postgres"}
    model = {
        "unique_id": "model.shop.orders",
        "resource_type": "model",
        "package_name": "shop",
        "name": "orders",
        "database": "db",
        "schema": "prod",
        "relation_name": "db.prod.orders",
        "config": {"materialized": "table"},
        "compiled_code": "select 1 as id",
    }
    nodes = {model["unique_id"]: model}
    (target / "manifest.json").write_text(json.dumps({"metadata": head, "nodes": nodes, "sources": {}}))
    results = {
        "metadata": {"generated_at": "2026-02-01T00:01:00Z", "invocation_id": "0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a10"},
        "args": {"which": command},
        "results": [],
    }
    (target / "run_results.json").write_text(json.dumps(results))
