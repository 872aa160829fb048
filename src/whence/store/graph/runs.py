"""Queries of runs: their lineage sets, and the writers and readers of datasets."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, func, select

from whence.model.events import RunState
from whence.model.graph import AssertingEvent, FacetRow, JobRun, RunRow, RunTouch
from whence.model.ids import join_event_key
from whence.model.names import JobName, RunName
from whence.store.encryption.keyring import keys_in, open_payload
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import (
    containment,
    event,
    facet,
    facet_body,
    job,
    lineage_edge,
    lineage_version,
    producer,
    run,
    run_lineage,
)


def find_runs(connection: Connection, run_id: str) -> Sequence[RunRow]:
    """The runs with this run id: one of each job that claims it."""
    return _runs(connection, _RUNS.where(run.c.run_id == run_id))


def read_runs(connection: Connection, ids: Iterable[int]) -> Sequence[RunRow]:
    """The runs with these ids."""
    return _runs(connection, _RUNS.where(run.c.id.in_(_ids(connection, ids))))


def read_last_runs(connection: Connection, job_ids: Iterable[int], at: int | None) -> Mapping[int, JobRun]:
    """The last run of each job, or the last that had begun at a time, with its state then."""
    wanted = integers(connection, ("id",), [(id_,) for id_ in job_ids])
    begun = (run.c.job_id == wanted.c.id, run.c.seen_to.is_not(None), *(() if at is None else (run.c.seen_from <= at,)))
    newest = select(run.c.id).where(*begun).order_by(run.c.seen_to.desc(), run.c.id.desc()).limit(1)
    found = connection.execute(select(wanted.c.id, newest.correlate(wanted).scalar_subquery().label("run_id"))).all()
    last = {row.run_id: row.id for row in found if row.run_id is not None}
    containers = _containers(connection, last)
    inner = {row.id: row for row in read_runs(connection, last)}
    outer = {row.id: row for row in read_runs(connection, {id_ for ids in containers.values() for id_ in ids.values()})}
    return {
        last[id_]: JobRun(_state_at(row, at), *(outer.get(containers[id_].get(bit, 0)) for bit in (_PARENT, _ROOT)))
        for id_, row in inner.items()
    }


_PARENT, _ROOT = 1, 2
_ENDS = tuple(int(state) for state in RunState if state.rank == RunState.COMPLETE)


def _containers(connection: Connection, run_ids: Iterable[int]) -> Mapping[int, Mapping[int, int]]:
    """For each run, its parent and its root, by the bit of the relation: of several, the one with the least id."""
    found: dict[int, dict[int, int]] = {id_: {} for id_ in run_ids}
    query = select(containment).where(containment.c.run_id.in_(_ids(connection, found)))
    for row in connection.execute(query.order_by(containment.c.container_id)):
        for bit in (_PARENT, _ROOT):
            if row.relation & bit:
                found[row.run_id].setdefault(bit, row.container_id)
    return found


def _state_at(row: RunRow, at: int | None) -> RunRow:
    """The run as it was at a time: a state that it reached later is not known yet."""
    if at is None or row.state_at <= at:
        return row
    return row._replace(state=RunState.RUNNING, state_at=row.seen_from or at, seen_to=at)


def read_run_ends(
    connection: Connection, job_ids: Iterable[int], since: int, until: int, limit: int
) -> Sequence[RunRow]:
    """The runs of jobs that ended in (since, until], the latest first, at most `limit`; and the last run of each job
    that had ended by `since`.
    """
    wanted = integers(connection, ("id",), [(id_,) for id_ in job_ids])
    latest = (run.c.state_at.desc(), run.c.id.desc())
    ended = (run.c.job_id == wanted.c.id, run.c.state.in_(_ENDS))
    inside = select(run.c.id).join(wanted, and_(*ended)).where(run.c.state_at > since, run.c.state_at <= until)
    found = set(connection.execute(inside.order_by(*latest).limit(limit)).scalars())
    before = select(run.c.id).where(*ended, run.c.state_at <= since).order_by(*latest).limit(1).correlate(wanted)
    found |= set(connection.execute(select(before.scalar_subquery()).select_from(wanted)).scalars()) - {None}
    return sorted(read_runs(connection, found), key=lambda row: (-row.state_at, row.id))


def read_run_events(
    connection: Connection, times: Iterable[tuple[int, int]]
) -> Mapping[tuple[int, int], AssertingEvent]:
    """For each (run, time) the last event of the run that is not after the time."""
    wanted = integers(connection, ("run_id", "time"), sorted(set(times)))
    last = (
        select(event.c.id)
        .where(event.c.subject_id == wanted.c.run_id, event.c.time <= wanted.c.time)
        .order_by(event.c.time.desc(), event.c.state.desc(), event.c.id.desc())
        .limit(1)
        .correlate(wanted)
        .scalar_subquery()
    )
    rows = connection.execute(select(wanted.c.run_id, wanted.c.time, last.label("event_id"))).all()
    events = read_events(connection, {row.event_id for row in rows if row.event_id is not None})
    return {(row.run_id, row.time): events[row.event_id][0] for row in rows if row.event_id in events}


def read_asserted_sets(connection: Connection, run_ids: Iterable[int]) -> Mapping[int, tuple[int, ...]]:
    """The lineage sets that each run asserted."""
    wanted = _ids(connection, run_ids)
    query = (
        select(run_lineage.c.run_id, lineage_version.c.set_id)
        .distinct()
        .join_from(run_lineage, lineage_version, lineage_version.c.id == run_lineage.c.version)
        .where(run_lineage.c.run_id.in_(wanted))
    )
    found: dict[int, list[int]] = {}
    for run_id, set_id in connection.execute(query):
        found.setdefault(run_id, []).append(set_id)
    return {run_id: tuple(sorted(sets)) for run_id, sets in found.items()}


def read_writers(connection: Connection, touches: Sequence[tuple[int, int]]) -> Sequence[RunTouch]:
    """For each (dataset, time), the last run that had completed writing it by then."""
    return _nearest(connection, touches, writing=True)


def read_readers(connection: Connection, periods: Sequence[tuple[int, int, int]], limit: int) -> Sequence[RunTouch]:
    """For each (dataset, from, until), the runs with events in that time that read it; at most `limit` in all."""
    wanted = integers(connection, ("dataset_id", "since", "until"), periods)
    query = (
        select(wanted.c.dataset_id, run_lineage.c.run_id, run_lineage.c.time)
        .distinct()
        .select_from(wanted)
        .join(lineage_edge, lineage_edge.c.source_id == wanted.c.dataset_id)
        .join(lineage_version, lineage_version.c.set_id == lineage_edge.c.set_id)
        .join(run_lineage, run_lineage.c.version == lineage_version.c.id)
        .where(run_lineage.c.time >= wanted.c.since, run_lineage.c.time < wanted.c.until)
        .order_by(run_lineage.c.time, run_lineage.c.run_id)
        .limit(limit)
    )
    return [RunTouch._make(row) for row in connection.execute(query)]


def read_next_writers(connection: Connection, touches: Sequence[tuple[int, int]]) -> Sequence[RunTouch]:
    """For each (dataset, time), the first run after then that completed writing it."""
    return _nearest(connection, touches, writing=False)


def _nearest(connection: Connection, touches: Sequence[tuple[int, int]], *, writing: bool) -> Sequence[RunTouch]:
    """One index step (version, time) for each version that writes the dataset."""
    wanted = integers(connection, ("dataset_id", "time"), touches)
    versions = (
        select(wanted.c.dataset_id, wanted.c.time, lineage_version.c.id.label("version"))
        .distinct()
        .select_from(wanted)
        .join(lineage_edge, lineage_edge.c.target_id == wanted.c.dataset_id)
        .join(lineage_version, lineage_version.c.set_id == lineage_edge.c.set_id)
        .subquery()
    )
    in_time = run_lineage.c.time <= versions.c.time if writing else run_lineage.c.time > versions.c.time
    order = run_lineage.c.time.desc() if writing else run_lineage.c.time.asc()
    nearest_run = (
        select(run_lineage.c.run_id)
        .join(run, and_(run.c.id == run_lineage.c.run_id, run.c.state == int(RunState.COMPLETE)))
        .where(run_lineage.c.version == versions.c.version, in_time)
        .order_by(order, run_lineage.c.run_id)
        .limit(1)
        .correlate(versions)
        .scalar_subquery()
    )
    nearest = select(versions, nearest_run.label("run_id")).subquery()
    of = and_(run_lineage.c.run_id == nearest.c.run_id, run_lineage.c.version == nearest.c.version)
    place = func.row_number().over(
        partition_by=(nearest.c.dataset_id, nearest.c.time), order_by=(order, run_lineage.c.run_id)
    )
    ranked = (
        select(nearest.c.dataset_id, run_lineage.c.run_id, run_lineage.c.time, place.label("place"))
        .select_from(nearest)
        .join(run_lineage, of)
        .subquery()
    )
    rows = connection.execute(
        select(ranked.c.dataset_id, ranked.c.run_id, ranked.c.time).where(ranked.c.place == 1).distinct()
    )
    return [RunTouch._make(row) for row in rows]


def read_events(connection: Connection, ids: Iterable[int]) -> Mapping[int, tuple[AssertingEvent, int]]:
    """The stored events among these, each with its subject (a run, a job or a dataset)."""
    uri = select(producer.c.uri).where(producer.c.id == event.c.producer_id).scalar_subquery().label("uri")
    columns = (event.c.id, event.c.rest, event.c.position, event.c.time, event.c.subject_id, uri)
    rows = connection.execute(select(*columns).where(event.c.id.in_(_ids(connection, ids))))
    return {
        row.id: (
            AssertingEvent(
                key=join_event_key(row.id, row.rest), position=row.position, time=row.time, producer=row.uri
            ),
            row.subject_id,
        )
        for row in rows
    }


def read_facets(connection: Connection, ids: Iterable[int], names: Sequence[str]) -> Sequence[FacetRow]:
    """The current payloads of these facets of datasets and jobs; deleted ones are left out."""
    wanted = integers(connection, ("id",), [(id_,) for id_ in ids])
    of = and_(facet_body.c.subject_id == wanted.c.id, facet_body.c.name.in_(names), facet_body.c.payload != "")
    same = and_(facet.c.subject_id == facet_body.c.subject_id, facet.c.name == facet_body.c.name)
    order_columns = (func.coalesce(column, 0).label(column.name) for column in (facet.c.time, facet.c.event_id))
    columns = (facet_body.c.subject_id, facet_body.c.name, facet_body.c.payload, *order_columns)
    query = select(*columns).select_from(wanted).join(facet_body, of).outerjoin(facet, same)
    find = keys_in(connection)
    found = map(FacetRow._make, connection.execute(query).all())
    return [row._replace(payload=open_payload(find, row.subject_id, row.name, row.payload)) for row in found]


_RUNS = select(
    run.c.id, run.c.run_id, job.c.namespace, job.c.name, run.c.state, run.c.state_at, run.c.started_at, run.c.seen_from,
    run.c.seen_to,
).join_from(run, job, job.c.id == run.c.job_id)  # fmt: skip


def _runs(connection: Connection, query: Select[Any]) -> Sequence[RunRow]:
    return sorted(
        (_run(row) for row in connection.execute(query)), key=lambda row: (row.name.run_id, str(row.name.job))
    )


def _run(row: Row[Any]) -> RunRow:
    name = RunName(row.run_id, JobName(row.namespace, row.name))
    return RunRow(row.id, name, RunState(row.state), row.state_at, row.started_at, row.seen_from, row.seen_to)


def _ids(connection: Connection, ids: Iterable[int]) -> Select[tuple[int]]:
    return select(integers(connection, ("id",), [(id_,) for id_ in ids]).c.id)
