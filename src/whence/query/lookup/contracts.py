"""Versions of the contract of a dataset, out of its facets: each version has a facet of its own, and stays."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from whence.model.catalog import Entry, FacetRecord
from whence.model.names import DatasetName
from whence.openlineage.facets.facet_keys import CONTRACT, CONTRACT_VERSION, DBT
from whence.query.ports.catalog import Catalog

ENDS = ("endOfLife", "endOfSupport")
"""The service levels that state the last day of a contract, the first one that is there."""
OF_DBT = "dbt"
"""The standard of a version that dbt enforces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromisedColumn:
    """A column that a contract promises, by its name in the data; dotted if it is inside of another one."""

    name: str
    logical_type: str = ""
    physical_type: str = ""
    required: bool = False
    unique: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PromisedRule:
    """A quality rule of a contract. `name`: its id or name, else its metric; `column`: empty for the whole dataset."""

    name: str
    column: str = ""
    metric: str = ""
    unit: str = ""
    operators: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromisedLevel:
    """A service level of a contract, such as a latency of 4 hours. `element`: the column that it is about, if any."""

    property: str
    value: Any = None
    unit: str = ""
    element: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractVersion:
    """A version of a contract, as it was applied to a dataset (µs). An empty `version`: the contract ended then.

    `text`: the file as it was written, and `columns`: what it promises of this dataset. Both are empty if only a
    version was stated, or the viewer may not read them.
    """

    id: str
    version: str
    applied_at: int
    status: str = ""
    standard: str = ""
    owners: tuple[str, ...] = ()
    table: str = ""
    approved_by: tuple[str, ...] = ()
    text: str = ""
    columns: tuple[PromisedColumn, ...] = ()
    rules: tuple[PromisedRule, ...] = ()
    levels: tuple[PromisedLevel, ...] = ()

    @property
    def last_day(self) -> date | None:
        """The last day on which anybody may rely on it; None: it states none."""
        stated = {one.property: str(one.value) for one in self.levels}
        return next((parse_day(stated[one]) for one in ENDS if one in stated), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractedDataset:
    """A dataset, and the versions of its contract, newest first."""

    name: DatasetName
    versions: tuple[ContractVersion, ...]

    def at(self, time: int | None = None) -> ContractVersion | None:
        """The version that holds at a time (µs), or now; None if there is none, or it had ended."""
        found = next((one for one in self.versions if time is None or one.applied_at <= time), None)
        return found if found is not None and found.version else None


def parse_day(text: str) -> date | None:
    """The day in a date or time of ISO 8601; None if it is none."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def contracted_datasets(catalog: Catalog, entries: Sequence[Entry]) -> tuple[ContractedDataset, ...]:
    """The datasets among these entries that have, or had, a contract, in their order."""
    facets_by_dataset = catalog.facets([one.id for one in entries])
    found = ((one.name, contract_versions(facets_by_dataset.get(one.id, {}))) for one in entries)
    return tuple(
        ContractedDataset(name=name, versions=versions)
        for name, versions in found
        if versions and isinstance(name, DatasetName)
    )


def contract_versions(facets: Mapping[str, FacetRecord]) -> tuple[ContractVersion, ...]:
    """The versions in the facets of a dataset, newest first. Who only states a version has one without a text.

    A contract that dbt enforces counts where no other has ever been stated.
    """
    versions = [_version(one) for key, one in facets.items() if key.startswith(CONTRACT_VERSION)]
    if not versions and CONTRACT in facets:
        versions = [_version(facets[CONTRACT])]
    if not versions and DBT in facets:
        versions = list(_dbt_version(facets[DBT], facets.get("ownership")))
    return tuple(sorted(versions, key=lambda one: (-one.applied_at, one.id, one.version)))


CARRIERS = (CONTRACT, DBT)
"""The facets of which a dataset with a contract has one."""


def contract_version(facets: Mapping[str, Any]) -> str | None:
    """The version of a contract in the decoded facets of a dataset: the one that was stated, else that of dbt."""
    stated = facets.get(CONTRACT, {}).get("version")
    return stated if isinstance(stated, str) else _version_of_dbt(facets.get(DBT, {})) or None


def _dbt_version(dbt: FacetRecord, ownership: FacetRecord | None) -> Iterable[ContractVersion]:
    """The contract that dbt enforces: the columns of the model's YAML, whose checksum is its version."""
    facet = _decoded(dbt)
    if version := _version_of_dbt(facet):
        listed = _decoded(ownership).get("owners") if ownership else ()
        owners = tuple(_text(one, "name") for one in listed or () if isinstance(one, dict) and _text(one, "name"))
        yield ContractVersion(
            id=_text(facet, "uniqueId"),
            version=version,
            applied_at=dbt.time,
            standard=OF_DBT,
            owners=owners,
            columns=tuple(_columns(facet["contract"].get("columns"), "dataType")),
        )


def _version_of_dbt(facet: Mapping[str, Any]) -> str:
    """`dbt-` and the beginning of the checksum of an enforced contract; empty without one."""
    contract = facet.get("contract")
    if not isinstance(contract, dict) or contract.get("enforced") is not True:
        return ""
    return f"dbt-{_text(contract, 'checksum')[:12] or 'unknown'}"


def without_versions(facets: Mapping[str, FacetRecord]) -> Mapping[str, FacetRecord]:
    """The facets but for the versions of the contract, which have an answer of their own."""
    if not any(key.startswith(CONTRACT_VERSION) for key in facets):
        return facets
    return {key: one for key, one in facets.items() if not key.startswith(CONTRACT_VERSION)}


def _version(record: FacetRecord) -> ContractVersion:
    facet = _decoded(record)
    return ContractVersion(
        id=_text(facet, "id"),
        version=_text(facet, "version"),
        applied_at=record.time,
        status=_text(facet, "status"),
        standard=_text(facet, "standard"),
        owners=tuple(_texts(facet, "owners")),
        table=_text(facet, "table"),
        approved_by=tuple(_texts(facet, "approvedBy")),
        text=_text(facet, "text"),
        columns=tuple(_columns(facet.get("columns"))),
        rules=tuple(map(_rule, _objects(facet.get("quality")))),
        levels=tuple(map(_level, _objects(facet.get("serviceLevels")))),
    )


def _decoded(record: FacetRecord) -> Mapping[str, Any]:
    facet: Any = json.loads(record.payload) if record.payload else {}
    return facet if isinstance(facet, dict) else {}


def _columns(listed: Any, physical: str = "physicalType") -> Iterable[PromisedColumn]:
    for one in _objects(listed):
        if name := _text(one, "name"):
            constraints = set(_texts(one, "constraints"))
            yield PromisedColumn(
                name=name,
                logical_type=_text(one, "logicalType"),
                physical_type=_text(one, physical),
                required=one.get("required") is True or bool(constraints & {"not_null", "primary_key"}),
                unique=one.get("unique") is True or bool(constraints & {"unique", "primary_key"}),
            )


def _rule(one: Mapping[str, Any]) -> PromisedRule:
    operators, arguments = one.get("operators"), one.get("arguments")
    return PromisedRule(
        name=_text(one, "rule"),
        column=_text(one, "column"),
        metric=_text(one, "metric"),
        unit=_text(one, "unit"),
        operators=operators if isinstance(operators, dict) else {},
        arguments=arguments if isinstance(arguments, dict) else {},
    )


def _level(one: Mapping[str, Any]) -> PromisedLevel:
    name, unit, element = (_text(one, key) for key in ("property", "unit", "element"))
    return PromisedLevel(property=name, value=one.get("value"), unit=unit, element=element)


def _objects(listed: Any) -> Iterable[Mapping[str, Any]]:
    return (one for one in listed if isinstance(one, dict)) if isinstance(listed, list) else ()


def _text(facet: Mapping[str, Any], key: str) -> str:
    value = facet.get(key)
    return value if isinstance(value, str) else ""


def _texts(facet: Mapping[str, Any], key: str) -> Iterable[str]:
    value = facet.get(key)
    return (one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
