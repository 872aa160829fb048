"""`whence capture list|run|backfill`: registered captures, polled from the terminal."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fixtures.collectors import Collector, collecting
from whence.cli.commands.app import app
from whence.model.access import GRANT_COMMAND

LOG = Path(__file__).parents[2] / "capture" / "sql_log" / "golden" / "postgres.log"


@pytest.fixture
def collector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with collecting() as made:
        monkeypatch.setenv("OPENLINEAGE_URL", made.url)
        monkeypatch.setenv("WHENCE_OUTBOX", str(tmp_path / "outbox"))
        monkeypatch.setenv("WHENCE_DATA", str(tmp_path / "data"))
        yield made


def options(**members: str) -> list[str]:
    given = {"file": str(LOG), "format": "postgres", "namespace": "postgres://db:5432", "prefix": "%m [%p] %u@%d %c "}
    return [word for name, value in {**given, **members}.items() for word in ("--set", f"{name}={value}")]


def test_a_log_is_polled_and_listed(collector: Collector) -> None:
    done = CliRunner().invoke(app, ["capture", "run", "sql-log", *options(), "-o", "json", "--job-namespace", "prod"])
    report = json.loads(done.stdout)
    assert (done.exit_code, report["events"], report["unread"], report["sent"]) == (0, 10, 1, True)
    assert len(collector.events) == 10
    assert {one["job"]["namespace"] for one in collector.events} == {"prod"}
    listed = json.loads(CliRunner().invoke(app, ["capture", "list", "-o", "json"]).stdout)["captures"]
    entries = {one["name"]: one for one in listed}
    assert {"dbt", "sql-log"} <= set(entries)
    (source,) = entries["sql-log"]["sources"]
    assert (source["instance"], source["problem"]) == ("postgres://db:5432", "")
    assert source["last_event"] == max(one["eventTime"] for one in collector.events)
    shown = CliRunner().invoke(app, ["capture", "list"]).stdout
    assert "postgres://db:5432: polled" in " ".join(shown.split())


def test_a_backfill_reads_its_window_only(collector: Collector) -> None:
    command = ["capture", "backfill", "sql-log", *options(), "--since", "2030-01-01"]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, collector.events) == (0, [])
    assert "0 events of 1 records" in done.stdout


def test_a_collector_that_is_away_is_said_and_nothing_is_lost(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whence.cli.sending.captures._SENT_SECONDS", 0.3)
    collector.status = 503
    done = CliRunner().invoke(app, ["capture", "run", "sql-log", *options()])
    assert (done.exit_code, "status 503" in done.stdout) == (4, True)
    collector.status = 201
    assert CliRunner().invoke(app, ["capture", "flush", "--strict"]).exit_code == 0
    assert len(collector.events) == 10


@pytest.fixture
def query_log(tmp_path: Path) -> list[str]:
    """A command that polls three queries of three days; again the last one, which may have been written late."""
    rows = [
        {"query_text": f"create table t{day} as select a from s", "end_time": f"2026-11-{day}T10:00:00Z"}
        for day in (18, 19, 20)
    ]
    log = tmp_path / "queries.json"
    log.write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    given = {"file": log, "format": "queries", "dialect": "postgres", "namespace": "postgres://db:5432"}
    return ["capture", "run", "sql-log", *(word for one in given.items() for word in ("--set", f"{one[0]}={one[1]}"))]


def test_events_that_lack_a_grant_are_a_problem_and_sent_again(collector: Collector, query_log: list[str]) -> None:
    reason = f"/job/namespace: no grant to write in the namespace 'prod' (`{GRANT_COMMAND}`)"
    collector.refuses = lambda event: reason if "t18" in str(event.get("outputs")) else ""
    refused = CliRunner().invoke(app, query_log)
    count = len(collector.events)
    assert (refused.exit_code, count > 0) == (4, True)
    assert reason in refused.stdout
    assert "the next poll sends them again" in refused.stdout
    assert reason in CliRunner().invoke(app, ["capture", "list"]).stdout
    collector.refuses = lambda event: ""
    again = CliRunner().invoke(app, query_log)
    assert (again.exit_code, " of 3 records\n" in again.stdout) == (0, True)
    assert "t18" in str(collector.events[count:])
    assert "no grant" not in CliRunner().invoke(app, ["capture", "list"]).stdout
    assert " of 1 records\n" in CliRunner().invoke(app, query_log).stdout


def test_events_that_are_refused_for_good_are_a_problem_once(collector: Collector, query_log: list[str]) -> None:
    collector.refuses = lambda event: "/eventTime: no time" if "t18" in str(event.get("outputs")) else ""
    refused = CliRunner().invoke(app, query_log)
    assert (refused.exit_code, "such as /eventTime" in refused.stdout) == (4, True)
    assert "again" not in refused.stdout
    again = CliRunner().invoke(app, query_log)
    assert (again.exit_code, " of 1 records\n" in again.stdout) == (0, True)


def test_a_server_that_is_away_is_a_problem_of_the_poll_and_listed(collector: Collector) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        uri = f"http://127.0.0.1:{free.getsockname()[1]}"
    done = CliRunner().invoke(app, ["capture", "run", "mlflow", "--set", f"uri={uri}", "-o", "json"])
    report = json.loads(done.stdout)
    assert (done.exit_code, report["events"], uri in report["problem"]) == (4, 0, True)
    listed = json.loads(CliRunner().invoke(app, ["capture", "list", "-o", "json"]).stdout)["captures"]
    (source,) = next(one["sources"] for one in listed if one["name"] == "mlflow")
    assert source["problem"] == report["problem"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nobody"], "there are airflow, bigquery, "),
        (["sql-log"], "the option file="),
        (["sql-log", *options(format="cobol")], "the option format must be one of"),
        (["sql-log", *options(file="/no/such")], "there is no file"),
        (["sql-log", *options(colour="red")], "has no option colour"),
        (["sql-log", "--set", "file"], "say NAME=VALUE"),
        (["dbt"], "set target="),
        (["dbt", "--set", "target=/no/such"], "no manifest.json"),
    ],
)
def test_wrong_usage(collector: Collector, arguments: list[str], expected: str) -> None:
    result = CliRunner().invoke(app, ["capture", "run", *arguments])
    assert result.exit_code == 2
    assert expected in " ".join(result.stderr.replace("│", " ").split())
