"""Runs: those of a job, their reads and writes and facets; and the writers of a dataset."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Select, Subquery, and_, func, select, tuple_

from whence.model.catalog import RunDatasets, RunEntry, RunFacet, Window, Write, sorted_distinct
from whence.model.events import RunState
from whence.model.lineage import Origin
from whence.model.names import JobName, RunName
from whence.store.graph.evidence import runs_query
from whence.store.graph.run_facets import read_reported_facets
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import (
    containment,
    event,
    job,
    lineage_edge,
    lineage_set,
    lineage_version,
    run,
    run_lineage,
)

ReadReceived = Callable[[Sequence[int]], Sequence[int | None]]
"""When the records at positions of the log were received (µs); None for one that it does not have."""
_PARENT = 1
_NEWEST = (run.c.seen_to.desc(), run.c.id.desc())


def read_runs(connection: Connection, run_ids: Iterable[str]) -> Sequence[RunEntry]:
    """The runs of these UUIDs, those with events of their own first."""
    query = _runs().where(run.c.run_id.in_(sorted(set(run_ids))))
    found = [_run(row) for row in connection.execute(query)]
    return sorted(found, key=lambda one: (one.seen_to is None, -(one.seen_to or 0), one.id))


def list_runs(connection: Connection, job_id: int, window: Window) -> Sequence[RunEntry]:
    """The runs of a job that had an event of their own, newest first."""
    query = _runs().where(run.c.job_id == job_id, run.c.seen_to.is_not(None)).order_by(*_NEWEST)
    if window.after is not None:
        query = query.where(tuple_(run.c.seen_to, run.c.id) < tuple_(*window.after))
    return [_run(row) for row in connection.execute(query.limit(window.limit).offset(window.offset))]


def count_runs(connection: Connection, job_id: int) -> int:
    """Count the runs that `list_runs` lists."""
    query = select(func.count()).select_from(run).where(run.c.job_id == job_id, run.c.seen_to.is_not(None))
    return int(connection.execute(query).scalar_one())


def latest_runs(connection: Connection, job_ids: Iterable[int], limit: int) -> Mapping[int, Sequence[RunEntry]]:
    """The newest runs of each job. A job may have many, so one index step per job finds where they begin."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(job_ids)])
    if limit == 1:
        return {row.job_id: (_run(row),) for row in connection.execute(_newest_runs(wanted))}
    of_job = (run.c.job_id == wanted.c.id, run.c.seen_to.is_not(None))
    by_time = select(run.c.seen_to).where(*of_job).order_by(run.c.seen_to.desc())
    oldest = func.coalesce(
        by_time.limit(1).offset(limit - 1).correlate(wanted).scalar_subquery(),
        select(func.min(run.c.seen_to)).where(*of_job).correlate(wanted).scalar_subquery(),
    )
    bounds = select(wanted.c.id, oldest.label("since")).subquery()
    query = _runs().join(bounds, and_(run.c.job_id == bounds.c.id, run.c.seen_to >= bounds.c.since))
    found: dict[int, list[RunEntry]] = {}
    for row in connection.execute(query.order_by(run.c.job_id, *_NEWEST)).all():
        found.setdefault(row.job_id, []).append(_run(row))
    return {job_id: runs[:limit] for job_id, runs in found.items()}


def _newest_runs(job_ids: Subquery) -> Select[Any]:
    of_job = select(run.c.id).where(run.c.job_id == job_ids.c.id, run.c.seen_to.is_not(None))
    first = of_job.order_by(*_NEWEST).limit(1).correlate(job_ids).scalar_subquery()
    newest = select(first.label("id")).select_from(job_ids).subquery()
    return _runs().join(newest, newest.c.id == run.c.id)


def read_run_facets(connection: Connection, ids: Iterable[int], key: str = "") -> Mapping[int, Sequence[RunFacet]]:
    """The last payload of each facet, or of those of one key, from all packs of a run."""
    facets_by_run: dict[int, dict[tuple[str, int, str], str]] = {}
    for reported in read_reported_facets(connection, ids, key):
        for role, dataset_id, name, payload in reported.facets:
            facets_by_run.setdefault(reported.run_id, {})[(role, dataset_id, name)] = payload
    return {run_id: [RunFacet(*one, facets[one]) for one in sorted(facets)] for run_id, facets in facets_by_run.items()}


