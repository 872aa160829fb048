"""Stale nodes: runs without a start or an end, and datasets that no event mentioned for long."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, select, tuple_

from whence.model.catalog import Entry, Window
from whence.model.ids import Kind
from whence.model.names import JobName
from whence.store.catalog.listings import entry, is_alive, listed
from whence.store.schema.tables import dataset, job, run
from whence.store.status.coverage import has_fact

SILENT_MICROS = 24 * 3_600 * 1_000_000
"""A batch run without events for so long will hardly report its end."""
Lacks = Literal["start", "end"]


class UnfinishedRun(NamedTuple):
    """A run without a start or an end event. Times in µs: its first and its last event."""

    id: int
    run_id: str
    job: JobName
    state: int
    since: int
    until: int


def is_lacking(lacks: Lacks, now: int) -> ColumnElement[bool]:
    """Whether a run had an event of its own, but lacks a start or an end (`now` in µs)."""
    missing: ColumnElement[bool] = run.c.started_at.is_(None)
    if lacks == "end":
        missing = and_(run.c.terminals == 0, run.c.streaming == 0, run.c.seen_to < now - SILENT_MICROS)
    return and_(run.c.seen_from.is_not(None), missing)


def list_unfinished_runs(connection: Connection, lacks: Lacks, now: int, window: Window) -> Sequence[UnfinishedRun]:
    """A page of runs that lack a start or an end, the most recently active first. Reads all runs: a second for
    millions.
    """
    order = (run.c.seen_to, run.c.id)
    columns = (run.c.id, run.c.run_id, job.c.namespace, job.c.name, run.c.state, run.c.seen_from, run.c.seen_to)
    query = select(*columns).join(job, job.c.id == run.c.job_id).where(is_lacking(lacks, now))
    if window.after is not None:
        query = query.where(tuple_(*order) < tuple_(*window.after))
    rows = connection.execute(query.order_by(*(one.desc() for one in order)).limit(window.limit))
    return [
        UnfinishedRun(id_, name, JobName(namespace, of), state, since, until)
        for id_, name, namespace, of, state, since, until in rows
    ]


def list_silent_datasets(connection: Connection, window: Window) -> Sequence[Entry]:
    """A page of the datasets with current lineage, those mentioned longest ago first. Reads all of them."""
    order = (dataset.c.last_seen, dataset.c.id)
    columns = (dataset.c.id, dataset.c.namespace, dataset.c.name, dataset.c.first_seen, dataset.c.last_seen)
    query = select(*columns).where(listed(dataset), is_alive(dataset), has_fact("lineage"))
    if window.after is not None:
        query = query.where(tuple_(*order) > tuple_(*window.after))
    return [entry(Kind.DATASET, row) for row in connection.execute(query.order_by(*order).limit(window.limit))]
