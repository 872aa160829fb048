"""The lineage that one event asserts: sets of edges, each identified by the hash of its content."""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from whence.model.ids import netstrings
from whence.model.names import DatasetName, JobName, Node


class Origin(StrEnum):
    """Where an edge comes from, by descending authority (OpenLineage explicit-lineage proposal, precedence)."""

    EXPLICIT = "explicit"
    COLUMN = "columnLineage"
    PARSED = "parsed"
    """Parsed by the pipeline from the text in the job's `sql` facet; no producer reported it."""
    INFERRED = "inferred"
    UNREPORTED = "unreported"
    """From a job to a column whose sources nobody reports. It is not an edge of the graph: it makes a gap."""
    INCOMPLETE = "incomplete"
    """From an owner to a column, or a whole output, of which it reports that it does not know all sources. No edge of
    the graph: it makes a gap, although edges may lead there.
    """
    RENAMED = "renamed"
    """From a dataset's old name to its new one (lifecycleStateChange)."""
    DROPPED = "dropped"
    """No edges: the output was dropped (lifecycleStateChange), so sets into it end (docs/explanation/state.md)."""
    BOUNDARY = "boundary"


GAPS = (Origin.UNREPORTED, Origin.INCOMPLETE)
"""The origins of sets that have gaps instead of edges."""


class Level(StrEnum):
    """The granularity of a lineage set: whole datasets and jobs, or fields."""

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
    """All edges that one event asserts into one output at one level, sorted, distinct. No `output`: a job's reads."""

    output: DatasetName | None
    level: Level
    origin: Origin
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """The lineage of one output that was parsed from a job's SQL text: the edges into it.

    `explained` are the inputs whose every use the edges cover. `completing` are the edges that complete the producer's
    own report of the output. `is_whole`: all of the text was parsed, so a column that no edge reaches has no source.
    """

    edges: tuple[Edge, ...]
    explained: frozenset[DatasetName]
    completing: tuple[Edge, ...] = ()
    is_whole: bool = False


def hash_lineage_set(owner: JobName | DatasetName, lineage: LineageSet) -> str:
    """The content address of a set: 32 hex digits of SHA-256 over netstrings (state.md, "The dump")."""
    head = (str(owner), str(lineage.output or ""), lineage.level, lineage.origin)
    parts = [part for edge in lineage.edges for part in _parts(edge)]
    return sha256(netstrings((*head, *parts)).encode()).hexdigest()[:32]


def _parts(edge: Edge) -> tuple[str, ...]:
    masking = "masked" if edge.masking else ""
    return (str(edge.source), str(edge.target), edge.type, edge.subtype, masking, edge.description)
