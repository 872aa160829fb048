"""Job activity: the starts that distinguish an ended job from one that waits for its next run."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Subquery, and_, case, func, select

from whence.model.names import JobName
from whence.store.schema.tables import containment, facet, facet_body, job, run

RECENT = 10
"""Runs of a job that determine its period. Those within one run count as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobActivity:
    """The starts of a job's last runs, newest first, and its last activity (µs).

    `lifecycle` is the payload of its whence_lifecycle facet, asserted at `since`; empty: none.
    """

    name: JobName
    starts: tuple[int, ...]
    last_seen: int
    lifecycle: str = ""
    since: int = 0


def read_job_activity(connection: Connection, lifecycle: str) -> Sequence[JobActivity]:
    """All jobs that have run, by name. `lifecycle` is the key of the facet."""
    above = outermost_containers()
    first = func.min(run.c.seen_from).label("seen_from")
    started = (
        select(run.c.job_id, first)
        .outerjoin(above, above.c.run_id == run.c.id)
        .where(run.c.seen_to.is_not(None))
        .group_by(run.c.job_id, func.coalesce(above.c.container_id, run.c.id))
        .subquery()
    )
    newest = func.row_number().over(partition_by=started.c.job_id, order_by=started.c.seen_from.desc())
    ranked = select(started, newest.label("place")).subquery()
    starts: dict[int, list[int]] = {}
    for job_id, start in connection.execute(
        select(ranked.c.job_id, ranked.c.seen_from)
        .where(ranked.c.place <= RECENT)
        .order_by(ranked.c.job_id, ranked.c.place)
    ):
        starts.setdefault(job_id, []).append(start)
    last = select(run.c.job_id, func.max(run.c.seen_to).label("seen")).group_by(run.c.job_id).subquery()
    same_facet = and_(facet.c.subject_id == job.c.id, facet.c.name == lifecycle)
    same_body = and_(facet_body.c.subject_id == job.c.id, facet_body.c.name == lifecycle)
    columns = (job.c.id, job.c.namespace, job.c.name, last.c.seen, facet_body.c.payload, facet.c.time)
    jobs = (
        select(*columns)
        .join(last, last.c.job_id == job.c.id)
        .outerjoin(facet, same_facet)
        .outerjoin(facet_body, same_body)
    )
    return [
        JobActivity(
            name=JobName(namespace, name),
            starts=tuple(starts[id_]),
            last_seen=seen,
            lifecycle=payload or "",
            since=since or 0,
        )
        for id_, namespace, name, seen, payload, since in connection.execute(
            jobs.where(last.c.seen.is_not(None)).order_by(job.c.namespace, job.c.name)
        )
    ]


def outermost_containers() -> Subquery:
    """The outermost run of each contained run, as (run_id, container_id): its root, or else its parent."""
    root = func.min(case((containment.c.relation.in_((_ROOT, _PARENT | _ROOT)), containment.c.container_id)))
    container = func.coalesce(root, func.min(containment.c.container_id)).label("container_id")
    return select(containment.c.run_id, container).group_by(containment.c.run_id).subquery()


_PARENT, _ROOT = 1, 2
