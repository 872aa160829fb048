"""A real Alertmanager: found on this machine, or installed from Debian by whoever may (a few seconds)."""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ui.browser.chromium import privilege

_NAMES = ("prometheus-alertmanager", "alertmanager")
_PACKAGE = "prometheus-alertmanager"
_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Alertmanager:
    """An Alertmanager that runs."""

    url: str

    def post(self, path: str, body: Any) -> Any:
        """The JSON of an answer to a request of its API v2."""
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/api/v2/{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            return json.loads(answer.read() or b"null")

    def get(self, path: str) -> Any:
        """The JSON at a path of its API v2."""
        with urllib.request.urlopen(f"{self.url}/api/v2/{path}", timeout=_SECONDS) as answer:
            return json.loads(answer.read())


def binary() -> str:
    """The path of the program: WHENCE_TEST_ALERTMANAGER, the machine's own, or Debian's, which is installed if it is
    not there.
    """
    found = os.environ.get("WHENCE_TEST_ALERTMANAGER") or next(filter(None, map(shutil.which, _NAMES)), None)
    if found:
        return found
    prefix = privilege()
    assert prefix is not None, "no Alertmanager: apt install prometheus-alertmanager, or WHENCE_TEST_ALERTMANAGER=/path"
    for command in (("update", "-qq"), ("install", "-y", "-qq", "--no-install-recommends", _PACKAGE)):
        subprocess.run([*prefix, "apt-get", *command], check=True, capture_output=True)
    return str(shutil.which(_PACKAGE))


@contextmanager
def alertmanager(config: dict[str, Any], directory: Path) -> Iterator[Alertmanager]:
    """An Alertmanager with a configuration, until the block ends. It keeps its state in a directory."""
    file, port = directory / "alertmanager.yml", _free_port()
    file.write_text(json.dumps(config))  # YAML has JSON in it
    options = {
        "config.file": file,
        "storage.path": directory / "data",
        "web.listen-address": f"127.0.0.1:{port}",
        "cluster.listen-address": "",
        "log.level": "warn",
    }
    with (directory / "alertmanager.log").open("wb") as log:
        process = subprocess.Popen([binary(), *(f"--{name}={value}" for name, value in options.items())], stderr=log)
        try:
            made = Alertmanager(f"http://127.0.0.1:{port}")
            _wait_until_ready(made, process, directory / "alertmanager.log")
            yield made
        finally:
            process.terminate()
            process.wait(_SECONDS)


def _wait_until_ready(made: Alertmanager, process: subprocess.Popen[bytes], log: Path) -> None:
    give_up = time.monotonic() + _SECONDS
    while True:
        try:
            made.get("status")
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < give_up, log.read_text()
            time.sleep(0.05)
        else:
            return


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
