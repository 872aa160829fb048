"""Retention: how much is kept, as ages and counts; a plan of what goes; and its execution, which is the same plan."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import Engine

from whence.errors import PlanOutdatedError
from whence.store.connection.lock import hold_derive_lock
from whence.store.ingest.retention_summary import RetentionHorizon
from whence.store.lifecycle.purge import Expired, enforce_horizon, preview_purge, resume_purge
from whence.store.migrations.migrate import migrate

DAY = 86_400_000_000
"""In microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How old what is kept may be (µs), and how many runs of each job are kept whatever their age."""

    runs: int = 90 * DAY
    keep: int = 20
    history: int = 400 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a horizon lets go of: rows by table, and a digest of their keys. Equal plans delete the same."""

    horizon: RetentionHorizon
    rows: Mapping[str, int]
    digest: str


def compute_horizon(limits: Limits, now: int) -> RetentionHorizon:
    """The horizon that limits mean at a time."""
    return RetentionHorizon(runs=now - limits.runs, keep=limits.keep, history=now - max(limits.history, limits.runs))


@contextmanager
def open_plan(engine: Engine, horizon: RetentionHorizon) -> Iterator[tuple[Plan, Expired]]:
    """The plan, and the keys that are in it as long as the context is open. Changes nothing. Raises StoreError."""
    with preview_purge(engine, horizon) as expired:
        digest = sha256()
        for table, key in expired.iterate_keys():
            digest.update(f"{table} {key}\n".encode())
        yield Plan(horizon=horizon, rows=expired.rows, digest=digest.hexdigest()), expired


def apply_plan(engine: Engine, horizon: RetentionHorizon, expected: Plan | None = None) -> Mapping[str, int]:
    """Delete what the horizon lets go of; rows by table.

    Raises StoreBusyError while a pipeline derives into the store; PlanOutdatedError if this is not what was `expected`:
    then nothing is deleted.
    """
    migrate(engine)
    with hold_derive_lock(engine) as check_lock:
        resume_purge(engine, check_lock)
        if expected:
            with open_plan(engine, horizon) as (plan, _):
                if plan != expected:
                    raise PlanOutdatedError(sum(expected.rows.values()), sum(plan.rows.values()))
        return enforce_horizon(engine, horizon, check_lock)
