"""The events that apply a contract: one for each of its datasets, by a person (`whence contract apply`)."""

from collections.abc import Iterator, Sequence

from whence.govern.assertions import assert_facets, set_contract
from whence.govern.contracts.contract import Contract, ContractColumn, ContractTable, Rule, ServiceLevel
from whence.model.names import DatasetName
from whence.openlineage.json.wire import Json


def apply_event(
    contract: Contract,
    table: ContractTable,
    dataset: DatasetName,
    *,
    at: int,
    producer: str,
    approved_by: Sequence[str],
) -> Json:
    """The event by which a version of a contract holds for a dataset, from a time on (µs)."""
    facets = set_contract(
        contract.version,
        id=contract.id,
        status=contract.status,
        standard=contract.standard,
        owners=list(contract.owners),
        approvedBy=list(approved_by),
        table=table.physical_name or table.name,
        text=contract.text,
        columns=[_column(one) for one in table.columns],
        quality=[*_rules("", table.rules), *(rule for one in table.columns for rule in _rules(one.column, one.rules))],
        serviceLevels=[_level(one) for one in contract.service_levels if is_level_of(one, table)],
    )
    return assert_facets(dataset, at, producer, facets)


def _column(one: ContractColumn) -> Json:
    members: Json = {"name": one.column, "logicalType": one.logical_type, "physicalType": one.physical_type}
    members |= {"required": one.required, "unique": one.unique or one.primary_key}
    return {key: value for key, value in members.items() if value}


def _rules(column: str, rules: Sequence[Rule]) -> Iterator[Json]:
    for one in rules:
        members: Json = {"rule": one.key, "column": column, "metric": one.metric, "unit": one.unit}
        members |= {"operators": dict(one.operators), "arguments": dict(one.arguments)}
        yield {key: value for key, value in members.items() if value}


def _level(one: ServiceLevel) -> Json:
    members = {"property": one.property, "value": one.value, "unit": one.unit, "element": one.element}
    return {key: value for key, value in members.items() if value != ""}


def is_level_of(level: ServiceLevel, table: ContractTable) -> bool:
    """Whether a service level is about a table: it names no element, or one of this table's."""
    tables = {one.strip().partition(".")[0] for one in level.element.split(",") if one.strip()}
    return not tables or bool(tables & {table.name, table.physical_name})
