"""How a store stands: what it has taken from whom, what it refused and why, and what seems to be missing."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Engine, and_, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from whence.errors import StoreError
from whence.openlineage.producers import Adapter, adapter
from whence.openlineage.refusals import refusal
from whence.store.engine import reading
from whence.store.ledger import Ledger
from whence.store.tables import event, producer, progress, receipt, run

SILENT_MICROS = 24 * 3_600 * 1_000_000
"""A batch run that was silent for so long will hardly report its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Produced:
    """The events applied of one producer in one version. `last_seen`: the latest eventTime, µs."""

    adapter: Adapter
    events: int
    last_seen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One consistent look at a store. `progress`: the position reached in each lane of the log."""

    progress: Mapping[str, int]
    ledger: Ledger
    refusals: Mapping[str, int]
    producers: tuple[Produced, ...]
    runs_without_start: int
    runs_without_end: int
    size: int


def read_standing(engine: Engine) -> Standing:
    """Counts all events, refusals and runs: seconds for millions of them. Raises StoreError."""
    silent_since = time.time_ns() // 1_000 - SILENT_MICROS
    try:
        with reading(engine) as connection:
            producers = _producers(connection)
            reasons = _reasons(connection)
            duplicate = reasons.pop("", 0)
            applied = sum(one.events for one in producers)
            return Standing(
                progress=dict(connection.execute(select(progress.c.name, progress.c.position)).all()),
                ledger=Ledger(applied, duplicate, sum(reasons.values())),
                refusals=_classes(reasons),
                producers=producers,
                runs_without_start=_count_runs(connection, run.c.started_at.is_(None)),
                runs_without_end=_count_runs(
                    connection, and_(run.c.terminals == 0, run.c.streaming == 0, run.c.seen_to < silent_since)
                ),
                size=_size(connection),
            )
    except SQLAlchemyError as error:
        raise StoreError(f"the store cannot be read: {error.args[0] if error.args else error}") from error


def _producers(connection: Connection) -> tuple[Produced, ...]:
    counted = select(event.c.producer_id, func.count().label("events"), func.max(event.c.time).label("last"))
    by_id = counted.group_by(event.c.producer_id).subquery()
    rows = connection.execute(
        select(producer.c.uri, by_id.c.events, by_id.c.last).join_from(
            by_id, producer, producer.c.id == by_id.c.producer_id
        )
    )
    events: Counter[Adapter] = Counter()
    last: dict[Adapter, int] = {}
    for uri, count, latest in rows:
        one = adapter(uri)
        events[one] += count
        last[one] = max(latest, last.get(one, latest))
    return tuple(Produced(adapter=one, events=count, last_seen=last[one]) for one, count in events.most_common())


def _reasons(connection: Connection) -> dict[str, int]:
    """Receipts that were not applied by reason; without one, they are duplicates."""
    counted = select(receipt.c.reason, func.count()).group_by(receipt.c.reason)
    return dict(connection.execute(counted).all())


def _classes(reasons: Mapping[str, int]) -> dict[str, int]:
    classes: Counter[str] = Counter()
    for reason, count in reasons.items():
        classes[refusal(reason)] += count
    return dict(sorted(classes.items()))


def _count_runs(connection: Connection, condition: ColumnElement[bool]) -> int:
    """Of the runs that had an event of their own."""
    query = select(func.count()).select_from(run).where(run.c.seen_from.is_not(None), condition)
    return connection.execute(query).scalar_one()


def _size(connection: Connection) -> int:
    """Bytes of the tables and their indexes."""
    if connection.dialect.name == "sqlite":
        pages, page = (connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in ("page_count", "page_size"))
        return int(pages) * int(page)
    return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
