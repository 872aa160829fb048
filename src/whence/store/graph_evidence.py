"""Evidence of lineage sets: the events that said them first and last, and their latest runs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, Subquery, and_, func, select, true

from whence.model.events import RunState
from whence.model.graph import Evidence, RunSeen, Said
from whence.model.names import JobName, RunName
from whence.store.arrays import integers
from whence.store.tables import event, job, lineage_set, run, run_lineage

CHUNK = 5_000
"""Event keys per query: they are bound one by one."""


def read_evidence(connection: Connection, set_ids: Sequence[int], at: int | None, runs: int) -> Mapping[int, Evidence]:
    """Evidence by set id, with the latest `runs` runs each.

    With `at`, of what had been said by then; the first event always stands.
    """
    wanted = integers(connection, ("id",), [(id_,) for id_ in set_ids])
    sets = connection.execute(select(lineage_set).join(wanted, wanted.c.id == lineage_set.c.id)).all()
    seen: dict[int, list[Row[Any]]] = {}
    for row in connection.execute(runs_query(wanted, at, runs)):
        seen.setdefault(row.set_id, []).append(row)
    last = {row.id: _last_key(row, seen.get(row.id, ()), at) for row in sets}
    events = _events(connection, {*last.values(), *(row.first_key for row in sets)})
    return {row.id: _evidence(row, events, last[row.id], seen.get(row.id, ())) for row in sets}


def runs_query(wanted: Subquery, at: int | None, runs: int) -> Select[Any]:
    """The latest runs that said each wanted set, newest first."""
    latest = _latest_run(wanted, at) if runs == 1 else _latest_runs(wanted, at, runs)
    columns = (run.c.run_id, job.c.namespace, job.c.name, run.c.state, run.c.state_at, run.c.started_at, run.c.seen_to)
    said = and_(run_lineage.c.run_id == latest.c.run_id, run_lineage.c.set_id == latest.c.set_id)
    return (
        select(run_lineage.c.set_id, run_lineage.c.time, run_lineage.c.key, *columns)
        .select_from(latest)
        .join(run_lineage, said)
        .join(run, run.c.id == run_lineage.c.run_id)
        .join(job, job.c.id == run.c.job_id)
        .order_by(run_lineage.c.set_id, run_lineage.c.time.desc(), run_lineage.c.run_id.desc())
    )


def _latest_run(wanted: Subquery, at: int | None) -> Subquery:
    # One step into the index (set_id, time) for each set: a window would read every run that a daily job ever had.
    newest = (
        select(run_lineage.c.run_id)
        .where(run_lineage.c.set_id == wanted.c.id, _by(at))
        .order_by(run_lineage.c.time.desc(), run_lineage.c.run_id.desc())
        .limit(1)
        .correlate(wanted)
        .scalar_subquery()
    )
    return select(wanted.c.id.label("set_id"), newest.label("run_id")).subquery()


def _latest_runs(wanted: Subquery, at: int | None, runs: int) -> Subquery:
    order = (run_lineage.c.time.desc(), run_lineage.c.run_id.desc())
    place = func.row_number().over(partition_by=run_lineage.c.set_id, order_by=order).label("place")
    ranked = (
        select(run_lineage.c.set_id, run_lineage.c.run_id, place)
        .join(wanted, wanted.c.id == run_lineage.c.set_id)
        .where(_by(at))
        .subquery()
    )
    return select(ranked.c.set_id, ranked.c.run_id).where(ranked.c.place <= runs).subquery()


def _by(at: int | None) -> Any:
    return true() if at is None else run_lineage.c.time <= at


def _last_key(row: Row[Any], runs: Sequence[Row[Any]], at: int | None) -> str:
    if at is None or row.last_time <= at:
        return str(row.last_key)
    return str(runs[0].key if runs else row.first_key)


def _events(connection: Connection, keys: Iterable[str]) -> Mapping[str, Said]:
    listed, found = sorted(keys), dict[str, Said]()
    columns = (event.c.key, event.c.position, event.c.time, event.c.producer)
    for start in range(0, len(listed), CHUNK):
        rows = connection.execute(select(*columns).where(event.c.key.in_(listed[start : start + CHUNK])))
        found |= {key: Said(key=key, position=at, time=time, producer=producer) for key, at, time, producer in rows}
    return found


def _evidence(row: Row[Any], events: Mapping[str, Said], last: str, runs: Sequence[Row[Any]]) -> Evidence:
    first = events.get(row.first_key, Said(key=row.first_key, position=None, time=row.first_time, producer=""))
    return Evidence(
        set_id=row.id,
        digest=row.digest,
        origin=row.origin,
        first=first,
        last=events.get(last, Said(key=last, position=None, time=row.last_time, producer="")),
        runs=tuple(_run(seen) for seen in runs),
    )


def _run(row: Row[Any]) -> RunSeen:
    state = RunState(row.state)
    return RunSeen(
        name=RunName(row.run_id, JobName(row.namespace, row.name)),
        state=state,
        started_at=row.started_at,
        ended_at=row.state_at if state.rank == RunState.COMPLETE else None,
        last_seen=row.seen_to,
        said_at=row.time,
    )
