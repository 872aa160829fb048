"""What an event's facets say, as rows: of datasets and jobs, of the run, and the schemas among them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from whence.model.events import Dataset, DatasetEvent, Event, Facet, JobEvent, RunEvent, SchemaField
from whence.model.ids import hash64, hash64_of, node_id
from whence.model.names import DatasetName, FieldName, JobName
from whence.store.packed import RunFacet, SchemaContent, pack_facets, pack_schema

Flat = tuple[object, ...]

CACHED_CHARACTERS = 32_768
"""What follows from longer texts is not kept, so that strangers' megabytes do not fill an executor."""


def mentioned(event: Event) -> tuple[Dataset, ...]:
    """The datasets that an event speaks of."""
    match event:
        case RunEvent():
            return (*event.inputs, *event.outputs)
        case JobEvent():
            return (*event.inputs, *event.outputs, *((event.dataset,) if event.dataset else ()))
        case DatasetEvent():
            return (event.dataset,)


def static_facets(event: Event) -> tuple[Flat, ...]:
    """What holds of datasets and jobs until it is said anew. Said twice in one event, the largest payload counts."""
    said: dict[tuple[int, str], str] = {}
    of_datasets = ((one.name, one.facets) for one in mentioned(event))
    of_job = () if isinstance(event, DatasetEvent) else ((event.job.name, event.job.facets),)
    for name, facets in (*of_job, *of_datasets):
        subject = node_id(name)
        for facet in facets:
            payload, key = _text(facet), (subject, facet.key)
            said[key] = max(said[key], payload) if key in said else payload
    return tuple((*key, _body_id(payload), payload) for key, payload in said.items())


def run_facets(event: Event) -> tuple[Flat, ...]:
    """What is said of one run only, packed: of the run, and of its inputs and outputs."""
    if not isinstance(event, RunEvent):
        return ()
    own = [("", 0, facet.key, _text(facet)) for facet in event.run.facets]
    others: dict[tuple[str, int, str], str] = {}
    for role, datasets in (("input", event.inputs), ("output", event.outputs)):
        for one in datasets:
            for facet in one.run_facets:
                key = (role, node_id(one.name), facet.key)
                others[key] = max(others.get(key, ""), _text(facet))
    # Apart, because what is said of the run is mostly the same from its start to its end.
    return tuple(_packed(facets) for facets in (own, [(*key, text) for key, text in others.items()]) if facets)


def _packed(facets: Sequence[RunFacet]) -> Flat:
    content = pack_facets(facets)
    return hash64_of(content), content


def _text(facet: Facet) -> str:
    return "" if facet.deleted else facet.payload


def named(name: DatasetName | JobName) -> Flat:
    """Id, namespace and name."""
    return node_id(name), name.namespace, name.name


def payload_of(facets: tuple[Facet, ...], key: str) -> str:
    """The payload of the facet with this key; empty if there is none."""
    return next((facet.payload for facet in facets if facet.key == key), "")


@dataclass(frozen=True, slots=True)
class _Schema:
    """A dataset's schema, equal by name and facet text."""

    dataset: DatasetName
    payload: str
    fields: tuple[SchemaField, ...] = field(compare=False)


def schema_row(one: Dataset) -> Flat:
    """The schema that a dataset is said to have, with its fields packed."""
    payload = payload_of(one.facets, "schema")
    rows = _schema_rows_once if len(payload) < CACHED_CHARACTERS else _schema_rows
    return rows(_Schema(one.name, payload, one.fields))


def _schema_rows(schema: _Schema) -> Flat:
    dataset = node_id(schema.dataset)
    names = {one.name for one in schema.fields}
    rows = [(node_id(FieldName(schema.dataset, name)), dataset, name, 1) for name in sorted(names)]
    return dataset, _body_id(schema.payload), pack_schema(SchemaContent(schema.payload, rows))


_schema_rows_once = lru_cache(maxsize=4_096)(_schema_rows)


def _body_id(payload: str) -> int:
    return (_hash_once if len(payload) < CACHED_CHARACTERS else hash64)(payload)


_hash_once = lru_cache(maxsize=16_384)(hash64)
