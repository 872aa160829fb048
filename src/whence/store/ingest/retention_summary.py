"""The remains of retention: how far back the store remembers, and the counts of deleted rows.

State is a function of the log and of these *horizons*: each records what was deleted when the store had read the log up
to its positions. A rebuild enforces them again, one after the other (`derive.rebuild`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import BigInteger, Boolean, Column, Connection, Integer, SmallInteger, Table, Text, func, select

from whence.store.schema.tables import metadata

retention_horizon = Table(
    "retention_horizon",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("lane", Text, primary_key=True),
    Column("position", BigInteger, nullable=False),  # the store had read the lane so far
    Column("runs", BigInteger, nullable=False),  # µs: what runs did before is forgotten, but for each job's last `keep`
    Column("keep", Integer, nullable=False),
    Column("history", BigInteger, nullable=False),  # µs: what held only before is forgotten
    Column("finished", Boolean, nullable=False),
)

run_summary = Table(
    "run_summary",
    metadata,
    Column("job_id", BigInteger, primary_key=True, autoincrement=False),
    Column(
        "month", BigInteger, primary_key=True, autoincrement=False
    ),  # its first instant, µs: when the run was seen last
    Column("state", SmallInteger, primary_key=True, autoincrement=False),  # model.events.RunState, the last one
    Column("runs", BigInteger, nullable=False),
    Column("timed", BigInteger, nullable=False),  # runs of which start and end are known
    Column("microseconds", BigInteger, nullable=False),  # from start to end, of those
    Column("first_seen", BigInteger, nullable=False),
    Column("last_seen", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

record_summary = Table(
    "record_summary",
    metadata,
    Column("outcome", Text, primary_key=True),  # applied, duplicate or quarantined
    Column("reason", Text, primary_key=True),  # of quarantine: its class (openlineage.refusals); else empty
    Column("producer_id", BigInteger, primary_key=True, autoincrement=False),  # 0: not known
    Column("month", BigInteger, primary_key=True, autoincrement=False),  # of the event's time; 0: not known
    Column("records", BigInteger, nullable=False),
    Column("last_seen", BigInteger, nullable=False),  # the latest time of these events; 0: not known
    sqlite_with_rowid=False,
)

SUMMARIES = (run_summary, record_summary)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionHorizon:
    """How far back a store remembers; times are microseconds UTC.

    `runs`: runs that were last seen before are deleted with everything they asserted, except the last `keep` of each
    job; so are events that arrive with an earlier time. `history`: lineage that held only before is deleted.
    """

    runs: int
    keep: int
    history: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EnforcedHorizon:
    """A horizon, and the position of the store in each lane of the log when it was enforced."""

    number: int
    horizon: RetentionHorizon
    reached: Mapping[str, int]
    finished: bool


def read_horizons(connection: Connection) -> Sequence[EnforcedHorizon]:
    """All horizons that were ever enforced, in order."""
    found: dict[int, EnforcedHorizon] = {}
    for row in connection.execute(
        select(retention_horizon).order_by(retention_horizon.c.number, retention_horizon.c.lane)
    ):
        known = found.get(row.number)
        found[row.number] = EnforcedHorizon(
            number=row.number,
            horizon=RetentionHorizon(runs=row.runs, keep=row.keep, history=row.history),
            reached={**(known.reached if known else {}), row.lane: row.position},
            finished=row.finished,
        )
    return tuple(found.values())


def forgotten_runs(connection: Connection) -> int | None:
    """The time (µs) before which events arrive too late, or None."""
    return connection.execute(select(func.max(retention_horizon.c.runs))).scalar()


def forgotten_history(connection: Connection) -> int | None:
    """The time (µs) before which lineage may be deleted, or None."""
    return connection.execute(select(func.max(retention_horizon.c.history))).scalar()


_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799


def month_of(time: int) -> int:
    """The first instant (µs, UTC) of the month of a time. Times outside of the years 1 to 9999 count as the nearest
    month.
    """
    second = min(max(time // 1_000_000, _FIRST_SECOND), _LAST_SECOND)
    moment = datetime.fromtimestamp(second, UTC)
    return int(moment.replace(day=1, hour=0, minute=0, second=0).timestamp()) * 1_000_000
