"""A real Airflow in an environment of its own: scheduler, DAG processor and API server, over SQLite."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from environments import environment

HERE = Path(__file__).parent
LOCK = HERE.parent / "producers" / "airflow.lock"
USER, VIEWER, PASSWORD = "ada", "vic", "pw-4711"
NAMESPACE = "prod.airflow"
DAGS = 9
"""The DAGs in `airflow_dags/shop.py`."""
_PATIENCE_SECONDS = 900
_REPLY_SECONDS = 120
_LOCK_SECONDS = 30
_TURN_SECONDS = 0.5
_LOCKED = 5
_ENDED = ("success", "failed")

Json = dict[str, Any]


@dataclass(frozen=True)
class Airflow:
    """A running Airflow. `events` is the file of the OpenLineage provider; a task that waits ends with `release`."""

    url: str
    home: Path
    events: Path
    release: Path

    def ask(self, method: str, path: str, **sent: Any) -> Json:
        """The answer of the API, as its administrator."""
        user = {"username": USER, "password": PASSWORD}
        token = httpx.post(f"{self.url}/auth/token", json=user, timeout=_REPLY_SECONDS).json()
        headers = {"Authorization": f"Bearer {token['access_token']}"}
        for _ in range(_LOCKED):
            reply = httpx.request(method, f"{self.url}/api/v2/{path}", headers=headers, timeout=_REPLY_SECONDS, **sent)
            if reply.status_code != httpx.codes.INTERNAL_SERVER_ERROR:
                break  # else SQLite was locked by the scheduler for longer than Airflow waits
        assert reply.is_success, f"{path}: {reply.status_code} {reply.text}"
        return dict(reply.json()) if reply.content else {}

    def trigger(self, dag: str, logical: str | None, run: str) -> None:
        """Start a run of a DAG."""
        self.ask("PATCH", f"dags/{dag}", json={"is_paused": False})
        body = {"logical_date": logical, "dag_run_id": run, "conf": {"day": "2026-11-20", "token": "hush-4711"}}
        self.ask("POST", f"dags/{dag}/dagRuns", json=body)

    def runs(self) -> list[Json]:
        """All runs of DAGs."""
        return list(self.ask("GET", "dags/~/dagRuns", params={"limit": 100})["dag_runs"])

    def await_runs(self, count: int, *, running: int = 0) -> None:
        """Wait until so many runs are there, of which `running` go on."""
        limit = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < limit:
            found = self.runs()
            ended = [one for one in found if one["state"] in _ENDED]
            if len(found) == count and len(ended) == count - running:
                return
            time.sleep(_TURN_SECONDS)
        raise AssertionError([(one["dag_id"], one["state"]) for one in found])

    def await_task(self, dag: str, run: str, task: str, state: str) -> None:
        """Wait until a task is in a state."""
        limit = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < limit:
            if self.ask("GET", f"dags/{dag}/dagRuns/{run}/taskInstances/{task}")["state"] == state:
                return
            time.sleep(_TURN_SECONDS)
        raise AssertionError(f"{task} is not {state}")

    def clear(self, dag: str) -> None:
        """Clear the only run of a DAG, which then starts again, and wait until it has ended again."""
        (run,) = [one for one in self.runs() if one["dag_id"] == dag]
        path = f"dags/{dag}/dagRuns/{quote(run['dag_run_id'], safe='')}"
        self.ask("POST", f"{path}/clear", json={"dry_run": False})
        limit = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < limit:
            found = self.ask("GET", path)
            if found["state"] in _ENDED and found["start_date"] > run["end_date"]:
                return
            time.sleep(_TURN_SECONDS)
        raise AssertionError(f"the run of {dag} did not end again")

    def provider_events(self) -> list[Json]:
        """What the OpenLineage provider reported."""
        return [json.loads(line) for line in self.events.read_text("utf-8").splitlines()]


@contextmanager
def airflow(home: Path, folder: str = "airflow_dags", dags: int = DAGS) -> Iterator[Airflow]:
    """Run `airflow standalone` with its database below `home` while the context is open, with the DAGs of a folder."""
    place = environment("airflow", LOCK) / "bin"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    events, release = home / "events.jsonl", home / "release"
    (home / "passwords.json").write_text(json.dumps({USER: PASSWORD, VIEWER: PASSWORD}))
    settings = {
        "PATH": os.pathsep.join((str(place), os.environ["PATH"])),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(HERE / folder),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
        "AIRFLOW__CORE__PARALLELISM": "3",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin,{VIEWER}:viewer",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__API__PORT": port,
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        # Its scheduler ends if SQLite is locked for longer than SQLite waits: 5 s, if nothing is set.
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}?timeout={_LOCK_SECONDS}",
        # Airflow kills a task whose request is not answered in time: after 5 s, if nothing is set.
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": str(_REPLY_SECONDS),
        "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": "0",
        "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": "0",
        "AIRFLOW__SCHEDULER__ENABLE_HEALTH_CHECK": "false",
        "AIRFLOW__OPENLINEAGE__NAMESPACE": NAMESPACE,
        "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps({"type": "file", "log_file_path": str(events), "append": True}),
        "SHOP_RELEASE": str(release),
        "COLUMNS_EVENTS": str(home / "columns.jsonl"),
    }
    command = [str(place / "airflow"), "standalone"]
    with (
        (home / "standalone.log").open("w") as log,
        subprocess.Popen(
            command, env={**os.environ, **settings}, cwd=home, stdout=log, stderr=log, start_new_session=True
        ) as server,
    ):
        one = Airflow(f"http://127.0.0.1:{port}", home, events, release)
        try:
            _await_dags(one, server, dags)
            yield one
        finally:
            release.touch()
            os.killpg(server.pid, signal.SIGTERM)  # the scheduler would outlive `airflow standalone`
            server.wait(timeout=60)


def _await_dags(one: Airflow, server: subprocess.Popen[bytes], count: int) -> None:
    limit = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < limit and server.poll() is None:
        try:
            dags = one.ask("GET", "dags")["dags"]
            if len(dags) == count and all(one.ask("GET", f"dags/{dag['dag_id']}/details") for dag in dags):
                return
        except (httpx.HTTPError, AssertionError, KeyError, ValueError):
            pass  # it has not started yet
        time.sleep(_TURN_SECONDS)
    raise AssertionError((one.home / "standalone.log").read_text()[-4000:])
