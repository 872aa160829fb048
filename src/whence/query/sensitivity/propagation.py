"""How much of sensitive columns reaches each node: the widest way, where a way is as wide as its narrowest edge.

A column has the highest grade with which any way reaches it. Grades are few, so one search for each finds all of them;
cycles need no care, because a node that was reached is not reached again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.model.names import DatasetName, FieldName, Node
from whence.model.sensitivity import Grade
from whence.query.answers.values import dataset_of

GRADES = tuple(sorted((grade for grade in Grade if grade is not Grade.NONE), reverse=True))

Widths = Mapping[tuple[Node, Node], Grade]
"""How much passes from one node to another."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The grade of each reached node, and the way to it: for each grade, the node before each node."""

    grades: Mapping[Node, Grade]
    _before: Mapping[Grade, Mapping[Node, Node | None]]

    def path(self, node: Node) -> tuple[Node, ...]:
        """A shortest way with the node's grade, from a sensitive column to the node."""
        before, found = self._before[self.grades[node]], [node]
        while (previous := before[found[-1]]) is not None:
            found.append(previous)
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class Ways:
    """The edges by the node that they start from, and the columns of each dataset that has edges."""

    targets: Mapping[Node, Sequence[tuple[Node, Grade]]]
    columns: Mapping[DatasetName, Sequence[FieldName]]

    @classmethod
    def of(cls, widths: Widths) -> "Ways":
        """Those along which so much passes."""
        targets: dict[Node, list[tuple[Node, Grade]]] = {}
        for (source, target), grade in widths.items():
            targets.setdefault(source, []).append((target, grade))
        return cls(targets, _by_dataset({end for ends in widths for end in ends}))

    def with_columns(self, nodes: Iterable[Node]) -> "Ways":
        """The same; columns among some nodes are there without edges, too."""
        more = _by_dataset(nodes)
        own = {of: tuple({*self.columns.get(of, ()), *several}) for of, several in more.items()}
        return Ways(self.targets, {**self.columns, **own})

    def beyond(self, node: Node, grade: Grade) -> Iterator[Node]:
        """The nodes to which at least so much passes from a node."""
        for start in (node, dataset_of(node)):
            if start is not None:
                yield from (target for target, width in self.targets.get(start, ()) if width >= grade)
        if isinstance(node, DatasetName):
            yield from self.columns.get(node, ())


def _by_dataset(nodes: Iterable[Node]) -> Mapping[DatasetName, Sequence[FieldName]]:
    found: dict[DatasetName, list[FieldName]] = {}
    for node in nodes:
        if isinstance(node, FieldName):
            found.setdefault(node.dataset, []).append(node)
    return found


def spread(ways: Ways, starts: Mapping[Node, Grade]) -> Reached:
    """Pass grades on from sensitive columns. What reaches a whole dataset reaches each of its columns, and what a whole
    dataset passes on may be any of its columns.
    """
    known = ways.with_columns(starts)
    grades: dict[Node, Grade] = {}
    before: dict[Grade, dict[Node, Node | None]] = {}
    for grade in GRADES:
        before[grade] = _search(known, grade, sorted((one for one, has in starts.items() if has >= grade), key=str))
        grades |= {node: grade for node in before[grade] if node not in grades}
    return Reached(grades, before)


def _search(ways: Ways, grade: Grade, starts: Sequence[Node]) -> dict[Node, Node | None]:
    """The node before each node on a shortest way on which so much passes; of two ways the first by name."""
    before: dict[Node, Node | None] = dict.fromkeys(starts)
    frontier: Sequence[Node] = starts
    while frontier:
        new: dict[Node, Node | None] = {}
        for node in frontier:
            for target in ways.beyond(node, grade):
                if target not in before:
                    new.setdefault(target, node)
        before |= new
        frontier = sorted(new, key=str)
    return before
