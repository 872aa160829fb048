"""The sensitivity labels of every dataset and column that a viewer may see, computed at once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whence.model.graph import EdgeRow
from whence.model.ids import Kind, kind_of
from whence.model.names import Node
from whence.model.sensitivity import Disclosure, Grade
from whence.model.traits import Traits
from whence.query.answers.transformations import Transformation
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph
from whence.query.sensitivity.disclosures import disclosure
from whence.query.sensitivity.grade_arrays import Flows, Grades, Ints, pass_on
from whence.query.sensitivity.marks import CATEGORIES, marks_of
from whence.query.sensitivity.whole_graph import WholeGraph, list_datasets

_AT_MOST, _PROVEN, _POSSIBLE = range(3)
_KINDS = 3
Widths = tuple[Grade, Grade, Grade]
_COLUMN = {category: at for at, category in enumerate(CATEGORIES)}


@dataclass(frozen=True, slots=True, eq=False)
class EstateLabels:
    """Grades of every visible dataset and column, by canonical id. A dataset has the highest of its columns.

    `at_most` and `proven` are those of labels; `possible` is the grade that a node may have because of what is not
    known: jobs that report no columns, and nodes that the viewer may not see. `grades` has them by node, and by
    category and kind.
    """

    ids: Ints
    is_column: NDArray[np.bool_]
    grades: Grades
    made_names: Mapping[int, Node] = field(default_factory=dict)
    is_complete: bool = True

    def at_most(self, category: str) -> Grades:
        """The grades of labels of a category; 0: no label."""
        return self._of(category, _AT_MOST)

    def proven(self, category: str) -> Grades:
        """The grades that are certain."""
        return self._of(category, _PROVEN)

    def possible(self, category: str) -> Grades:
        """The grades that nodes may have, at least those of their labels."""
        return self._of(category, _POSSIBLE)

    def places(self, ids: Iterable[int]) -> Ints:
        """The indices of canonical ids; -1: no such node."""
        wanted = np.fromiter(ids, np.int64)
        at = np.searchsorted(self.ids, wanted)
        at[at == len(self.ids)] = 0
        return np.where(self.ids[at] == wanted, at, -1) if len(self.ids) else np.full(len(wanted), -1)

    def _of(self, category: str, kind: int) -> Grades:
        return self.grades[:, _COLUMN[category] * _KINDS + kind]


def label_estate(catalog: Catalog, graph: Graph, at: int | None = None) -> EstateLabels:
    """The labels of all that a catalog lists, by the edges and tags at a time (µs), None: now.

    Reads the whole graph: for some seconds, if it is large.
    """
    whole = WholeGraph(graph, at)
    whole.read([one.id for one in list_datasets(catalog)])
    return _Labelling(whole).labels()


@dataclass(slots=True)
class _Labelling:
    """Numbers the nodes of a graph: each dataset, each column, and for each dataset what it passes on as a whole."""

    whole: WholeGraph
    places: dict[int, int] = field(default_factory=dict)
    dataset_of: dict[int, int] = field(default_factory=dict)
    """Each column's dataset; canonical ids."""
    sources: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    widths: list[Widths] = field(default_factory=list)
    _disclosures: dict[tuple[Transformation, str], Disclosure] = field(default_factory=dict)

    def labels(self) -> EstateLabels:
        """The labels of all visible nodes."""
        self._number()
        self._add_containment()
        self._add_edges()
        grades = pass_on(self._starts(), self._flows())[: len(self.places)]
        self._raise_datasets(grades)
        if not self.whole.is_complete:
            grades[:, _POSSIBLE::_KINDS] = Grade.FULL
        return self._visible(grades)

    def _number(self) -> None:
        identity = self.whole.identity
        for id_ in self.whole.learn_names():
            self.places.setdefault(identity.canonical(id_), len(self.places))
        for id_, of in self.whole.fields.items():
            self.dataset_of[identity.canonical(id_)] = identity.canonical(of) if of in self.whole.datasets else of

    def _place(self, id_: int) -> int:
        return self.places[self.whole.identity.canonical(id_)]

    def _outflow(self, place: int) -> int:
        """The index of all that a dataset passes on, its columns among it."""
        return len(self.places) + place

    def _add_containment(self) -> None:
        """What reaches a whole dataset reaches its columns; what a dataset passes on as a whole may be any of them."""
        full = (Grade.FULL, Grade.FULL, Grade.FULL)
        for dataset in self.whole.datasets:
            place = self._place(dataset)
            self._add(place, self._outflow(place), full)
        for column, dataset in self.dataset_of.items():
            if (of := self.places.get(dataset)) is not None:
                self._add(of, self.places[column], full)
                self._add(self.places[column], self._outflow(of), full)

    def _add_edges(self) -> None:
        known = self.whole.datasets | self.whole.fields.keys()
        for row in self.whole.rows:
            if row.far_id in known and row.near_id in known:
                self._add_edge(row)
        for near, other in self.whole.gaps:
            if near in known and other in known:
                self._add(self._outflow(self._place(other)), self._place(near), (Grade.NONE, Grade.NONE, Grade.FULL))

    def _add_edge(self, row: EdgeRow) -> None:
        source, found = self._place(row.far_id), self._disclosure(row)
        if is_whole := kind_of(row.far_id) is Kind.DATASET:
            source = self._outflow(source)
        proven = Grade.NONE if found.assumed or is_whole else found.grade
        self._add(source, self._place(row.near_id), (found.grade, proven, found.grade))

    def _add(self, source: int, target: int, widths: Widths) -> None:
        self.sources.append(source)
        self.targets.append(target)
        self.widths.append(widths)

    def _disclosure(self, row: EdgeRow) -> Disclosure:
        column = self.whole.columns.get(row.far_id, "") if row.description else ""
        how = Transformation(type=row.type, subtype=row.subtype, masking=row.masking, description=row.description)
        if (found := self._disclosures.get((how, column))) is None:
            found = self._disclosures[how, column] = disclosure(how, column)
        return found

    def _flows(self) -> Flows:
        widths = np.array(self.widths, np.uint8).reshape(-1, _KINDS)
        every = np.tile(widths, len(CATEGORIES))
        return Flows(np.array(self.sources, np.int64), np.array(self.targets, np.int64), every)

    def _starts(self) -> Grades:
        """The tagged columns; the tagged datasets of which no column is known; and all that the viewer may not see."""
        starts = np.zeros((2 * len(self.places), len(CATEGORIES) * _KINDS), np.uint8)
        for node, traits, column in self._tagged():
            for mark in marks_of(traits, column, ()):
                at = _COLUMN[mark.category] * _KINDS
                kinds = [_AT_MOST, _POSSIBLE] if mark.of_dataset else [_AT_MOST, _PROVEN, _POSSIBLE]
                starts[self._place(node), [at + kind for kind in kinds]] = Grade.FULL
        for id_ in self.whole.graph.hidden([*self.whole.datasets, *self.whole.fields]):
            starts[self._place(id_), _POSSIBLE::_KINDS] = Grade.FULL
        return starts

    def _tagged(self) -> Iterator[tuple[int, Traits, str]]:
        """(column or dataset, the traits of its dataset, its name as a column), of those datasets that have tags."""
        traits = {id_: one for id_, one in self.whole.traits().items() if one.tags}
        with_columns = set(self.whole.fields.values())
        for column, dataset in self.whole.fields.items():
            if dataset in traits:
                yield column, traits[dataset], self.whole.columns.get(column, "")
        for dataset, one in traits.items():
            if dataset not in with_columns:
                yield dataset, one, ""

    def _raise_datasets(self, grades: Grades) -> None:
        """Give each dataset the highest grades of its columns."""
        pairs = [(self.places[of], self.places[one]) for one, of in self.dataset_of.items() if of in self.places]
        datasets, columns = np.array(pairs, np.int64).reshape(-1, 2).T
        np.maximum.at(grades, datasets, grades[columns])

    def _visible(self, grades: Grades) -> EstateLabels:
        hidden = self.whole.graph.hidden(self.places)
        shown: Sequence[int] = sorted(id_ for id_ in self.places if id_ not in hidden)
        rows = grades[[self.places[id_] for id_ in shown]]
        is_column = np.fromiter((kind_of(id_) is Kind.FIELD for id_ in shown), np.bool_, len(shown))
        made = {id_: name for id_, name in self.whole.identity.names.items() if id_ not in hidden}
        return EstateLabels(np.array(shown, np.int64), is_column, rows, made, self.whole.is_complete)
