"""A server gives the bytes that the store gives: every question command, in every form, also where it fails."""

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import cycle
from pathlib import Path

import pytest
import typer.main
from sqlalchemy import Engine
from typer.testing import CliRunner, Result

from api.process import Api, Serving
from fixtures.migrated_stores import open_migrated
from query.worlds.churn_story import MODEL, NOW, WORLD, column
from query.worlds.random_worlds import POSITION, load
from remote.environment_story import EAST, HOSTILE, STORY, WEST, drop
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit, Rows
from whence.model.ids import node_id
from whence.store.graph.blast_radius import Generation, begin, publish, write_rows

CHURN, MINUTES = str(column("predictions", "churn_probability")), str(column("silver/sessions", "minutes"))
EXPECTED = Path(__file__).with_name("expected.yaml")
POLICIES = Path(__file__).with_name("policies.yaml")
RUN = "22222222-0000-4000-8000-000000000000"
NODES = (
    [CHURN],
    ["churn_probability", "--types", "both", "--depth", "2"],
    ["usage_logs"],
    ["usage_logs", "--max-nodes", "2"],
    ["orders", "--as-of", "2 h ago"],
    [f"dataset:{WEST}:orders", "--within", "--namespace", "*staging*", "--job", "job:churn:report", "--tag", "x"],
    [str(HOSTILE)],
    ["job:churn:score"],
    ["model", "--as-of", "2020-01-01"],
    ["model", "--as-of", "soon"],
    ["old_orders"],
    ["orders"],
    ["no such thing"],
    ["predictions.churn"],
    ["model", "--depth", "-1"],
)
ENDS = (
    [MINUTES, CHURN],
    [CHURN, MINUTES],
    ["usage_logs.last_login", CHURN],
    [MINUTES, CHURN, "--types", "indirect"],
    [MINUTES, CHURN, "--as-of", str(NOW)],
    [MINUTES, CHURN, "--max-nodes", "1"],
    ["nothing", CHURN],
    ["orders", CHURN],
    ["", CHURN],
)
CHANGED = ("--since", str(NOW - 20_000_000_000), "--until", str(NOW))
QUESTIONS: dict[str, tuple[list[str], ...]] = {
    "upstream": NODES,
    "downstream": NODES[2:8],
    "impact": (*NODES[2:8], ["usage_logs", "--limit", "0"], ["usage_logs", "--limit", "2"]),
    "measurements": (
        ["usage_logs"],
        [MINUTES],
        ["job:churn:build_features"],
        ["job:churn:build_features", "--metric", "duration", "--limit", "1"],
        ["job:churn:build_features", "--as-of", str(NOW)],
        ["none"],
    ),
    "checks": (["usage_logs"], [MINUTES], ["usage_logs", "--as-of", str(NOW)], ["job:churn:report"], ["none"]),
    "sensitivity": (
        [CHURN],
        ["usage_logs", "--down", "--at-least", "influenced"],
        ["customers", "--down", "--tag", "none of them", "--limit", "1"],
        [str(HOSTILE), "--as-of", str(NOW)],
        [MINUTES, "--down", "--max-nodes", "1"],
        ["job:churn:report"],
        ["none"],
    ),
    "subject": (
        [],
        ["customers"],
        ["usage_logs", "--at-least", "influenced", "--limit", "1"],
        ["--tag", "none of them"],
        [str(HOSTILE), "--as-of", str(NOW)],
        ["job:churn:report"],
        ["none"],
    ),
    "changes": (
        [CHURN, *CHANGED],
        ["usage_logs", *CHANGED, "--limit", "1"],
        [str(HOSTILE), *CHANGED, "--types", "direct"],
        ["job:churn:build_features", "--since", "2h", "--as-of", str(NOW)],
        ["model", *CHANGED, "--max-nodes", "1"],
        ["none", *CHANGED],
        ["model", "--since", str(NOW), "--until", str(NOW - 1)],
    ),
    "diagnose": (
        [CHURN, *CHANGED],
        ["usage_logs", *CHANGED, "--symptom", "volume", "--limit", "1"],
        [str(HOSTILE), *CHANGED, "--types", "direct"],
        ["model", *CHANGED, "--symptom", "late", "--max-nodes", "1"],
        ["job:churn:report", *CHANGED],
        ["none", *CHANGED],
        ["model", "--since", str(NOW), "--until", str(NOW - 1)],
    ),
    "path": (*ENDS, [MINUTES, CHURN, "--depth", "1"], ["usage_logs", "model", "--limit", "1"]),
    "why": (*ENDS[:2], ["usage_logs", "model", "--limit", "1"]),
    "why-not": ENDS[:-2],
    "history": (["gold.features.avg_minutes"], [str(HOSTILE)], ["job:churn:build_features"], ["usage_logs"], ["none"]),
    "diff": (
        [str(NOW - 20_000_000_000), str(NOW)],
        [str(NOW), str(NOW)],
        [f"run:{RUN}", f"run:{RUN[:-1]}1"],
        [f"run:{RUN}", str(NOW)],
        ["run:none", "run:nothing"],
        ["soon", "now"],
    ),
    "runs": (
        [RUN],
        [f"run:{RUN}", "--down"],
        ["job:churn:report"],
        [f"{RUN}@job:churn:build_features", "--depth", "0"],
        ["job:churn:score", "--max-runs", "1"],
        ["latest"],
        ["usage_logs"],
    ),
    "search": (
        ["churn"],
        ["orders", "--limit", "1"],
        ["orders", "--namespace", EAST, "--kind", "dataset"],
        ["churm"],
        ["nothing like it"],
        ["label:pii>=statistic", "--limit", "2"],
        ["label:pii>=most"],
        ["[bold]"],
        [" "],
    ),
    "expect": ([str(EXPECTED)],),
}
IN_GROUPS: dict[str, tuple[list[str], ...]] = {
    "policy": (
        ["evaluate", str(POLICIES)],
        ["evaluate", str(POLICIES), "--limit", "1"],
        ["evaluate", str(POLICIES), "--as-of", str(NOW - 20_000_000_000)],
        ["evaluate", str(EXPECTED)],
    ),
    "rerun": (
        ["plan", "usage_logs"],
        ["plan", "usage_logs", "--to", "model", "--since", str(NOW - 20_000_000_000)],
        ["plan", "usage_logs.last_login", "--to", "none"],
        ["plan", str(HOSTILE), "--for", "list"],
    ),
    "contain": (
        ["plan", "usage_logs"],
        ["plan", "usage_logs.last_login"],
        ["plan", str(HOSTILE)],
        ["plan", "job:churn:build_features"],
        ["plan", "usage_logs", "--max-nodes", "2"],
        ["plan", "none"],
    ),
}


