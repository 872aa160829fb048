"""Runs of a real kfp's local runner, in an environment of its own."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from environments import environment

HERE = Path(__file__).parent
LOCK = HERE / "kubeflow.lock"
RELEASE = "2.17.3"
FOLDER = "/srv/shop"
"""The folder of the shop in what is recorded."""
_SECONDS = 600
_KEPT = frozenset((".json", ".yaml"))
Json = dict[str, Any]


def run_shop(folder: Path) -> None:
    """Compile and run the pipelines of the shop below a folder."""
    done = subprocess.run(
        [str(environment("kubeflow", LOCK) / "bin/python"), str(HERE / "shop.py"), str(folder)],
        env={**os.environ, "TZ": "UTC"},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]


def record_files(folder: Path) -> Json:
    """The files below a folder, with their times and texts: those of kfp, not what the tasks wrote."""
    return {path.relative_to(folder).as_posix(): _record(path, folder) for path in sorted(folder.rglob("*"))}


def write_files(folder: Path, recorded: Json) -> None:
    """The recorded files, with their times."""
    for name, found in recorded.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if "text" in found:
            path.write_text(found["text"], "utf-8")
        else:
            path.mkdir(exist_ok=True)
    for name, found in reversed(recorded.items()):
        os.utime(folder / name, (found["time"], found["time"]))


def _record(path: Path, folder: Path) -> Json:
    time = {"time": path.stat().st_mtime}
    if path.is_dir():
        return time
    text = path.read_text("utf-8") if path.suffix in _KEPT else ""
    return {**time, "text": json.dumps(json.loads(text)) if path.suffix == ".json" else text}
