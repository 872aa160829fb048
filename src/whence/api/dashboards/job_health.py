"""Job health for people on call: failing and late jobs, the nodes downstream, and the last good run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, cast

import msgspec
from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection, Engine

from whence.api.auth.guard import Asker
from whence.api.http.cached_counts import CachedCount
from whence.api.http.clock import Clock
from whence.api.http.dashboard_types import Downstream, RunOf, Trouble, Troubles, answered_with
from whence.api.http.responses import MISSING, answer
from whence.api.requests.pages import Cursor, PageLimit, after, cut, window
from whence.govern.run_events.run_commits import read_run_commits
from whence.log import Log
from whence.model.access import Viewer
from whence.model.blast_radius import COUNTED
from whence.model.catalog import Entry, RunFacet
from whence.model.events import RunState
from whence.model.graph import RunRow
from whence.openlineage.facets.error_messages import ERROR_FACETS, find_error_message
from whence.query.answers.instants import iso
from whence.query.lookup.descriptions import DescribedJob, describe_jobs
from whence.query.rendering.reports import commit_document
from whence.query.runs.commits import Commit
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph
from whence.store.status import failing_jobs as store
from whence.store.status.late_jobs import list_late_jobs
from whence.store.status.run_attempts import group_attempts, read_invocations

DAY = 86_400_000_000
FAILED_WITHIN, REGULAR_WITHIN = 30 * DAY, 14 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class TroubledJob:
    """A failing or late job. `since`: its first failure, or when it was due. `longest`: its longest pause.
    Both in µs.
    """

    entry: Entry
    trouble: Literal["failing", "late"]
    since: int
    failures: int = 0
    longest: int | None = None
    downstream: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[str | int, ...]:
        """The sort key: jobs with the most downstream nodes first."""
        return -sum(self.downstream), str(self.entry.name), self.trouble


routes = APIRouter(prefix="/api/v2", tags=["dashboards"], responses=MISSING)


@routes.get("/troubles", responses=answered_with(Troubles))
def troubles(
    viewer: Asker,
    request: Request,
    trouble: Literal["failing", "late"] | None = None,
    limit: PageLimit = 20,
    cursor: Cursor = "",
) -> Response:
    """List the jobs that fail or are late, those with the most downstream nodes first.

    Failing: a run failed within 30 days, and none completed since. Late: the job ran at least four times over two
    days or more within 14 days, without a pause longer than three average ones, and its current pause is more than
    1.25 times its longest. Runs within a run that reports events do not count. `hidden`: the number of jobs that
    the caller may not see.
    """
    counted: CachedCount[Sequence[TroubledJob]] = request.app.state.troubled_jobs
    every = counted.get()
    seen = [one for one in every if viewer.can_see(one.entry.name)]
    wanted = [one for one in seen if trouble in (None, one.trouble)]
    shown, page = cut(after(wanted, window(limit, cursor, (int, str, str)), _key), limit, _key)
    with snapshot(request.app.state.engine) as connection:
        jobs = _documents(connection, request.app.state.log, viewer, shown)
    counts = {name: sum(one.trouble == name for one in seen) for name in ("failing", "late")}
    return answer({"data": {"jobs": jobs, **counts, "hidden": len(every) - len(seen)}, "page": page})


def cached_troubles(engine: Engine, clock: Clock) -> CachedCount[Sequence[TroubledJob]]:
    """The troubled jobs of all namespaces; visibility is checked later."""
    return CachedCount(partial(_troubled, engine, clock))


def _key(one: TroubledJob) -> tuple[str | int, ...]:
    return one.key


def _troubled(engine: Engine, clock: Clock) -> Sequence[TroubledJob]:
    """All troubled jobs of all namespaces; visibility is checked later."""
    now = clock()
    with snapshot(engine) as connection:
        failing = store.list_failing_jobs(connection, now - FAILED_WITHIN)
        late = list_late_jobs(connection, now - REGULAR_WITHIN, now)
        ids = {one.job_id for one in failing} | {one.job_id for one in late}
        entries, radii = StoreCatalog(connection).entries(ids), store.read_downstream_counts(connection, ids)
    downstream = {id_: radius.counts for id_, radius in radii.items()}
    found = [
        TroubledJob(
            entry=entries[one.job_id],
            trouble="failing",
            since=one.since,
            failures=one.failures,
            downstream=downstream.get(one.job_id, ()),
        )
        for one in failing
        if one.job_id in entries
    ]
    found += [
        TroubledJob(
            entry=entries[one.job_id],
            trouble="late",
            since=one.last + one.longest,
            longest=one.longest,
            downstream=downstream.get(one.job_id, ()),
        )
        for one in late
        if one.job_id in entries
    ]
    return sorted(found, key=_key)


def _documents(connection: Connection, log: Log, viewer: Viewer, shown: Sequence[TroubledJob]) -> list[Trouble]:
    catalog, graph = StoreCatalog(connection), StoreGraph(connection)
    ids = [one.entry.id for one in shown]
    attempts = _attempts(connection, shown)
    last = {id_: groups[0] for id_, groups in attempts.items() if groups}
    errors = _errors(catalog, [run for group in last.values() for run in group]) if viewer.can_see_all else {}
    bad = {id_: next((run for run in group if run in errors), group[0]) for id_, group in last.items()}
    good = store.read_last_good_runs(connection, ids)
    runs = {row.id: row for row in graph.runs({*bad.values(), *good.values()})}
    commits = read_run_commits(connection, log, runs)
    described = describe_jobs(catalog, graph, [one.entry for one in shown], runs=0)

    def run(id_: int | None) -> RunOf | None:
        row = runs.get(id_ or 0)
        return None if row is None else _run(row, errors.get(row.id), commits.get(row.id))

    return [
        {
            "job": str(one.entry.name),
            "trouble": one.trouble,
            "since": iso(one.since),
            "failures": one.failures - _repeats(attempts.get(one.entry.id, ())),
            "longest_pause": None if one.longest is None else one.longest / 1e6,
            "last": run(bad.get(one.entry.id)) if one.trouble == "failing" else run(good.get(one.entry.id)),
            "last_good": run(good.get(one.entry.id)),
            "outputs": _outputs(viewer, job),
            "downstream": downstream_document(one.downstream) if one.downstream else None,
        }
        for one, job in zip(shown, described, strict=True)
    ]


def downstream_document(counts: Sequence[int]) -> Downstream:
    """The counts of a blast radius, in the order of `COUNTED`."""
    return cast("Downstream", dict(zip(COUNTED, counts, strict=True)))


def _attempts(connection: Connection, shown: Sequence[TroubledJob]) -> Mapping[int, Sequence[tuple[int, ...]]]:
    """The failed runs of each failing job, the latest first; runs of one attempt are grouped."""
    failed = store.read_failed_runs(connection, {one.entry.id: one.since for one in shown if one.trouble == "failing"})
    invocations = read_invocations(connection, [run for runs in failed.values() for run in runs])
    return {job: group_attempts(runs, invocations) for job, runs in failed.items()}


def _repeats(attempts: Sequence[tuple[int, ...]]) -> int:
    """The number of runs that report an attempt which another run reports, too."""
    return sum(len(group) - 1 for group in attempts)


def _outputs(viewer: Viewer, job: DescribedJob) -> list[str]:
    return [str(name) for name in job.outputs if viewer.can_see(name)]


def _errors(catalog: StoreCatalog, run_ids: Iterable[int]) -> Mapping[int, str]:
    """The first line of each run's error message."""
    facets = {
        run: {one.key: msgspec.json.decode(one.payload) for one in several if _is_error(one)}
        for run, several in catalog.run_facets(run_ids).items()
    }
    texts = {run: find_error_message(errors) for run, errors in facets.items()}
    return {run: text.partition("\n")[0].strip()[:500] for run, text in texts.items() if text}


def _is_error(one: RunFacet) -> bool:
    return not one.role and one.key in ERROR_FACETS and bool(one.payload)


def _run(row: RunRow, error: str | None, commit: Commit | None) -> RunOf:
    ended = row.state_at if row.state.rank == RunState.COMPLETE else None
    return {
        "run": str(row.name),
        "state": row.state.name,
        "started_at": None if row.started_at is None else iso(row.started_at),
        "ended_at": None if ended is None else iso(ended),
        "error": error,
        "commit": None if commit is None else commit_document(commit),
    }