@pytest.fixture
def server(store: Engine, store_url: str, tmp_path: Path) -> Iterator[Api]:
    """A server over a store, SQLite or PostgreSQL, with the story."""
    load(store, replace(WORLD, statements=(*WORLD.statements, *STORY.statements)))
    drop(store, "old_orders")
    number = begin(store)
    write_rows(store, number, [(node_id(MODEL), 3, 1_204, 1, 0, 0, 0b010)])
    publish(store, Generation(number, f"log={POSITION}", 1_763_000_000_000_000, 0.0627, "graph"), rows=1)
    api = Api(tmp_path / "data", store_url, {})
    try:
        yield api.up()
    finally:
        api.down()
        api.listening.close()


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """Servers for a test, ended after it."""
    made = Serving(tmp_path)
    yield made
    made.end()


def whence(*arguments: str, key: str | None = None, **environment: str | None) -> Result:
    unset = dict.fromkeys(("WHENCE_URL", "WHENCE_PROFILE", "WHENCE_STORE", "WHENCE_DATA"))
    return CliRunner().invoke(app, arguments, env={**unset, "WHENCE_API_KEY": key, **environment})


def url_of(api: Api) -> str:
    return f"http://127.0.0.1:{api.port}"


def test_all_commands_that_ask_a_store_are_asked_here() -> None:
    asking = {
        name
        for name, command in typer.main.get_group(app).commands.items()
        if {"store", "url", "profile"} <= {one.name for one in command.params}
    }
    assert asking - {"gate", "card"} == set(QUESTIONS)  # tests/cli/gate has a checkout, tests/govern/evidence a model


def test_a_server_gives_the_bytes_that_its_store_gives(server: Api, pytestconfig: pytest.Config) -> None:
    """Each question in every form over SQLite, its other arguments in one form, in turn. Over PostgreSQL its first
    arguments, and with `--long` all, in one form.
    """
    codes, is_each = set(), server.store_url.startswith("sqlite")
    is_whole = is_each or pytestconfig.getoption("long")
    turn = cycle(Rows)
    for name, several in (QUESTIONS | IN_GROUPS).items():
        for place, arguments in enumerate(several if is_whole else several[:1]):
            for form in Rows if is_each and place == 0 else [next(turn)]:
                words = (name, *arguments, "--output", form)
                here = whence(*words, "--store", server.store_url)
                there = whence(*words, "--url", url_of(server))
                given = (there.exit_code, there.stdout_bytes, there.stderr_bytes)
                assert given == (here.exit_code, here.stdout_bytes, here.stderr_bytes), words
                assert here.exception is None or isinstance(here.exception, SystemExit), words
                codes.add(here.exit_code)
    every = {Exit.OK, Exit.MISTAKE, Exit.USAGE, Exit.CUT, Exit.BLOCKED}
    assert codes == every if is_whole else {Exit.OK, Exit.BLOCKED} <= codes <= every


