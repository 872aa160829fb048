"""Rows of one dataset that do not depend on the run: its names, facets and schema."""

from dataclasses import dataclass, field
from functools import lru_cache

from whence.model.events import Dataset, Facet
from whence.model.ids import Kind, hash64, kind_of, node_id
from whence.model.names import DatasetName, FieldName, JobName
from whence.openlineage.facets.steward_tags import TAG_FACETS, TAGS, split_tags
from whence.store.schema.packed import SchemaContent, pack_schema

Flat = tuple[object, ...]
FacetRow = tuple[int, str, int, str]
"""Subject, name, hash of the payload, payload."""

SchemaRow = tuple[int, int, bytes]
"""Dataset, hash of the payload, packed content."""

_KEPT_APART = TAG_FACETS[1:]

CACHED_CHARACTERS = 32_768
"""Results of longer texts are not cached, so that large events do not fill an executor's memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRows:
    """The rows that follow from a dataset's name and facets."""

    datasets: tuple[Flat, ...]
    facets: tuple[FacetRow, ...]
    aliases: tuple[Flat, ...]
    schemas: tuple[SchemaRow, ...]


@dataclass(frozen=True, slots=True)
class _StaticDataset:
    """A cache key: equal for all datasets of one name whose facets have the same JSON."""

    name: DatasetName
    source: bytes
    dataset: Dataset = field(compare=False)


def make_dataset_rows(dataset: Dataset) -> DatasetRows:
    """The rows of a dataset, computed once for equal descriptions."""
    return (
        _make_rows_cached(_StaticDataset(dataset.name, dataset.source, dataset))
        if dataset.source
        else _make_rows(_StaticDataset(dataset.name, b"", dataset))
    )


def _make_rows(key: _StaticDataset) -> DatasetRows:
    dataset = key.dataset
    dataset_id = node_id(dataset.name)
    others = [link for link in dataset.symlinks if link.name != dataset.name]
    return DatasetRows(
        datasets=tuple(make_name_row(name) for name in {dataset.name, *(link.name for link in others)}),
        facets=make_facet_rows(dataset_id, dataset.facets),
        aliases=tuple({(dataset_id, node_id(link.name), link.type) for link in others}),
        schemas=(_make_schema_row(dataset),) if dataset.fields else (),
    )


_make_rows_cached = lru_cache(maxsize=4_096)(_make_rows)


def make_facet_rows(subject: int, facets: tuple[Facet, ...]) -> tuple[FacetRow, ...]:
    """The facet rows of a dataset or job. A deleted facet has an empty payload."""
    payloads = [(facet.key, "" if facet.deleted else facet.payload) for facet in facets if facet.key not in _KEPT_APART]
    if tags := find_payload(facets, TAGS):
        payloads += split_tags(tags, of_job=kind_of(subject) is Kind.JOB)
    return tuple((subject, key, hash_payload(payload), payload) for key, payload in payloads)


def make_name_row(name: DatasetName | JobName) -> Flat:
    """Id, namespace and name."""
    return node_id(name), name.namespace, name.name


def find_payload(facets: tuple[Facet, ...], key: str) -> str:
    """The payload of the facet with this key; empty if there is none."""
    return next((facet.payload for facet in facets if facet.key == key), "")


def hash_payload(payload: str) -> int:
    """The hash of a facet's payload."""
    return (_hash_cached if len(payload) < CACHED_CHARACTERS else hash64)(payload)


_hash_cached = lru_cache(maxsize=4_096)(hash64)


def _make_schema_row(dataset: Dataset) -> SchemaRow:
    payload, dataset_id = find_payload(dataset.facets, "schema"), node_id(dataset.name)
    names = sorted({field.name for field in dataset.fields})
    rows = [(node_id(FieldName(dataset.name, name)), dataset_id, name, 1) for name in names]
    return dataset_id, hash_payload(payload), pack_schema(SchemaContent(payload, rows))
