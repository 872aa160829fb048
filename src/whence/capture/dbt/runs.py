"""Runs: the times and results of nodes in run_results.json.

A run's id depends only on the invocation and the node, so the same artifacts yield the same events, byte for byte.
Sending them again changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid5

from openlineage.client.uuid import generate_static_uuid

from whence.capture.dbt.artifacts.names import Names
from whence.capture.dbt.artifacts.project import Invocation, Node, Project, Result
from whence.model.events import RunState
from whence.model.names import JobName, RunName
from whence.openlineage.json.wire import Json
from whence.openlineage.names.run_ids import parse_uuid
from whence.openlineage.write import Objects, facet, own_facet, parent_facet, run_event
from whence_client.events.runs import RunRef

_BUILDING = ("run", "build", "seed", "snapshot", "test", "retry", "clone", "run-operation")
_FAILED = ("error", "fail", "runtime error", "partial success")
_DONE = ("success", "pass", "warn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One run of one job; times in microseconds since 1970 UTC. `subject` identifies it within the invocation."""

    job: JobName
    subject: str
    started: int
    ended: int
    state: RunState
    message: str = ""


def has_run(invocation: Invocation | None) -> bool:
    """Whether the results are of a command that builds or tests. `dbt docs generate` writes results too."""
    return invocation is not None and invocation.command in _BUILDING


def invocation_run(names: Names, invocation: Invocation) -> RunName:
    """The run of the whole command, which contains the others."""
    run_id = parse_uuid(invocation.id) or str(uuid5(UUID(int=0), f"{names.project}/{invocation.id}/{invocation.ended}"))
    return RunName(run_id, names.run_job())


def invocation_events(
    project: Project, names: Names, invocation: Invocation, parent: RunRef | None = None
) -> Iterator[Json]:
    """Start and end of the whole command. `parent`: the run that dbt is a part of, such as a task of Airflow."""
    run = invocation_run(names, invocation)
    broken = [result for result in invocation.results if result.status in _FAILED]
    message = f"{len(broken)} failed, first {broken[0].unique_id}: {broken[0].message}" if broken else ""
    state = RunState.FAIL if broken else RunState.COMPLETE
    kind = {"jobType": facet("JobTypeJobFacet", processingType="BATCH", integration="DBT", jobType="JOB")}
    facets = {**_run_facets(invocation, project.dbt_version), **_outer_run(parent)}
    yield run_event(invocation.started, RunState.START, run, run_facets=facets, job_facets=kind)
    yield run_event(invocation.ended, state, run, run_facets={**facets, **_error(message)}, job_facets=kind)


def attempt_of(node: Node, result: Result, names: Names, invocation: Invocation) -> Attempt | None:
    """The run of a node according to its result. Returns None if the node did not run."""
    if result.status not in (*_DONE, *_FAILED):
        return None
    failed = result.status in _FAILED
    return Attempt(
        job=names.job(node, invocation.command),
        subject=node.unique_id,
        started=result.started,
        ended=result.ended,
        state=RunState.FAIL if failed else RunState.COMPLETE,
        message=(result.message or result.status) if failed else "",
    )


def attempt_events(
    attempt: Attempt,
    invocation: Invocation,
    within: RunName | None,
    *,
    run_facets: Json | None = None,
    job_facets: Json | None = None,
    inputs: Objects = (),
    outputs: Objects = (),
) -> Iterator[Json]:
    """The START and end events of one run. The end carries everything, the start only identity and time."""
    run = RunName(_run_id(attempt, invocation), attempt.job)
    facets = {"parent": parent_facet(within)} if within else {}
    yield run_event(attempt.started, RunState.START, run, run_facets=facets, job_facets=job_facets)
    facets = {**facets, **_run_facets(invocation), **(run_facets or {}), **_error(attempt.message)}
    yield run_event(
        attempt.ended,
        attempt.state,
        run,
        run_facets=facets,
        job_facets=job_facets,
        inputs=inputs,
        outputs=outputs,
    )


def _run_id(attempt: Attempt, invocation: Invocation) -> str:
    started = datetime.fromtimestamp(attempt.started / 1_000_000, UTC)
    return str(generate_static_uuid(started, f"{invocation.id}/{attempt.subject}".encode()))


def _run_facets(invocation: Invocation, version: str = "") -> Json:
    members = {"invocationId": invocation.id, "command": invocation.command, "dbtVersion": version}
    return {"whence_dbtRun": own_facet("DbtRunFacet", **{key: value for key, value in members.items() if value})}


def _outer_run(parent: RunRef | None) -> Json:
    return {"parent": parent_facet(_run_name(parent), _run_name(parent.root or parent))} if parent else {}


def _run_name(ref: RunRef) -> RunName:
    return RunName(ref.run_id, JobName(ref.namespace, ref.job))


def _error(message: str) -> Json:
    if not message:
        return {}
    return {"errorMessage": facet("ErrorMessageRunFacet", message=message, programmingLanguage="SQL")}
