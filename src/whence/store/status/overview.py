"""The status of a store: its producers, its rejected records with reasons, and what seems to be missing."""

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Engine, case, func, literal, select, union_all
from sqlalchemy.exc import SQLAlchemyError

from whence.errors import StoreError
from whence.openlineage.authority.restrictions import NOT_APPLIED
from whence.openlineage.facets.producers import Adapter, parse_adapter
from whence.openlineage.validation.rejection_reasons import classify_refusal
from whence.store.connection.engine import reading
from whence.store.connection.vacuum import measure_store
from whence.store.ingest.retention_summary import record_summary
from whence.store.schema.tables import event, producer, progress, receipt, run
from whence.store.status.ledger import Ledger
from whence.store.status.sql_disagreements import Disagreements, count_disagreements
from whence.store.status.stale_nodes import is_lacking


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerCounts:
    """The applied events of one producer in one version. `last_seen`: the latest eventTime, µs."""

    adapter: Adapter
    events: int
    last_seen: int
    restricted: int = 0
    """Events with a part that is not applied, because the sender may not assert it; without deleted ones."""
    example: str = ""
    """The warning of one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOverview:
    """One consistent overview of a store. `progress`: the position reached in each lane of the log."""

    progress: Mapping[str, int]
    ledger: Ledger
    refusals: Mapping[str, int]
    producers: tuple[ProducerCounts, ...]
    runs_without_start: int
    runs_without_end: int
    size: int
    disagreements: Disagreements


def read_overview(engine: Engine) -> StoreOverview:
    """Count all events, rejected records and runs, including deleted events and rejected records: seconds for millions.
    Raises StoreError.
    """
    now = time.time_ns() // 1_000
    try:
        with reading(engine) as connection:
            producers = _producers(connection)
            duplicate, refusals = _receipts(connection)
            applied = sum(one.events for one in producers)
            return StoreOverview(
                progress=dict(connection.execute(select(progress.c.name, progress.c.position)).all()),
                ledger=Ledger(applied, duplicate, sum(refusals.values())),
                refusals=refusals,
                producers=producers,
                runs_without_start=_count_runs(connection, is_lacking("start", now)),
                runs_without_end=_count_runs(connection, is_lacking("end", now)),
                size=measure_store(connection),
                disagreements=count_disagreements(connection),
            )
    except SQLAlchemyError as error:
        raise StoreError(f"the store cannot be read: {error.args[0] if error.args else error}") from error


def _producers(connection: Connection) -> tuple[ProducerCounts, ...]:
    is_restricted = event.c.warnings.like(f'["/: {NOT_APPLIED}%')
    known = select(
        event.c.producer_id,
        func.count().label("events"),
        func.max(event.c.time).label("last"),
        func.sum(case((is_restricted, 1), else_=0)).label("restricted"),
        func.max(case((is_restricted, event.c.warnings), else_="")).label("example"),
    )
    gone = select(
        record_summary.c.producer_id, record_summary.c.records, record_summary.c.last_seen, literal(0), literal("")
    )
    counted = union_all(
        known.group_by(event.c.producer_id), gone.where(record_summary.c.outcome == "applied")
    ).subquery()
    rows = connection.execute(
        select(producer.c.uri, counted.c.events, counted.c.last, counted.c.restricted, counted.c.example).join_from(
            counted, producer, producer.c.id == counted.c.producer_id
        )
    )
    found: dict[Adapter, ProducerCounts] = {}
    for uri, count, latest, restricted, example in rows:
        one = ProducerCounts(
            adapter=parse_adapter(uri),
            events=count,
            last_seen=latest,
            restricted=restricted,
            example=_first_warning(example),
        )
        found[one.adapter] = merge_producer_counts(
            [*([found[one.adapter]] if one.adapter in found else []), one], one.adapter
        )
    return tuple(sorted(found.values(), key=lambda one: -one.events))


def merge_producer_counts(some: Sequence[ProducerCounts], name: Adapter) -> ProducerCounts:
    """Several producers as one."""
    return ProducerCounts(
        adapter=name,
        events=sum(one.events for one in some),
        last_seen=max(one.last_seen for one in some),
        restricted=sum(one.restricted for one in some),
        example=max(one.example for one in some),
    )


def _first_warning(warnings: str) -> str:
    return str(json.loads(warnings)[0]) if warnings else ""


def _receipts(connection: Connection) -> tuple[int, Mapping[str, int]]:
    """The number of duplicate receipts, and of rejected ones by class."""
    duplicate, classes = 0, Counter[str]()
    for reason, count in connection.execute(select(receipt.c.reason, func.count()).group_by(receipt.c.reason)):
        duplicate += 0 if reason else count
        classes.update({classify_refusal(reason): count} if reason else {})
    gone = select(record_summary.c.outcome, record_summary.c.reason, record_summary.c.records)
    for outcome, class_, count in connection.execute(gone):
        duplicate += count if outcome == "duplicate" else 0
        classes.update({class_: count} if outcome == "quarantined" else {})
    return duplicate, dict(sorted(classes.items()))


def _count_runs(connection: Connection, condition: ColumnElement[bool]) -> int:
    return connection.execute(select(func.count()).select_from(run).where(condition)).scalar_one()
