"""The record of one validation, whichever tool made it, and its event: pure, from the record.

A validation is a run of a job of its own, which reads the dataset and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from whence_client.captures.naming import Naming
from whence_client.events.datasets import Dataset
from whence_client.events.facets import Event, Facet, facet
from whence_client.events.runs import (
    COMPLETE,
    FAIL,
    error_facet,
    extraction_error_facet,
    job_type_facet,
    run_event,
)

ERROR, WARN = "error", "warn"
"""The severity of a check: whether the data cannot be used if it does not hold."""

MOST_TEXT = 200
"""Characters of a text about a check, and items of a list in its parameters."""
_MOST_NAMED = 5


@dataclass(frozen=True)
class Check:
    """One rule and its result. `held` is None if the tool could not evaluate it; `failures` is a number of rows."""

    kind: str
    held: bool | None
    column: str = ""
    severity: str = ERROR
    name: str = ""
    description: str = ""
    expected: str = ""
    actual: str = ""
    failures: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    sql: str = ""

    @property
    def is_broken(self) -> bool:
        """Whether it did not hold, and that is an error."""
        return self.held is False and self.severity == ERROR

    def __str__(self) -> str:
        return f"{self.kind}({self.column})" if self.column else self.kind


@dataclass(frozen=True)
class Validation:
    """The checks of one dataset at one time. `ids` are the tool's own ids of it; `problem`: why no dataset is known.

    `rows` and `metrics` (by column, as `dataQualityMetrics` has them) are of the whole dataset, else not given.
    """

    tool: str
    job: str
    ids: tuple[str, ...]
    at: datetime
    checks: tuple[Check, ...]
    dataset: Dataset | None = None
    problem: str = ""
    rows: int | None = None
    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def validation_event(validation: Validation, naming: Naming) -> Event:
    """The run of a validation. It failed if a check of severity `error` did not hold, as a test of dbt fails."""
    broken = [one for one in validation.checks if one.is_broken]
    facets: dict[str, Facet] = {}
    if broken:
        facets["errorMessage"] = error_facet(_summary(broken, len(validation.checks)))
    unread = {str(one): f"{validation.tool} could not evaluate it" for one in validation.checks if one.held is None}
    if validation.dataset is None:
        unread["dataset"] = validation.problem
    if unread:
        facets["extractionError"] = extraction_error_facet(unread, len(validation.checks) + 1)
    return run_event(
        FAIL if broken else COMPLETE,
        naming.run(validation.job, validation.tool, *validation.ids),
        validation.at,
        parent=naming.parent,
        run_facets=facets,
        job_facets={"jobType": job_type_facet("TEST", validation.tool)},
        inputs=[] if validation.dataset is None else [_checked(validation.dataset, validation)],
    )


def _checked(dataset: Dataset, validation: Validation) -> Dataset:
    assertions = [_assertion(one) for one in validation.checks if one.held is not None]
    facets = {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=assertions)}
    if validation.rows is not None or validation.metrics:
        rows: dict[str, Any] = {} if validation.rows is None else {"rowCount": validation.rows}
        columns = {name: dict(values) for name, values in validation.metrics.items()}
        facets["dataQualityMetrics"] = facet("DataQualityMetricsInputDatasetFacet", columnMetrics=columns, **rows)
    return replace(dataset, run_facets=facets)


def _assertion(check: Check) -> dict[str, Any]:
    members: dict[str, Any] = {
        "column": check.column,
        "severity": check.severity,
        "name": check.name,
        "description": check.description[:MOST_TEXT],
        "expected": check.expected[:MOST_TEXT],
        "actual": check.actual[:MOST_TEXT],
        "content": check.sql,
        "contentType": "sql" if check.sql else "",
        "params": dict(check.params),
    }
    known = {key: value for key, value in members.items() if value not in ("", {})}
    failures = {} if check.failures is None else {"failures": check.failures}
    return {"assertion": check.kind, "success": check.held, **known, **failures}


def _summary(broken: Sequence[Check], total: int) -> str:
    named = ", ".join(map(str, broken[:_MOST_NAMED]))
    return f"{len(broken)} of {total} checks failed: {named}{', …' if len(broken) > _MOST_NAMED else ''}"


def plain(value: Any) -> Any:
    """A parameter of a rule as JSON can hold it; long lists and texts are cut."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in list(value)[:MOST_TEXT]]
    return str(value)[:MOST_TEXT]


def list_params(params: Mapping[str, Any]) -> str:
    """Parameters as a text: `min_value=0, max_value=100`."""
    return ", ".join(f"{name}={plain(value)}" for name, value in params.items())
