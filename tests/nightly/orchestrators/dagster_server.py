"""A real Dagster in an environment of its own: webserver, code locations and runs, over SQLite."""

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

import httpx

from environments import environment

HERE = Path(__file__).parent
LOCK = HERE / "dagster.lock"
NAMESPACE = "prod.dagster"
_PATIENCE_SECONDS = 600
_REPLY_SECONDS = 120
_TURN_SECONDS = 0.5
_ENDED = frozenset(("SUCCESS", "FAILURE", "CANCELED"))
_LAUNCH = """mutation($params: ExecutionParams!) { launchRun(executionParams: $params) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
_STATE = "query($run: ID!) { runOrError(runId: $run) { ... on Run { status stepStats { stepKey status } } } }"
_STOP = "mutation($run: String!) { terminateRun(runId: $run) { __typename } }"
_REPORT = """mutation($params: ReportRunlessAssetEventsParams!) {
  reportRunlessAssetEvents(eventParams: $params) { __typename } }"""
_READY = """{ workspaceOrError { ... on Workspace { locationEntries {
  name locationOrLoadError { __typename ... on PythonError { message } } } } } }"""

# Without a daemon, runs start at once. JSON is YAML.
_INSTANCE = {
    "telemetry": {"enabled": False},
    "run_coordinator": {"module": "dagster._core.run_coordinator", "class": "DefaultRunCoordinator"},
}

Json = dict[str, Any]


@dataclass(frozen=True)
class Dagster:
    """A running Dagster. An asset that waits ends with `release`."""

    url: str
    home: Path
    release: Path

    @property
    def lake(self) -> Path:
        """The folder of the shop's files."""
        return self.home / "lake"

    def ask(self, query: str, **variables: Any) -> Json:
        """The answer of a query or a mutation."""
        body = {"query": query, "variables": variables}
        reply = httpx.post(f"{self.url}/graphql", json=body, timeout=_REPLY_SECONDS)
        document = reply.json()
        assert reply.is_success, f"{reply.status_code} {reply.text}"
        assert not document.get("errors"), document
        return dict(document["data"])

    def launch(self, location: str, job: str, *assets: str, config: Json | None = None, **tags: str) -> str:
        """Start a run of a job, of all its assets or some, as the web page does. Gives its id."""
        selector: Json = {"repositoryLocationName": location, "repositoryName": "__repository__", "jobName": job}
        if assets:
            selector["assetSelection"] = [{"path": one.split("/")} for one in assets]
            selector["assetCheckSelection"] = []
        listed = [{"key": f"dagster/{name}", "value": value} for name, value in tags.items()]
        params = {
            "selector": selector,
            "runConfigData": config or {},
            "mode": "default",
            "executionMetadata": {"tags": listed},
        }
        found = self.ask(_LAUNCH, params=params)["launchRun"]
        assert found["__typename"] == "LaunchRunSuccess", found
        return str(found["run"]["runId"])

    def run(self, location: str, job: str, *assets: str, config: Json | None = None, **tags: str) -> str:
        """Run a job to its end; gives its last status."""
        return self.await_end(self.launch(location, job, *assets, config=config, **tags))

    def await_end(self, run: str) -> str:
        """Wait until a run has ended; gives its status."""
        return str(self._await(run, lambda found: found["status"] in _ENDED)["status"])

    def await_step(self, run: str, step: str) -> None:
        """Wait until a step goes on."""
        self._await(run, lambda found: {"stepKey": step, "status": "IN_PROGRESS"} in found["stepStats"])

    def stop(self, run: str) -> None:
        """Cancel a run."""
        assert self.ask(_STOP, run=run)["terminateRun"]["__typename"] == "TerminateRunSuccess"
        assert self.await_end(run) == "CANCELED"

    def report(self, asset: str, kind: str = "ASSET_MATERIALIZATION") -> None:
        """Report a materialization from outside, as the web page and other programs do."""
        params = {"eventType": kind, "assetKey": {"path": asset.split("/")}, "description": "by hand"}
        found = self.ask(_REPORT, params=params)["reportRunlessAssetEvents"]
        assert found["__typename"] == "ReportRunlessAssetEventsSuccess", found

    def _await(self, run: str, is_so: Any) -> Json:
        limit = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < limit:
            found = dict(self.ask(_STATE, run=run)["runOrError"])
            if is_so(found):
                return found
            time.sleep(_TURN_SECONDS)
        raise AssertionError(found)


@contextmanager
def dagster(home: Path) -> Iterator[Dagster]:
    """Run `dagster-webserver` with its storage below `home` while the context is open."""
    place = environment("dagster", LOCK) / "bin"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    (home / "dagster.yaml").write_text(json.dumps(_INSTANCE))
    shop = str(HERE / "dagster_shop.py")
    locations = [
        {"python_file": {"relative_path": shop, "attribute": name, "location_name": name}} for name in ("shop", "lab")
    ]
    (home / "workspace.yaml").write_text(json.dumps({"load_from": locations}))
    one = Dagster(f"http://127.0.0.1:{port}", home, home / "release")
    settings = {
        "PATH": os.pathsep.join((str(place), os.environ["PATH"])),
        "DAGSTER_HOME": str(home),
        "SHOP_LAKE": str(one.lake),
        "SHOP_RELEASE": str(one.release),
    }
    command = [str(place / "dagster-webserver"), "-h", "127.0.0.1", "-p", port, "-w", str(home / "workspace.yaml")]
    with (
        (home / "webserver.log").open("w") as log,
        subprocess.Popen(
            command, env={**os.environ, **settings}, cwd=home, stdout=log, stderr=log, start_new_session=True
        ) as server,
    ):
        try:
            _await_locations(one, server)
            yield one
        finally:
            one.release.touch()
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=60)


def _await_locations(one: Dagster, server: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + _PATIENCE_SECONDS
    found: list[Json] = []
    while time.monotonic() < limit and server.poll() is None:
        try:
            found = one.ask(_READY)["workspaceOrError"]["locationEntries"]
            if all((entry["locationOrLoadError"] or {}).get("__typename") == "RepositoryLocation" for entry in found):
                return
        except (httpx.HTTPError, ValueError):
            pass  # it has not started yet
        time.sleep(_TURN_SECONDS)
    raise AssertionError(f"{found}\n{(one.home / 'webserver.log').read_text()[-4000:]}")


def run_shop(server: Dagster) -> str:
    """Run the shop in prod and staging, and in dev a run that does not end, whose id is returned."""
    for stage in ("prod", "staging"):
        config = {"ops": {f"{stage}__raw": {"config": {"day": "2026-11-20", "token": "hush-4711"}}}}
        assert server.run("shop", f"{stage}_daily", config=config) == "SUCCESS"
    assert server.run("shop", "prod_broken") == "FAILURE"
    for day in ("2026-11-20", "2026-11-21"):
        assert server.run("shop", "__ASSET_JOB", "prod/days", partition=day) == "SUCCESS"
    assert server.run("shop", "__ASSET_JOB", "prod/vendor") == "SUCCESS"
    assert server.run("shop", "prod_export") == "SUCCESS"
    server.report("prod/feed")
    running = server.launch("lab", "__ASSET_JOB", "dev/endless")
    server.await_step(running, "dev__endless")
    return running
