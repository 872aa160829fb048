"""Answers about measurements and checks."""

from typing import ClassVar

from whence.client.answers.answer import Answer, count_rows, describe_completeness
from whence.client.values.graph import Completeness
from whence.client.values.quality import CheckResult, Measurement


class Measurements(Answer, frozen=True, kw_only=True):
    """The measurements of a dataset, a column or the runs of a job, the newest first."""

    _rows: ClassVar[str] = "measurements"
    _columns: ClassVar[tuple[str, ...]] = (
        *("time", "dataset", "column", "facet", "role"),
        *("metric", "value", "run", "job"),
    )

    node: str
    completeness: Completeness
    measurements: tuple[Measurement, ...]

    def _title(self) -> str:
        completeness = describe_completeness(self.completeness)
        return f"{count_rows(self.measurements, 'measurement')} of {self.node}, {completeness}"


class CheckResults(Answer, frozen=True, kw_only=True):
    """The results of the checks of a dataset or a column, the newest first."""

    _rows: ClassVar[str] = "checks"
    _columns: ClassVar[tuple[str, ...]] = (
        *("time", "dataset", "column", "assertion", "held", "severity"),
        *("expected", "actual", "failures", "run", "job"),
    )

    node: str
    completeness: Completeness
    checks: tuple[CheckResult, ...]

    def _title(self) -> str:
        return f"{count_rows(self.checks, 'check result')} of {self.node}, {describe_completeness(self.completeness)}"
