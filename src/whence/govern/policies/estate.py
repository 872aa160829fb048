"""What policies judge: every dataset and column, with what is asserted of it and which sensitive data it shows."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.model.records.certification import CertificationText
from whence.model.sensitivity import Grade


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How much of sensitive columns a node shows at most, how much for certain, and a way that leads to it."""

    grade: Grade
    proven: Grade
    path: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How many days data is kept. None: nobody says. `is_unreadable`: somebody says it in another form."""

    days: int | None = None
    is_unreadable: bool = False


NO_RETENTION = Retention()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRetention:
    """The shortest retention of the data that a dataset is made of: at most, and for certain. None: nobody says.

    `path`: from the source that has it, to the dataset.
    """

    days: int | None = None
    proven: int | None = None
    path: tuple[Node, ...] = ()


NO_SOURCE_RETENTION = SourceRetention()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A node as policies see it. `tags` as `key` and `key=value`; those of a column are with those of its dataset.

    `certification`: what the rules of certification say of its dataset; None: there is none, and the tag counts.
    `unknown`: why there may be more sensitive data, or more inputs, than is known; empty: there is not.
    """

    node: Node
    tags: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    tier: int | None = None
    labels: Mapping[str, Shown] = field(default_factory=dict)
    retention: Retention = NO_RETENTION
    sources: SourceRetention = NO_SOURCE_RETENTION
    certification: CertificationText | None = None
    unknown: str = ""

    @property
    def kind(self) -> str:
        """`dataset`, `column` or `job`."""
        match self.node:
            case FieldName():
                return "column"
            case JobName():
                return "job"
            case DatasetName():
                return "dataset"

    @property
    def dataset(self) -> DatasetName | JobName:
        """The dataset of a column; a dataset or job itself."""
        return self.node.dataset if isinstance(self.node, FieldName) else self.node

    @property
    def is_certified(self) -> bool | None:
        """Whether the rules certify its dataset, or without one, somebody vouches for it. None: not evaluated."""
        match self.certification:
            case "certified":
                return True
            case "not certified":
                return False
            case "not evaluated":
                return None
            case _:
                return "certified" in self.tags


@dataclass(frozen=True, slots=True, kw_only=True)
class Estate:
    """The nodes that a viewer sees, and of each dataset which ones it is made of directly. `hidden`: how many nodes the
    viewer may not see. `complete`: whether no budget cut the reading.
    """

    subjects: Mapping[Node, Subject]
    inputs: Mapping[Node, frozenset[Node]] = field(default_factory=dict)
    hidden: int = 0
    complete: bool = True
    reached: dict[Hashable, tuple[frozenset[Node], frozenset[Node]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """By condition: the datasets that are made of one of which it holds, or may hold."""
    truths: dict[Hashable, dict[Node, bool | None]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By condition: whether it holds of the datasets that were asked about."""
    _targets: dict[Node, list[Node]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        targets: dict[Node, list[Node]] = {}
        for target, sources in self.inputs.items():
            for source in sources:
                targets.setdefault(source, []).append(target)
        object.__setattr__(self, "_targets", targets)

    def inputs_of(self, subject: Subject) -> Iterator[Subject]:
        """The datasets of which a node's dataset is made directly, by name."""
        return (self.subjects[one] for one in self._inputs(subject.dataset) if one in self.subjects)

    def upstream_of(self, subject: Subject) -> Iterator[Subject]:
        """The datasets of which a node's dataset is made, the nearest first."""
        start = subject.dataset
        seen, frontier = {start}, [start]
        while frontier:
            found = [one for node in frontier for one in self._inputs(node) if one not in seen]
            frontier = sorted(set(found), key=str)  # type: ignore[arg-type]
            seen |= set(frontier)
            yield from (self.subjects[one] for one in frontier if one in self.subjects)

    def made_of(self, datasets: Iterable[Node]) -> frozenset[Node]:
        """The datasets downstream of some, at any distance; one of these only if it is downstream of one of them."""
        found, frontier = set[Node](), set(datasets)
        while frontier:
            frontier = {one for node in frontier for one in self._targets.get(node, ())} - found
            found |= frontier
        return frozenset(found)

    def certified_paths(self) -> frozenset[Node]:
        """The certified datasets, and all datasets upstream of them."""
        found = {one.dataset for one in self.subjects.values() if one.is_certified}
        frontier = set[Node](found)
        every: set[Node] = set(found)
        while frontier:
            frontier = {one for node in frontier for one in self.inputs.get(node, ())} - every
            every |= frontier
        return frozenset(every)

    def _inputs(self, node: Node) -> list[Node]:
        return sorted(self.inputs.get(node, ()), key=str)
