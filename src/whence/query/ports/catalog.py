"""The catalog port: datasets, jobs, runs, facets, events. `store.snapshots.catalog.StoreCatalog` implements it.

Lists are pages, with separate methods for totals. Details of many entries are read with one call. Times are
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
    RegisteredFacet,
    RegisteredFilter,
    RunDatasets,
    RunEntry,
    RunFacet,
    SchemaRecord,
    SourceJob,
    TagCount,
    VersionRecord,
    Window,
    Write,
)
from whence.model.events import RunState
from whence.model.ids import Kind
from whence.model.names import DatasetName, RunName


class Catalog(Protocol):
    """Catalog entries and their details, in one snapshot."""

    def reached(self) -> tuple[int, ...]:
        """The position in each lane of the log before which every event is in this catalog; ascending."""
        ...

    def namespaces(self, kind: Kind) -> Sequence[str]:
        """Every namespace that contains a dataset (or a job) that is not deleted, by name."""
        ...

    def first_seen(self, kind: Kind, namespaces: Sequence[str]) -> Mapping[str, int]:
        """When an event first mentioned a dataset (or a job) in each namespace; empty namespaces are left out."""
        ...

    def registered(self, kind: str) -> Sequence[Entry]:
        """The datasets that represent namespaces, sources or tags (`model.catalog.Registered`), by name."""
        ...

    def registered_facets(self, wanted: RegisteredFilter) -> Sequence[RegisteredFacet]:
        """Facets of such datasets with their producers, the latest first; ended ones are left out."""
        ...

    def listed(self, kind: Kind, wanted: EntryFilter, window: Window) -> Sequence[Entry]:
        """Datasets or jobs that are not deleted, by name unless `wanted` orders them differently."""
        ...

    def count(self, kind: Kind, wanted: EntryFilter) -> int:
        """The number of entries that `listed` would return without a window."""
        ...

    def entries(self, ids: Iterable[int]) -> Mapping[int, Entry]:
        """The datasets and jobs with these ids; unknown ids are left out."""
        ...

    def deleted(self, ids: Iterable[int]) -> frozenset[int]:
        """The datasets and jobs among these that were deleted, and that no event has mentioned since."""
        ...

    def facets(self, ids: Iterable[int], names: Sequence[str] = ()) -> Mapping[int, Mapping[str, FacetRecord]]:
        """The current facets of each dataset or job, or only those with some names; deleted facets are left out."""
        ...

    def find(self, sought: NameSearch, window: Window) -> tuple[Sequence[Entry], int]:
        """Datasets and jobs whose names contain a text, and the number of all matches."""
        ...

    def tag_facets(self, at: int | None = None) -> Iterable[tuple[int, str]]:
        """The ids of datasets and jobs with a tags facet at a time (µs), None: now, and its payload (JSON)."""
        ...

    def carrying(self, facet: str) -> Sequence[int]:
        """The ids of datasets and jobs that have a facet with this name."""
        ...

    def tags(self) -> Sequence[TagCount]:
        """Every tag of a dataset, field or job, by name."""
        ...

    def tagged(self, tag: str, limit: int) -> Sequence[int]:
        """Datasets and jobs that have a tag, or a field that has it; at most `limit` ids."""
        ...

    def runs(self, run_ids: Iterable[str]) -> Sequence[RunEntry]:
        """The runs with these UUIDs; several if several jobs claim one. Runs with events of their own come first."""
        ...

    def runs_of(self, job_id: int, window: Window) -> Sequence[RunEntry]:
        """The runs of a job, newest first."""
        ...

    def count_runs(self, job_id: int) -> int:
        """The number of runs of a job."""
        ...

    def latest_runs(self, job_ids: Iterable[int], limit: int) -> Mapping[int, Sequence[RunEntry]]:
        """The newest runs of each job, newest first."""
        ...

    def run_facets(self, ids: Iterable[int], key: str = "") -> Mapping[int, Sequence[RunFacet]]:
        """The facets of each run, and of its inputs and outputs, or those of one key; of each the latest payload."""
        ...

    def source_jobs(self, namespaces: Iterable[str], since: int, until: int) -> Sequence[SourceJob]:
        """The jobs in these namespaces with runs after a time and until another (µs), and how regularly they ran."""
        ...

    def capture_delays(self, ids: Iterable[int]) -> Mapping[int, int]:
        """From the last event of each run until the log received it (µs). A run without one in the log is left out,
        and so are all if the log is not at hand.
        """
        ...

    def touched(self, ids: Iterable[int]) -> Mapping[int, RunDatasets]:
        """The datasets that each run read and wrote; a run without lineage is left out."""
        ...

    def containers(self, ids: Iterable[int]) -> Mapping[int, RunName]:
        """The parent of each run that has one."""
        ...

    def last_writes(self, dataset_ids: Iterable[int]) -> Mapping[int, Write]:
        """The run that wrote each dataset last; a dataset without one is left out."""
        ...

    def last_write_times(self, dataset_ids: Iterable[int]) -> Mapping[int, int]:
        """The time (µs) of each dataset's last write: of `last_writes` only the times, with fewer rows."""
        ...

    def writes(self, dataset_id: int, window: Window) -> Sequence[Write]:
        """The runs that wrote a dataset, newest first."""
        ...

    def writes_of_all(self, dataset_ids: Iterable[int], window: Window) -> Sequence[Write]:
        """The runs that wrote these datasets, newest first; one that wrote several, once for each."""
        ...

    def count_writes(self, dataset_id: int) -> int:
        """The number of runs that wrote a dataset."""
        ...

    def write(self, dataset_id: int, run: int) -> Write | None:
        """The write of a dataset by a run, or None."""
        ...

    def schemas(self, dataset_ids: Iterable[int]) -> Mapping[int, Sequence[SchemaRecord]]:
        """The reported schemas of each dataset, newest first."""
        ...

    def versions(self, job_id: int) -> Sequence[VersionRecord]:
        """The lineage versions of a job, newest first."""
        ...

    def members(self, versions: Iterable[int]) -> Mapping[int, RunDatasets]:
        """The datasets that each lineage version reads and writes."""
        ...

    def events(self, period: EventFilter, window: Window) -> Sequence[EventEntry]:
        """Accepted events by time."""
        ...

    def count_events(self, period: EventFilter) -> int:
        """The number of accepted events in a period."""
        ...

    def event(self, key: str) -> EventEntry | None:
        """The event with this key (32 hex digits)."""
        ...

    def declaration(self, job_id: int) -> EventEntry | None:
        """The event with the current declaration of a job, or None."""
        ...

    def states(self, times: Sequence[tuple[int, int]]) -> Sequence[Mapping[RunState, int]]:
        """The number of run events of each state in each interval [from, to)."""
        ...

    def known(self, kind: Kind, times: Sequence[int]) -> Sequence[int]:
        """The number of datasets or jobs that events had mentioned before each of these ascending times."""
        ...

    def registry(self, names: Iterable[DatasetName]) -> Mapping[DatasetName, Mapping[str, FacetRecord]]:
        """The facets of registry datasets, by name; missing and deleted ones are left out."""
        ...
