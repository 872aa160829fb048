"""Results of Great Expectations as checks: pure, from the members of results as `to_json_dict` writes them.

A result quotes rows (`partial_unexpected_list`, and an observed maximum is a row's value). Only counts and numbers of
all rows are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from whence_client.quality.checks import ERROR, WARN, Check, list_params, plain

Result = Mapping[str, Any]

_NOT_PARAMETERS = ("batch_id", "column", "result_format", "catch_exceptions", "include_config", "unexpected_rows_query")
_NUMBERS = frozenset(
    (
        "expect_column_mean_to_be_between",
        "expect_column_proportion_of_non_null_values_to_be_between",
        "expect_column_proportion_of_unique_values_to_be_between",
        "expect_column_stdev_to_be_between",
        "expect_column_sum_to_be_between",
        "expect_column_unique_value_count_to_be_between",
        "expect_table_column_count_to_be_between",
        "expect_table_column_count_to_equal",
        "expect_table_row_count_to_be_between",
        "expect_table_row_count_to_equal",
    )
)
"""Expectations whose observed value is a number of all rows."""
_NAMES = ("expect_table_columns_to_match_set", "expect_table_columns_to_match_ordered_list")
"""Expectations whose observed value is a list of column names."""


def read_checks(results: Iterable[Result]) -> tuple[Check, ...]:
    """The checks of a validation, in an order of their own: that of results changes."""
    return tuple(sorted(map(read_check, results), key=lambda one: (one.column, one.kind, one.name)))


def read_check(result: Result) -> Check:
    """One expectation and its result."""
    config = result["expectation_config"]
    kind, kwargs = str(config["type"]), dict(config["kwargs"])
    params = {key: plain(value) for key, value in kwargs.items() if key not in _NOT_PARAMETERS}
    counts = result.get("result") or {}
    severity = str(getattr(config.get("severity"), "value", config.get("severity")) or "critical")
    return Check(
        kind,
        None if _raised(result.get("exception_info")) else bool(result["success"]),
        column=str(kwargs.get("column") or ""),
        severity=ERROR if severity == "critical" else WARN,
        name=str(config.get("id") or ""),
        description=str(config.get("description") or ""),
        expected=list_params(params),
        actual=_actual(kind, counts),
        failures=_count(counts, "unexpected_count"),
        params=params,
        sql=str(kwargs.get("unexpected_rows_query") or ""),
    )


def count_rows(results: Iterable[Result]) -> int | None:
    """The number of rows of the dataset, if a result has it that is not of some rows only."""
    for result in results:
        config, counts = result["expectation_config"], result.get("result") or {}
        if config["kwargs"].get("row_condition"):
            continue
        is_count = config["type"].startswith("expect_table_row_count_to_") and config["type"] in _NUMBERS
        found = _count(counts, "observed_value" if is_count else "element_count")
        if found is not None:
            return found
    return None


def measure_columns(results: Iterable[Result]) -> dict[str, dict[str, float]]:
    """Nulls and distinct values of columns, as far as results count them in all rows."""
    found: dict[str, dict[str, float]] = {}
    for result in results:
        config, counts = result["expectation_config"], result.get("result") or {}
        column, kind = config["kwargs"].get("column"), config["type"]
        if not column or config["kwargs"].get("row_condition"):
            continue
        is_null_check = kind == "expect_column_values_to_not_be_null"
        nulls = _count(counts, "unexpected_count" if is_null_check else "missing_count")
        is_distinct = kind == "expect_column_unique_value_count_to_be_between"
        distinct = _count(counts, "observed_value") if is_distinct else None
        measured = {"nullCount": nulls, "distinctCount": distinct}
        found.setdefault(str(column), {}).update({key: one for key, one in measured.items() if one is not None})
    return {column: dict(sorted(values.items())) for column, values in sorted(found.items()) if values}


def _actual(kind: str, counts: Result) -> str:
    """What was found, in numbers of all rows."""
    observed = counts.get("observed_value")
    if kind in _NUMBERS and isinstance(observed, (int, float)):
        return str(observed)
    if kind in _NAMES and isinstance(observed, (list, tuple)):
        return ", ".join(map(str, observed))
    failures, rows = _count(counts, "unexpected_count"), _count(counts, "element_count")
    return "" if failures is None or rows is None else f"{failures} of {rows} rows"


def _count(counts: Result, member: str) -> int | None:
    value = counts.get(member)
    is_number = not isinstance(value, bool) and hasattr(value, "__index__")  # numpy's numbers too
    return int(value) if value is not None and is_number else None


def _raised(info: Any) -> bool:
    """Whether the expectation could not be evaluated. Its errors are by metric, or one."""
    if not isinstance(info, Mapping):
        return False
    return bool(info.get("raised_exception")) or any(
        isinstance(one, Mapping) and one.get("raised_exception") for one in info.values()
    )
