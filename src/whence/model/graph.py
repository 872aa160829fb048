"""What a walk reads of the lineage graph: the rows that pass between `store/` and `query/`.

Ids are those of `model.ids`, times microseconds UTC.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from whence.model.events import RunState
from whence.model.names import DatasetName, FieldName, JobName, RunName

FOREVER = 2**63 - 1
"""The end of what still holds."""
EVER = -(2**63)
"""As a time asked about: any."""


class Direction(StrEnum):
    """Which way a walk goes: against the edges, or along them."""

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
    """How one hop reads edges. `at` is the time asked about; None: what holds now; EVER: all that was ever said."""

    direction: Direction
    grain: Grain
    at: int | None = None


class EdgeRow(NamedTuple):
    """One edge as a hop meets it: `near` is the end that was asked for. A dataset id is 0 where the end is a job."""

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
    """An owner whose lineage at a dataset or column is not known by columns. `other_id`: the dataset at the far end; 0:
    it only reads.
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
class Clue:
    """What a search looks for: words, in the parts that they were typed in. `typos`: words like them will do."""

    parts: tuple[tuple[str, ...], ...]
    typos: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys(word for part in self.parts for word in part))


class Candidates(NamedTuple):
    """Nodes that a search may mean. `complete`: there is no other."""

    hits: Sequence[Hit]
    complete: bool


class Telling(NamedTuple):
    """A node of which a facet says all words of a search; `facet` is its name."""

    facet: str
    id: int
    name: DatasetName | FieldName | JobName


class Tellings(NamedTuple):
    """What facets say of a search's words. `complete`: no other says them."""

    found: Sequence[Telling]
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An event that said something: its canonical hash, its place in the log (None: not there), time and producer."""

    key: str
    position: int | None
    time: int
    producer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeen:
    """A run that said something. `ended_at` is None unless its state is terminal. `within`: the id of its parent run,
    0 if it has none.
    """

    name: RunName
    state: RunState
    started_at: int | None
    ended_at: int | None
    last_seen: int | None
    said_at: int
    within: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why a lineage set is believed: the events that said it first and last, and its latest runs, newest first.

    `reader`: of what was parsed, the version of the reader that read its job's SQL last, if it was looked up.
    """

    set_id: int
    digest: str
    origin: str
    first: Said
    last: Said
    runs: tuple[RunSeen, ...]
    reader: str = ""


class SetEdge(NamedTuple):
    """One edge of a lineage set. A dataset id is 0 where the end is a job."""

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
    """That an owner's lineage set holds."""

    owner_id: int
    set_id: int


class SpanRow(NamedTuple):
    """That an owner's lineage sets (`version`) held from `valid_from` until `valid_to` (FOREVER: they still do).

    `aspect`: 0 observed, 1 read, 2 declared. `statement_id`: the run or event from which they held.
    """

    owner_id: int
    aspect: int
    valid_from: int
    valid_to: int
    version: int
    confirmed: bool
    statement_id: int


class SchemaRow(NamedTuple):
    """A schema facet of a dataset: when it was said first and last, by which events, and what it says (JSON)."""

    dataset_id: int
    body_id: int
    first_time: int
    first_event: int
    last_time: int
    last_event: int
    payload: str


class RunRow(NamedTuple):
    """A run. `state_at` is the time of its state; the others are None where no event of its own was seen."""

    id: int
    name: RunName
    state: RunState
    state_at: int
    started_at: int | None
    seen_from: int | None
    seen_to: int | None


class Touching(NamedTuple):
    """That a run wrote or read a dataset, and when."""

    dataset_id: int
    run_id: int
    time: int


class FacetRow(NamedTuple):
    """What a facet says now of a dataset or job (JSON), and the event that said it last."""

    subject_id: int
    name: str
    payload: str
    time: int
    event_id: int
