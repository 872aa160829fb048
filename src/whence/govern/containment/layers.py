"""The jobs between broken data and the nodes that are wanted again, in the order in which they must run.

A pure function of edges. A job of a later layer reads what jobs of earlier layers write; jobs of one layer may run
together. Jobs in a cycle share a layer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from whence.model.names import DatasetName, FieldName, JobName, Node


class JobEdge(NamedTuple):
    """A job derives one node from another."""

    source: Node
    job: JobName
    target: Node


@dataclass(frozen=True, slots=True)
class Layer:
    """Jobs that may run together; `cyclic`: those that read what they write themselves, by way of others."""

    jobs: tuple[JobName, ...]
    cyclic: tuple[JobName, ...] = ()


def layers_between(edges: Iterable[JobEdge], root: Node, targets: Iterable[Node]) -> Sequence[Layer]:
    """The layers of the jobs on the ways from the root to the targets; to everything if there are no targets."""
    forward = _reaching(edges, {root})
    wanted = set(targets)
    between = _leading(forward, wanted) if wanted else forward
    return list(_layers(_order(between)))


def _reaching(edges: Iterable[JobEdge], start: AbstractSet[Node]) -> Sequence[JobEdge]:
    """The edges that some nodes lead to."""
    left, reached = list(edges), _Places(start)
    found: list[JobEdge] = []
    while True:
        new = [one for one in left if reached.touch(one.source)]
        if not new:
            return found
        found += new
        left = [one for one in left if not reached.touch(one.source)]
        reached.add(one.target for one in new)


def _leading(edges: Sequence[JobEdge], ends: AbstractSet[Node]) -> Sequence[JobEdge]:
    """The edges that lead to some nodes; a job is a node, too."""
    turned = [JobEdge(one.target, one.job, one.source) for one in edges]
    jobs = {one for one in ends if isinstance(one, JobName)}
    into = [one.source for one in edges if one.job in jobs]
    found = _reaching(turned, {*ends, *into})
    return [JobEdge(one.target, one.job, one.source) for one in found] + [one for one in edges if one.job in jobs]


class _Places:
    """Nodes, where a column touches its whole dataset, and a dataset each of its columns."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes: set[Node] = set()
        self._wholes: set[DatasetName] = set()
        """Datasets of which a column is here."""
        self.add(nodes)

    def add(self, nodes: Iterable[Node]) -> None:
        """Add nodes."""
        for one in nodes:
            self._nodes.add(one)
            if isinstance(one, FieldName):
                self._wholes.add(one.dataset)

    def touch(self, node: Node) -> bool:
        """Whether a node, or one that it touches, is here."""
        if node in self._nodes:
            return True
        match node:
            case FieldName(dataset):
                return dataset in self._nodes
            case DatasetName():
                return node in self._wholes
        return False


def _order(edges: Sequence[JobEdge]) -> Mapping[JobName, set[JobName]]:
    """For each job those that read what it writes."""
    readers: dict[DatasetName | JobName, list[JobEdge]] = {}
    for one in edges:
        readers.setdefault(_whole(one.source), []).append(one)
    found: dict[JobName, set[JobName]] = {one.job: set() for one in edges}
    for one in edges:
        here = _Places([one.target])
        later = (other.job for other in readers.get(_whole(one.target), ()) if here.touch(other.source))
        found[one.job] |= {job for job in later if job != one.job}
    return found


def _whole(node: Node) -> DatasetName | JobName:
    return node.dataset if isinstance(node, FieldName) else node


def _layers(after: Mapping[JobName, set[JobName]]) -> Iterator[Layer]:
    """The jobs before which no other of those left must run; of a cycle that nothing precedes, all at once."""
    left = set(after)
    while left:
        waiting = {later for job in left for later in after[job] & left}
        if free := left - waiting:
            yield Layer(tuple(sorted(free)))
            left -= free
            continue
        cycle = min(_cycles(after, left), key=lambda one: min(one))
        yield Layer(tuple(sorted(cycle)), tuple(sorted(cycle)))
        left -= cycle


def _cycles(after: Mapping[JobName, set[JobName]], left: AbstractSet[JobName]) -> Iterator[set[JobName]]:
    """The cycles into which nothing outside of them leads."""
    reachable = {job: _descendants(after, job, left) for job in sorted(left)}
    for job in sorted(left):
        same = {one for one in reachable[job] if job in reachable[one]}
        into = {one for one in left - same if not reachable[one].isdisjoint(same)}
        if job in same and not into:
            yield same


def _descendants(after: Mapping[JobName, set[JobName]], job: JobName, left: AbstractSet[JobName]) -> set[JobName]:
    found, frontier = set[JobName](), [job]
    while frontier:
        new = (after[frontier.pop()] & left) - found
        found |= new
        frontier += new
    return found
