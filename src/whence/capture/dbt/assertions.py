"""Data tests as runs of a job that reads what it tests, with the assertions and whether they held."""

from collections.abc import Iterator
from dataclasses import dataclass

from whence.capture.dbt.names import Names
from whence.capture.dbt.project import Freshness, Invocation, Node, Project, Result, Test
from whence.capture.dbt.runs import Attempt, attempt_events
from whence.model.events import RunState
from whence.model.names import JobName, RunName
from whence.openlineage.wire import Json
from whence.openlineage.write import dataset, facet

_FAILED = ("fail", "error", "runtime error")
_NOT_RUN = ("skipped", "no-op")
_KIND = {"jobType": facet("JobTypeJobFacet", processingType="BATCH", integration="DBT", jobType="TEST")}
_Ran = tuple[Test, Result]


@dataclass(frozen=True, slots=True)
class _Check:
    """What one run of a job tested, in which node, and what else it read."""

    job: JobName
    subject: str
    node: Node
    ran: tuple[_Ran, ...]
    others: tuple[Node, ...] = ()


def assertion_events(project: Project, names: Names, invocation: Invocation, parent: RunName) -> Iterator[Json]:
    """A run for each node that generic tests looked at, and one for each test written in SQL, as dbt-ol has them."""
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
        others = tuple(project.nodes[one] for one in test.parents if one in project.nodes and one != test.node)
        job = JobName(names.jobs, test.unique_id)
        yield _Check(job, test.unique_id, project.nodes[test.node], ((test, result),), others)
    for unique_id, some in by_node.items():
        node = project.nodes[unique_id]
        yield _Check(names.test_job(node, invocation.command), f"{unique_id}.test", node, tuple(some))


def _check_events(check: _Check, names: Names, invocation: Invocation, parent: RunName) -> Iterator[Json]:
    tested = facet("DataQualityAssertionsDatasetFacet", assertions=[_assertion(*one) for one in check.ran])
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
        *(dataset(names.dataset(one)) for one in check.others),
    ]
    yield from attempt_events(attempt, invocation, parent, job_facets=_KIND, inputs=inputs)


def _assertion(test: Test, result: Result) -> Json:
    said: Json = {
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
    return {key: value for key, value in said.items() if value not in ("", {})}


def freshness_events(project: Project, names: Names) -> Iterator[Json]:
    """A run for each source whose age was looked at."""
    for one in project.freshness:
        if one.unique_id in project.nodes:
            yield from _freshness_events(project.nodes[one.unique_id], one, names)


def _freshness_events(node: Node, one: Freshness, names: Names) -> Iterator[Json]:
    hours = (one.checked - one.loaded) / 3_600_000_000
    said = {
        "assertion": "freshness",
        "success": one.status == "pass",
        "name": f"{node.unique_id}.freshness",
        "severity": "warn" if one.status == "warn" else "error",
        "actual": f"{hours:.1f} hours",
        "params": one.threshold,
    }
    attempt = Attempt(
        job=names.test_job(node, "freshness"),
        subject=f"{node.unique_id}.freshness",
        started=one.checked,
        ended=one.checked,
        state=RunState.COMPLETE,
    )
    tested = facet("DataQualityAssertionsDatasetFacet", assertions=[said])
    inputs = [dataset(names.dataset(node), inputFacets={"dataQualityAssertions": tested})]
    invocation = Invocation(id=one.invocation, command="freshness", started=one.checked, ended=one.checked)
    yield from attempt_events(attempt, invocation, None, job_facets=_KIND, inputs=inputs)
