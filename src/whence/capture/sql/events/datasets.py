"""Matching of an SQL table with one of its event's own datasets: by the end of its name, never by a guess.

Dataset names are dotted (OpenLineage's naming rules). SQL omits the parts that the session completes, or adds parts
that the producer omits. So one name must end with the other. The longest match wins; with two equal matches, there is
none. Case is significant in dialects that define it so.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from whence.capture.sql.dialects.dialects import DIALECTS, Dialect
from whence.capture.sql.events.naming import location
from whence.capture.sql.lineage import Table
from whence.capture.sql.names.catalog import Catalog
from whence.capture.sql.names.names import normalize_case
from whence.model.names import DatasetName


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDataset:
    """A dataset as an event reports it: its name, its other names, and its columns (empty if unknown)."""

    name: DatasetName
    others: tuple[DatasetName, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[DatasetName, ...]:
        """All names."""
        return (self.name, *self.others)


def match_dataset(table: Table, datasets: Sequence[EventDataset], dialect: Dialect) -> DatasetName | None:
    """The dataset that a table denotes. Returns None if no dataset matches, or several match equally.

    >>> from whence.capture.sql.dialects.dialects import dialect_of
    >>> orders = EventDataset(name=DatasetName("postgres://db:5432", "shop.public.orders"))
    >>> match_dataset(Table(("public", "orders")), [orders], dialect_of("postgres")).name
    'shop.public.orders'
    """
    file_name = location(table.parts[-1])
    if file_name is not None:
        return next((dataset.name for dataset in datasets if file_name in dataset.names), None)
    agreements = {
        dataset.name: max(_agreement(table.parts, name, dialect) for name in dataset.names) for dataset in datasets
    }
    best = max(agreements.values(), default=_NONE)
    matches = [name for name, agreement in agreements.items() if agreement == best]
    return matches[0] if best != _NONE and len(matches) == 1 else None


_NONE = (0, False)


def _agreement(parts: tuple[str, ...], name: DatasetName, dialect: Dialect) -> tuple[int, bool]:
    """The number of parts that agree, from the end, and whether case agrees; `_NONE` if neither name ends with the
    other.
    """
    dataset_parts = tuple(name.name.split("."))
    length = min(len(parts), len(dataset_parts))
    table_end, dataset_end = parts[-length:], dataset_parts[-length:]
    if table_end == dataset_end:
        return length, True
    folds = dialect.tables != "keep" and [part.lower() for part in table_end] == [part.lower() for part in dataset_end]
    return (length, False) if folds else _NONE


@dataclass(frozen=True, slots=True)
class EventCatalog(Catalog):
    """The columns of an event's datasets. A table that matches one dataset as a source and another as a target has no
    known columns.
    """

    inputs: tuple[EventDataset, ...] = ()
    outputs: tuple[EventDataset, ...] = ()
    dialect: Dialect = DIALECTS["generic"]

    def find(self, table: Table) -> tuple[str, ...] | None:
        """The columns of a table, as the dialect compares them, or None if they are unknown."""
        sides = [match_dataset(table, side, self.dialect) for side in (self.inputs, self.outputs)]
        matches = {name for name in sides if name is not None}
        if len(matches) != 1:
            return None
        fields = next(
            (dataset.fields for dataset in (*self.inputs, *self.outputs) if dataset.name in matches and dataset.fields),
            None,
        )
        return None if fields is None else _top_level(fields, self.dialect)


def fields_of(known: Iterable[EventDataset]) -> Mapping[DatasetName, Mapping[str, str]]:
    """The columns of each dataset as the event writes them, by the spellings that SQL may use."""
    return {one.name: _spellings(one.fields) for one in known}


def _spellings(fields: Iterable[str]) -> dict[str, str]:
    by_lower_case: dict[str, list[str]] = {}
    exact = dict.fromkeys(fields)
    for field in exact:
        by_lower_case.setdefault(field.lower(), []).append(field)
    unique = {text: same_fields[0] for text, same_fields in by_lower_case.items() if len(same_fields) == 1}
    return {**unique, **{field: field for field in exact}}


def spelling_of(field: str, spellings: Mapping[str, str], dialect: Dialect) -> str:
    """A column as the event writes it; as the reader writes it, if the event does not have it."""
    spelling = spellings.get(field)
    if spelling is None and dialect.columns != "keep":
        spelling = spellings.get(field.lower())
    return spelling or field


def _top_level(fields: Iterable[str], dialect: Dialect) -> tuple[str, ...]:
    """The columns without nested fields, whose names are dotted."""
    names = set(fields)
    return tuple(
        normalize_case(dialect.columns, field, quoted=_is_quoted(field))
        for field in fields
        if "." not in field or field.rpartition(".")[0] not in names
    )


def _is_quoted(name: str) -> bool:
    """Whether the case of a name shows that it was quoted: producers write unquoted names in one case, upper or
    lower.
    """
    return name not in (name.lower(), name.upper())
