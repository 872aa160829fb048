"""The datasets of a namespace with their columns, tags and sensitivity labels: values and reading."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from whence.client.connection import Connection
from whence.client.values.catalog import KnownField
from whence.errors import ServerVersionError

CATEGORIES = ("pii", "phi", "financial", "sensitive")
_DATASETS_AT_ONCE = 500
_TRAITS_AT_ONCE = 100
Page = TypeVar("Page", bound=msgspec.Struct)


class AssertedTag(msgspec.Struct, frozen=True, kw_only=True):
    """A tag. `field`: the column; empty: the dataset."""

    key: str
    value: str
    field: str = ""
    source: str = ""


class TraitLabel(msgspec.Struct, frozen=True, kw_only=True):
    """A sensitivity label of a column; empty: of the dataset."""

    column: str
    grade: str
    possible: str


class TaggedDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset. `fields`: those of its schema; `columns`: those that lineage knows. `labels` are by category."""

    namespace: str
    name: str
    node: str
    deleted: bool
    fields: tuple[KnownField, ...] = ()
    tags: tuple[AssertedTag, ...] = ()
    types: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    labels: dict[str, tuple[TraitLabel, ...]] = msgspec.field(default_factory=dict)


class _Traits(msgspec.Struct, frozen=True, kw_only=True):
    node: str
    types: tuple[str, ...] = ()
    labels: tuple[TraitLabel, ...] = ()
    columns: tuple[str, ...] = ()


class _Datasets(msgspec.Struct, frozen=True, kw_only=True):
    data: tuple[TaggedDataset, ...]
    page: dict[str, Any] | None = None


class _OneDataset(msgspec.Struct, frozen=True, kw_only=True):
    data: TaggedDataset


class _TraitsPage(msgspec.Struct, frozen=True, kw_only=True):
    data: tuple[_Traits, ...]


def read_tagged_datasets(connection: Connection, namespace: str) -> Iterator[TaggedDataset]:
    """The datasets of a namespace that the key may see, with their labels of all categories. Raises as
    `Connection.get`.
    """
    datasets = _list_datasets(connection, namespace)
    while some := list(islice(datasets, _TRAITS_AT_ONCE)):
        yield from _add_labels(connection, some)


def read_tagged_dataset(connection: Connection, namespace: str, name: str) -> TaggedDataset:
    """One dataset with its labels of all categories. Raises as `Connection.get`; NodeNotFoundError."""
    path = f"/api/v2/datasets/{quote(namespace, safe='')}/{quote(name, safe='')}"
    found = _converted(connection, connection.get(path, {}), _OneDataset).data
    return next(_add_labels(connection, [found]))


def _add_labels(connection: Connection, some: Sequence[TaggedDataset]) -> Iterator[TaggedDataset]:
    labels = {category: _read_traits(connection, some, category) for category in CATEGORIES}
    for one in some:
        found = {category: traits[one.node] for category, traits in labels.items() if one.node in traits}
        first = next(iter(found.values()), _Traits(node=one.node))
        of = {category: traits.labels for category, traits in found.items()}
        yield msgspec.structs.replace(one, types=first.types, columns=first.columns, labels=of)


def _list_datasets(connection: Connection, namespace: str) -> Iterator[TaggedDataset]:
    cursor = None
    while True:
        parameters = {"namespace": namespace, "limit": _DATASETS_AT_ONCE, "cursor": cursor}
        page = _converted(connection, connection.get("/api/v2/datasets", parameters), _Datasets)
        yield from (one for one in page.data if not one.deleted)
        cursor = (page.page or {}).get("next")
        if not cursor:
            return


def _read_traits(connection: Connection, datasets: Sequence[TaggedDataset], category: str) -> Mapping[str, _Traits]:
    parameters = {"node": [one.node for one in datasets], "label": category}
    page = _converted(connection, connection.get("/api/v2/traits", parameters), _TraitsPage)
    return {one.node: one for one in page.data}


def _converted(connection: Connection, value: object, type_: type[Page]) -> Page:
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise ServerVersionError(connection.url, f"its answer has another form: {error}") from None