def read_delays(connection: Connection, run_ids: Iterable[int], read_received: ReadReceived) -> Mapping[int, int]:
    """From the last event of each run until it was received (µs); runs whose event the log does not have are left
    out.
    """
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(run_ids)])
    query = select(event.c.subject_id, event.c.time, event.c.position).join(wanted, wanted.c.id == event.c.subject_id)
    rows = connection.execute(query.order_by(event.c.time, event.c.id)).all()
    last = {run_id: (time, position) for run_id, time, position in rows}
    received = read_received([position for _, position in last.values()])
    return {run_id: at - time for (run_id, (time, _)), at in zip(last.items(), received, strict=True) if at is not None}


def read_touched(connection: Connection, ids: Iterable[int]) -> Mapping[int, RunDatasets]:
    """The datasets that each run read and wrote, over all its events; its version is the last one."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(ids)])
    table = run_lineage
    query = select(table.c.run_id, table.c.version).join(wanted, wanted.c.id == table.c.run_id)
    versions_by_run: dict[int, list[int]] = {}
    for run_id, version_id in connection.execute(query.order_by(table.c.time, table.c.event_id)).all():
        versions_by_run.setdefault(run_id, []).append(version_id)
    members = read_members(connection, [version for versions in versions_by_run.values() for version in versions])
    return {run_id: _merge_members(versions, members) for run_id, versions in versions_by_run.items()}


def read_members(connection: Connection, versions: Iterable[int]) -> Mapping[int, RunDatasets]:
    """The datasets that each version of a job's lineage reads and writes."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(versions)])
    of_inputs = and_(lineage_edge.c.set_id == lineage_set.c.id, lineage_set.c.output_id == 0)
    rows = connection.execute(
        select(lineage_version.c.id, lineage_set.c.output_id, lineage_edge.c.source_id)
        .join(wanted, wanted.c.id == lineage_version.c.id)
        .join(lineage_set, lineage_set.c.id == lineage_version.c.set_id)
        .outerjoin(lineage_edge, of_inputs)
        .where(lineage_set.c.origin == Origin.BOUNDARY)
    ).all()
    found: dict[int, tuple[set[int], set[int]]] = {}
    for id_, output, source in rows:
        inputs, outputs = found.get(id_) or found.setdefault(id_, (set(), set()))
        if output:
            outputs.add(output)
        elif source is not None:
            inputs.add(source)
    return {id_: RunDatasets(id_, tuple(sorted(ins)), tuple(sorted(outs))) for id_, (ins, outs) in found.items()}


def read_containers(connection: Connection, ids: Iterable[int]) -> Mapping[int, RunName]:
    """The parent of each run that has one."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(ids)])
    query = (
        select(containment.c.run_id.label("inner"), run.c.run_id, job.c.namespace, job.c.name)
        .join(wanted, wanted.c.id == containment.c.run_id)
        .join(run, run.c.id == containment.c.container_id)
        .join(job, job.c.id == run.c.job_id)
        .where(containment.c.relation.bitwise_and(_PARENT) != 0)
        .order_by(run.c.id)
    )
    rows = connection.execute(query).all()
    return {row.inner: RunName(row.run_id, JobName(row.namespace, row.name)) for row in rows}


def last_writes(connection: Connection, dataset_ids: Iterable[int]) -> Mapping[int, Write]:
    """The run that wrote each dataset last."""
    sets = _writing_sets(connection, dataset_ids)
    wanted = integers(connection, ("id",), [(one,) for one in sets])
    last: dict[int, tuple[tuple[int, int], Any]] = {}
    for row in connection.execute(runs_query(wanted, None, 1)).all():
        dataset_id, key = sets[row.set_id], (row.time, row.id)
        if dataset_id not in last or last[dataset_id][0] < key:
            last[dataset_id] = key, row
    return {dataset_id: _write(dataset_id, row) for dataset_id, (_, row) in last.items()}


def last_write_times(connection: Connection, dataset_ids: Iterable[int]) -> Mapping[int, int]:
    """The time of each dataset's last write: one index step for each version of a lineage that writes it."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(dataset_ids)])
    sets = _writing_sets_query(wanted).subquery()
    last = select(func.max(run_lineage.c.time)).where(run_lineage.c.version == lineage_version.c.id)
    of_version = (
        select(sets.c.target_id, last.correlate(lineage_version).scalar_subquery().label("time"))
        .join_from(sets, lineage_version, lineage_version.c.set_id == sets.c.set_id)
        .subquery()
    )
    latest = select(of_version.c.target_id, func.max(of_version.c.time)).group_by(of_version.c.target_id)
    return {dataset_id: time for dataset_id, time in connection.execute(latest).all() if time is not None}


def _write(dataset_id: int, row: Any) -> Write:
    name = RunName(row.run_id, JobName(row.namespace, row.name))
    entry = RunEntry(row.id, name, RunState(row.state), row.state_at, row.started_at, None, row.seen_to)
    return Write(dataset_id, entry, row.time)


