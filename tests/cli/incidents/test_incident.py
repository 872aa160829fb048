"""`whence incident` asks a store and a server alike; acts go to the server, and names do not attack the terminal."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.process import Api, Serving
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import applying
from whence.cli.commands.app import app
from whence.client.questions import connect
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, run_event

HOUR = 3_600_000_000
ORDERS, REVENUE, COPY = (
    DatasetName("postgres://prod:5432", "shop.[bold]orders\x1b[2J\u202e"),
    DatasetName("postgres://prod:5432", "shop.revenue"),
    DatasetName("postgres://dev:5432", "shop.orders"),
)
Steps = tuple[tuple[int, JobName, list[DatasetName], list[DatasetName], RunState], ...]
LOAD, BUILD, CLONE = (JobName("airflow", name) for name in ("load", "build", "clone\n"))


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server whose load of orders fails, and what is built of them; and, on its own, a copy in development."""
    serving = Serving(tmp_path_factory.mktemp("incidents"))
    made, now = serving(), time.time_ns() // 1_000
    engine = open_migrated(made.store_url)
    steps: Steps = (
        (30 * HOUR, LOAD, [], [ORDERS], RunState.COMPLETE),
        (29 * HOUR, BUILD, [ORDERS], [REVENUE], RunState.COMPLETE),
        (28 * HOUR, CLONE, [], [COPY], RunState.COMPLETE),
        (6 * HOUR, LOAD, [], [], RunState.FAIL),
        (5 * HOUR, BUILD, [ORDERS], [REVENUE], RunState.FAIL),
        (HOUR, CLONE, [], [], RunState.ABORT),
    )
    with applying(engine, made.data / "log"):
        for number, (age, job, inputs, outputs, state) in enumerate(steps):
            run = RunName(f"01890000-0000-7000-8000-{number:012}", job)
            event = run_event(now - age, state, run, inputs=[*map(dataset, inputs)], outputs=[*map(dataset, outputs)])
            assert made.post(event).status == 201
        assert made.ask("GET", "/api/v2/progress?wait_for=head&timeout=30").json["reached"]
        yield made
    engine.dispose()
    serving.end()


def ask(api: Api, *words: str, local: bool = False) -> Result:
    where = ["--store", api.store_url] if local else ["--url", f"http://127.0.0.1:{api.port}"]
    return CliRunner().invoke(app, ["incident", *words, *where])


def test_a_store_and_a_server_answer_alike(api: Api) -> None:
    documents = [json.loads(ask(api, "list", "-o", "json", local=local).stdout) for local in (True, False)]
    assert documents[0]["incidents"] == documents[1]["incidents"]
    assert [(one["root"], one["symptoms"]) for one in documents[0]["incidents"]] == [
        (str(COPY), []),
        (str(ORDERS), [str(REVENUE)]),
    ]
    id_ = documents[0]["incidents"][1]["id"]
    local, remote = (json.loads(ask(api, "show", id_, "-o", "json", local=local).stdout) for local in (True, False))
    assert {**local, "at": ""} == {**remote, "at": ""}
    with connect(f"http://127.0.0.1:{api.port}") as client:
        assert [one.id for one in client.incidents(dataset=str(REVENUE)).incidents] == [id_]
        assert client.incident(id_).last_good is not None
    for one in (True, False):
        texts = [ask(api, *words, local=one).stdout for words in (("list",), ("show", id_))]
        assert not {"\x1b", "\u202e"} & set("".join(texts))
        assert "1 more dataset" in texts[0]
        assert ask(api, "list", "--as-of", "2 days ago", local=one).stdout == "No incident.\n"
        assert ask(api, "show", id_, "--as-of", "330 min ago", local=one).stdout.count("  run since ") == 1


def test_people_act_and_everybody_reads_it(api: Api) -> None:
    id_ = json.loads(ask(api, "list", "-o", "json").stdout)["incidents"][0]["id"]
    acts = (
        ("acknowledge", id_, "--text", "on it\x1b[2J"),
        ("assign", id_, "ben"),
        ("silence", id_, "--for", "4h"),
        ("confirm", id_, str(ORDERS)),
        ("comment", id_, "no more disk"),
        ("mitigate", id_),
    )
    for words in acts:
        done = ask(api, *words)
        assert done.exit_code == 0, done.output
        assert "\x1b" not in done.stdout
    (one, *_) = json.loads(ask(api, "list", "-o", "json").stdout)["incidents"]
    assert (one["state"], one["assignee"], one["cause"]) == ("mitigated", "ben", str(ORDERS))
    assert one["silenced_until"] is not None
    assert ask(api, "resolve", id_).exit_code == 0
    assert id_ not in ask(api, "list").stdout
    assert f"{id_}  resolved" in ask(api, "list", "--all").stdout
    reopened = json.loads(ask(api, "reopen", id_, "-o", "json").stdout)
    assert (reopened["incident"]["state"], len(reopened["acts"])) == ("open", 8)
    assert ask(api, "list", "--as-of", "10 min ago").stdout.count("mitigated") == 0


def test_an_unknown_incident_and_a_cause_that_is_no_node_are_mistakes(api: Api, tmp_path: Path) -> None:
    for local in (True, False):
        missing = ask(api, "show", "none", local=local)
        assert (missing.exit_code, "Incident 'none' not found." in missing.output) == (2 - local, True)
    id_ = json.loads(ask(api, "list", "-o", "json").stdout)["incidents"][0]["id"]
    assert ask(api, "confirm", id_, "orders").exit_code == 2
    assert ask(api, "acknowledge", "none").exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_the_circuit_breaker_of_a_store_and_of_a_server(api: Api) -> None:
    def breaker(*words: str, local: bool) -> Result:
        where = ["--store", api.store_url] if local else ["--url", f"http://127.0.0.1:{api.port}"]
        return CliRunner().invoke(app, ["breaker", *words, *where])

    local, remote = (json.loads(breaker(str(REVENUE), "-o", "json", local=one).stdout) for one in (True, False))
    assert {**local, "at": ""} == {**remote, "at": ""}
    assert [(one["dataset"], one["distance"]) for one in local["reasons"]] == [(str(REVENUE), 0), (str(ORDERS), 1)]
    for one in (True, False):
        found = breaker(str(REVENUE), local=one)
        assert (found.exit_code, found.stdout.startswith("open  dataset:")) == (5, True)
        assert not {"\x1b", "\u202e"} & set(found.stdout)
        past = breaker(str(REVENUE), "--as-of", "8h ago", local=one)
        assert (past.exit_code, past.stdout.startswith("cannot know  dataset:")) == (7, True)
        assert "nothing watches 2 of 2 datasets" in past.stdout
        assert breaker("nothing.like.it", local=one).exit_code == 1
    with connect(f"http://127.0.0.1:{api.port}") as client:
        assert client.circuit_breaker(str(COPY)).state == "open"
