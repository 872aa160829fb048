"""`whence retention`: what goes, and that it is gone."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.filesize import decimal
from rich.text import Text

from whence.cli.output import Exit, Output, print_document, print_lines, safe
from whence.errors import WhenceError
from whence.govern.lifecycle import Patience, Stale, stale_jobs
from whence.govern.retention import Limits, Plan, apply, horizon_of, planning
from whence.query.instants import SECOND, instant, iso
from whence.store.graph import existing_store
from whence.store.space import shrink, size
from whence.store.summary import Horizon

_HOUR = 3_600 * SECOND


def show_plan(store_url: str, limits: Limits, patience: Patience, verbose: bool, output: Output) -> Exit:
    """What would go now; with `verbose`, the key of every row. Raises StoreError."""
    now, engine = time.time_ns() // 1_000, existing_store(store_url)
    with planning(engine, horizon_of(limits, now)) as (plan, expired):
        stale = stale_jobs(engine, now, patience)
        keys = expired.listed() if verbose else iter(())
        if output is Output.JSON:
            listed: dict[str, list[tuple[int, ...]]] = {}
            for table, key in keys:
                listed.setdefault(table, []).append(key)
            document = {**_document(plan), "stale_jobs": [_stale_document(one) for one in stale]}
            print_document({**document, "keys": listed} if verbose else document)
        else:
            print_lines(_lines(plan, stale, now))
            print_lines(Text(f"{table} {' '.join(map(str, key))}") for table, key in keys)
    return Exit.OK


def show_applied(store_url: str, limits: Limits, plan: Path | None, shrinks: bool, output: Output) -> Exit:
    """Delete what the limits, or a plan from a file, let go of. Raises StoreBusyError, PlanOutdatedError."""
    engine = existing_store(store_url)
    expected = _read(plan) if plan else None
    before = size(engine)
    rows = apply(engine, expected.horizon if expected else horizon_of(limits, time.time_ns() // 1_000), expected)
    if shrinks:
        shrink(engine)
    after = size(engine)
    if output is Output.JSON:
        print_document({"deleted": dict(rows), "bytes_before": before, "bytes_after": after})
    else:
        kept = "" if shrinks else "; what is free in it is used again (--shrink gives it back)"
        print_lines(
            [*_counts(rows, "deleted"), Text(f"The store has {decimal(after)}, before {decimal(before)}{kept}.")]
        )
    return Exit.OK


def _lines(plan: Plan, stale: Sequence[Stale], now: int) -> Iterator[Text]:
    limit = plan.horizon
    yield Text(f"Runs last seen before {iso(limit.runs)}, but for the last {limit.keep} of each job;", "bold")
    yield Text(f"lineage that ended before {iso(limit.history)}.", "bold")
    yield from _counts(plan.rows, "to delete")
    for one in stale:
        silent = f"unseen for {one.silent // _HOUR:,} h, usually every {one.period / _HOUR:,.1f} h"
        yield Text.assemble(("stale ", "yellow"), safe(str(one.job)), f"  {silent}")


def _counts(rows: Mapping[str, int], what: str) -> Iterator[Text]:
    for table, count in rows.items():
        if count:
            yield Text(f"{count:12,}  {table}")
    yield Text(f"{sum(rows.values()):12,}  rows {what}", "bold")


def _document(plan: Plan) -> dict[str, Any]:
    limit = plan.horizon
    return {
        "runs_before": iso(limit.runs),
        "keep": limit.keep,
        "history_before": iso(limit.history),
        "rows": dict(plan.rows),
        "digest": plan.digest,
    }


def _read(file: Path) -> Plan:
    try:
        said = json.loads(file.read_text("utf-8"))
        limit = Horizon(
            runs=instant(said["runs_before"], 0), keep=int(said["keep"]), history=instant(said["history_before"], 0)
        )
        return Plan(horizon=limit, rows=dict(said["rows"]), digest=str(said["digest"]))
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise WhenceError(f"{file} is no plan of `whence retention plan --output json`: {error}") from error


def _stale_document(one: Stale) -> dict[str, Any]:
    seconds = {"period_seconds": one.period // SECOND, "silent_seconds": one.silent // SECOND}
    return {"job": str(one.job), "last_seen": iso(one.last_seen), **seconds}
