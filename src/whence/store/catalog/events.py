"""Events by time, and counts over time."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, or_, select, tuple_, union_all

from whence.model.catalog import EventEntry, EventFilter, Window, sorted_distinct
from whence.model.events import EventKind, RunState
from whence.model.ids import Kind, event_id, event_id_rest, join_event_key, kind_of
from whence.model.names import DatasetName, JobName, RunName
from whence.store.catalog.listings import Scope, in_namespace, in_scope, listed, table_of
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import dataset, declaration, event, job, producer, run


def list_events(
    connection: Connection, period: EventFilter, window: Window, scope: Scope = None
) -> Sequence[EventEntry]:
    """A page of the events of a period."""
    key = (event.c.time, event.c.id)
    order = tuple(one.desc() for one in key) if period.newest else key
    query = _events().where(_matches_period(period), *_in_scope_of(connection, scope)).order_by(*order)
    if window.after is not None:
        after = tuple_(*window.after)
        query = query.where(tuple_(*key) < after if period.newest else tuple_(*key) > after)
    rows = connection.execute(query.limit(window.limit).offset(window.offset)).all()
    subjects = _subjects(connection, sorted_distinct(row.subject_id for row in rows))
    return [_entry(row, subjects) for row in rows]


def count_events(connection: Connection, period: EventFilter, scope: Scope = None) -> int:
    """Count the events of a period."""
    query = select(func.count()).select_from(event).where(_matches_period(period), *_in_scope_of(connection, scope))
    return int(connection.execute(query).scalar_one())


def read_event(connection: Connection, key: str) -> EventEntry | None:
    """The event with this key."""
    row = connection.execute(
        _events().where(event.c.id == event_id(key), event.c.rest == event_id_rest(key))
    ).one_or_none()
    return None if row is None else _entry(row, _subjects(connection, [row.subject_id]))


def last_declaration(connection: Connection, job_id: int) -> EventEntry | None:
    """The last declaration of a job, or None if it has no content."""
    own = select(declaration.c.event_id, declaration.c.version).where(declaration.c.owner_id == job_id)
    last = connection.execute(own.order_by(declaration.c.time.desc(), declaration.c.event_id.desc()).limit(1)).first()
    if last is None or not last.version:
        return None
    row = connection.execute(_events().where(event.c.id == last.event_id)).one_or_none()
    return None if row is None else _entry(row, _subjects(connection, [row.subject_id]))


def count_states(
    connection: Connection, times: Sequence[tuple[int, int]], scope: Scope = None
) -> Sequence[Mapping[RunState, int]]:
    """The run events of each state in each interval."""
    wanted = integers(connection, ("place", "since", "until"), [(at, *ends) for at, ends in enumerate(times)])
    within = and_(event.c.time >= wanted.c.since, event.c.time < wanted.c.until)
    query = (
        select(wanted.c.place, event.c.state, func.count().label("events"))
        .join(event, within)
        .where(*_in_scope_of(connection, scope))
        .group_by(wanted.c.place, event.c.state)
    )
    found: list[dict[RunState, int]] = [{} for _ in times]
    for place, state, events in connection.execute(query):
        found[place][RunState(state)] = events
    return found


def count_known(connection: Connection, kind: Kind, times: Sequence[int], scope: Scope = None) -> Sequence[int]:
    """How many datasets or jobs existed before each time, in one pass for any number of times."""
    table = table_of(kind)
    bucket = case(*((table.c.first_seen < time, place) for place, time in enumerate(times)), else_=len(times))
    own = (listed(table), *in_scope(connection, table, scope))
    counted = connection.execute(select(bucket.label("b"), func.count()).where(*own).group_by("b")).all()
    return [sum(count for place, count in counted if place <= at) for at in range(len(times))]


def _events() -> Select[Any]:
    uri = select(producer.c.uri).where(producer.c.id == event.c.producer_id).scalar_subquery().label("uri")
    return select(event, uri)


def _matches_period(period: EventFilter) -> ColumnElement[bool]:
    within = [event.c.time >= period.after, event.c.time < period.before]
    if len(period.kinds) < len(EventKind):
        within.append(event.c.kind.in_([int(kind) for kind in period.kinds]))
    if period.states:
        within += [event.c.kind == int(EventKind.RUN), event.c.state.in_([int(state) for state in period.states])]
    if period.namespace is not None:
        within.append(event.c.subject_id.in_(_in_namespace(period.namespace)))
    return and_(*within)


def _in_scope_of(connection: Connection, scope: Scope) -> Sequence[ColumnElement[bool]]:
    """The condition that an event is about something in some namespaces. Events are tested one by one, so a page costs
    as much as it skips.
    """
    if scope is None:
        return ()
    own = {table: and_(*in_scope(connection, table, scope)) for table in (job, dataset)}
    of_run = select(run.c.id).join(job, job.c.id == run.c.job_id).where(run.c.id == event.c.subject_id, own[job])
    of_thing = (select(table.c.id).where(table.c.id == event.c.subject_id, is_own) for table, is_own in own.items())
    return (or_(of_run.exists(), *(one.exists() for one in of_thing)),)


def _in_namespace(namespace: str) -> Select[Any]:
    runs = select(run.c.id).join(job, job.c.id == run.c.job_id).where(in_namespace(job, namespace))
    named = [select(table.c.id).where(in_namespace(table, namespace)) for table in (job, dataset)]
    return select(union_all(runs, *named).subquery().c.id)


def _subjects(connection: Connection, ids: Sequence[int]) -> Mapping[int, DatasetName | JobName | RunName]:
    found: dict[int, DatasetName | JobName | RunName] = {}
    for kind, named in ((Kind.DATASET, DatasetName), (Kind.JOB, JobName)):
        table = table_of(kind)
        wanted = integers(connection, ("id",), [(one,) for one in ids if kind_of(one) is kind])
        query = select(table.c.id, table.c.namespace, table.c.name).join(wanted, wanted.c.id == table.c.id)
        found |= {id_: named(namespace, name) for id_, namespace, name in connection.execute(query)}
    wanted = integers(connection, ("id",), [(one,) for one in ids if kind_of(one) is Kind.RUN])
    of_job = select(run.c.id, run.c.run_id, job.c.namespace, job.c.name).join_from(run, job, job.c.id == run.c.job_id)
    rows = connection.execute(of_job.join(wanted, wanted.c.id == run.c.id))
    return found | {id_: RunName(run_id, JobName(namespace, name)) for id_, run_id, namespace, name in rows}


def _entry(row: Any, subjects: Mapping[int, DatasetName | JobName | RunName]) -> EventEntry:
    key, kind, state = join_event_key(row.id, row.rest), EventKind(row.kind), RunState(row.state)
    return EventEntry(key, row.position, row.time, kind, state, row.uri, subjects.get(row.subject_id))
