"""What a walk reads of the lineage graph: the rows that pass between `store/` and `query/`.

Ids are those of `model.ids`, times microseconds UTC.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from whence.model.events import RunState
from whence.model.names import DatasetName, FieldName, JobName, RunName


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
    """How one hop reads edges. `at` is the time asked about; None: what holds now."""

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
    """An owner whose lineage of a dataset has no columns. `other_id`: the dataset at the far end; 0: it only reads."""

    dataset_id: int
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An event that said something: its canonical hash, its place in the log (None: not there), time and producer."""

    key: str
    position: int | None
    time: int
    producer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeen:
    """A run that said something. `ended_at` is None unless its state is terminal."""

    name: RunName
    state: RunState
    started_at: int | None
    ended_at: int | None
    last_seen: int | None
    said_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why a lineage set is believed: the events that said it first and last, and its latest runs, newest first."""

    set_id: int
    digest: str
    origin: str
    first: Said
    last: Said
    runs: tuple[RunSeen, ...]
