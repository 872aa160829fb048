"""Checks of datasets as JSON."""

from collections.abc import Iterable

from typing_extensions import TypedDict

from whence.model.names import DatasetName, RunName
from whence.openlineage.facets.assertions import Assertion
from whence.query.answers.instants import iso
from whence.query.questions.check_results import CheckResult as Result


class Check(TypedDict):
    """An assertion and its latest result. `severity` `warn` is not an error. What was expected and found, and the
    number of failed rows, if the producer reports them.
    """

    assertion: str
    column: str | None
    held: bool
    severity: str | None
    expected: str | None
    actual: str | None
    failures: int | None


class Checked(TypedDict):
    """The checks of a dataset in the latest run of one job."""

    dataset: str
    run: str
    job: str
    time: str
    checks: list[Check]


class CheckResult(Check):
    """What one run found."""

    time: str
    dataset: str
    run: str | None
    job: str | None


class CheckResults(TypedDict):
    """The results of the checks of a node, the newest first."""

    node: str
    checks: list[CheckResult]


def checked_document(dataset: DatasetName, run: RunName, time: int, checks: Iterable[Assertion]) -> Checked:
    """The checks of a dataset in a run; `time` in µs."""
    return {
        "dataset": str(dataset),
        "run": str(run),
        "job": str(run.job),
        "time": iso(time),
        "checks": [_check(one) for one in checks],
    }


def check_result_document(one: Result) -> CheckResult:
    """A result of a check."""
    return {
        "time": iso(one.time),
        "dataset": str(one.dataset),
        **_check(one.assertion),
        "run": None if one.run is None else str(one.run),
        "job": None if one.run is None else str(one.run.job),
    }


def _check(one: Assertion) -> Check:
    return {
        "assertion": one.name,
        "column": one.column,
        "held": one.held,
        "severity": one.severity,
        "expected": one.expected,
        "actual": one.actual,
        "failures": one.failures,
    }
