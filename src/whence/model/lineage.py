"""What one event says of lineage: sets of edges, each set named by the hash of its content."""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from whence.model.ids import netstrings
from whence.model.names import DatasetName, JobName, Node


class Origin(StrEnum):
    """Where an edge comes from, by falling authority (OpenLineage explicit-lineage proposal, precedence)."""

    EXPLICIT = "explicit"
    COLUMN = "columnLineage"
    PARSED = "parsed"
    """Read by the pipeline from the text in the job's `sql` facet; no producer said it."""
    INFERRED = "inferred"
    UNREPORTED = "unreported"
    """From a job to a column of which nobody says where it comes from. No edge of the graph: it makes a gap."""
    RENAMED = "renamed"
    """From a dataset's old name to its new one (lifecycleStateChange)."""
    DROPPED = "dropped"
    """No edges: the output is dropped (lifecycleStateChange), so sets into it end (docs/state.md)."""
    BOUNDARY = "boundary"


class Level(StrEnum):
    """How fine a lineage set is: whole datasets and jobs, or fields."""

    DATASET = "dataset"
    FIELD = "field"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Edge:
    """Data (DIRECT) or influence (INDIRECT) flows from source to target. type and subtype are upper case."""

    source: Node
    target: Node
    type: str = "UNKNOWN"
    subtype: str = ""
    masking: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageSet:
    """All that one event says of one output at one level; edges sorted, distinct. No `output`: what a job reads."""

    output: DatasetName | None
    level: Level
    origin: Origin
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What the text of a job's SQL says of one output: the edges into it, and `explained`, the inputs of which it says
    all that there is to say. `completing` are the edges that complete what the producer reports of the output.
    `is_whole`: the text was read whole, so a column that no edge reaches has no source.
    """

    edges: tuple[Edge, ...]
    explained: frozenset[DatasetName]
    completing: tuple[Edge, ...] = ()
    is_whole: bool = False


def digest(owner: JobName | DatasetName, lineage: LineageSet) -> str:
    """The content address of a set: 32 hex digits of SHA-256 over netstrings (docs/state.md, "The dump")."""
    head = (str(owner), str(lineage.output or ""), lineage.level, lineage.origin)
    parts = [part for edge in lineage.edges for part in _parts(edge)]
    return sha256(netstrings((*head, *parts)).encode()).hexdigest()[:32]


def _parts(edge: Edge) -> tuple[str, ...]:
    masking = "masked" if edge.masking else ""
    return (str(edge.source), str(edge.target), edge.type, edge.subtype, masking, edge.description)
