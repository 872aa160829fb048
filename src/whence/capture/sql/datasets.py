"""Which of an event's own datasets a table of its SQL is: by the end of its name, never by a guess.

Dataset names are dotted (OpenLineage's naming rules); SQL leaves out what the session completes, or says more than the
producer did. So one name must end with the other. The longest agreement counts; if two datasets agree as well, none is
meant. Case counts where the dialect says so.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from whence.capture.sql.catalog import Catalog
from whence.capture.sql.dialects import DIALECTS, Dialect
from whence.capture.sql.lineage import Table
from whence.capture.sql.names import cased
from whence.capture.sql.naming import location
from whence.model.names import DatasetName


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDataset:
    """A dataset as an event speaks of it: its name, its other names, and its columns (none: not known)."""

    name: DatasetName
    others: tuple[DatasetName, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[DatasetName, ...]:
        """All names."""
        return (self.name, *self.others)


def dataset_of(table: Table, known: Sequence[EventDataset], dialect: Dialect) -> DatasetName | None:
    """The dataset that a table is, or None: none of these, or one of several.

    >>> from whence.capture.sql.dialects import dialect_of
    >>> orders = EventDataset(name=DatasetName("postgres://db:5432", "shop.public.orders"))
    >>> dataset_of(Table(("public", "orders")), [orders], dialect_of("postgres")).name
    'shop.public.orders'
    """
    at = location(table.parts[-1])
    if at is not None:
        return next((one.name for one in known if at in one.names), None)
    agreed = {one.name: max(_agreement(table.parts, name, dialect) for name in one.names) for one in known}
    best = max(agreed.values(), default=_NONE)
    meant = [name for name, agreement in agreed.items() if agreement == best]
    return meant[0] if best != _NONE and len(meant) == 1 else None


_NONE = (0, False)


def _agreement(parts: tuple[str, ...], name: DatasetName, dialect: Dialect) -> tuple[int, bool]:
    """How many parts agree, from the end, and whether in case too; `_NONE` if neither name ends with the other."""
    whole = tuple(name.name.split("."))
    length = min(len(parts), len(whole))
    mine, its = parts[-length:], whole[-length:]
    if mine == its:
        return length, True
    folds = dialect.tables != "keep" and [one.lower() for one in mine] == [one.lower() for one in its]
    return (length, False) if folds else _NONE


@dataclass(frozen=True, slots=True)
class EventCatalog(Catalog):
    """What an event says of the columns of its datasets. A table that would be another dataset as a source than as a
    target has none that are known.
    """

    inputs: tuple[EventDataset, ...] = ()
    outputs: tuple[EventDataset, ...] = ()
    dialect: Dialect = DIALECTS["generic"]

    def find(self, table: Table) -> tuple[str, ...] | None:
        """The columns of a table, as the dialect compares them; None: not known."""
        sides = [dataset_of(table, side, self.dialect) for side in (self.inputs, self.outputs)]
        meant = {name for name in sides if name is not None}
        if len(meant) != 1:
            return None
        fields = next((one.fields for one in (*self.inputs, *self.outputs) if one.name in meant and one.fields), None)
        return None if fields is None else _top(fields, self.dialect)


def fields_of(known: Iterable[EventDataset]) -> Mapping[DatasetName, Mapping[str, str]]:
    """The columns of each dataset as the event writes them, by what SQL may call them; None stands for several."""
    return {one.name: _spellings(one.fields) for one in known}


def _spellings(fields: Iterable[str]) -> dict[str, str]:
    folded: dict[str, list[str]] = {}
    exact = dict.fromkeys(fields)
    for field in exact:
        folded.setdefault(field.lower(), []).append(field)
    alone = {text: several[0] for text, several in folded.items() if len(several) == 1}
    return {**alone, **{field: field for field in exact}}


def spelled(field: str, spellings: Mapping[str, str], dialect: Dialect) -> str:
    """A column as the event writes it; as the reader does, if the event does not have it."""
    found = spellings.get(field)
    if found is None and dialect.columns != "keep":
        found = spellings.get(field.lower())
    return found or field


def _top(fields: Iterable[str], dialect: Dialect) -> tuple[str, ...]:
    """Without what is nested in others, whose names are dotted."""
    every = set(fields)
    return tuple(
        cased(dialect.columns, one, quoted=_is_quoted(one))
        for one in fields
        if "." not in one or one.rpartition(".")[0] not in every
    )


def _is_quoted(name: str) -> bool:
    """Where case tells that it must be: producers write what is not quoted in one case, whichever."""
    return name not in (name.lower(), name.upper())
