"""OpenLineage events as values: RunEvent, JobEvent, DatasetEvent, and what they carry.

Times are integer microseconds since 1970 UTC. Facet payloads are JSON text, kept as the producer wrote them.
"""

from dataclasses import dataclass, field
from enum import IntEnum

from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName


class RunState(IntEnum):
    """A run event's type. The value orders ties between terminal states: FAIL > ABORT > COMPLETE."""

    OTHER = 0
    START = 1
    RUNNING = 2
    COMPLETE = 3
    ABORT = 4
    FAIL = 5

    @property
    def rank(self) -> int:
        """Height in the lattice OTHER < START < RUNNING < {COMPLETE, ABORT, FAIL}."""
        return _RANKS[self]


_RANKS = tuple(min(state.value, RunState.COMPLETE.value) for state in RunState)
"""By value; an enum's `value` is slow to read, and this is asked for every event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One facet: its key (any characters), its JSON text, and whether it is a `_deleted` marker."""

    key: str
    payload: str
    deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaField:
    """One column that a schema facet declares; nested ones come flattened, dotted, after their parent."""

    name: str
    type: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Symlink:
    """Another identity of a dataset (symlinks facet)."""

    name: DatasetName
    type: str


class Change(IntEnum):
    """What happened to a dataset as a whole (lifecycleStateChange)."""

    ALTER = 0
    CREATE = 1
    DROP = 2
    OVERWRITE = 3
    RENAME = 4
    TRUNCATE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """A change of a dataset, and the name that it had before it was renamed."""

    change: Change
    previous: DatasetName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A dataset as one event describes it. `raw` is its identity as written, before normalisation."""

    name: DatasetName
    raw: DatasetName
    facets: tuple[Facet, ...] = ()
    run_facets: tuple[Facet, ...] = ()
    """inputFacets or outputFacets: they belong to this run only."""
    fields: tuple[SchemaField, ...] = ()
    symlinks: tuple[Symlink, ...] = ()
    edges: tuple[Edge, ...] = ()
    """The edges into it: from an output's columnLineage facet, or from the lineage facet of a dataset event."""
    reported_columns: tuple[str, ...] = ()
    """The columns that an output's columnLineage facet mentions, with or without sources."""
    incomplete_columns: tuple[str, ...] = ()
    """The columns of an output of which its whence_columnEvidence facet states that not all sources are known."""
    lifecycle: Lifecycle | None = None
    source: bytes = field(default=b"", compare=False, repr=False)
    """The JSON of its facets, if it was kept. All members but `run_facets` and `edges` follow from it and the names."""

    def with_run_facets(self, run_facets: tuple[Facet, ...]) -> "Dataset":
        """The same dataset in another run. `dataclasses.replace` takes three times as long."""
        return Dataset(
            name=self.name,
            raw=self.raw,
            facets=self.facets,
            run_facets=run_facets,
            fields=self.fields,
            symlinks=self.symlinks,
            edges=self.edges,
            reported_columns=self.reported_columns,
            incomplete_columns=self.incomplete_columns,
            lifecycle=self.lifecycle,
            source=self.source,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job and its facets."""

    name: JobName
    facets: tuple[Facet, ...] = ()
    streaming: bool = False
    """jobType.processingType is STREAMING or SERVICE: its runs are not expected to end."""
    decommissioned: bool = False
    """Its whence_lifecycle facet declares that it no longer runs."""
    edges: tuple[Edge, ...] | None = None
    """All edges of its explicit lineage facet, possibly none; None if it has no such facet."""
    reported_fields: tuple[FieldName, ...] = ()
    """The columns that its explicit lineage facet mentions, with or without sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run, its facets, and the runs that contain it."""

    name: RunName
    facets: tuple[Facet, ...] = ()
    parent: RunName | None = None
    root: RunName | None = None
    partial: bool = False
    """The producer reports that its lineage is incomplete (extractionError, debug timeouts)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """One observed state of a run."""

    time: int
    producer: str
    state: RunState
    run: Run
    job: Job
    inputs: tuple[Dataset, ...]
    outputs: tuple[Dataset, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """What is declared of a job at design time. It replaces the previous declaration."""

    time: int
    producer: str
    job: Job
    inputs: tuple[Dataset, ...]
    outputs: tuple[Dataset, ...]
    dataset: Dataset | None = None
    """A dataset described beside the job (no valid event has both). It is not part of the lineage."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetEvent:
    """What is declared of a dataset from this time on."""

    time: int
    producer: str
    dataset: Dataset
    warnings: tuple[str, ...] = ()


Event = RunEvent | JobEvent | DatasetEvent


class EventKind(IntEnum):
    """What an event is about."""

    RUN = 0
    JOB = 1
    DATASET = 2
