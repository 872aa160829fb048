"""Lineage baselines as OpenLineage events and back. Nothing is replaced: the baseline at a time is the last one until
then.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from whence.govern.assertions import assert_facets
from whence.model.catalog import RegisteredFilter, RegistryKind, namespace_of_registered
from whence.model.names import DatasetName, parse_node
from whence.model.records.lineage_baselines import (
    LINEAGE_BASELINE,
    LineageBaselineRecord,
    lineage_baseline_dataset,
)
from whence.openlineage.write import own_facet
from whence.query.ports.catalog import Catalog
from whence.query.visibility.rule_records import read_baseline_record

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageBaseline:
    """An accepted baseline of a dataset, when (µs), and the producer of its event."""

    dataset: DatasetName
    time: int
    producer: str
    record: LineageBaselineRecord


def baseline_event(record: LineageBaselineRecord, namespace: str, at: int, producer: str) -> Json:
    """The event by which a producer accepts a baseline, or ends it, at a time (µs)."""
    members = {key: value for key, value in msgspec.to_builtins(record).items() if value}
    facets = {LINEAGE_BASELINE: own_facet("LineageBaselineDatasetFacet", **members)}
    return assert_facets(lineage_baseline_dataset(namespace, record, at), at, producer, facets)


def held_baselines(catalog: Catalog, until: int | None = None) -> Mapping[DatasetName, LineageBaseline]:
    """The baselines that hold at a time (µs), or now, by dataset."""
    last: dict[DatasetName, LineageBaseline] = {}
    for one in reversed(catalog.registered_facets(RegisteredFilter(RegistryKind.LINEAGE_BASELINE, LINEAGE_BASELINE))):
        record = read_baseline_record(one.payload)
        dataset = parse_node(record.dataset) if record else None
        if record is None or not isinstance(dataset, DatasetName) or (until is not None and one.time > until):
            continue
        # Who may write in one namespace accepts no lineage of another.
        if dataset.namespace == namespace_of_registered(one.name):
            last[dataset] = LineageBaseline(dataset=dataset, time=one.time, producer=one.producer, record=record)
    return {name: last[name] for name in sorted(last) if not last[name].record.ended}
