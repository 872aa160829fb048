"""What a change affects, as values: the nodes downstream of it, how each is reached, and what is known of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from whence.model.changes import ColumnChange
from whence.model.names import DatasetName, FieldName, JobName, Node

HIDDEN = "hidden"
"""The namespace of the tokens that a server puts in the place of names which the asker may not see."""


UNKNOWN_DATASET = "production does not know this dataset"
"""Why an impact is incomplete, though no budget cut it."""


class Reach(IntEnum):
    """How a change gets to a node; the surest first."""

    VALUE = 0
    """Along DIRECT edges alone: the node's values are made of the changed ones."""
    INFLUENCE = 1
    """An INDIRECT edge is on every way: the change decides about rows, order or groups."""
    ASSUMED = 2
    """A job on every way reads the dataset and does not report which columns."""

    @property
    def text(self) -> str:
        """As people read it."""
        return ("by value", "by influence", "assumed")[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is asserted of a dataset or job. `types` are what it says that it is (DASHBOARD, MODEL, VIEW)."""

    owners: tuple[str, ...] = ()
    tier: int | None = None
    certified: bool = False
    contract: str = ""
    promised: frozenset[str] | None = None
    """The columns that the contract promises, in lower case; None: any, for its text is not known."""
    types: tuple[str, ...] = ()


NO_FACTS = Facts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """A node downstream of a change, and one shortest way to it, both ends included."""

    node: Node
    reach: Reach
    path: tuple[Node, ...]

    @property
    def distance(self) -> int:
        """Hops from the change."""
        return len(self.path) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A job that reads what changed, and into what; `last_seen`: when it last said so (µs)."""

    job: Node
    target: Node
    last_seen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """All that one change affects. `incomplete`: why there may be more, in the gate's words; empty if that is all."""

    affected: tuple[Affected, ...] = ()
    readers: tuple[Reader, ...] = ()
    incomplete: str = ""

    @property
    def subjects(self) -> tuple[DatasetName | JobName, ...]:
        """The datasets and jobs that are affected, the nearest first, hidden ones among them."""
        return tuple(dict.fromkeys(subject_of(one.node) for one in self.affected))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """A change and what it affects."""

    change: ColumnChange
    impact: Impact


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """All changes of a head, and what is known of every dataset and job that one of them affects, at one state of the
    production graph. `names`: of datasets that code knows by another name than production does, production's.
    """

    changes: tuple[Assessed, ...]
    facts: Mapping[Node, Facts] = field(default_factory=dict)
    names: Mapping[Node, DatasetName] = field(default_factory=dict)
    graph_version: str = ""
    announced: frozenset[Node] = frozenset()
    """The datasets whose contract gets a new major version and a migration note in the same head."""

    def facts_of(self, node: Node) -> Facts:
        """What is asserted of a node's dataset, or of a job."""
        return self.facts.get(subject_of(node), NO_FACTS)


def subject_of(node: Node) -> DatasetName | JobName:
    """The dataset of a field; a dataset or job itself."""
    return node.dataset if isinstance(node, FieldName) else node


def is_hidden(node: Node) -> bool:
    """Whether a node is a token in the place of a name, or a field whose name is one."""
    return subject_of(node).namespace == HIDDEN or (isinstance(node, FieldName) and node.field.startswith(f"{HIDDEN}-"))
