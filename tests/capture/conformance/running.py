"""Jobs run as users run them (`whence run -- python job.py`), with a collector that is well, overloaded or hanging."""

import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capture.conformance.cases import ORDERS, Case
from fixtures.collectors import collecting
from whence.capture.java import java_home
from whence_client.outbox.flush import flush_outbox
from whence_client.process.settings import Settings

ROOT = Path(__file__).parents[3]
RUN = "import sys; from whence_client.runs.command import run_command; sys.exit(run_command(sys.argv[1:]))"
WELL, OVERLOADED, HANGING = 201, 503, 0

Event = dict[str, Any]


@dataclass(frozen=True)
class Ran:
    """What a job left: its exit code and output, the events that arrived while it ran, and all after a flush."""

    folder: Path
    code: int
    output: str
    errors: str
    at_once: tuple[Event, ...]
    events: tuple[Event, ...]
    bytes_sent: bytes

    def outer(self) -> list[Event]:
        """The events of the run around the job, in their order: each process sends its own."""
        own = (one for one in self.events if one["job"]["name"] == "job")
        return sorted(own, key=lambda one: str(one["eventTime"]))


def run_job(case: Case, mode: str, status: int, folder: Path) -> Ran:
    """Run the job of a case, then send what waits in the outbox to a collector that is well."""
    folder.mkdir()
    (folder / "orders.csv").write_text(ORDERS)
    (folder / "job.py").write_text(case.script)
    with collecting() as collector:
        collector.status = status
        done = subprocess.run(
            [sys.executable, "-c", RUN, sys.executable, "job.py", mode],
            env={**os.environ, **_environment(collector.url, folder)},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        at_once = tuple(collector.events)
        collector.status = WELL
        collector.released.set()
        problems = [one.problem for one in flush_outbox(Settings(url=collector.url, outbox=str(folder / "outbox")))]
        assert not any(problems), problems
        sent = b"\n".join(collector.bodies)
        return Ran(folder, done.returncode, done.stdout, done.stderr, at_once, tuple(collector.events), sent)


def _environment(url: str, folder: Path) -> dict[str, str]:
    paths = (str(_entry_points(folder)), str(ROOT / "client/src"), *filter(None, [os.environ.get("PYTHONPATH")]))
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "WHENCE_URL": url,
        "WHENCE_OUTBOX": str(folder / "outbox"),
        "WHENCE_NAMESPACE": "prod",
        "WHENCE_EXIT_SECONDS": "2",
        "JAVA_HOME": str(java_home() or ""),
    }


def registered_captures() -> dict[str, str]:
    """The captures that whence-client registers, by the module that they wait for."""
    project = tomllib.loads((ROOT / "client/pyproject.toml").read_text())
    found: dict[str, str] = project["project"]["entry-points"]["whence.captures"]
    return found


def _entry_points(folder: Path) -> Path:
    """The registered captures, for a Python where another state of whence-client is installed."""
    place = folder / "registered" / "conformance-0.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: conformance\nVersion: 0\n")
    lines = [f"{name} = {value}\n" for name, value in registered_captures().items()]
    (place / "entry_points.txt").write_text("[whence.captures]\n" + "".join(lines))
    return place.parent
