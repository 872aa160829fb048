"""Attributes of the nodes in adjacency arrays: the order of their names, and the facet values that impact counts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, select

from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.model.traits import TRAIT_FACETS, Traits, parse_traits
from whence.store.adjacency.csr import Ints, Places
from whence.store.schema.tables import dataset, facet_body, field, job

T = TypeVar("T")

FETCHED = 50_000
"""Rows fetched at a time."""


class Classes(NamedTuple):
    """Nodes grouped by equal traits: the values of `Csr.trait`, `Csr.trait_start` and `Csr.trait_text`."""

    trait: Places
    start: Ints
    text: NDArray[np.uint8]


def order_names(connection: Connection, ids: Ints, minted: Mapping[int, Node]) -> Places:
    """The rank of the name of each id. `minted` has names of ids that no event mentioned. Ids without a name come
    first.
    """
    texts = [""] * len(ids)
    named = chain(_names(connection), minted.items())
    while some := list(islice(named, FETCHED)):
        for at, name in _placed(ids, some):
            texts[at] = str(name)
    order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int32)
    found = np.empty(len(ids), np.int32)
    found[order] = np.arange(len(ids), dtype=np.int32)
    return found


def read_classes(connection: Connection, ids: Ints, canonical: Places) -> Classes:
    """Read the traits of datasets and jobs, merged over each alias group."""
    facets_by_place: dict[int, list[tuple[str, str]]] = {}
    rows = ((row[0], (row[1], row[2])) for row in _rows(connection, _TRAIT_FACETS))
    while some := list(islice(rows, FETCHED)):
        for at, facet in _placed(ids, some):
            facets_by_place.setdefault(int(canonical[at]), []).append(facet)
    index_of: dict[bytes, int] = {}
    trait = np.full(len(ids), -1, np.int32)
    for at, facets in facets_by_place.items():
        trait[at] = index_of.setdefault(_written(parse_traits(facets)), len(index_of))
    start = np.cumsum([0, *map(len, index_of)], dtype=np.int64)
    return Classes(trait, start, np.frombuffer(b"".join(index_of), np.uint8))


def read_class(text: bytes) -> Traits:
    """Decode the traits of a class. It has no tags."""
    types, owners, tier = json.loads(text)
    return Traits(types=frozenset(types), owners=frozenset(owners), tier=tier)


def _written(traits: Traits) -> bytes:
    return json.dumps([sorted(traits.types), sorted(traits.owners), traits.tier]).encode()


_TRAIT_FACETS = select(facet_body.c.subject_id, facet_body.c.name, facet_body.c.payload).where(
    facet_body.c.name.in_(TRAIT_FACETS), facet_body.c.payload != ""
)
_THINGS = ((DatasetName, dataset), (JobName, job))


def _names(connection: Connection) -> Iterator[tuple[int, Node]]:
    datasets: dict[int, DatasetName] = {}
    for make, table in _THINGS:
        for id_, namespace, name in _rows(connection, select(table.c.id, table.c.namespace, table.c.name)):
            thing = make(namespace, name)
            if isinstance(thing, DatasetName):
                datasets[id_] = thing
            yield id_, thing
    for id_, of, name in _rows(connection, select(field.c.id, field.c.dataset_id, field.c.name)):
        if of in datasets:
            yield id_, FieldName(datasets[of], name)


def _rows(connection: Connection, query: Select[Any]) -> Iterator[Any]:
    found = connection.execution_options(stream_results=True, max_row_buffer=FETCHED).execute(query)
    return chain.from_iterable(found.partitions(FETCHED))


def _placed(ids: Ints, pairs: Sequence[tuple[int, T]]) -> Iterator[tuple[int, T]]:
    """Yield the pairs whose id is in `ids`, with its index there in place of the id."""
    wanted = np.array([id_ for id_, _ in pairs], np.int64)
    at = np.searchsorted(ids, wanted)
    inside = np.flatnonzero(at < len(ids))
    inside = inside[ids[at[inside]] == wanted[inside]]
    for place, which in zip(at[inside].tolist(), inside.tolist(), strict=True):
        yield place, pairs[which][1]
