"""A real Prometheus and its promtool, from Debian."""

import json
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from services.debian import program

_SECONDS = 30


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run promtool. It exits with 0 if all is well."""
    command = [program("promtool", "prometheus", "WHENCE_TEST_PROMTOOL"), *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A Prometheus that runs."""

    url: str

    def get(self, path: str, **parameters: str) -> Any:
        """What its API v1 answers."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=_SECONDS) as answer:
                return json.loads(answer.read())["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from None

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """The labels and values of an instant vector."""
        found = self.get("query", query=expression)
        assert found["resultType"] == "vector", found
        return [(one["metric"], float(one["value"][1])) for one in found["result"]]

    def wait_for(self, expression: str, *, least: int = 1) -> list[tuple[dict[str, str], float]]:
        """The vector as soon as it has so many members."""
        give_up = time.monotonic() + _SECONDS
        while len(found := self.query(expression)) < least:
            assert time.monotonic() < give_up, (expression, found, self.get("targets"))
            time.sleep(0.1)
        return found


@contextmanager
def prometheus(
    directory: Path, target: int, *rules: Path, headers: dict[str, str] | None = None
) -> Iterator[Prometheus]:
    """A Prometheus that scrapes a port every second and evaluates rules, until the block ends."""
    scrape = {"job_name": "whence", "static_configs": [{"targets": [f"127.0.0.1:{target}"]}], **(headers or {})}
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(one) for one in rules],
        "scrape_configs": [scrape],
    }
    file, port = directory / "prometheus.yml", _free_port()
    file.write_text(yaml.safe_dump(config))
    checked = promtool("check", "config", file)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    options = {
        "config.file": file,
        "storage.tsdb.path": directory / "prometheus",
        "web.listen-address": f"127.0.0.1:{port}",
        "log.level": "warn",
    }
    command = [program("prometheus", "prometheus", "WHENCE_TEST_PROMETHEUS")]
    with (directory / "prometheus.log").open("wb") as log:
        process = subprocess.Popen([*command, *(f"--{name}={value}" for name, value in options.items())], stderr=log)
        try:
            made = Prometheus(f"http://127.0.0.1:{port}")
            _wait_until_ready(made, process, directory / "prometheus.log")
            yield made
        finally:
            process.terminate()
            process.wait(_SECONDS)


def _wait_until_ready(made: Prometheus, process: "subprocess.Popen[bytes]", log: Path) -> None:
    give_up = time.monotonic() + _SECONDS
    while True:
        try:
            with urllib.request.urlopen(f"{made.url}/-/ready", timeout=_SECONDS):
                return
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < give_up, log.read_text()
            time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
