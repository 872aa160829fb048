"""Rows of an event's measurements: what a run measured of its inputs and outputs, or a dataset event of its dataset."""

from collections.abc import Iterator
from functools import lru_cache

from whence.derive.rows.dataset_rows import Flat, find_payload
from whence.model.events import DatasetEvent, Event, RunEvent
from whence.model.ids import node_id
from whence.openlineage.facets.measurements import METRICS, is_measurement_facet, parse_measurements
from whence.store.schema.packed import MEASURED_FACET_NUMBERS, pack_measurements


def make_measurement_rows(event: Event) -> tuple[Flat, ...]:
    """Dataset, number (`MEASURED_FACETS`) and packed content of each facet that measures."""
    payloads: dict[tuple[int, str, str], str] = {}
    for key, payload in _measuring_facets(event):
        payloads[key] = max(payloads.get(key, ""), payload)  # of two in one event, the largest counts (state.md)
    return tuple(
        (dataset, MEASURED_FACET_NUMBERS[role, facet], _pack_cached(facet, payload))
        for (dataset, role, facet), payload in payloads.items()
    )


def _measuring_facets(event: Event) -> Iterator[tuple[tuple[int, str, str], str]]:
    match event:
        case RunEvent():
            for role, datasets in (("input", event.inputs), ("output", event.outputs)):
                for dataset in datasets:
                    for facet in dataset.run_facets:
                        if is_measurement_facet(role, facet.key):
                            yield (node_id(dataset.name), role, facet.key), facet.payload
        case DatasetEvent(dataset=dataset):
            if payload := find_payload(tuple(one for one in dataset.facets if not one.deleted), METRICS):
                yield (node_id(dataset.name), "", METRICS), payload


def _pack(key: str, payload: str) -> bytes:
    return pack_measurements(parse_measurements(key, payload))


_pack_cached = lru_cache(maxsize=256)(_pack)
