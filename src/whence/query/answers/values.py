"""Questions and answers about lineage, as values. Times are microseconds UTC."""

from dataclasses import dataclass
from enum import StrEnum

from whence.model.graph import Direction, Evidence, Grain
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.transformations import Transformation

DIRECT = frozenset({"DIRECT"})
BOTH = frozenset({"DIRECT", "INDIRECT"})
TYPES = {"direct": DIRECT, "indirect": BOTH - DIRECT, "both": BOTH}
"""The names of the edge types in questions of people and in requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The nodes that an answer shows: those that match one value of every criterion that has values (questions.md,
    "Filters").

    `namespaces` may contain `*`. `tags` are keys, or `key=value`. `kinds` are dataset, field, job, or a type that
    facets report (VIEW, DASHBOARD). `jobs` are node ids of jobs: they assert an edge to the node, or are the node.
    `within`: the traversal does not pass through other nodes; otherwise it does, and matching nodes beyond them are
    shown.
    """

    namespaces: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    within: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether every node matches."""
        return not (self.namespaces or self.tags or self.owners or self.kinds or self.jobs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The range of a traversal, and the edges that it follows.

    `depth`: hops, None for all. `types`: the edges to follow, None for the default of the direction (rule 41); UNKNOWN
    edges are always followed. `at`: the time in the past, None for now. If a budget is reached, the traversal stops,
    and the answer reports it. `only`: the nodes to show.
    """

    depth: int | None = None
    types: frozenset[str] | None = None
    at: int | None = None
    only: Filter = Filter()
    max_nodes: int = 5_000
    max_edges: int = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness:
    """The completeness of an answer (design decision 10).

    If not `complete`, `stopped_by` is the reason that the traversal stopped (`depth`, `nodes`, `edges`, `paths`), or
    `columns` if it did not stop but met gaps in column lineage. `frontier` names the nearest of the `frontier_nodes`
    nodes beyond which there is more, or may be more after a budget. `graph_version` is the applied position in each
    lane of the log. `hidden_nodes` counts the reached nodes that the viewer may not see; tokens represent them.
    `forgotten_before`: `as_of` is before this time, from before which history was deleted (`stopped_by` is `retention`,
    unless a budget stopped the traversal). `recorded_from`: `as_of` is before the first event, at this time
    (`stopped_by` is `beginning`).
    """

    complete: bool
    stopped_by: str | None
    depth_reached: int
    frontier: tuple[Node, ...]
    frontier_nodes: int
    as_of: int | None
    graph_version: str
    hidden_nodes: int = 0
    forgotten_before: int | None = None
    recorded_from: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEdge:
    """Data or influence flows from source to target, as asserted by `owner`: a job, or a dataset that
    declares lineage.
    """

    source: Node
    target: Node
    owner: Node
    transformations: tuple[Transformation, ...]
    origins: tuple[str, ...]
    confirmed: bool
    evidence: tuple[Evidence, ...]

    @property
    def inferred(self) -> bool:
        """Whether the edge follows only from the inputs and outputs of a job."""
        return self.origins == ("inferred",)

    @property
    def parsed(self) -> bool:
        """Whether the edge was only parsed from the job's SQL, and no producer reports it."""
        return self.origins in (("parsed",), ("inferred", "parsed"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNode:
    """A node that the traversal reached, `depth` hops from the root.

    `aliases`: its other names. `parent` and `edge` (an index into the answer's edges) are the last hop of its witness,
    a deterministic shortest path from the root. `via` is the composed transformation along that path. `shown`: the node
    matches the question's filter; otherwise it is on the path to one that does. `more`: it belongs to the frontier.
    `is_check`: it is a job that only checks data.
    """

    name: Node
    depth: int
    aliases: tuple[Node, ...] = ()
    parent: Node | None = None
    edge: int | None = None
    via: Transformation | None = None
    shown: bool = True
    more: bool = False
    is_check: bool = False


class GapReason(StrEnum):
    """The reason that column lineage is missing."""

    NO_COLUMNS = "no column lineage"
    """The owner reports whole datasets only."""
    UNREPORTED = "column not reported"
    """The owner reports the sources of some columns of the dataset that it writes, but not of the others."""
    INCOMPLETE = "sources not known"
    """The owner reports that it does not know all sources of the column, or of the dataset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A node where a traversal ends, because `owner` does not report, or not know, the lineage there. A traversal of
    whole datasets has only gaps of lineage that its owner does not know.

    `datasets` are at the far end. If there are none, the owner is a job that reads the dataset without reporting
    columns.
    """

    at: Node
    owner: Node
    datasets: tuple[DatasetName, ...]
    reason: GapReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """All nodes upstream or downstream of a node. Nodes are sorted by depth and name, edges by their ends.

    An edge belongs to every node that its near end *touches* (see `touches`).
    """

    root: Node
    direction: Direction
    grain: Grain
    types: frozenset[str]
    nodes: tuple[AnswerNode, ...]
    edges: tuple[AnswerEdge, ...]
    gaps: tuple[Gap, ...]
    completeness: Completeness


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One hop of a path: all parallel edges."""

    source: Node
    target: Node
    edges: tuple[AnswerEdge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A path without repeated nodes, and its composed transformation (None if it has no step)."""

    steps: tuple[Step, ...]
    via: Transformation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """The shortest paths from source to target. At field grain if an end is a field and neither is a job."""

    source: Node
    target: Node
    grain: Grain
    types: frozenset[str]
    paths: tuple[Path, ...]
    completeness: Completeness


def touches(node: Node, end: Node) -> bool:
    """Whether an edge's end belongs to a node: they are equal, or one is the whole dataset of the other."""
    match node, end:
        case FieldName(dataset), DatasetName():
            return dataset == end
        case DatasetName(), FieldName(dataset):
            return dataset == node
    return node == end


def dataset_of(node: Node) -> DatasetName | None:
    """The dataset that a node is or belongs to; None for a job."""
    match node:
        case DatasetName():
            return node
        case FieldName(dataset):
            return dataset
        case JobName():
            return None


def kind(name: Node) -> str:
    """The kind of a node, in OpenLineage's words."""
    match name:
        case DatasetName():
            return "dataset"
        case FieldName():
            return "field"
        case JobName():
            return "job"
