"""Datasets with the facets of all their aliases."""

from collections.abc import Mapping, Sequence
from itertools import chain

from whence.model.catalog import FacetRecord
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.query.lookup.descriptions import DescribedDataset, Input, describe_datasets, fields_of, tags_of
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph


def with_aliases(
    catalog: Catalog,
    graph: Graph,
    datasets: Sequence[DescribedDataset],
    *,
    columns: bool = True,
    versions: bool = True,
) -> tuple[DescribedDataset, ...]:
    """Each dataset under its own name, completed from its aliases: missing facets, with `columns` the inputs of its
    columns, and with `versions` its schema. Writes are those of its own name.
    """
    groups = graph.groups([one.entry.id for one in datasets])
    names = sorted({name for group in groups.values() for name in group})
    entries = list(catalog.entries(map(node_id, names)).values()) if names else []
    described = describe_datasets(catalog, graph, entries, columns=columns, versions=versions) if entries else ()
    by_name = {one.name: one for one in described}
    return tuple(
        _whole(one, [by_name[name] for name in groups.get(one.entry.id, ()) if name != one.name and name in by_name])
        for one in datasets
    )


def _whole(own: DescribedDataset, others: Sequence[DescribedDataset]) -> DescribedDataset:
    if not others:
        return own
    group = [own, *others]
    provider_of = {name: _provider(name, own, others) for one in group for name in one.records}
    facets = {name: provider_of[name].facets[name] for name in sorted(provider_of)}
    records: Mapping[str, FacetRecord] = {name: provider_of[name].records[name] for name in facets}
    schemas = [one.schema for one in others if one.schema]
    return own._replace(
        facets=facets,
        records=records,
        fields=fields_of(records),
        tags=tags_of(facets),
        schema=own.schema or max(schemas, key=lambda one: (one.last_time, one.body_id), default=None),
        inputs=_inputs(group),
    )


def _provider(facet: str, own: DescribedDataset, others: Sequence[DescribedDataset]) -> DescribedDataset:
    """The name that provides a facet: the dataset's own, or else the one with the latest report."""
    return own if facet in own.records else max(others, key=lambda one: _reported_at(facet, one))


def _reported_at(facet: str, dataset: DescribedDataset) -> tuple[bool, int, DatasetName]:
    record = dataset.records.get(facet)
    return (record is not None, record.time if record else 0, dataset.name)


def _inputs(every: Sequence[DescribedDataset]) -> Mapping[str, tuple[Input, ...]]:
    names = sorted({name for one in every for name in one.inputs})
    several = {name: dict.fromkeys(chain.from_iterable(one.inputs.get(name, ()) for one in every)) for name in names}
    return {
        name: tuple(sorted(some, key=lambda one: (one.field, one.transformation))) for name, some in several.items()
    }
