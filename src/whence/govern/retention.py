"""Retention: how much is kept, as ages and counts; a plan of what goes; and its execution, which is the same plan."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import Engine

from whence.errors import PlanOutdatedError
from whence.store.lock import deriving
from whence.store.migrate import migrate
from whence.store.purge import Expired, enforce, expiring, resume
from whence.store.summary import Horizon

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

    horizon: Horizon
    rows: Mapping[str, int]
    digest: str


def horizon_of(limits: Limits, now: int) -> Horizon:
    """The horizon that limits mean at a time."""
    return Horizon(runs=now - limits.runs, keep=limits.keep, history=now - max(limits.history, limits.runs))


@contextmanager
def planning(engine: Engine, horizon: Horizon) -> Iterator[tuple[Plan, Expired]]:
    """The plan, and the keys that are in it as long as the context is open. Changes nothing. Raises StoreError."""
    with expiring(engine, horizon) as expired:
        told = sha256()
        for table, key in expired.listed():
            told.update(f"{table} {key}\n".encode())
        yield Plan(horizon=horizon, rows=expired.rows, digest=told.hexdigest()), expired


def apply(engine: Engine, horizon: Horizon, expected: Plan | None = None) -> Mapping[str, int]:
    """Delete what the horizon lets go of; rows by table.

    Raises StoreBusyError while a pipeline derives into the store; PlanOutdatedError if this is not what was `expected`:
    then nothing is deleted.
    """
    migrate(engine)
    with deriving(engine) as check_lock:
        resume(engine, check_lock)
        if expected:
            with planning(engine, horizon) as (plan, _):
                if plan != expected:
                    raise PlanOutdatedError(sum(expected.rows.values()), sum(plan.rows.values()))
        return enforce(engine, horizon, check_lock)
