"""Which schedules start a job: found in what its recent runs reported, never in the form of its name.

A run that reports Airflow's facets names its DAG. Otherwise the job that contains it does, if its type is DAG.
So a Spark application inside a task leads to its DAG, too. A job that two DAGs started lately has both.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whence.model.catalog import RunEntry
from whence.model.graph import FacetRow
from whence.model.ids import node_id
from whence.model.names import JobName, RunName
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph

AIRFLOW = "airflow"
JOB_TYPE = "jobType"
_FACETS = ("airflow", "airflowDagRun", "whence_airflowTask", "whence_airflowDagRun")
"""Run facets of Airflow's OpenLineage provider, and of the capture that polls Airflow."""
_RECENT = 10
"""The latest runs of a job that are asked for what started them."""
_MOST_LEVELS = 10
"""Containers of a run that are asked for their DAG."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Schedule:
    """What starts jobs in an orchestrator: a DAG of Airflow, or something else by its id there. `job`: its job in the
    graph; `namespace`: that of its job, by which one of several orchestrators of a system is found.
    """

    system: str
    namespace: str
    id: str
    job: JobName


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedRun:
    """A run that a schedule started: its task and the run of the DAG, by their ids in Airflow; empty if not reported.

    `began`: when it began, or was seen first (µs).
    """

    schedule: Schedule
    task: str
    dag_run: str
    began: int


@dataclass(frozen=True, slots=True)
class _Reported:
    """What a run reports of Airflow."""

    dag: str = ""
    task: str = ""
    dag_run: str = ""


@dataclass(slots=True, kw_only=True)
class Started:
    """What starts a job: its schedules; or why none is known, and the outermost job that contained a run of it."""

    schedules: set[Schedule] = field(default_factory=set)
    runs: list["StartedRun"] = field(default_factory=list)
    reason: str = ""
    outermost: JobName


_HIDDEN = "what starts it is hidden from you"
_NO_RUN = "no run of it is known"
_ALONE = "its runs report no Airflow facet, and no run that contains them"
_NO_DAG = "what contains its runs is no DAG of Airflow"
_DEEP = f"its runs are contained more than {_MOST_LEVELS} deep"


@dataclass(frozen=True, slots=True)
class _Walk:
    """From a run of a job outwards: `run` of the job `of` is looked at next."""

    job: JobName
    run: int
    of: JobName
    began: int


def find_starts(graph: Graph, catalog: Catalog, jobs: Iterable[JobName]) -> Mapping[JobName, Started]:
    """What starts each job, by its recent runs."""
    wanted = {node_id(job): job for job in jobs}
    found = {job: Started(outermost=job, reason=_NO_RUN) for job in wanted.values()}
    recent = catalog.latest_runs(wanted, _RECENT) if wanted else {}
    walks = [_Walk(wanted[id_], run.id, wanted[id_], _began(run)) for id_, runs in recent.items() for run in runs]
    for _ in range(_MOST_LEVELS):
        walks = _step_outwards(graph, catalog, walks, found)
    for one in walks:
        _fail(found, one, _DEEP)
    return found


def _step_outwards(
    graph: Graph, catalog: Catalog, walks: Sequence[_Walk], found: Mapping[JobName, Started]
) -> list[_Walk]:
    """The walks that go on, each at the container of its run. What the others met is in `found` now."""
    if not walks:
        return []
    runs = sorted({one.run for one in walks})
    reports, types = _read_reports(catalog, runs), _read_types(graph, {one.of for one in walks})
    containers = catalog.containers(runs)
    onward: dict[_Walk, None] = {}
    for one in walks:
        container = containers.get(one.run)
        reported = reports.get(one.run, _Reported())
        schedule = _schedule_of(one, reported.dag, types.get(node_id(one.of), {}), container)
        ahead = schedule.job if schedule else container.job if container else None
        if ahead is None:
            _fail(found, one, _ALONE if one.of == one.job else _NO_DAG)
        elif graph.hidden([node_id(ahead)]):
            _fail(found, one, _HIDDEN)
        elif schedule is not None:
            found[one.job].schedules.add(schedule)
            found[one.job].runs.append(_started_run(one, schedule, reported))
        elif container is not None:
            onward[_Walk(one.job, node_id(container), container.job, one.began)] = None
    return list(onward)


def _fail(found: Mapping[JobName, Started], one: _Walk, reason: str) -> None:
    """Runs are looked at in the order of their steps, so the latest reason comes from the outermost job."""
    found[one.job].reason, found[one.job].outermost = reason, one.of


def _schedule_of(one: _Walk, dag: str, type_: Mapping[str, Any], container: RunName | None) -> Schedule | None:
    namespace = one.of.namespace
    if dag:
        return Schedule(system=AIRFLOW, namespace=namespace, id=dag, job=JobName(namespace, dag))
    if str(type_.get("integration")).upper() != AIRFLOW.upper():
        return None
    kind = str(type_.get(JOB_TYPE)).upper()
    if kind == "DAG":
        return Schedule(system=AIRFLOW, namespace=namespace, id=one.of.name, job=one.of)
    if kind == "TASK" and container is not None:
        return Schedule(system=AIRFLOW, namespace=container.job.namespace, id=container.job.name, job=container.job)
    return None


def _started_run(one: _Walk, schedule: Schedule, reported: _Reported) -> StartedRun:
    # The name of a task's job is that of its DAG, a dot and the task: with a known DAG it is not guessed.
    own = one.of.name.removeprefix(f"{schedule.id}.") if one.of != schedule.job else ""
    task = reported.task or (own if own != one.of.name else "")
    return StartedRun(schedule=schedule, task=task, dag_run=reported.dag_run, began=one.began)


def _began(run: RunEntry) -> int:
    return run.started_at if run.started_at is not None else run.seen_from or run.state_at


def _read_reports(catalog: Catalog, runs: Sequence[int]) -> Mapping[int, _Reported]:
    """What each run reports of Airflow, if it does."""
    found = {}
    for id_, some in catalog.run_facets(runs).items():
        facets = {one.key: _object(one.payload) for one in some if not one.role and one.key in _FACETS}
        found[id_] = _Reported(
            dag=_first(facets, ("airflow", "dag", "dag_id"), ("airflowDagRun", "dag", "dag_id")),
            task=_first(facets, ("airflow", "task", "task_id")),
            dag_run=_first(
                facets,
                ("airflow", "dagRun", "run_id"),
                ("airflowDagRun", "dagRun", "run_id"),
                ("whence_airflowTask", "runId"),
                ("whence_airflowDagRun", "runId"),
            ),
        )
    return found


def _first(facets: Mapping[str, Any], *paths: tuple[str, ...]) -> str:
    """The first text at one of some paths; empty if there is none."""
    for path in paths:
        value: Any = facets
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, str) and value:
            return value
    return ""


def _read_types(graph: Graph, jobs: Iterable[JobName]) -> Mapping[int, Mapping[str, Any]]:
    rows: Sequence[FacetRow] = graph.facets(sorted(map(node_id, jobs)), (JOB_TYPE,))
    return {row.subject_id: _object(row.payload) for row in rows}


def _object(payload: str) -> Mapping[str, Any]:
    try:
        value = json.loads(payload) if payload else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
