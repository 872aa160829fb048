"""How many columns of each namespace have a sensitivity label, by category and grade."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whence.model.names import FieldName, Node
from whence.model.sensitivity import Grade
from whence.query.ports.graph import Graph
from whence.query.sensitivity.estate_labels import EstateLabels
from whence.query.sensitivity.marks import CATEGORIES


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceLabels:
    """The columns of a namespace with a label of a category: how many of each grade, of how many datasets, and how many
    of the labels are assumed.
    """

    namespace: str
    category: str
    columns: Mapping[Grade, int]
    assumed: int
    datasets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCounts:
    """All counts, by namespace and category. `unknown`: how many more columns may have a label of each category,
    because of what is not known.
    """

    namespaces: Sequence[NamespaceLabels]
    unknown: Mapping[str, int]
    complete: bool


def count_labels(graph: Graph, labels: EstateLabels) -> LabelCounts:
    """Count the labels of columns. Reads the names of the labelled ones."""
    grades = {category: labels.at_most(category) for category in CATEGORIES}
    has_any = labels.is_column & np.logical_or.reduce([one > Grade.NONE for one in grades.values()])
    places = np.flatnonzero(has_any)
    names = _names(graph, labels, labels.ids[places].tolist())
    found: dict[tuple[str, str], _Count] = {}
    for category, several in grades.items():
        proven = labels.proven(category)
        for place in places[several[places] > Grade.NONE].tolist():
            if isinstance(name := names.get(int(labels.ids[place])), FieldName):
                count = found.setdefault((name.dataset.namespace, category), _Count())
                count.add(name, Grade(int(several[place])), is_assumed=bool(proven[place] < several[place]))
    return LabelCounts(
        namespaces=list(_counted(found)),
        unknown={one: _unknown(labels, one) for one in CATEGORIES},
        complete=labels.is_complete,
    )


class _Count:
    """A count of one namespace and category, while it grows."""

    __slots__ = ("assumed", "columns", "datasets")

    def __init__(self) -> None:
        self.columns: Counter[Grade] = Counter()
        self.datasets: set[str] = set()
        self.assumed = 0

    def add(self, name: FieldName, grade: Grade, *, is_assumed: bool) -> None:
        self.columns[grade] += 1
        self.datasets.add(name.dataset.name)
        self.assumed += is_assumed


def _counted(found: Mapping[tuple[str, str], _Count]) -> Iterator[NamespaceLabels]:
    for (namespace, category), one in sorted(found.items()):
        yield NamespaceLabels(
            namespace=namespace,
            category=category,
            columns=dict(one.columns),
            assumed=one.assumed,
            datasets=len(one.datasets),
        )


def _names(graph: Graph, labels: EstateLabels, ids: Sequence[int]) -> Mapping[int, Node]:
    made = {id_: labels.made_names[id_] for id_ in ids if id_ in labels.made_names}
    return {**graph.nodes(ids), **made}


def _unknown(labels: EstateLabels, category: str) -> int:
    """How many columns without a label may have one."""
    may = (labels.possible(category) > Grade.NONE) & (labels.at_most(category) == Grade.NONE) & labels.is_column
    return int(may.sum())
