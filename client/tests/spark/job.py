"""A user's job on a real Spark, in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from whence.capture.java import java_home

Event = dict[str, Any]


def run_job(text: str, base: Path, printed: str, *, code: int = 0) -> list[Event]:
    """The events of a job, which gets `base` and the file for its events, whose last line is `printed`, and which ends
    with `code`.
    """
    events = base / "events"
    done = subprocess.run(
        [sys.executable, "-c", text, str(base), str(events)],
        env={**os.environ, "JAVA_HOME": str(java_home()), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.stdout.splitlines()[-1:], done.returncode) == ([printed], code), done.stderr[-4000:]
    assert "lineage is incomplete" not in done.stderr, done.stderr[-4000:]
    return [json.loads(line) for line in events.read_text("utf-8").splitlines()]
