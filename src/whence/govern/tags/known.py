"""What Whence knows of the datasets of a namespace: their columns, tags and sensitivity labels."""

from dataclasses import dataclass

from whence.model.names import DatasetName
from whence.model.sensitivity import Grade


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class KnownTag:
    """A tag that somebody asserted. `field`: the column; empty: the dataset. `source`: who has it, such as USER."""

    key: str
    value: str
    field: str
    source: str


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class KnownLabel:
    """The sensitivity label of a column (empty: the dataset) in a category. `possible`: the grade that it may have
    because of what is not known.
    """

    column: str
    category: str
    grade: Grade
    possible: Grade


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDataset:
    """A dataset that the sender may see."""

    name: DatasetName
    columns: frozenset[str] = frozenset()
    is_view: bool = False
    tags: tuple[KnownTag, ...] = ()
    labels: tuple[KnownLabel, ...] = ()
