"""Graph rows: what `store/` returns and `query/` reads when it traverses the lineage graph.

Ids are those of `model.ids`, times microseconds UTC.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from whence.model.events import RunState
from whence.model.names import DatasetName, FieldName, JobName, RunName

FOREVER = 2**63 - 1
"""The end of a validity interval that is still open."""
ALL_TIME = -(2**63)
"""As the time of a question: any time."""


class Direction(StrEnum):
    """The direction of a traversal: against the edges (upstream), or along them (downstream)."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"


class Grain(StrEnum):
    """Which edges a hop reads.

    DATASET: both ends are datasets or jobs. FIELD: at least one end is a field.
    JOB: all edges of a job, the first hop from it.
    """

    DATASET = "dataset"
    FIELD = "field"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Hop:
    """How one hop reads edges. `at` is the time asked about; None: what holds now; ALL_TIME: all that ever held."""

    direction: Direction
    grain: Grain
    at: int | None = None


class EdgeRow(NamedTuple):
    """One edge as a hop reads it: `near` is the end that was queried. A dataset id is 0 if that end is a job."""

    near_id: int
    far_id: int
    near_dataset_id: int
    far_dataset_id: int
    owner_id: int
    set_id: int
    type: str
    subtype: str
    masking: bool
    description: str
    origin: str
    confirmed: bool


class GapRow(NamedTuple):
    """An owner whose lineage at a dataset or column is unknown at column level. `other_id` is the dataset at the far
    end, or 0 if the owner only reads.
    """

    near_id: int
    owner_id: int
    other_id: int


class FieldRow(NamedTuple):
    """A field of a dataset."""

    dataset_id: int
    id: int
    name: str


class Hit(NamedTuple):
    """A node whose name matches a search."""

    id: int
    name: DatasetName | FieldName | JobName


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """What a search looks for: words, grouped by the parts they were typed in. `typos` allows similar words."""

    parts: tuple[tuple[str, ...], ...]
    typos: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """All words, each once."""
        return tuple(dict.fromkeys(word for part in self.parts for word in part))


class Candidates(NamedTuple):
    """Nodes that may match a search. `complete`: there are no others."""

    hits: Sequence[Hit]
    complete: bool


class TextMatch(NamedTuple):
    """A node with a facet that contains all words of a search; `facet` is the facet's name."""

    facet: str
    id: int
    name: DatasetName | FieldName | JobName


class TextMatches(NamedTuple):
    """The nodes whose facets contain a search's words. `complete`: there are no others."""

    found: Sequence[TextMatch]
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertingEvent:
    """An event that asserted lineage or a schema: its canonical hash, log position (None: none), time and producer."""

    key: str
    position: int | None
    time: int
    producer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertingRun:
    """A run that asserted lineage. `ended_at` is None unless its state is terminal. `parent_id`: 0 without a parent."""

    name: RunName
    state: RunState
    started_at: int | None
    ended_at: int | None
    last_seen: int | None
    asserted_at: int
    parent_id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why a lineage set is in the graph: the first and last event that asserted it, and its latest runs, newest first.

    `reader` is the version of the SQL reader that last parsed its job's SQL, if it was parsed and looked up.
    """

    set_id: int
    digest: str
    origin: str
    first: AssertingEvent
    last: AssertingEvent
    runs: tuple[AssertingRun, ...]
    reader: str = ""


class SetEdge(NamedTuple):
    """One edge of a lineage set. A dataset id is 0 if that end is a job."""

    set_id: int
    source_id: int
    target_id: int
    source_dataset_id: int
    target_dataset_id: int
    type: str
    subtype: str
    masking: bool
    description: str


class HeldRow(NamedTuple):
    """A lineage set of an owner that holds."""

    owner_id: int
    set_id: int


class SpanRow(NamedTuple):
    """A validity interval: an owner's lineage sets (`version`) held from `valid_from` until `valid_to`.

    `valid_to` is FOREVER while they still hold. `aspect`: 0 observed, 1 read, 2 declared. `statement_id` is the run or
    event that began the interval.
    """

    owner_id: int
    aspect: int
    valid_from: int
    valid_to: int
    version: int
    confirmed: bool
    statement_id: int


class SchemaRow(NamedTuple):
    """A schema facet of a dataset (JSON), with the time and event of its first and last assertion."""

    dataset_id: int
    body_id: int
    first_time: int
    first_event: int
    last_time: int
    last_event: int
    payload: str


class RunRow(NamedTuple):
    """A run. `state_at` is the time of its state. The other times are None if it sent no event of its own."""

    id: int
    name: RunName
    state: RunState
    state_at: int
    started_at: int | None
    seen_from: int | None
    seen_to: int | None


class JobRun(NamedTuple):
    """The last run of a job, and the runs that contain it: its parent, and the outermost one."""

    run: RunRow
    parent: RunRow | None
    root: RunRow | None


class MeasurementRow(NamedTuple):
    """A facet that measures a dataset: column (empty: the dataset), metric and value of each number. `run_id`: 0 for a
    dataset event.
    """

    dataset_id: int
    run_id: int
    role: str
    facet: str
    time: int
    values: tuple[tuple[str, str, int | float], ...]


class RunTouch(NamedTuple):
    """A run that read or wrote a dataset, and when."""

    dataset_id: int
    run_id: int
    time: int


class HeldFacetRow(NamedTuple):
    """The value of a facet of a dataset or job at a time (JSON)."""

    subject_id: int
    name: str
    payload: str


class FacetRow(NamedTuple):
    """The current value of a facet of a dataset or job (JSON), and the event that asserted it last."""

    subject_id: int
    name: str
    payload: str
    time: int
    event_id: int
