"""Data quality checks of the demo, computed from the data itself: of the raw exports, and of scores to be published."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow.parquet as pq

Json = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One assertion about a dataset, or about one column of it. `severity` is `warn` or `error`."""

    assertion: str
    column: str
    success: bool
    severity: str

    @property
    def document(self) -> Json:
        """The check as an entry of OpenLineage's dataQualityAssertions facet."""
        return {
            "assertion": self.assertion,
            "column": self.column,
            "success": self.success,
            "severity": self.severity,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a run found out about one dataset: members of the dataQualityMetrics facet, and results of checks."""

    measured: Json
    checks: tuple[Check, ...]


def read_csv(directory: Path) -> Rows:
    """The rows of all CSV files of a directory; all values are text."""
    rows: list[Mapping[str, Any]] = []
    for path in sorted(directory.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows += csv.DictReader(file)
    return rows


def read_parquet(directory: Path) -> Rows:
    """The rows of a Parquet dataset."""
    return list(pq.read_table(directory).to_pylist())


def measure(rows: Rows) -> Json:
    """The members of OpenLineage's dataQualityMetrics facet: the number of rows, the nulls of each column, and of
    numbers the sum, the least, the greatest and the median.
    """
    return {"rowCount": len(rows), "columnMetrics": {column: _measure_column(rows, column) for column in rows[0]}}


def _measure_column(rows: Rows, column: str) -> Json:
    filled = [value for row in rows if isinstance(value := row[column], int | float)]
    numbers = (
        {"sum": sum(filled), "min": min(filled), "max": max(filled), "quantiles": {"0.5": median(filled)}}
        if filled
        else {}
    )
    nulls = _nulls(rows, column)
    return {"nullCount": nulls, "count": len(rows) - nulls, **numbers}


def _nulls(rows: Rows, column: str) -> int:
    """How many values are missing. An empty text in a CSV file is."""
    return sum(row[column] is None or row[column] == "" for row in rows)


def check_customers(crm_export: Rows) -> tuple[Check, ...]:
    """Check the CRM export. It has duplicates, which the pipeline removes: a warning."""
    ids = [row["customer_id"] for row in crm_export]
    return (
        Check(assertion="not_null", column="customer_id", success=all(ids), severity="error"),
        Check(assertion="unique", column="customer_id", success=len(set(ids)) == len(ids), severity="warn"),
    )


def check_sessions(usage_logs: Rows) -> tuple[Check, ...]:
    """Check the usage logs. Some devices' clocks run backwards, and the pipeline drops these sessions: a warning."""
    minutes = [float(row["session_minutes"]) for row in usage_logs]
    return (
        Check(
            assertion="not_null", column="last_login", success=_nulls(usage_logs, "last_login") == 0, severity="error"
        ),
        Check(assertion="not_negative", column="session_minutes", success=min(minutes) >= 0, severity="warn"),
        Check(assertion="at_most_1440", column="session_minutes", success=max(minutes) <= 1440, severity="error"),
    )


def check_keys(rows: Rows) -> tuple[Check, ...]:
    """Check a dataset that the pipeline wrote: each row is of a customer."""
    is_whole = _nulls(rows, "customer_id") == 0
    return (Check(assertion="not_null", column="customer_id", success=is_whole, severity="error"),)


def check_scores(predictions: Rows, customers: Rows) -> tuple[Check, ...]:
    """Check the scores before anybody is called: a probability for each customer."""
    scores = [float(row["churn_probability"]) for row in predictions]
    return (
        Check(
            assertion="between_0_and_1",
            column="churn_probability",
            success=all(0 <= score <= 1 for score in scores),
            severity="error",
        ),
        Check(
            assertion="every_customer",
            column="customer_id",
            success=not without_score(predictions, customers),
            severity="error",
        ),
    )


def without_score(predictions: Rows, customers: Rows) -> int:
    """How many customers have no prediction."""
    return len({row["customer_id"] for row in customers} - {row["customer_id"] for row in predictions})
