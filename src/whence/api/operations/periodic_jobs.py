"""Results of the scheduled jobs. A failing one does not make the API unready: events still arrive and are applied."""

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from whence.api.operations.health import Check
from whence.query.answers.instants import iso
from whence.store.status.periodic_jobs import LastRun, read_runs


def scheduled(engine: Engine) -> dict[str, Check]:
    """The last run of each job, by name; empty if the store cannot be read."""
    try:
        return {name: _check(last) for name, last in read_runs(engine).items()}
    except SQLAlchemyError:
        return {}


def _check(last: LastRun) -> Check:
    if last.failure:
        return Check(ok=False, detail=f"failed at {iso(last.ended_at)}: {last.failure}")
    seconds = (last.ended_at - last.started_at) / 1e6
    return Check(ok=True, detail=f"ended at {iso(last.ended_at)} after {seconds:.1f} s")
