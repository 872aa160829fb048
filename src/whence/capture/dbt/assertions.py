"""Data tests as runs of a job that reads the tested tables, with the assertions and their results."""

from collections.abc import Iterator
from dataclasses import dataclass

from whence.capture.dbt.artifacts.names import Names
from whence.capture.dbt.artifacts.project import Freshness, Invocation, Node, Project, Result, Test
from whence.capture.dbt.runs import Attempt, attempt_events
from whence.model.events import RunState
from whence.model.names import JobName, RunName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import dataset, facet

_FAILED = ("fail", "error", "runtime error")
_NOT_RUN = ("skipped", "no-op")
_KIND = {"jobType": facet("JobTypeJobFacet", processingType="BATCH", integration="DBT", jobType="TEST")}
_Ran = tuple[Test, Result]


@dataclass(frozen=True, slots=True)
class _Check:
    """The tests of one job run: the tested node, and the other nodes that it read."""

    job: JobName
    subject: str
    node: Node
    ran: tuple[_Ran, ...]
    others: tuple[Node, ...] = ()


def assertion_events(project: Project, names: Names, invocation: Invocation, parent: RunName) -> Iterator[Json]:
    """Yield a run for each node with generic tests, and one for each test written in SQL, as dbt-ol does."""
    for check in _checks(project, names, invocation):
        yield from _check_events(check, names, invocation, parent)


def _checks(project: Project, names: Names, invocation: Invocation) -> Iterator[_Check]:
    by_node: dict[str, list[_Ran]] = {}
    for result in invocation.results:
        test = project.tests.get(result.unique_id)
        if test is None or test.node not in project.nodes or result.status in _NOT_RUN:
            continue
        if test.is_generic:
            by_node.setdefault(test.node, []).append((test, result))
            continue
        others = tuple(
            project.nodes[parent] for parent in test.parents if parent in project.nodes and parent != test.node
        )
        job = JobName(names.jobs, test.unique_id)
        yield _Check(job, test.unique_id, project.nodes[test.node], ((test, result),), others)
    for unique_id, test_results in by_node.items():
        node = project.nodes[unique_id]
        yield _Check(names.test_job(node, invocation.command), f"{unique_id}.test", node, tuple(test_results))


def _check_events(check: _Check, names: Names, invocation: Invocation, parent: RunName) -> Iterator[Json]:
    tested = facet(
        "DataQualityAssertionsDatasetFacet", assertions=[_assertion(*test_result) for test_result in check.ran]
    )
    broken = next((result for test, result in check.ran if result.status in _FAILED and test.severity != "warn"), None)
    attempt = Attempt(
        job=check.job,
        subject=check.subject,
        started=min(result.started for _, result in check.ran),
        ended=max(result.ended for _, result in check.ran),
        state=RunState.FAIL if broken else RunState.COMPLETE,
        message=f"{broken.unique_id}: {broken.message or broken.status}" if broken else "",
    )
    inputs = [
        dataset(names.dataset(check.node), inputFacets={"dataQualityAssertions": tested}),
        *(dataset(names.dataset(other)) for other in check.others),
    ]
    yield from attempt_events(attempt, invocation, parent, job_facets=_KIND, inputs=inputs)


def _assertion(test: Test, result: Result) -> Json:
    members: Json = {
        "assertion": test.name,
        "success": result.status == "pass",
        "column": test.column,
        "severity": test.severity,
        "name": test.unique_id,
        "description": test.description,
        "expected": str(test.config.get("error_if" if test.severity == "error" else "warn_if") or "!= 0"),
        "actual": str(result.failures) if result.failures is not None else "",
        "content": "" if test.is_generic else test.sql,
        "contentType": "" if test.is_generic or not test.sql else "sql",
        "params": {key: value for key, value in test.params.items() if key != "column_name"},
    }
    return {key: value for key, value in members.items() if value not in ("", {})}


def freshness_events(project: Project, names: Names) -> Iterator[Json]:
    """Yield a run for each source whose freshness was checked."""
    for result in project.freshness:
        if result.unique_id in project.nodes:
            yield from _freshness_events(project.nodes[result.unique_id], result, names)


def _freshness_events(node: Node, result: Freshness, names: Names) -> Iterator[Json]:
    hours = (result.checked - result.loaded) / 3_600_000_000
    assertion = {
        "assertion": "freshness",
        "success": result.status == "pass",
        "name": f"{node.unique_id}.freshness",
        "severity": "warn" if result.status == "warn" else "error",
        "actual": f"{hours:.1f} hours",
        "params": result.threshold,
    }
    attempt = Attempt(
        job=names.test_job(node, "freshness"),
        subject=f"{node.unique_id}.freshness",
        started=result.checked,
        ended=result.checked,
        state=RunState.COMPLETE,
    )
    tested = facet("DataQualityAssertionsDatasetFacet", assertions=[assertion])
    inputs = [dataset(names.dataset(node), inputFacets={"dataQualityAssertions": tested})]
    invocation = Invocation(id=result.invocation, command="freshness", started=result.checked, ended=result.checked)
    yield from attempt_events(attempt, invocation, None, job_facets=_KIND, inputs=inputs)