def list_writes(connection: Connection, dataset_id: int, window: Window) -> Sequence[Write]:
    """The runs that wrote a dataset, newest first."""
    return list_writes_of_all(connection, [dataset_id], window)


def list_writes_of_all(connection: Connection, dataset_ids: Iterable[int], window: Window) -> Sequence[Write]:
    """The runs that wrote these datasets, newest first; one that wrote several, once for each."""
    writing = _writing_runs(connection, dataset_ids).subquery()
    query = _runs().add_columns(writing.c.dataset_id, writing.c.time).join(writing, writing.c.run_id == run.c.id)
    newest = (writing.c.time.desc(), run.c.id.desc(), writing.c.dataset_id)
    rows = connection.execute(query.order_by(*newest).limit(window.limit).offset(window.offset))
    return [Write(dataset_id, _run(entry), time) for *entry, dataset_id, time in rows]


def count_writes(connection: Connection, dataset_id: int) -> int:
    """Count the runs that `list_writes` lists."""
    writing = _writing_runs(connection, [dataset_id]).subquery()
    return int(connection.execute(select(func.count()).select_from(writing)).scalar_one())


def read_write(connection: Connection, dataset_id: int, run_id: int) -> Write | None:
    """The write of a dataset by a run, or None."""
    writing = _writing_runs(connection, [dataset_id]).subquery()
    query = _runs().add_columns(writing.c.time).join(writing, writing.c.run_id == run.c.id).where(run.c.id == run_id)
    row = connection.execute(query).one_or_none()
    return None if row is None else Write(dataset_id, _run(row[:-1]), row.time)


def _merge_members(versions: Sequence[int], members: Mapping[int, RunDatasets]) -> RunDatasets:
    parts = [members[version] for version in versions if version in members]
    if len(parts) == len(versions) == 1:
        return parts[0]
    inputs = {dataset for part in parts for dataset in part.inputs}
    outputs = {output for part in parts for output in part.outputs}
    return RunDatasets(versions[-1], tuple(sorted(inputs)), tuple(sorted(outputs)))


def _writing_sets(connection: Connection, dataset_ids: Iterable[int]) -> dict[int, int]:
    """The sets that assert that a job writes one of these datasets, with the dataset."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(dataset_ids)])
    return {row.set_id: row.target_id for row in connection.execute(_writing_sets_query(wanted)).all()}


def _writing_sets_query(dataset_ids: Subquery) -> Select[Any]:
    return (
        select(lineage_edge.c.set_id, lineage_edge.c.target_id)
        .distinct()
        .join(dataset_ids, dataset_ids.c.id == lineage_edge.c.target_id)
        .join(lineage_set, lineage_set.c.id == lineage_edge.c.set_id)
        .where(lineage_set.c.origin == Origin.BOUNDARY, lineage_set.c.output_id == lineage_edge.c.target_id)
    )


def _writing_runs(connection: Connection, dataset_ids: Iterable[int]) -> Select[Any]:
    pairs = list(_writing_sets(connection, dataset_ids).items())
    sets = integers(connection, ("id", "dataset_id"), pairs)
    of_sets = select(lineage_version.c.id, sets.c.dataset_id).join(sets, sets.c.id == lineage_version.c.set_id)
    found = [tuple(row) for row in connection.execute(of_sets.distinct())]
    versions = integers(connection, ("id", "dataset_id"), found)
    query = select(versions.c.dataset_id, run_lineage.c.run_id, run_lineage.c.time)
    rows = query.join(versions, versions.c.id == run_lineage.c.version).subquery()
    of_run = (rows.c.dataset_id, rows.c.run_id)
    return select(*of_run, func.max(rows.c.time).label("time")).group_by(*of_run)


def _runs() -> Select[Any]:
    """The columns in the order in which `_run` unpacks them, since reading them by name takes twice as long."""
    columns = (run.c.job_id, run.c.id, run.c.run_id, job.c.namespace, job.c.name, run.c.state, run.c.state_at)
    times = (run.c.started_at, run.c.seen_from, run.c.seen_to)
    return select(*columns, *times).join_from(run, job, job.c.id == run.c.job_id)


def _run(row: Sequence[Any]) -> RunEntry:
    _, id_, run_id, namespace, name, state, *times = row
    return RunEntry(id_, RunName(run_id, _job_name(namespace, name)), _STATES[state], *times)


_job_name = lru_cache(maxsize=1_000)(JobName)
"""Many rows are of few jobs."""
_STATES = {state.value: state for state in RunState}
