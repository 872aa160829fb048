"""Contracts of datasets with their evaluations, over the ports of `query`: for the API and the command line alike."""

from collections.abc import Iterator, Mapping, Sequence

from whence.govern.contracts.evaluation.schema import Evaluation, evaluate_contract
from whence.model.catalog import Entry
from whence.model.graph import SchemaRow
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.query.history.schemas import columns_of, schema_at
from whence.query.lookup.contracts import ContractedDataset, contract_versions, contracted_datasets
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Past
from whence.query.rendering.contracts import (
    ContractEvaluation,
    ContractHistory,
    DatasetContract,
    contract_document,
    history_document,
)


def list_contracts(catalog: Catalog, graph: Past, entries: Sequence[Entry]) -> list[DatasetContract]:
    """The contracts that hold now for these datasets, each with the number of its violations."""
    return list(_contracts(contracted_datasets(catalog, entries), graph))


def _contracts(datasets: Sequence[ContractedDataset], graph: Past) -> Iterator[DatasetContract]:
    schemas = _schemas(graph, [one.name for one in datasets])
    for one in datasets:
        if (held := one.at()) is not None:
            found = evaluate_contract(held, columns_of(schema_at(schemas[one.name], None)))
            yield contract_document(one.name, held, None if found.not_evaluated else len(found.violations))


def contract_history(catalog: Catalog, graph: Past, name: DatasetName, at: int | None) -> ContractHistory:
    """The contract of a dataset at a time (µs), or now; its evaluation over the columns reported until then; and its
    versions.
    """
    id_ = node_id(name)
    dataset = ContractedDataset(name=name, versions=contract_versions(catalog.facets([id_]).get(id_, {})))
    held = dataset.at(at)
    if held is None:
        return history_document(dataset, at, None)
    found = evaluate_contract(held, columns_of(schema_at(_schemas(graph, [name])[name], at)))
    return history_document(dataset, at, _document(found))


def _schemas(graph: Past, names: Sequence[DatasetName]) -> Mapping[DatasetName, Sequence[SchemaRow]]:
    """The reported schemas of datasets, by any of their names."""
    groups = graph.groups([node_id(one) for one in names])
    ids = {name: {node_id(one) for one in (name, *groups.get(node_id(name), ()))} for name in names}
    rows = graph.schemas({id_ for some in ids.values() for id_ in some}) if names else ()
    return {name: [row for row in rows if row.dataset_id in some] for name, some in ids.items()}


def _document(found: Evaluation) -> ContractEvaluation:
    return {
        "violations": [
            {"rule": one.rule, "column": one.column, "expected": one.expected, "observed": one.observed or None}
            for one in found.violations
        ],
        "not_evaluated": found.not_evaluated or None,
    }
