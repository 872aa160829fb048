"""Evidence of lineage sets: the events that asserted them first and last, and their latest runs."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Connection, Row, Select, Subquery, and_, bindparam, func, select, true

from whence.model.events import RunState
from whence.model.graph import AssertingEvent, AssertingRun, Evidence
from whence.model.ids import join_event_key
from whence.model.names import JobName, RunName
from whence.store.schema.array_parameters import given, giving
from whence.store.schema.tables import containment, event, job, lineage_set, lineage_version, producer, run, run_lineage


def read_evidence(connection: Connection, set_ids: Sequence[int], at: int | None, runs: int) -> Mapping[int, Evidence]:
    """Evidence by set id, with the latest `runs` runs of each set.

    With `at`, only what had been reported by then, but always the first event.
    """
    dialect = connection.dialect.name
    wanted = giving(dialect, ("id",), [(id_,) for id_ in set_ids])
    sets = connection.execute(_sets_statement(dialect), wanted).all()
    seen: dict[int, list[Row[Any]]] = {}
    for row in connection.execute(_runs_statement(dialect, at is not None, runs), wanted | {"at": at}):
        seen.setdefault(row.set_id, []).append(row)
    last = {row.id: _last_event(row, seen.get(row.id, ()), at) for row in sets}
    events = _events(connection, {*(report.event for report in last.values()), *(row.first_event for row in sets)})
    return {row.id: _evidence(row, events, last[row.id], seen.get(row.id, ())) for row in sets}


@lru_cache
def _sets_statement(dialect: str) -> Select[Any]:
    wanted = given(dialect, "id")
    return select(lineage_set).join(wanted, wanted.c.id == lineage_set.c.id)


@lru_cache
def _runs_statement(dialect: str, then: bool, runs: int) -> Select[Any]:
    return runs_query(given(dialect, "id"), bindparam("at", type_=BigInteger) if then else None, runs)


@lru_cache
def _events_statement(dialect: str) -> Select[Any]:
    wanted = given(dialect, "id")
    # Not a join: SQLite's planner may begin with the producers when statistics show that they are few.
    uri = select(producer.c.uri).where(producer.c.id == event.c.producer_id).scalar_subquery().label("uri")
    columns = (event.c.id, event.c.rest, event.c.position, event.c.time, uri)
    return select(*columns).join(wanted, wanted.c.id == event.c.id)


_PARENT_RUN = (
    select(func.min(containment.c.container_id))
    .where(containment.c.run_id == run.c.id, containment.c.relation.in_((1, 3)))  # parent, or parent and root
    .correlate(run)
    .scalar_subquery()
)
Time = int | ColumnElement[int] | None


def runs_query(wanted: Subquery, at: Time, runs: int) -> Select[Any]:
    """The latest runs that asserted each wanted set, newest first."""
    latest = _latest_run(wanted, at) if runs == 1 else _latest_runs(wanted, at, runs)
    columns = (
        run.c.id,
        run.c.run_id,
        job.c.namespace,
        job.c.name,
        run.c.state,
        run.c.state_at,
        run.c.started_at,
        run.c.seen_to,
        _PARENT_RUN.label("within"),
    )
    return (
        select(latest.c.set_id, latest.c.time, latest.c.event_id, *columns)
        .select_from(latest)
        .join(run, run.c.id == latest.c.run_id)
        .join(job, job.c.id == run.c.job_id)
        .order_by(latest.c.set_id, latest.c.time.desc(), latest.c.run_id.desc())
    )


_REPORT_COLUMNS = (run_lineage.c.run_id, run_lineage.c.time, run_lineage.c.event_id)
_NEWEST = (run_lineage.c.time.desc(), run_lineage.c.run_id.desc())


def _latest_run(wanted: Subquery, at: Time) -> Subquery:
    # One index step (version, time) for each version of a set: a window would read every run of a daily job.
    newest = (
        select(run_lineage.c.run_id)
        .where(run_lineage.c.version == lineage_version.c.id, _reported_until(at))
        .order_by(*_NEWEST)
        .limit(1)
        .correlate(lineage_version)
        .scalar_subquery()
    )
    of_version = (
        select(lineage_version.c.set_id, lineage_version.c.id.label("version"), newest.label("run_id"))
        .join(wanted, wanted.c.id == lineage_version.c.set_id)
        .subquery()
    )
    same_report = and_(run_lineage.c.version == of_version.c.version, run_lineage.c.run_id == of_version.c.run_id)
    place = func.row_number().over(partition_by=of_version.c.set_id, order_by=_NEWEST).label("place")
    ranked = (
        select(of_version.c.set_id, *_REPORT_COLUMNS, place)
        .select_from(of_version)
        .join(run_lineage, same_report)
        .subquery()
    )
    return select(ranked).where(ranked.c.place == 1).subquery()


def _latest_runs(wanted: Subquery, at: Time, runs: int) -> Subquery:
    """The latest version in which each run asserted a set, since a run may assert it in several."""
    own = func.row_number().over(partition_by=(lineage_version.c.set_id, run_lineage.c.run_id), order_by=_NEWEST[0])
    reports = (
        select(lineage_version.c.set_id, *_REPORT_COLUMNS, own.label("own"))
        .join(wanted, wanted.c.id == lineage_version.c.set_id)
        .join(run_lineage, run_lineage.c.version == lineage_version.c.id)
        .where(_reported_until(at))
        .subquery()
    )
    order = (reports.c.time.desc(), reports.c.run_id.desc())
    place = func.row_number().over(partition_by=reports.c.set_id, order_by=order).label("place")
    ranked = select(reports, place).where(reports.c.own == 1).subquery()
    return select(ranked).where(ranked.c.place <= runs).subquery()


def _reported_until(at: Time) -> Any:
    return true() if at is None else run_lineage.c.time <= at


class _Witness(NamedTuple):
    """An event and its time."""

    event: int
    time: int


def _last_event(row: Row[Any], runs: Sequence[Row[Any]], at: int | None) -> _Witness:
    if at is None or row.last_time <= at:
        return _Witness(row.last_event, row.last_time)
    return _Witness(runs[0].event_id, runs[0].time) if runs else _Witness(row.first_event, row.first_time)


def _events(connection: Connection, ids: Iterable[int]) -> Mapping[int, AssertingEvent]:
    dialect = connection.dialect.name
    rows = connection.execute(_events_statement(dialect), giving(dialect, ("id",), [(id_,) for id_ in sorted(ids)]))
    return {
        row.id: AssertingEvent(
            key=join_event_key(row.id, row.rest), position=row.position, time=row.time, producer=row.uri
        )
        for row in rows
    }


def _evidence(
    row: Row[Any], events: Mapping[int, AssertingEvent], last: _Witness, runs: Sequence[Row[Any]]
) -> Evidence:
    return Evidence(
        set_id=row.id,
        digest=row.digest,
        origin=row.origin,
        first=events.get(row.first_event, _forgotten(row.first_event, row.first_time)),
        last=events.get(last.event, _forgotten(*last)),
        runs=tuple(_run(seen) for seen in runs),
    )


def _forgotten(event_id: int, time: int) -> AssertingEvent:
    """An event that retention deleted; the first half of its key is still known."""
    return AssertingEvent(key=join_event_key(event_id, 0)[:16], position=None, time=time, producer="")


def _run(row: Row[Any]) -> AssertingRun:
    state = RunState(row.state)
    return AssertingRun(
        name=RunName(row.run_id, JobName(row.namespace, row.name)),
        state=state,
        started_at=row.started_at,
        ended_at=row.state_at if state.rank == RunState.COMPLETE else None,
        last_seen=row.seen_to,
        asserted_at=row.time,
        parent_id=row.within or 0,
    )
