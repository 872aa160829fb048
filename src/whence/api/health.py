"""Whether each station works, said truthfully: log, store, pipeline."""

import asyncio
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from whence.api.progress import ProgressWatch
from whence.api.settings import Settings
from whence.errors import LogCorruptError, StoreError
from whence.log import Position, boundary, committed, read
from whence.log.commit import GroupCommit


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One station: whether it works, and what is to say about it."""

    ok: bool
    detail: str


async def readiness(settings: Settings, commit: GroupCommit, progress: ProgressWatch) -> dict[str, Check]:
    """The checks by station."""
    trouble = await commit.probe()
    log = Check(ok=not trouble, detail=trouble or "writable")
    try:
        position = await progress.position()
    except StoreError as error:
        return {"log": log, "store": Check(ok=False, detail=str(error)), "pipeline": _supervised(settings.run_file)}
    store = Check(ok=True, detail=f"holds all events before {position}")
    pipeline = await asyncio.to_thread(_pipeline, settings, position)
    return {"log": log, "store": store, "pipeline": pipeline}


def as_json(checks: dict[str, Check]) -> dict[str, object]:
    """The answer's body."""
    ready = all(check.ok for check in checks.values())
    return {
        "status": "ready" if ready else "not ready",
        "checks": {name: asdict(check) for name, check in checks.items()},
    }


def _pipeline(settings: Settings, position: Position) -> Check:
    supervised = _supervised(settings.run_file)
    if not supervised.ok:
        return supervised
    try:
        waiting = _oldest_waiting_micros(settings.log_directory, position)
    except LogCorruptError as error:
        return Check(ok=False, detail=str(error))
    if waiting is None:
        return Check(ok=True, detail="has applied everything")
    seconds = max(0.0, time.time() - waiting / 1e6)
    return Check(
        ok=seconds <= settings.stale_seconds, detail=f"the oldest event not yet applied came {seconds:.1f} s ago"
    )


def _oldest_waiting_micros(directory: Path, position: Position) -> int | None:
    """When the first record that the store does not have was received."""
    end = committed(directory)
    first = next(read(directory, boundary(directory, position, end), end), None)
    return first.received_at if first else None


def _supervised(run_file: Path) -> Check:
    """What the supervisor says of the pipeline; fine if there is no supervisor, which is so where others run it."""
    try:
        state = json.loads(run_file.read_text("utf-8"))
    except FileNotFoundError:
        return Check(ok=True, detail="not supervised from here")
    pipeline = state.get("pipeline", {})
    if pipeline.get("ready"):
        return Check(ok=True, detail="runs")
    return Check(ok=False, detail=pipeline.get("detail") or "is starting")
