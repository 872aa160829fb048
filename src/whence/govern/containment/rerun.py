"""What to run again after a fix: the jobs between the mended data and what is wanted, in topological layers.

Of these only the jobs that ran since the data broke: what did not run has read no broken data. So what only such jobs
lead to is left out, too.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whence.govern.containment.layers import JobEdge, layers_between
from whence.govern.containment.scheduled import Started, StartedRun, find_starts
from whence.model.events import RunState
from whence.model.graph import JobRun
from whence.model.ids import node_id
from whence.model.names import JobName, Node
from whence.openlineage.facets.facet_keys import DBT
from whence.query.answers.values import Answer, Completeness, Question, dataset_of
from whence.query.ports.catalog import Catalog
from whence.query.questions.impact import LastRuns
from whence.query.questions.lineage import reach_downstream

_NOT_SINCE = "it has not run since"
_NOT_REACHED = "all that it reads comes from jobs that have not run since"


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunJob:
    """A job to run again. `runs`: those of its runs since the data broke that a schedule started, the latest first.

    `dbt`: the name of the dbt model that it builds; empty if it builds none.
    """

    job: JobName
    runs: tuple[StartedRun, ...] = ()
    dbt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedJob:
    """A job between that is not to be run again, and why."""

    job: JobName
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunPlan:
    """What to run again. Jobs of a layer need those of the layers before it. `since` (µs): None without a time.

    `cyclic`: jobs that read what they write by way of others: no order is right. `hidden`: how many jobs between the
    viewer may not see.
    """

    root: Node
    targets: tuple[Node, ...]
    since: int | None
    layers: tuple[tuple[RerunJob, ...], ...]
    cyclic: tuple[JobName, ...]
    skipped: tuple[SkippedJob, ...]
    hidden: int
    completeness: Completeness


def plan_rerun(
    graph: LastRuns, catalog: Catalog, root: Node, wanted: tuple[Sequence[Node], int | None], question: Question
) -> RerunPlan:
    """The jobs between a root and some targets (all that depends on it without any) that ran since a time (µs).

    `wanted`: the targets, and the time.
    """
    targets, since = wanted
    answer = reach_downstream(graph, root, question).answer()
    edges = list(_job_edges(answer))
    every = [job for layer in layers_between(edges, answer.root, targets) for job in layer.jobs]
    hidden = graph.hidden(map(node_id, every))
    last = graph.last_runs([node_id(job) for job in every], None)
    stale = {job for job in every if since is not None and not _ran_since(last.get(node_id(job)), since)}
    layers = layers_between([one for one in edges if one.job not in stale], answer.root, targets)
    to_rerun = [job for layer in layers for job in layer.jobs if node_id(job) not in hidden]
    starts, models = find_starts(graph, catalog, to_rerun), _dbt_models(graph, edges)
    named = (tuple(job for job in layer.jobs if node_id(job) not in hidden) for layer in layers)
    return RerunPlan(
        root=answer.root,
        targets=tuple(targets),
        since=since,
        layers=tuple(tuple(_job(job, starts, models, since) for job in jobs) for jobs in named if jobs),
        cyclic=tuple(job for layer in layers for job in layer.cyclic if node_id(job) not in hidden),
        skipped=tuple(_skipped(every, {*to_rerun}, stale, hidden)),
        hidden=len(hidden),
        completeness=answer.completeness,
    )


def _job_edges(answer: Answer) -> Iterable[JobEdge]:
    return (JobEdge(one.source, one.owner, one.target) for one in answer.edges if isinstance(one.owner, JobName))


def _ran_since(last: JobRun | None, since: int) -> bool:
    """Whether a job may have run since a time; one of which no run is known may have."""
    if last is None:
        return True
    run = last.run
    return run.state in (RunState.START, RunState.RUNNING) or max(run.state_at, run.seen_to or 0) >= since


def _skipped(
    every: Sequence[JobName], to_rerun: set[JobName], stale: set[JobName], hidden: frozenset[int]
) -> Iterable[SkippedJob]:
    for job in every:
        if job not in to_rerun and node_id(job) not in hidden:
            yield SkippedJob(job=job, reason=_NOT_SINCE if job in stale else _NOT_REACHED)


def _job(job: JobName, starts: Mapping[JobName, Started], models: Mapping[JobName, str], since: int | None) -> RerunJob:
    runs = sorted(starts[job].runs, key=lambda one: (-one.began, one.schedule, one.dag_run))
    wanted = [one for one in runs if since is None or one.began >= since]
    return RerunJob(job=job, runs=tuple(wanted if since is not None else wanted[:1]), dbt=models.get(job, ""))


def _dbt_models(graph: LastRuns, edges: Sequence[JobEdge]) -> Mapping[JobName, str]:
    """The dbt model that each job builds, by what dbt says of the dataset that it writes."""
    written = {(one.job, of) for one in edges if (of := dataset_of(one.target)) is not None}
    ids = {node_id(of): of for _, of in written}
    models = {ids[row.subject_id]: _model_in(row.payload) for row in graph.facets(sorted(ids), (DBT,))}
    named: dict[JobName, set[str]] = {}
    for job, of in written:
        if model := models.get(of, ""):
            named.setdefault(job, set()).add(model)
    return {job: next(iter(some)) for job, some in named.items() if len(some) == 1}


def _model_in(payload: str) -> str:
    """The name of a model in its unique id, which dbt makes of its kind, its package and its name."""
    try:
        found: Any = json.loads(payload)
    except ValueError:
        return ""
    unique_id = found.get("uniqueId") if isinstance(found, dict) else None
    kind, _, rest = unique_id.partition(".") if isinstance(unique_id, str) else ("", "", "")
    return rest.partition(".")[2] if kind in ("model", "snapshot", "seed") else ""
