"""`whence retention`: prints what will be deleted, and deletes it."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.filesize import decimal
from rich.text import Text
from sqlalchemy import Engine

from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.derive.archive.forget import Day, list_old_days, remove_old_days
from whence.errors import PlanOutdatedError, WhenceError
from whence.govern.retention import Limits, Plan, apply_plan, compute_horizon, open_plan
from whence.govern.stale_jobs import StaleJob, StalenessRule, list_stale_jobs
from whence.query.answers.instants import SECOND, instant, iso
from whence.store.connection.engine import read_progress, reading
from whence.store.connection.vacuum import measure_store, shrink_store
from whence.store.ingest.retention_summary import RetentionHorizon
from whence.store.snapshots.graph import existing_store

_HOUR = 3_600 * SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """The locations and limits of retention; `raw` is the age of the archive's days (µs), None: unlimited."""

    store: str
    archive: str
    limits: Limits
    raw: int | None


def show_plan(what: Keeping, patience: StalenessRule, verbose: bool, output: Output) -> Exit:
    """Print what would be deleted now; with `verbose`, the key of every row. Raises StoreError, TableError."""
    now, engine = time.time_ns() // 1_000, existing_store(what.store)
    days = () if what.raw is None else list_old_days(what.archive, now - what.raw, read_progress(engine))
    with open_plan(engine, compute_horizon(what.limits, now)) as (plan, expired):
        stale = list_stale_jobs(engine, now, patience)
        keys = expired.iterate_keys() if verbose else iter(())
        if output is Output.JSON:
            listed: dict[str, list[tuple[int, ...]]] = {}
            for table, key in keys:
                listed.setdefault(table, []).append(key)
            document = {**_document(plan), "raw_before": None if what.raw is None else iso(now - what.raw)}
            document |= {
                "raw_days": [asdict(day) for day in days],
                "stale_jobs": [_stale_document(one) for one in stale],
            }
            print_document({**document, "keys": listed} if verbose else document)
        else:
            print_lines([*_lines(plan), *_days(days), *_stale_lines(stale)])
            print_lines(Text(f"{table} {' '.join(map(str, key))}") for table, key in keys)
    return Exit.OK


def show_applied(what: Keeping, plan: Path | None, shrinks: bool, output: Output) -> Exit:
    """Delete what the limits, or a plan from a file, allow. Raises StoreError, PlanOutdatedError, TableError."""
    now, engine = time.time_ns() // 1_000, existing_store(what.store)
    order = _read(plan) if plan else _Order.of(what, now)
    reached, before = read_progress(engine), _size(engine)
    if order.days is not None:
        _refuse_other_days(what.archive, order, reached)
    rows = apply_plan(engine, order.horizon, order.expected)
    days = () if order.raw is None else remove_old_days(what.archive, order.raw, reached, now // 1_000)
    if shrinks:
        shrink_store(engine)
    after = _size(engine)
    if output is Output.JSON:
        sizes = {"bytes_before": before, "bytes_after": after}
        print_document({"deleted": dict(rows), "raw_days": [asdict(day) for day in days], **sizes})
    else:
        kept = "" if shrinks else "; what is free in it is used again (--shrink gives it back)"
        size = Text(f"The store has {decimal(after)}, before {decimal(before)}{kept}.")
        print_lines([*_counts(rows, "deleted"), *_days(days), size])
    return Exit.OK


def _size(engine: Engine) -> int:
    with reading(engine) as connection:
        return measure_store(connection)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """The rows to delete; with a plan, exactly those `expected`, and these `days`."""

    horizon: RetentionHorizon
    raw: int | None
    expected: Plan | None = None
    days: tuple[Day, ...] | None = None

    @classmethod
    def of(cls, what: Keeping, now: int) -> "_Order":
        """The rows beyond the limits now."""
        return cls(horizon=compute_horizon(what.limits, now), raw=None if what.raw is None else now - what.raw)


def _refuse_other_days(archive: str, order: _Order, reached: Mapping[str, int]) -> None:
    found = () if order.raw is None else list_old_days(archive, order.raw, reached)
    if found != order.days:
        raise PlanOutdatedError(sum(day.records for day in order.days or ()), sum(day.records for day in found))


def _lines(plan: Plan) -> Iterator[Text]:
    limit = plan.horizon
    yield Text(f"Runs last seen before {iso(limit.runs)}, but for the last {limit.keep} of each job;", "bold")
    yield Text(f"lineage that ended before {iso(limit.history)}.", "bold")
    yield from _counts(plan.rows, "to delete")


def _days(days: Sequence[Day]) -> Iterator[Text]:
    for one in days:
        yield Text(f"{one.records:12,}  raw records of {one.day}, {decimal(one.bytes)}")


def _stale_lines(stale: Sequence[StaleJob]) -> Iterator[Text]:
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


def _read(file: Path) -> _Order:
    try:
        plan = json.loads(file.read_text("utf-8"))
        limit = RetentionHorizon(
            runs=instant(plan["runs_before"], 0), keep=int(plan["keep"]), history=instant(plan["history_before"], 0)
        )
        return _Order(
            horizon=limit,
            raw=None if plan["raw_before"] is None else instant(plan["raw_before"], 0),
            expected=Plan(horizon=limit, rows=dict(plan["rows"]), digest=str(plan["digest"])),
            days=tuple(Day(**day) for day in plan["raw_days"]),
        )
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise WhenceError(f"{file} is not a plan written by `whence retention plan --output json`: {error}") from error


def _stale_document(one: StaleJob) -> dict[str, Any]:
    seconds = {"period_seconds": one.period // SECOND, "silent_seconds": one.silent // SECOND}
    return {"job": str(one.job), "last_seen": iso(one.last_seen), **seconds}
