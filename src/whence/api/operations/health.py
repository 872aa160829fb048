"""Health checks of each station: log, store, pipeline, and the security database."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from whence.api.operations.progress import ProgressWatch
from whence.api.operations.response_types import CheckDocument
from whence.api.settings import Settings
from whence.errors import LogError, StoreError
from whence.log import Lanes, Log
from whence.log.group_commit import GroupCommit
from whence.log.position import format_positions

Station = Literal["log", "store", "pipeline", "security"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check, and its detail."""

    ok: bool
    detail: str


async def guarded(check: Callable[[], None]) -> dict[Station, Check]:
    """Check the security database: without it nobody is authenticated, so nothing is answered."""
    try:
        await asyncio.to_thread(check)
    except StoreError as error:
        return {"security": Check(ok=False, detail=str(error))}
    return {"security": Check(ok=True, detail="knows who may do what")}


async def readiness(
    settings: Settings, log: Log, commit: GroupCommit, progress: ProgressWatch, check_key: Callable[[], None]
) -> dict[Station, Check]:
    """The check of each station. `check_key` raises StoreError if the store's encrypted texts cannot be opened here."""
    trouble = await commit.probe()
    writable = Check(ok=not trouble, detail=trouble or "writable")
    try:
        reached = await progress.reached()
        await asyncio.to_thread(check_key)
    except StoreError as error:
        return {
            "log": writable,
            "store": Check(ok=False, detail=str(error)),
            "pipeline": _supervised(settings.run_file),
        }
    before = format_positions(reached.values())
    store = Check(ok=True, detail=f"holds all events before {before}" if before else "holds no events yet")
    pipeline = await asyncio.to_thread(_pipeline, settings, log, reached)
    return {"log": writable, "store": store, "pipeline": pipeline}


def check_documents(checks: Mapping[Any, Check]) -> dict[str, CheckDocument]:
    """Checks by the name of their station or job."""
    return {name: {"ok": one.ok, "detail": one.detail} for name, one in checks.items()}


def _pipeline(settings: Settings, log: Log, reached: Lanes) -> Check:
    supervised = _supervised(settings.run_file)
    if not supervised.ok:
        return supervised
    try:
        waiting = log.oldest_received_at(reached)
    except LogError as error:
        return Check(ok=False, detail=str(error))
    if waiting is None:
        return Check(ok=True, detail="has applied everything")
    seconds = max(0.0, time.time() - waiting / 1e6)
    return Check(
        ok=seconds <= settings.stale_seconds, detail=f"the oldest event not yet applied came {seconds:.1f} s ago"
    )


def _supervised(run_file: Path) -> Check:
    """The supervisor's report about the pipeline; healthy if there is no supervisor, as on a cluster."""
    try:
        state = json.loads(run_file.read_text("utf-8"))
    except FileNotFoundError:
        return Check(ok=True, detail="not supervised from here")
    pipeline = state.get("pipeline", {})
    if pipeline.get("ready"):
        return Check(ok=True, detail="runs")
    return Check(ok=False, detail=pipeline.get("detail") or "is starting")
