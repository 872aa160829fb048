"""What is known of each thing: the rows that pass between `store/` and `query/` when a catalog is read.

Ids are those of `model.ids`, times microseconds UTC.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from whence.model.events import EventKind, RunState
from whence.model.names import DatasetName, JobName, RunName

REGISTRY = "whence.catalog"
"""The namespace of the datasets that stand for what OpenLineage has no event for: namespaces, sources and tags.

They carry facets as all datasets do, and are not listed among them.
"""


class Registered(StrEnum):
    """What a dataset of the registry stands for; its name is `<kind>/<name>`."""

    NAMESPACE = "namespace"
    SOURCE = "source"
    TAG = "tag"

    def of(self, name: str) -> DatasetName:
        """The dataset that stands for the thing of this name."""
        return DatasetName(REGISTRY, f"{self}/{name}")

    def name_in(self, registered: DatasetName) -> str:
        """The inverse of `of`."""
        return registered.name.removeprefix(f"{self}/")


class Entry(NamedTuple):
    """A dataset or job, and when events spoke of it."""

    id: int
    name: DatasetName | JobName
    first_seen: int
    last_seen: int


class FacetSaid(NamedTuple):
    """What a facet of a dataset or job says now, as canonical JSON, and when it was said."""

    payload: str
    time: int


class RunEntry(NamedTuple):
    """A run. `seen_from` and `seen_to` are None of one that only its children tell of."""

    id: int
    name: RunName
    state: RunState
    state_at: int
    started_at: int | None
    seen_from: int | None
    seen_to: int | None

    @property
    def ended_at(self) -> int | None:
        """When it ended, of one that has."""
        return self.state_at if self.state.rank == RunState.COMPLETE else None


class RunFacet(NamedTuple):
    """A facet of a run, or of an input or output of it: then `role` is `input` or `output`."""

    role: str
    dataset_id: int
    key: str
    payload: str


class Touched(NamedTuple):
    """What a run read and wrote, by ids, and the version of its job's lineage that it said last (0: none)."""

    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Write(NamedTuple):
    """A run that wrote a dataset, and the time of the last event that said so."""

    dataset_id: int
    run: RunEntry
    time: int


class SchemaSaid(NamedTuple):
    """A schema that a dataset was said to have: the facet's hash and text, when first and when last."""

    body_id: int
    payload: str
    first_time: int
    last_time: int


class VersionSaid(NamedTuple):
    """A lineage of a job: its version, when it was said first and last."""

    version: int
    first_time: int
    last_time: int


class EventEntry(NamedTuple):
    """An accepted event. `position` is where the log has it; `subject` the name of what it is about."""

    key: str
    position: int
    time: int
    kind: EventKind
    state: RunState
    producer: str
    subject: DatasetName | JobName | RunName | None


class TagCount(NamedTuple):
    """A tag as datasets, fields and jobs carry it."""

    name: str
    uses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which of many: `limit` of them after the first `offset`; or after the one whose sort key is `after`.

    The sort key of datasets and jobs is `name_key`, of runs (last seen, id), of events (time, half of the key).
    """

    limit: int
    offset: int = 0
    after: tuple[str | int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which datasets or jobs: in a namespace (None: all), and of jobs those whose last run is in one of the states.

    `latest`: those first that were seen last; else by name.
    """

    namespace: str | None = None
    states: frozenset[RunState] = frozenset()
    latest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What to find by name: text in the name of a dataset or job, whatever its case."""

    text: str
    kinds: tuple[int, ...]
    namespace: str | None = None
    before: int | None = None
    after: int | None = None
    latest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Events with times in [after, before); of a namespace; of some kinds; of runs in some states (none: in all, and of
    what is no run, too). `newest`: those first.
    """

    after: int
    before: int
    kinds: tuple[EventKind, ...] = tuple(EventKind)
    namespace: str | None = None
    states: frozenset[RunState] = frozenset()
    newest: bool = True


def prefix(text: str) -> str:
    """By how much of a name lists are sorted: an index of PostgreSQL holds no name of any length."""
    return text[:PREFIX]


PREFIX = 200


def name_key(one: Entry) -> tuple[str | int, ...]:
    """By what datasets and jobs are sorted."""
    return prefix(one.name.namespace), prefix(one.name.name), one.id


def distinct(ids: Iterable[int]) -> list[int]:
    """Sorted, each once."""
    return sorted(set(ids))
