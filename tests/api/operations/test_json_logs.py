"""With WHENCE_LOG_FORMAT=json, every line on stderr is a JSON object: of a running API, and of the pipeline."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from whence.diagnostics import FORMAT, as_json
from whence.log.address import open_log
from whence.store.connection.engine import sqlite_url

SERVE = """
import logging, socket, sys, threading, warnings
from pathlib import Path
from whence.api.server import serve
from whence.api.server.app import create_app
from whence.api.auth.permissions import needs
from whence.api.settings import Settings
from whence.model.access import Action

def with_faults(settings):
    app = create_app(settings)

    @app.get("/fails")
    @needs(Action.PUBLIC)
    def fails(text: str):
        logging.getLogger("test").warning("asked for %s", text)
        warnings.warn("a warning\\nof two lines")
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
        raise RuntimeError("a fault\\nof two lines")

    return app

serve.create_app = with_faults
serve.serve(Settings(data=Path(sys.argv[1]), store_url=sys.argv[2], open=True), socket.socket(fileno=int(sys.argv[3])))
"""
HOSTILE = 'evil\n{"level": "INFO"}\x1b[31m\u202e\u2028 name'


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as one:
        yield one


def lines(file: Path) -> list[dict[str, Any]]:
    """Each line of what a process wrote, none of which is not JSON."""
    found = [json.loads(line) for line in file.read_text("ascii").splitlines()]
    assert all({"time", "level", "logger", "message"} <= one.keys() for one in found)
    return found


def ask(port: int, path: str, headers: Mapping[str, str]) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers=dict(headers))
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def test_every_line_of_an_api_is_json(tmp_path: Path, listening: socket.socket) -> None:
    fd, port = listening.fileno(), listening.getsockname()[1]
    command = [sys.executable, "-c", SERVE, str(tmp_path / "data"), sqlite_url(tmp_path / "store.db"), str(fd)]
    with (tmp_path / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            command, pass_fds=[fd], stdout=subprocess.PIPE, stderr=stderr, env=os.environ | {FORMAT: "json"}
        )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    failed = ask(port, f"/fails?text={quote(HOSTILE)}", {"X-Request-ID": "proxy-1"})
    made = ask(port, "/health/live", {"X-Request-ID": "no id of ours"}).headers["X-Request-ID"]
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == -signal.SIGTERM
    process.stdout.close()

    logged = lines(tmp_path / "stderr")
    assert (failed.status, failed.headers["X-Request-ID"]) == (500, "proxy-1")
    assert len(made) == 32
    asked = next(one for one in logged if one["logger"] == "test")
    assert (asked["message"], asked["request_id"]) == (f"asked for {HOSTILE}", "proxy-1")
    fault = next(one for one in logged if "a fault\nof two lines" in one.get("exception", ""))
    assert (fault["level"], fault["request_id"]) == ("ERROR", "proxy-1")
    assert any("ZeroDivisionError" in one.get("exception", "") for one in logged)
    assert any("of two lines" in one["message"] for one in logged if one["logger"] == "py.warnings")
    started = next(one for one in logged if "Started server process" in one["message"])
    assert started.keys() == {"time", "level", "logger", "message"}


def test_a_pipeline_that_cannot_start_says_so_in_json(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "whence.derive", "--log", str(tmp_path / "log")]
    missing = f"sqlite:///{tmp_path / 'none' / 'store.db'}"
    ended = subprocess.run(
        [*command, "--store", missing], env=os.environ | {FORMAT: "json"}, capture_output=True, check=False, text=True
    )
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert json.loads(line)["level"] in ("ERROR", "CRITICAL")
    assert json.loads(line)["logger"] in ("__main__", "python")
    wrong = subprocess.run(
        [*command, "--store", missing], env=os.environ | {FORMAT: "xml"}, capture_output=True, check=False, text=True
    )
    assert wrong.returncode == 1
    assert f"{FORMAT} is 'xml'; set it to json or text" in wrong.stderr


def test_every_line_of_a_pipeline_is_json(tmp_path: Path) -> None:
    """Those of its JVM, too."""
    open_log(str(tmp_path / "log")).open_writer().close()
    command = [sys.executable, "-m", "whence.derive", "--log", str(tmp_path / "log")]
    with (tmp_path / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            [*command, "--store", sqlite_url(tmp_path / "store.db")],
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=os.environ | {FORMAT: "json"},
        )
    assert process.stdout is not None
    assert list(iter(process.stdout.readline, b"ready\n"))[-1] == b"step starts Spark\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    process.stdout.close()
    assert any(one["level"] == "WARN" and one["logger"] == "SparkConf" for one in lines(tmp_path / "stderr"))


def test_lines_of_others() -> None:
    spark = {"level": "WARN", "logger": "SparkConf", "message": "set: a\tb"}
    assert json.loads(as_json("26/11/22 07:59:26 WARN SparkConf: set: a\tb")).items() >= spark.items()
    assert as_json('{"ts": 1}') == '{"ts": 1}'
    assert json.loads(as_json("{broken"))["message"] == "{broken"
    assert json.loads(as_json("[1]"))["logger"] == "stderr"
