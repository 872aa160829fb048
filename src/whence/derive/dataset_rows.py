"""What an event says of one dataset, whatever the run: its names, facets and schema, as rows."""

from dataclasses import dataclass, field
from functools import lru_cache

from whence.model.events import Dataset, Facet
from whence.model.ids import hash64, node_id
from whence.model.names import DatasetName, FieldName, JobName
from whence.store.packed import SchemaContent, pack_schema

Flat = tuple[object, ...]
FacetRow = tuple[int, str, int, str]
"""Subject, name, hash of the payload, payload."""

CACHED_CHARACTERS = 32_768
"""What follows from longer texts is not kept, so that strangers' megabytes do not fill an executor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRows:
    """The rows that follow from a dataset's name and facets."""

    datasets: tuple[Flat, ...]
    facets: tuple[FacetRow, ...]
    aliases: tuple[Flat, ...]
    schemas: tuple[Flat, ...]


@dataclass(frozen=True, slots=True)
class _Said:
    """A dataset, equal to every other one of its name whose facets read the same."""

    name: DatasetName
    source: bytes
    dataset: Dataset = field(compare=False)


def dataset_rows(one: Dataset) -> DatasetRows:
    """The rows of a dataset; computed once for what is said again and again."""
    return _rows_once(_Said(one.name, one.source, one)) if one.source else _rows(_Said(one.name, b"", one))


def _rows(said: _Said) -> DatasetRows:
    one = said.dataset
    own = node_id(one.name)
    others = [link for link in one.symlinks if link.name != one.name]
    return DatasetRows(
        datasets=tuple(named(name) for name in {one.name, *(link.name for link in others)}),
        facets=facet_rows(own, one.facets),
        aliases=tuple({(own, node_id(link.name), link.type) for link in others}),
        schemas=(_schema(one),) if one.fields else (),
    )


_rows_once = lru_cache(maxsize=4_096)(_rows)


def facet_rows(subject: int, facets: tuple[Facet, ...]) -> tuple[FacetRow, ...]:
    """The facets of a dataset or job. A deleted one has an empty payload."""
    payloads = ((facet.key, "" if facet.deleted else facet.payload) for facet in facets)
    return tuple((subject, key, body_id(payload), payload) for key, payload in payloads)


def named(name: DatasetName | JobName) -> Flat:
    """Id, namespace and name."""
    return node_id(name), name.namespace, name.name


def payload_of(facets: tuple[Facet, ...], key: str) -> str:
    """The payload of the facet with this key; empty if there is none."""
    return next((facet.payload for facet in facets if facet.key == key), "")


def body_id(payload: str) -> int:
    """The hash of a facet's payload."""
    return (_hash_once if len(payload) < CACHED_CHARACTERS else hash64)(payload)


_hash_once = lru_cache(maxsize=4_096)(hash64)


def _schema(one: Dataset) -> Flat:
    payload, dataset = payload_of(one.facets, "schema"), node_id(one.name)
    names = sorted({field.name for field in one.fields})
    rows = [(node_id(FieldName(one.name, name)), dataset, name, 1) for name in names]
    return dataset, body_id(payload), pack_schema(SchemaContent(payload, rows))
