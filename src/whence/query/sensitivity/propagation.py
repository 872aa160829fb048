"""How much of sensitive columns reaches each node: the widest way, where a way is as wide as its narrowest edge.

A column has the highest grade with which any way reaches it. Grades are few, so one search for each finds all of them;
cycles need no care, because a node that was reached is not reached again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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


def spread(widths: Widths, starts: Mapping[Node, Grade]) -> Reached:
    """Pass grades on from sensitive columns. What reaches a whole dataset reaches each of its columns, and what a whole
    dataset passes on may be any of its columns.
    """
    ways = _Ways.of(widths, starts)
    grades: dict[Node, Grade] = {}
    before: dict[Grade, dict[Node, Node | None]] = {}
    for grade in GRADES:
        before[grade] = _search(ways, grade, sorted((one for one, has in starts.items() if has >= grade), key=str))
        grades |= {node: grade for node in before[grade] if node not in grades}
    return Reached(grades, before)


def _search(ways: "_Ways", grade: Grade, starts: Sequence[Node]) -> dict[Node, Node | None]:
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


@dataclass(frozen=True, slots=True)
class _Ways:
    """The edges by the node that they start from, and the columns of each dataset that has edges."""

    targets: dict[Node, list[tuple[Node, Grade]]] = field(default_factory=dict)
    columns: dict[DatasetName, list[Node]] = field(default_factory=dict)

    @classmethod
    def of(cls, widths: Widths, starts: Iterable[Node]) -> "_Ways":
        found = cls()
        for (source, target), grade in widths.items():
            found.targets.setdefault(source, []).append((target, grade))
        for node in {*starts, *(end for ends in widths for end in ends)}:
            if isinstance(node, FieldName):
                found.columns.setdefault(node.dataset, []).append(node)
        return found

    def beyond(self, node: Node, grade: Grade) -> Iterator[Node]:
        """The nodes to which at least so much passes from a node."""
        for start in (node, dataset_of(node)):
            if start is not None:
                yield from (target for target, width in self.targets.get(start, ()) if width >= grade)
        if isinstance(node, DatasetName):
            yield from self.columns.get(node, ())
