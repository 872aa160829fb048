"""A data contract as values, whatever the version of the standard, or dbt, in which it is written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from whence.model.names import DatasetName
from whence.query.lookup.contracts import OF_DBT

DBT = OF_DBT
"""The standard of a contract that dbt enforces. It has no version of its own: the versions of a model are contracts."""


_METRICS = {"duplicateCount": "duplicateValues", "nullCheck": "nullValues", "nullCount": "nullValues"}


def current_metric(metric: str) -> str:
    """What the standard calls a metric since 3.1, by that name or the one of 3.0."""
    return _METRICS.get(metric, metric)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A quality rule. `operators`: `mustBe…` with their values; `arguments`: valid values and the like.

    `key` names the rule in the next version of the contract: its id, its name, or its metric.
    """

    key: str
    metric: str = ""
    operators: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    unit: str = ""
    severity: str = ""
    line: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractColumn:
    """A column that a contract promises. `name`: dotted if nested; `values`: all that it may contain, if listed."""

    name: str
    physical_name: str = ""
    logical_type: str = ""
    physical_type: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    required: bool = False
    unique: bool = False
    primary_key: bool = False
    values: frozenset[str] | None = None
    deprecated: bool = False
    rules: tuple[Rule, ...] = ()
    description: str = ""
    line: int = 1

    @property
    def column(self) -> str:
        """The name in the data."""
        return self.physical_name or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractTable:
    """A dataset that a contract promises. `datasets`: by the names of Whence, one a server."""

    name: str
    physical_name: str = ""
    columns: tuple[ContractColumn, ...] = ()
    rules: tuple[Rule, ...] = ()
    deprecated: bool = False
    description: str = ""
    datasets: tuple[DatasetName, ...] = ()
    line: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLevel:
    """A property of a service-level agreement, such as a latency of 4 hours."""

    property: str
    value: Any
    unit: str = ""
    element: str = ""
    driver: str = ""
    line: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """A version of a data contract. `text`: the file as it is written; `lines`: where its members begin."""

    id: str
    version: str
    status: str = ""
    standard: str = ""
    name: str = ""
    domain: str = ""
    owners: tuple[str, ...] = ()
    tables: tuple[ContractTable, ...] = ()
    service_levels: tuple[ServiceLevel, ...] = ()
    ends: str = ""
    """The day after which nobody may rely on it: the SLA's `endOfLife`, else `endOfSupport`. Empty: none is stated."""
    migration_note: str = ""
    """The path of the note, from the contract's own directory; empty: `MIGRATION.md` there."""
    file: str = ""
    text: str = field(default="", repr=False)
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_of_dbt(self) -> bool:
        """Whether dbt enforces it."""
        return self.standard == DBT

    def datasets(self) -> Iterator[tuple[ContractTable, DatasetName]]:
        """The tables, each with each of its datasets."""
        return ((table, dataset) for table in self.tables for dataset in table.datasets)

    def place(self, line: int) -> str:
        """`file:line`."""
        return f"{self.file}:{line}"
