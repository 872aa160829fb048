"""The capture of Soda Core: what the verification of a data contract found."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from whence_client.captures.contract import ATTACH, Findings, Undo, Versions, check_package
from whence_client.captures.naming import Naming
from whence_client.captures.patches import Patches, hook_once
from whence_client.captures.session import Session
from whence_client.events.datasets import Dataset
from whence_client.events.facets import Event
from whence_client.quality.checks import ERROR, WARN, Check, Validation, list_params, validation_event

TOOL = "SODA"
MODULE = "soda_core.contracts.impl.contract_verification_impl"
"""The module whose first import installs the capture."""

_COUNTED = ("missing", "invalid", "duplicate", "failed_rows")
_NUMBERS = (*_COUNTED, "row_count", "schema", "freshness")
"""Checks whose value is a number of rows, of changes, or of time."""
_AGGREGATES = ("avg", "avg_length", "count", "stddev", "sum", "variance")
"""Functions whose value is of all rows: a minimum or a quantile is a row's value."""
_EVALUATED = ("PASSED", "FAILED", "WARN")
_THRESHOLDS = (
    "must_be",
    "must_not_be",
    "must_be_greater_than",
    "must_be_greater_than_or_equal",
    "must_be_less_than",
    "must_be_less_than_or_equal",
)


class SodaCapture:
    """The checks of Soda's data contracts, on the table that they were made of."""

    name = "soda"
    kind = ATTACH
    versions = Versions("4.28.0", "4.28.0")

    def check(self) -> Findings:
        """Whether Soda Core is there, and of a release that is known."""
        return check_package("soda-core", self.versions)

    def translate(self, record: Validation, naming: Naming) -> Iterable[Event]:
        """The event of one verification."""
        return (validation_event(record, naming),)

    def install(self, session: Session) -> Undo:
        """Hook Soda Core, which the job has imported."""
        contract = vars(sys.modules[MODULE])["ContractImpl"]

        def observe(result: Any, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
            naming = session.naming()
            if not args[0].only_validate_without_execute and result.data_source is not None:
                record = describe_verification(result, name_table_of(args[0].data_source_impl, result, naming))
                for event in self.translate(record, naming):
                    session.emit(event, capture=self.name)

        def put() -> Undo:
            patches = Patches(session.guard(self.name))
            patches.observe(contract, "verify", observe)
            return patches.undo

        return hook_once(contract, put)


def describe_verification(result: Any, dataset: Dataset) -> Validation:
    """The record of a contract that was verified. Its times are Soda's."""
    contract = result.check_collection
    table = ".".join((contract.data_source_name, *contract.dataset_prefix, contract.dataset_name))
    file = contract.source.local_file_path or ""
    checks = (read_check(one) for one in result.check_results if one.outcome.name != "EXCLUDED")
    return Validation(
        tool=TOOL,
        job=f"soda.{table}",
        ids=(table, os.path.basename(file), result.started_timestamp.isoformat()),
        at=result.ended_timestamp,
        checks=tuple(sorted(checks, key=lambda one: (one.column, one.kind, one.name))),
        dataset=dataset,
    )


def read_check(result: Any) -> Check:
    """One check and its result. Soda's own text of a check (`definition`) may quote secrets: it is not read."""
    check, outcome = result.check, result.outcome.name
    metrics = result.diagnostic_metric_values or {}
    threshold = _threshold(check.threshold)
    level = str(getattr(check.threshold, "level", "") or "fail")
    is_warning = outcome == "WARN" or (outcome != "FAILED" and level == "warn")
    return Check(
        check.type,
        outcome == "PASSED" if outcome in _EVALUATED else None,
        column=check.column_name or "",
        severity=WARN if is_warning else ERROR,
        name=check.relative_path,
        description=check.name or "",
        expected=list_params(threshold),
        actual=_actual(check.type, result.threshold_value, metrics),
        failures=_whole(metrics.get(f"{check.type}_count")) if check.type in _COUNTED else None,
        params=threshold,
    )


def name_table_of(source: Any, result: Any, naming: Naming) -> Dataset:
    """The table of a contract, by the connection of its data source."""
    contract, properties = result.check_collection, source.data_source_model.connection_properties
    parts = (*contract.dataset_prefix, contract.dataset_name)
    if source.type_name == "duckdb":
        return naming.table_of_url(f"duckdb:///{_duckdb_file(properties)}", ".".join(parts))
    return naming.table(
        source.type_name,
        parts,
        host=str(getattr(properties, "host", None) or ""),
        port=_whole(getattr(properties, "port", None)),
        account=str(getattr(properties, "account", None) or ""),
        region=str(getattr(properties, "region_name", None) or ""),
    )


def _duckdb_file(properties: Any) -> str:
    """The database's file; that of a connection which the program gave to Soda is asked of it."""
    given = getattr(properties, "duckdb_connection", None)
    if given is None:
        return str(getattr(properties, "database", "") or ":memory:")
    with given.cursor() as cursor:
        query = "SELECT path FROM duckdb_databases() WHERE database_name = current_database()"
        return str((cursor.execute(query).fetchone() or ("",))[0] or ":memory:")


def _threshold(threshold: Any) -> dict[str, Any]:
    found = {name: getattr(threshold, name, None) for name in _THRESHOLDS}
    return {name: value for name, value in found.items() if isinstance(value, (int, float))}


def _actual(kind: str, value: Any, metrics: Mapping[str, Any]) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    is_aggregate = kind == "aggregate" and any(name in metrics for name in _AGGREGATES)
    return str(value) if is_number and (kind in _NUMBERS or is_aggregate) else ""


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


capture = SodaCapture()
