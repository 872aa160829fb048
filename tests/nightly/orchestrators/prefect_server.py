"""A real Prefect in an environment of its own: its server over SQLite, and processes that run flows."""

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

import httpx

from environments import environment

HERE = Path(__file__).parent
LOCK = HERE / "prefect.lock"
NAMESPACE = "prod.prefect"
_PATIENCE_SECONDS = 300
_REPLY_SECONDS = 60
_TURN_SECONDS = 0.3


@dataclass(frozen=True)
class Prefect:
    """A running server. `url` is that of its API."""

    url: str
    home: Path
    settings: dict[str, str]
    place: Path

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer of the API."""
        reply = httpx.request(method, f"{self.url}/{path}", json=body, timeout=_REPLY_SECONDS)
        assert reply.is_success, f"{path}: {reply.status_code} {reply.text}"
        return reply.json() if reply.content else None

    def run(self, stage: str, name: str) -> int:
        """Run a flow of the shop to its end, in a process; gives its exit code."""
        return self.start(stage, name).wait(timeout=_PATIENCE_SECONDS)

    def start(self, stage: str, name: str) -> "subprocess.Popen[bytes]":
        """Begin a flow of the shop, in a process."""
        return self._start("python", str(HERE / "prefect_shop.py"), stage, name)

    def deploy_and_run(self, flow: str, name: str, entrypoint: str) -> int:
        """Deploy a flow, and run the deployment in a process as a worker does; gives its exit code."""
        found = self.ask("POST", "flows/", {"name": flow})
        place = {"path": str(HERE), "entrypoint": entrypoint}
        about = {"description": "What prod sold; <b>", "tags": ["sales"], "version": "v9"}
        deployment = self.ask("POST", "deployments/", {"name": name, "flow_id": found["id"], **place, **about})
        wanted = {
            "state": {"type": "SCHEDULED"},
            "parameters": {"day": "2026-11-21", "token": "hush-4711"},
            "tags": ["x; <b>"],
        }
        run = self.ask("POST", f"deployments/{deployment['id']}/create_flow_run", wanted)
        return self._start("prefect", "flow-run", "execute", run["id"]).wait(timeout=_PATIENCE_SECONDS)

    def await_state(self, flow: str, state: str, *, tasks: int = 0) -> str:
        """Wait until the last run of a flow is in a state, and Prefect knows so many tasks of it; gives its id."""
        limit = time.monotonic() + _PATIENCE_SECONDS
        found: list[Any] = []
        while time.monotonic() < limit:
            body = {"flows": {"name": {"any_": [flow]}}, "sort": "START_TIME_DESC", "limit": 1}
            found = self.ask("POST", "flow_runs/filter", body)
            if found and found[0]["state_type"] == state and self._tasks(found[0]["id"]) >= tasks:
                return str(found[0]["id"])
            time.sleep(_TURN_SECONDS)
        raise AssertionError(found)

    def await_assets(self, count: int) -> None:
        """Wait until Prefect has so many materializations: it keeps events some time after they occurred."""
        limit = time.monotonic() + _PATIENCE_SECONDS
        found = 0
        while time.monotonic() < limit:
            wanted = {"event": {"prefix": ["prefect.asset.materialization."]}}
            found = self.ask("POST", "events/filter", {"filter": wanted, "limit": 1})["total"]
            if found >= count:
                return
            time.sleep(_TURN_SECONDS)
        raise AssertionError(found)

    def cancel(self, run: str) -> None:
        """Say that a flow run is canceled, as the web page does for one that no worker has."""
        state = {"type": "CANCELLED", "name": "Cancelled", "message": "by hand"}
        self.ask("POST", f"flow_runs/{run}/set_state", {"state": state, "force": True})

    def _tasks(self, run: str) -> int:
        return len(self.ask("POST", "task_runs/filter", {"flow_runs": {"id": {"any_": [run]}}}))

    def _start(self, program: str, *words: str) -> "subprocess.Popen[bytes]":
        variables = {**os.environ, **self.settings}
        command = [str(self.place / program), *words]
        with (self.home / "flows.log").open("a") as log:
            return subprocess.Popen(command, env=variables, cwd=self.home, stdout=log, stderr=log)


@contextmanager
def prefect(home: Path) -> Iterator[Prefect]:
    """Run `prefect server start` with its database below `home` while the context is open."""
    place = environment("prefect", LOCK) / "bin"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    settings = {
        "PATH": os.pathsep.join((str(place), os.environ["PATH"])),
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "SHOP_STARTED": str(home / "started"),
    }
    command = [str(place / "prefect"), "server", "start", "--port", port]
    one = Prefect(settings["PREFECT_API_URL"], home, settings, place)
    with (
        (home / "server.log").open("w") as log,
        subprocess.Popen(
            command, env={**os.environ, **settings}, cwd=home, stdout=log, stderr=log, start_new_session=True
        ) as server,
    ):
        try:
            _await_server(one, server)
            yield one
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=60)


def _await_server(one: Prefect, server: "subprocess.Popen[bytes]") -> None:
    limit = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < limit and server.poll() is None:
        try:
            one.ask("GET", "admin/version")
        except (httpx.HTTPError, AssertionError):
            time.sleep(_TURN_SECONDS)
        else:
            return
    raise AssertionError((one.home / "server.log").read_text()[-4000:])


def run_shop(server: Prefect) -> str:
    """Run the shop in prod and staging, and in dev a flow whose process is killed; gives the id of that run."""
    assert server.deploy_and_run("prod-daily", "nightly", "prefect_shop.py:prod_daily") == 0
    assert server.run("staging", "daily") == 0
    assert server.run("prod", "broken") == 1
    process = server.start("dev", "endless")
    limit = time.monotonic() + _PATIENCE_SECONDS
    while not (server.home / "started").exists() and time.monotonic() < limit:
        time.sleep(_TURN_SECONDS)
    running = server.await_state("dev-endless", "RUNNING", tasks=1)
    process.kill()
    process.wait()
    server.await_assets(9)
    return running