def test_what_the_text_says_beside_the_tree_comes_from_a_server_too(server: Api) -> None:
    down = whence("downstream", str(MODEL), "--url", url_of(server))
    assert "Blast radius: 3 datasets, 1,204 fields ±6%, 1 job" in down.stdout, down.stderr
    assert (
        "Deleted: the dataset was dropped or renamed at "
        in whence("upstream", "old_orders", "--url", url_of(server)).stdout
    )


def test_a_server_bounds_budgets_and_says_so(server: Api) -> None:
    done = whence("upstream", "model", "--max-nodes", "1000001", "--url", url_of(server))
    assert (done.exit_code, done.stdout) == (Exit.USAGE, "")
    assert "max_nodes: Input should be less than or equal to 1000000" in done.stderr
    long = whence("upstream", "x" * 20_000, "--url", url_of(server))
    assert (long.exit_code, "node: String should have at most 10000 characters" in long.stderr) == (Exit.USAGE, True)


def test_stores_are_not_compared_by_a_server(server: Api) -> None:
    done = whence("diff", "sqlite:///elsewhere.db", "now", "--url", url_of(server))
    assert done.exit_code == Exit.USAGE
    assert "a server compares times and runs" in done.stderr


def test_a_key_and_what_it_may_see(serving: Serving, tmp_path: Path) -> None:
    api = serving(open=False)
    store = ("--store", api.store_url)
    engine = open_migrated(api.store_url)
    load(engine, STORY)
    engine.dispose()
    made = whence("keys", "create", "east", "--role", "reader", "--namespaces", EAST, *store, "-o", "json")
    key = json.loads(made.stdout)["key"]
    east, west = f"dataset:{EAST}:orders", f"dataset:{WEST}:orders"
    seen = whence("upstream", east, "-o", "json", WHENCE_URL=url_of(api), key=key)
    assert (seen.exit_code, json.loads(seen.stdout)["root"]) == (Exit.OK, east), seen.stderr
    hidden, unknown = (whence("upstream", node, "--url", url_of(api), key=key) for node in (west, f"{west}x"))
    assert (hidden.exit_code, unknown.exit_code) == (Exit.MISTAKE, Exit.MISTAKE)
    assert hidden.stderr.partition("\n")[0].replace(west, "") == unknown.stderr.partition("\n")[0].replace(
        f"{west}x", ""
    )
    for given, expected in ((None, "it needs an API key"), ("wrong", "it does not accept the API key")):
        refused = whence("upstream", east, "--url", url_of(api), "-o", "json", key=given)
        error = json.loads(refused.stderr)
        assert (refused.exit_code, error["error"]) == (Exit.MISTAKE, "AccessError")
        assert expected in error["message"]


def test_a_server_that_is_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    done = whence("upstream", "model", "--url", f"http://127.0.0.1:{port}")
    assert (done.exit_code, done.stdout) == (Exit.OUT_OF_SERVICE, "")
    assert "nothing listens there; is `whence up` running?" in done.stderr


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("ftp://host", "no address of a server"),
        ("http://", "no address of a server"),
        ("http://[", "no address of a server"),
        ("http://host.invalid:1", "the name of the host cannot be resolved"),
    ],
)
def test_what_is_no_server(url: str, expected: str) -> None:
    asked = whence("upstream", "model", "--url", url)
    assert asked.exit_code == Exit.OUT_OF_SERVICE
    assert expected in asked.stderr


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, b"<html>", "its answer is not JSON; check that this is a Whence server"),
        (
            200,
            b'{"data": {"text": "x", "names": []}, "completeness": null, "page": null}',
            "its answer has another form",
        ),
        (200, b"[]", "its answer has another form"),
        (404, b'{"status": 404, "reason": "Not Found"}', "it does not support this question"),
        (404, b"<html>", "check that this is a Whence server"),
        (503, b'{"status": 503, "reason": "the store cannot be read"}', "the store cannot be read"),
        (302, b"", "check that this is a Whence server"),
        (500, b'{"status": 500, "reason": "a fault in Whence itself"}', "a fault in Whence itself"),
    ],
)
def test_a_server_of_another_version_or_out_of_service(status: int, body: bytes, expected: str) -> None:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Location", "http://127.0.0.1:1/stolen")
            self.send_header("Retry-After", "100")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answering) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        asked = whence("search", "x", "--url", f"http://127.0.0.1:{other.server_port}", key="secret")
        other.shutdown()
    assert asked.exit_code == Exit.OUT_OF_SERVICE, asked.stderr
    assert expected in asked.stderr
    assert "secret" not in asked.stderr
