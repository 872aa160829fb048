"""Questions and answers about lineage, as values. Times are microseconds UTC."""

from dataclasses import dataclass
from enum import StrEnum

from whence.model.graph import Direction, Evidence, Grain
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.transformations import Transformation

DIRECT = frozenset({"DIRECT"})
BOTH = frozenset({"DIRECT", "INDIRECT"})
TYPES = {"direct": DIRECT, "indirect": BOTH - DIRECT, "both": BOTH}
"""What people and requests call the types of edges to follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which nodes an answer shows: those that fit one value of every kind that has any (questions.md, "Filters").

    `namespaces` may have `*`. `tags` are keys, or `key=value`. `kinds` are dataset, field, job, or what a dataset or
    job says that it is (VIEW, DASHBOARD). `jobs` are node ids: of jobs that say an edge to the node, or are the node.
    `within`: the walk does not pass through nodes that do not fit; else it does, and shows what is beyond them.
    """

    namespaces: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    within: bool = False

    @property
    def is_empty(self) -> bool:
        """Every node fits."""
        return not (self.namespaces or self.tags or self.owners or self.kinds or self.jobs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """How far to walk, and along what.

    `depth`: hops, None for all. `types`: the edges to follow, None for the default of the direction (rule 41); UNKNOWN
    ones are always followed. `at`: the time asked about, None for what holds now. A budget that is reached stops the
    walk, and the answer says so. `only`: which of the nodes to show.
    """

    depth: int | None = None
    types: frozenset[str] | None = None
    at: int | None = None
    only: Filter = Filter()
    max_nodes: int = 5_000
    max_edges: int = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness:
    """How much of the truth an answer holds (design decision 10).

    `complete`: nothing was left out; else `stopped_by` says what stopped the walk (`depth`, `nodes`, `edges`, `paths`,
    or `columns`: nothing did, but at the gaps of the answer columns are not known)
    and `frontier` where: the nodes beyond which there is more (or may be, after a budget), of `frontier_nodes` the
    nearest. `graph_version` is how far the graph had come: a position in each lane of the log. `hidden_nodes`: how many
    of the nodes that were reached the asker may not see; tokens stand for them. `forgotten_before`: `as_of` lies before
    this time, from before which history was deleted (`stopped_by` is `retention`, unless a budget stopped the walk as
    well). `recorded_from`: `as_of` lies before the first event, which happened then (`stopped_by` is `beginning`).
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
    """Data or influence flows from source to target, as `owner` says: a job, or a dataset that declares its lineage."""

    source: Node
    target: Node
    owner: Node
    transformations: tuple[Transformation, ...]
    origins: tuple[str, ...]
    confirmed: bool
    evidence: tuple[Evidence, ...]

    @property
    def inferred(self) -> bool:
        """Nothing but the inputs and outputs of a job speaks for this edge."""
        return self.origins == ("inferred",)

    @property
    def parsed(self) -> bool:
        """No producer says it: it was read in the job's SQL."""
        return self.origins in (("parsed",), ("inferred", "parsed"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNode:
    """A node that the walk reached, `depth` hops from the root.

    `aliases`: other names of the same thing. `parent` and `edge` (an index into the answer's edges) are the last hop of
    its witness: one shortest path from the root, always the same one. `via` is what happens along that path, in one
    transformation. `shown`: it fits the question's filter; else it is here because it is on the way to one that does.
    `more`: it is one of the frontier.
    """

    name: Node
    depth: int
    aliases: tuple[Node, ...] = ()
    parent: Node | None = None
    edge: int | None = None
    via: Transformation | None = None
    shown: bool = True
    more: bool = False


class GapReason(StrEnum):
    """Why columns are not known."""

    NO_COLUMNS = "no column lineage"
    """The owner reports whole datasets only."""
    UNREPORTED = "column not reported"
    """The owner reports some columns of a dataset that it writes, and not where the others come from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Where a walk over fields ends for want of column lineage, by what `owner` reports.

    `datasets` are those at the far end; none: the owner is a job that reads the dataset, who knows which columns.
    """

    at: Node
    owner: Node
    datasets: tuple[DatasetName, ...]
    reason: GapReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """All that is upstream or downstream of a node. Nodes are sorted by depth and name, edges by their ends.

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
    """One hop of a path: all edges that make it."""

    source: Node
    target: Node
    edges: tuple[AnswerEdge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A path along which no node repeats, and what happens on it, in one transformation (None without a step)."""

    steps: tuple[Step, ...]
    via: Transformation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """How data gets from source to target: shortest paths first. At field grain if an end is a field and none a job."""

    source: Node
    target: Node
    grain: Grain
    types: frozenset[str]
    paths: tuple[Path, ...]
    completeness: Completeness


def touches(node: Node, end: Node) -> bool:
    """Whether an edge's end belongs to a node: it is that node, or one of the two is the other's whole dataset."""
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
    """What a node is, in OpenLineage's words."""
    match name:
        case DatasetName():
            return "dataset"
        case FieldName():
            return "field"
        case JobName():
            return "job"
