"""How many columns of each namespace, and of each domain, have a sensitivity label, by category and grade."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, Node
from whence.model.sensitivity import Grade
from whence.model.traits import DOMAIN
from whence.query.ports.graph import Graph
from whence.query.sensitivity.estate_labels import EstateLabels
from whence.query.sensitivity.marks import CATEGORIES
from whence.query.traversal.representatives import Representatives
from whence.query.traversal.traits import TraitReader


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelGroup:
    """The columns of a namespace or domain with a label of a category: how many of each grade, of how many datasets,
    and how many of the labels are assumed. `name`: empty for the datasets without a domain.
    """

    name: str
    category: str
    columns: Mapping[Grade, int]
    assumed: int
    datasets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCounts:
    """All counts, by namespace and category, and by domain and category. `unknown`: how many more columns may have a
    label of each category, because of what is not known.
    """

    namespaces: Sequence[LabelGroup]
    domains: Sequence[LabelGroup]
    unknown: Mapping[str, int]
    complete: bool


def count_labels(graph: Graph, labels: EstateLabels) -> LabelCounts:
    """Count the labels of columns. Reads the names of the labelled ones, and the tags of their datasets."""
    grades = {category: labels.at_most(category) for category in CATEGORIES}
    has_any = labels.is_column & np.logical_or.reduce([one > Grade.NONE for one in grades.values()])
    places = np.flatnonzero(has_any)
    names = _names(graph, labels, labels.ids[places].tolist())
    domains = _domains(graph, {name.dataset for name in names.values() if isinstance(name, FieldName)})
    by_namespace: defaultdict[tuple[str, str], _Count] = defaultdict(_Count)
    by_domain: defaultdict[tuple[str, str], _Count] = defaultdict(_Count)
    for category, several in grades.items():
        proven = labels.proven(category)
        for place in places[several[places] > Grade.NONE].tolist():
            if isinstance(name := names.get(int(labels.ids[place])), FieldName):
                grade, is_assumed = Grade(int(several[place])), bool(proven[place] < several[place])
                by_namespace[name.dataset.namespace, category].add(name, grade, is_assumed=is_assumed)
                by_domain[domains[name.dataset], category].add(name, grade, is_assumed=is_assumed)
    return LabelCounts(
        namespaces=list(_counted(by_namespace)),
        domains=list(_counted(by_domain)),
        unknown={one: _unknown(labels, one) for one in CATEGORIES},
        complete=labels.is_complete,
    )


class _Count:
    """A count of one namespace or domain and category, while it grows."""

    __slots__ = ("assumed", "columns", "datasets")

    def __init__(self) -> None:
        self.columns: Counter[Grade] = Counter()
        self.datasets: set[DatasetName] = set()
        self.assumed = 0

    def add(self, name: FieldName, grade: Grade, *, is_assumed: bool) -> None:
        self.columns[grade] += 1
        self.datasets.add(name.dataset)
        self.assumed += is_assumed


def _counted(found: Mapping[tuple[str, str], _Count]) -> Iterator[LabelGroup]:
    for (name, category), one in sorted(found.items(), key=lambda item: item[0]):
        yield LabelGroup(
            name=name,
            category=category,
            columns=dict(one.columns),
            assumed=one.assumed,
            datasets=len(one.datasets),
        )


def _domains(graph: Graph, datasets: Iterable[DatasetName]) -> Mapping[DatasetName, str]:
    ids = {name: node_id(name) for name in datasets}
    identity = Representatives(graph)
    identity.learn((id_, id_) for id_ in ids.values())
    reader = TraitReader(identity)
    reader.learn_subjects({identity.canonical(id_) for id_ in ids.values()})
    return {name: reader.of_subject(identity.canonical(id_)).value_of(DOMAIN) for name, id_ in ids.items()}


def _names(graph: Graph, labels: EstateLabels, ids: Sequence[int]) -> Mapping[int, Node]:
    made = {id_: labels.made_names[id_] for id_ in ids if id_ in labels.made_names}
    return {**graph.nodes(ids), **made}


def _unknown(labels: EstateLabels, category: str) -> int:
    """How many columns without a label may have one."""
    may = (labels.possible(category) > Grade.NONE) & (labels.at_most(category) == Grade.NONE) & labels.is_column
    return int(may.sum())
