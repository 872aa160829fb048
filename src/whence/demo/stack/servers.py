"""The servers of the stack, each a process that ends with this one: MLflow's, and Superset's."""

import os
import secrets
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from whence.death_signal import with_parent
from whence.demo.stack.dashboards import Superset
from whence.errors import WhenceError

QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "1",
    "GIT_PYTHON_REFRESH": "quiet",
    "PYTHONUNBUFFERED": "1",
}


@contextmanager
def serve_mlflow(environment: Path, folder: Path) -> Iterator[str]:
    """Run `mlflow server` over a new SQLite database in the folder. Yields its URL."""
    port = _free_port()
    store = ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", f"{folder}/artifacts"]
    command = [
        f"{environment}/bin/mlflow",
        "server",
        *store,
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--workers",
        "1",
    ]
    with _serving(command, folder, "mlflow", "Application startup complete", {}):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def serve_superset(environment: Path, folder: Path) -> Iterator[Superset]:
    """Run a new Superset with one user, whose database is in the folder."""
    home = folder / "superset"
    home.mkdir()
    port, password = _free_port(), secrets.token_urlsafe(16)
    settings = {
        "SUPERSET_HOME": str(home),
        "SUPERSET_CONFIG_PATH": str(folder / "superset_config.py"),
        "SUPERSET_SECRET_KEY": secrets.token_urlsafe(42),
        "SUPERSET_PASSWORD": password,
    }
    command = [f"{environment}/bin/python", str(folder / "superset_server.py"), str(port)]
    with _serving(command, folder, "superset", "serving", settings):
        yield Superset(f"http://127.0.0.1:{port}", password)


@contextmanager
def _serving(
    command: Sequence[str], folder: Path, name: str, ready: str, variables: Mapping[str, str]
) -> Iterator[None]:
    """Run a server until it prints that it is ready, then while the context is open. Its log is in the folder."""
    place = folder / f"{name}.log"
    with (
        place.open("w") as log,
        subprocess.Popen(
            command,
            env={**os.environ, **QUIET, **variables},
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=with_parent(signal.SIGTERM),
        ) as server,
    ):
        try:
            _await_line(place, ready, server)
            yield
        finally:
            server.terminate()
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()


def _await_line(place: Path, ready: str, server: subprocess.Popen[bytes]) -> None:
    with place.open(errors="replace") as log:
        while True:
            line = log.readline()
            if ready in line:
                return
            if not line:
                try:
                    server.wait(timeout=0.2)
                except subprocess.TimeoutExpired:
                    continue
                last = place.read_text(errors="replace").strip().splitlines()[-5:]
                raise WhenceError("\n".join([f"{place.stem} ended with {server.returncode}; {place} ends:", *last]))


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
