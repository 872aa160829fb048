"""Lists of datasets, jobs and namespaces: pages by an index, totals by counting in it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, func, or_, select, tuple_
from sqlalchemy import literal_column as literally

from whence.model.catalog import REGISTRY, SORT_PREFIX_LENGTH, Entry, EntryFilter, Window, sort_prefix
from whence.model.ids import Kind
from whence.model.names import DatasetName, JobName
from whence.openlineage.facets.facet_keys import DECOMMISSIONED, LIFECYCLE
from whence.store.ingest.dropped_datasets import is_dropped
from whence.store.schema.array_parameters import integers, texts
from whence.store.schema.columns import beginning
from whence.store.schema.tables import dataset, facet, facet_body, job, run

_GONE = f'%"state":"{DECOMMISSIONED}"%'


def table_of(kind: Kind) -> Table:
    """The table of datasets, or of jobs."""
    return dataset if kind is Kind.DATASET else job


Scope = frozenset[str] | None
"""The namespaces to include; None: all of them."""


def list_named(
    connection: Connection, kind: Kind, wanted: EntryFilter, window: Window, scope: Scope = None
) -> Sequence[Entry]:
    """A page of datasets or jobs that are not deleted."""
    table = table_of(kind)
    query = _entries(table).where(_matches(table, wanted), is_alive(table), *in_scope(connection, table, scope))
    if window.after is not None:
        key = (beginning(table.c.namespace), beginning(table.c.name), table.c.id)
        skip = 0 if wanted.namespace is None else 1
        query = query.where(tuple_(*key[skip:]) > tuple_(*window.after[skip:]))
    rows = connection.execute(query.order_by(*_order(table, wanted)).limit(window.limit).offset(window.offset))
    return [entry(kind, row) for row in rows]


def count_named(connection: Connection, kind: Kind, wanted: EntryFilter, scope: Scope = None) -> int:
    """Count all entries less the few deleted ones, so that the count reads only the index."""
    table = table_of(kind)
    matches = and_(_matches(table, wanted), *in_scope(connection, table, scope))
    every = select(func.count()).select_from(table).where(matches)
    gone = select(func.count()).select_from(table).where(_is_ended(table), matches)
    return int(connection.execute(every).scalar_one() - connection.execute(gone).scalar_one())


def read_entries(connection: Connection, kind: Kind, ids: Iterable[int]) -> Sequence[Entry]:
    """The datasets or jobs of these ids."""
    table = table_of(kind)
    wanted = integers(connection, ("id",), [(one,) for one in ids])
    rows = connection.execute(_entries(table).join(wanted, wanted.c.id == table.c.id)).all()
    make = DatasetName if kind is Kind.DATASET else JobName
    return [Entry(id_, make(namespace, name), first, last) for id_, namespace, name, first, last in rows]


def read_deleted(connection: Connection, kind: Kind, ids: Iterable[int]) -> Sequence[int]:
    """The ids of deleted datasets or jobs among these."""
    table = table_of(kind)
    wanted = integers(connection, ("id",), [(one,) for one in ids])
    return (
        connection.execute(select(table.c.id).join(wanted, wanted.c.id == table.c.id).where(~is_alive(table)))
        .scalars()
        .all()
    )


def list_registered(connection: Connection, kind: str) -> Sequence[Entry]:
    """The datasets of the registry whose names begin with a kind, by name, without deleted ones."""
    names = dataset.c.name.like(f"{kind}/%")
    query = _entries(dataset).where(in_namespace(dataset, REGISTRY), names, is_alive(dataset))
    rows = connection.execute(query.order_by(beginning(dataset.c.name), dataset.c.id))
    return [entry(Kind.DATASET, row) for row in rows]


def list_namespaces(connection: Connection, kind: Kind) -> Sequence[str]:
    """Every namespace with a dataset (or job) that is not deleted, except the registry.

    Steps through the index from one namespace to the next, however many entries they have.
    """
    table = table_of(kind)
    gone = select(table.c.namespace).distinct().where(_is_ended(table))
    empty = {
        name
        for name in connection.execute(gone).scalars()
        if not connection.execute(select(table.c.id).where(_is_alive_in(table, name)).limit(1)).first()
    }
    return [name for name in _distinct_namespaces(connection, table) if name not in empty and name != REGISTRY]


def first_seen(connection: Connection, kind: Kind, namespaces: Sequence[str]) -> Mapping[str, int]:
    """The time of the first event about each namespace: one index lookup each."""
    table = table_of(kind)
    found = {}
    for name in namespaces:
        since = connection.execute(select(func.min(table.c.first_seen)).where(in_namespace(table, name))).scalar()
        if since is not None:
            found[name] = since
    return found


def in_namespace(table: Table, namespace: str) -> ColumnElement[bool]:
    """Whether a dataset or job is in a namespace. Uses the index, which distinguishes names up to its length."""
    begins = beginning(table.c.namespace) == sort_prefix(namespace)
    return begins if len(namespace) < SORT_PREFIX_LENGTH else and_(begins, table.c.namespace == namespace)


def in_scope(connection: Connection, table: Table, scope: Scope) -> Sequence[ColumnElement[bool]]:
    """The condition that a dataset or job is in one of some namespaces; empty if all count."""
    if scope is None:
        return ()
    begins = texts(connection, sorted({sort_prefix(name) for name in scope}))
    spaces = texts(connection, sorted(scope))
    return (
        beginning(table.c.namespace).in_(select(begins.c.value)),
        table.c.namespace.in_(select(spaces.c.value)),
    )


def every_namespace(connection: Connection, kind: Kind) -> Sequence[str]:
    """All namespaces that ever had a dataset (or job)."""
    return _distinct_namespaces(connection, table_of(kind))


def is_alive(table: Table) -> ColumnElement[bool]:
    """Whether no event ended it, or one mentioned it since."""
    return ~_is_ended(table)


def _is_ended(table: Table) -> ColumnElement[bool]:
    """Whether an event ended it. Not a join: ended ones are few, and are looked up once by an index of their own."""
    is_lifecycle = facet_body.c.name == literally(
        f"'{LIFECYCLE}'"
    )  # as literal text, so that the planner recognises the index
    ended = select(facet_body.c.subject_id).where(is_lifecycle, facet_body.c.payload.like(_GONE))
    since = select(facet.c.time).where(facet.c.subject_id == table.c.id, facet.c.name == LIFECYCLE).correlate(table)
    is_decommissioned = and_(table.c.id.in_(ended), table.c.last_seen <= since.scalar_subquery())
    if table is job:
        return is_decommissioned
    return or_(is_decommissioned, is_dropped(table.c.id, table.c.last_seen))


def _matches(table: Table, wanted: EntryFilter) -> ColumnElement[bool]:
    own = in_namespace(table, wanted.namespace) if wanted.namespace is not None else listed(table)
    if table is not job or not wanted.states:
        return own
    return and_(own, _last_state().in_([int(state) for state in wanted.states]))


def listed(table: Table) -> ColumnElement[bool]:
    """The condition that excludes the registry."""
    return beginning(table.c.namespace) != REGISTRY


def _last_state() -> ColumnElement[int]:
    newest = select(run.c.state).where(run.c.job_id == job.c.id, run.c.seen_to.is_not(None))
    return newest.order_by(run.c.seen_to.desc(), run.c.id.desc()).limit(1).correlate(job).scalar_subquery()


def _distinct_namespaces(connection: Connection, table: Table) -> Sequence[str]:
    key = beginning(table.c.namespace)
    steps = select(func.min(key).label("key")).cte(recursive=True)
    following = select(func.min(key)).where(key > steps.c.key).correlate(steps).scalar_subquery()
    steps = steps.union_all(select(following).where(steps.c.key.is_not(None)))
    found: list[str] = []
    for begins in connection.execute(select(steps.c.key).where(steps.c.key.is_not(None))).scalars():
        if len(begins) < SORT_PREFIX_LENGTH:
            found.append(begins)
        else:
            found += connection.execute(select(table.c.namespace).distinct().where(key == begins)).scalars()
    return found


def _is_alive_in(table: Table, namespace: str) -> ColumnElement[bool]:
    return and_(in_namespace(table, namespace), is_alive(table))


def _order(table: Table, wanted: EntryFilter) -> Sequence[ColumnElement[Any]]:
    if wanted.latest:
        return (table.c.last_seen.desc(), table.c.id.desc())
    key = (beginning(table.c.name), table.c.id)
    return key if wanted.namespace is not None else (beginning(table.c.namespace), *key)


def _entries(table: Table) -> Select[Any]:
    return select(table.c.id, table.c.namespace, table.c.name, table.c.first_seen, table.c.last_seen)


def entry(kind: Kind, row: Any) -> Entry:
    """A row of `dataset` or `job`."""
    name = (DatasetName if kind is Kind.DATASET else JobName)(row.namespace, row.name)
    return Entry(row.id, name, row.first_seen, row.last_seen)
