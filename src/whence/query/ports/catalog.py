"""What a catalog needs of a store: one port. `store.snapshots.catalog.StoreCatalog` is it.

Lists are pages with totals beside them; what belongs to many things is asked for all of them at once. Times are
microseconds UTC.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from whence.model.catalog import (
    Entry,
    EntryFilter,
    EventEntry,
    EventFilter,
    FacetRecord,
    NameSearch,
    RunDatasets,
    RunEntry,
    RunFacet,
    SchemaRecord,
    TagCount,
    VersionRecord,
    Window,
    Write,
)
from whence.model.events import RunState
from whence.model.ids import Kind
from whence.model.names import DatasetName, RunName


class Catalog(Protocol):
    """What is known of each thing, in one snapshot."""

    def reached(self) -> tuple[int, ...]:
        """In each lane of the log, the position before which every event is in this catalog; ascending."""
        ...

    def namespaces(self, kind: Kind) -> Sequence[str]:
        """Every namespace with a dataset (or a job) in it that is not deleted, by name."""
        ...

    def first_seen(self, kind: Kind, namespaces: Sequence[str]) -> Mapping[str, int]:
        """When an event first spoke of a dataset (or a job) in each namespace; one that has none is left out."""
        ...

    def registered(self, kind: str) -> Sequence[Entry]:
        """The datasets that stand for namespaces, sources or tags (`model.catalog.Registered`), by name."""
        ...

    def listed(self, kind: Kind, wanted: EntryFilter, window: Window) -> Sequence[Entry]:
        """Datasets or jobs that are not deleted, by name unless told otherwise."""
        ...

    def count(self, kind: Kind, wanted: EntryFilter) -> int:
        """How many `listed` would give without a window."""
        ...

    def entries(self, ids: Iterable[int]) -> Mapping[int, Entry]:
        """The datasets and jobs of these ids; an unknown one is left out."""
        ...

    def deleted(self, ids: Iterable[int]) -> frozenset[int]:
        """Those of the datasets and jobs that were deleted, and that no event spoke of since."""
        ...

    def facets(self, ids: Iterable[int], names: Sequence[str] = ()) -> Mapping[int, Mapping[str, FacetRecord]]:
        """The facets, or those of some names, that each dataset or job has now; deleted ones are left out."""
        ...

    def find(self, sought: NameSearch, window: Window) -> tuple[Sequence[Entry], int]:
        """Datasets and jobs by what their names contain, and how many there are in all."""
        ...

    def tag_facets(self) -> Iterable[tuple[int, str]]:
        """Who has a tags facet, and what it says (JSON)."""
        ...

    def tags(self) -> Sequence[TagCount]:
        """Every tag that a dataset, field or job carries, by name."""
        ...

    def tagged(self, tag: str, limit: int) -> Sequence[int]:
        """Datasets and jobs that carry a tag, themselves or a field of theirs; at most `limit` ids."""
        ...

    def runs(self, run_ids: Iterable[str]) -> Sequence[RunEntry]:
        """The runs of these UUIDs: of several jobs, if several claim one. Those with events of their own first."""
        ...

    def runs_of(self, job_id: int, window: Window) -> Sequence[RunEntry]:
        """The runs of a job, newest first."""
        ...

    def count_runs(self, job_id: int) -> int:
        """How many runs a job has."""
        ...

    def latest_runs(self, job_ids: Iterable[int], limit: int) -> Mapping[int, Sequence[RunEntry]]:
        """The newest runs of each job, newest first."""
        ...

    def run_facets(self, ids: Iterable[int]) -> Mapping[int, Sequence[RunFacet]]:
        """What was said of each run, and of its inputs and outputs: of each facet what was said last."""
        ...

    def touched(self, ids: Iterable[int]) -> Mapping[int, RunDatasets]:
        """What each run read and wrote; a run that told of no lineage is left out."""
        ...

    def containers(self, ids: Iterable[int]) -> Mapping[int, RunName]:
        """The parent of each run that has one."""
        ...

    def last_writes(self, dataset_ids: Iterable[int], at: int | None = None) -> Mapping[int, Write]:
        """The run that wrote each dataset last (not after `at`); one that no run wrote is left out."""
        ...

    def writes(self, dataset_id: int, window: Window) -> Sequence[Write]:
        """The runs that wrote a dataset, newest first."""
        ...

    def count_writes(self, dataset_id: int) -> int:
        """How many runs wrote a dataset."""
        ...

    def write(self, dataset_id: int, run: int) -> Write | None:
        """That a run wrote a dataset."""
        ...

    def schemas(self, dataset_ids: Iterable[int]) -> Mapping[int, Sequence[SchemaRecord]]:
        """The schemas that each dataset was said to have, newest first."""
        ...

    def versions(self, job_id: int) -> Sequence[VersionRecord]:
        """The lineages that a job told of, newest first."""
        ...

    def members(self, versions: Iterable[int]) -> Mapping[int, RunDatasets]:
        """What each version of a job's lineage reads and writes."""
        ...

    def events(self, period: EventFilter, window: Window) -> Sequence[EventEntry]:
        """Accepted events by time."""
        ...

    def count_events(self, period: EventFilter) -> int:
        """How many there are."""
        ...

    def event(self, key: str) -> EventEntry | None:
        """The event with this key (32 hex digits)."""
        ...

    def declaration(self, job_id: int) -> EventEntry | None:
        """The event that says what is declared of a job now; None if nothing is."""
        ...

    def states(self, times: Sequence[tuple[int, int]]) -> Sequence[Mapping[RunState, int]]:
        """In each interval [from, to), how many run events came of each state."""
        ...

    def known(self, kind: Kind, times: Sequence[int]) -> Sequence[int]:
        """How many datasets or jobs had been spoken of before each of these ascending times."""
        ...

    def registry(self, names: Iterable[DatasetName]) -> Mapping[DatasetName, Mapping[str, FacetRecord]]:
        """The facets of datasets of the registry, by name; those that are not there, or deleted, are left out."""
        ...
