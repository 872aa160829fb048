"""The events that apply a contract: one for each of its datasets, by a person (`whence contract apply`)."""

from collections.abc import Sequence

from whence.govern.assertions import assert_facets, set_contract
from whence.govern.contracts.contract import Contract, ContractColumn, ContractTable
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
    )
    return assert_facets(dataset, at, producer, facets)


def _column(one: ContractColumn) -> Json:
    members = {"name": one.column, "logicalType": one.logical_type, "physicalType": one.physical_type}
    return {key: value for key, value in members.items() if value}
