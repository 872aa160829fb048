"""A user's job on a real Spark, in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from whence.capture.java import java_home

Event = dict[str, Any]


def run_job(code: str, base: Path, printed: str) -> list[Event]:
    """The events of a job, which gets `base` and the file for its events, and whose last line is `printed`."""
    events = base / "events"
    done = subprocess.run(
        [sys.executable, "-c", code, str(base), str(events)],
        env={**os.environ, "JAVA_HOME": str(java_home()), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout.splitlines()[-1:] == [printed], done.stderr[-4000:]
    assert "lineage is incomplete" not in done.stderr, done.stderr[-4000:]
    return [json.loads(line) for line in events.read_text("utf-8").splitlines()]
