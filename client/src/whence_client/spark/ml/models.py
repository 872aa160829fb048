"""Fitted models of one application: what each was fitted on, where it is saved, and the columns that it computes.

A model has one field for each column that its estimator was given: `features`, `churned`. A vector is
one column: plans do not show its parts.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from whence_client.lineage.columns import (
    AGGREGATION,
    EMPTY,
    NOT_CAPTURED,
    Column,
    Dataset,
    Edges,
    merge,
    read_column,
    transform,
    unknown,
)
from whence_client.spark.plan.attributes import Computed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from whence_client.spark.plan.attributes import Relation

MOST_COLUMNS = 100_000
"""The computed columns that are remembered: the oldest go first."""
MOST_SAVED = 10_000


@dataclass
class Fitted:
    """One fitted model. `names` are the columns that it takes; `fields` what they came from when it was fitted, None if
    nobody saw that. `dataset`: where it is saved.
    """

    names: tuple[str, ...] = ()
    fields: Mapping[str, Column] | None = None
    rows: Edges = frozenset()
    dataset: Dataset | None = None

    def source(self) -> Column:
        """The model as a source of what it computes: its saved fields, or what it was fitted on."""
        if self.dataset is not None:
            return transform(read_column(self.dataset, name) for name in self.names)
        if self.fields is None:
            return unknown(NOT_CAPTURED)
        return transform(self.fields.values())


class SavedModel(NamedTuple):
    """A model as the dataset that it is saved as: its fields, and what chose the rows that it was fitted on."""

    dataset: Dataset
    fields: Mapping[str, Column]
    rows: Edges

    @property
    def inputs(self) -> tuple[Dataset, ...]:
        """The datasets that it was fitted on, by name."""
        edges = {edge for column in self.fields.values() for edge in (*column.direct, *column.indirect)} | self.rows
        return tuple(sorted({edge.source.dataset for edge in edges}))


class _Made(NamedTuple):
    """Who computed a column. `is_exact`: from all of the columns that it was given."""

    models: tuple[Fitted, ...]
    is_exact: bool


@dataclass
class Models:
    """The computed columns of an application by expression id, and the folders of its saved models."""

    _made: OrderedDict[int, _Made] = field(default_factory=OrderedDict)
    _folders: OrderedDict[Dataset, None] = field(default_factory=OrderedDict)

    def learn(self, fitted: Fitted, relation: Relation, names: Iterable[str]) -> None:
        """Keep what a model was fitted on: the columns of `names` in a relation."""
        columns = {one.name: relation.column(index) for index, one in enumerate(relation.output)}
        fitted.names = tuple(name for name in names if name in columns)
        fitted.fields = {name: transform((columns[name],), AGGREGATION) for name in fitted.names}
        fitted.rows = relation.influences.edges

    def note_columns(self, numbers: Iterable[int], models: Sequence[Fitted], *, is_exact: bool) -> None:
        """Keep who computed the columns with these expression ids."""
        for number in numbers:
            self._made.setdefault(number, _Made(tuple(models), is_exact))
        while len(self._made) > MOST_COLUMNS:
            self._made.popitem(last=False)

    def computed(self, number: int) -> Computed | None:
        """What a column was computed by, if by a model or a transformer."""
        found = self._made.get(number)
        return None if found is None else Computed(merge(one.source() for one in found.models), found.is_exact)

    def begin_save(self, folder: Dataset) -> None:
        """What is written below this folder from now on are the parts of a model."""
        self._folders[folder] = None
        while len(self._folders) > MOST_SAVED:
            self._folders.popitem(last=False)

    def is_part(self, dataset: Dataset) -> bool:
        """Whether a dataset is a file of a saved model."""
        return any(one in self._folders for one in _folders_above(dataset))

    def save(self, models: Sequence[Fitted], folder: Dataset) -> SavedModel | None:
        """Keep where models are saved together. None for what has learned nothing, such as a pipeline before its fit,
        and for the part of another model.
        """
        if self.is_part(folder) or not models:
            return None
        fields: dict[str, Column] = {}
        for one in models:
            for name, column in (one.fields or dict.fromkeys(one.names, unknown(NOT_CAPTURED))).items():
                fields[name] = merge([fields.get(name, EMPTY), column])
        for one in models:
            one.dataset = folder
        return SavedModel(folder, fields, frozenset().union(*(one.rows for one in models)))


def _folders_above(dataset: Dataset) -> Iterator[Dataset]:
    path = dataset.name
    while "/" in path:
        path = path.rpartition("/")[0]
        yield Dataset(dataset.namespace, path)
