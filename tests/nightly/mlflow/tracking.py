"""A real MLflow in an environment of its own: its server over SQLite, and jobs that `whence run` starts beside it."""

import os
import socket
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from environments import environment

ROOT = Path(__file__).parents[3]
LOCK = Path(__file__).with_name("mlflow.lock")
JOBS = Path(__file__).with_name("jobs")
RELEASE = "3.17.2"
RUN = "import sys; from whence_client.runs.command import run_command; sys.exit(run_command(sys.argv[1:]))"
_QUIET = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "1", "GIT_PYTHON_REFRESH": "quiet"}
_PATIENCE_SECONDS = 400


@dataclass(frozen=True)
class Tracking:
    """A tracking server that runs, and where jobs of it run: `folder` has an entry point for each capture."""

    uri: str
    python: str
    folder: Path

    def run(self, job: str, *words: str, **variables: str) -> str:
        """Run a job of `jobs` below `whence run`, in the folder. Returns its output; fails if it fails."""
        paths = (str(register_entry_points(self.folder)), str(ROOT / "client/src"))
        done = subprocess.run(
            [self.python, "-c", RUN, self.python, str(JOBS / f"{job}.py"), *words],
            env={**os.environ, **_QUIET, "PYTHONPATH": os.pathsep.join(paths), "MLFLOW_TRACKING_URI": self.uri}
            | variables,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE_SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@contextmanager
def tracking(folder: Path) -> Iterator[Tracking]:
    """Run `mlflow server` over a database below the folder while the context is open."""
    bin_folder = environment("mlflow", LOCK) / "bin"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    store = [
        "--backend-store-uri",
        f"sqlite:///{folder}/mlflow.db",
        "--artifacts-destination",
        str(folder / "artifacts"),
    ]
    command = [str(bin_folder / "mlflow"), "server", *store, "--host", "127.0.0.1", "--port", port, "--workers", "1"]
    with subprocess.Popen(
        command,
        env=_server_environment(os.environ),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            started = next((line for line in server.stdout if "Application startup complete" in line), "")
            assert started, f"MLflow ended with {server.poll()}"
            yield Tracking(f"http://127.0.0.1:{port}", str(bin_folder / "python"), folder)
        finally:
            server.terminate()
            server.communicate(timeout=60)


def _server_environment(env: Mapping[str, str]) -> dict[str, str]:
    return {**{name: value for name, value in env.items() if name != "PYTHONPATH"}, **_QUIET, "PYTHONUNBUFFERED": "1"}


def register_entry_points(folder: Path) -> Path:
    """The entry points of whence-client, for a Python where it is not installed."""
    place = folder / "registered" / "conformance-0.dist-info"
    if not place.exists():
        place.mkdir(parents=True)
        (place / "METADATA").write_text("Metadata-Version: 2.1\nName: conformance\nVersion: 0\n")
        project = tomllib.loads((ROOT / "client/pyproject.toml").read_text())
        groups = project["project"]["entry-points"]
        lines = [
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
            for group, points in groups.items()
        ]
        (place / "entry_points.txt").write_text("".join(lines))
    return place.parent
