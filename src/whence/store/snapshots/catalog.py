"""The catalog over one snapshot of a store: implements `query.ports.catalog.Catalog`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import SQLAlchemyError

from whence.errors import StoreError
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
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, RunName
from whence.store.catalog import events, listings, runs
from whence.store.catalog import facets as facet_queries
from whence.store.catalog.registry import list_registered_facets
from whence.store.catalog.runs import ReadReceived
from whence.store.connection.engine import reading
from whence.store.connection.revision import refuse_other_schema
from whence.store.schema.tables import progress
from whence.store.status.late_jobs import read_source_jobs


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """Open one snapshot for catalog and graph. Raises StoreError if the store does not respond."""
    try:
        with reading(engine) as connection:
            refuse_other_schema(connection)
            connection.execute(select(progress).limit(1)).all()
            yield connection
    except SQLAlchemyError as error:
        raise StoreError(f"the store cannot be read: {type(error).__name__}") from error


@dataclass(frozen=True, slots=True)
class StoreCatalog:
    """The catalog of one store in one transaction. The port documents the methods.

    Lists and counts cover the namespaces of `scope`, if given; lookups by id ignore it.
    """

    connection: Connection
    scope: frozenset[str] | None = None
    read_received: ReadReceived | None = None
    """Reads from the log when records were received; None: the log is not at hand."""

    def every_namespace(self) -> frozenset[str]:
        """All namespaces, including those with only deleted entries."""
        return frozenset(
            namespace
            for kind in (Kind.DATASET, Kind.JOB)
            for namespace in listings.every_namespace(self.connection, kind)
        )

    def reached(self) -> tuple[int, ...]:
        query = select(progress.c.position).order_by(progress.c.position)
        return tuple(self.connection.execute(query).scalars())

    def namespaces(self, kind: Kind) -> Sequence[str]:
        return listings.list_namespaces(self.connection, kind)

    def first_seen(self, kind: Kind, namespaces: Sequence[str]) -> Mapping[str, int]:
        return listings.first_seen(self.connection, kind, namespaces)

    def registered(self, kind: str) -> Sequence[Entry]:
        return listings.list_registered(self.connection, kind)

    def registered_facets(self, wanted: RegisteredFilter) -> Sequence[RegisteredFacet]:
        return list_registered_facets(self.connection, wanted)

    def listed(self, kind: Kind, wanted: EntryFilter, window: Window) -> Sequence[Entry]:
        return listings.list_named(self.connection, kind, wanted, window, self.scope)

    def count(self, kind: Kind, wanted: EntryFilter) -> int:
        return listings.count_named(self.connection, kind, wanted, self.scope)

    def entries(self, ids: Iterable[int]) -> Mapping[int, Entry]:
        entries_by_kind = [
            listings.read_entries(self.connection, kind, ids_of_kind) for kind, ids_of_kind in _by_kind(ids)
        ]
        return {entry.id: entry for entries in entries_by_kind for entry in entries}

    def deleted(self, ids: Iterable[int]) -> frozenset[int]:
        deleted_by_kind = [
            listings.read_deleted(self.connection, kind, ids_of_kind) for kind, ids_of_kind in _by_kind(ids)
        ]
        return frozenset(id_ for ids_of_kind in deleted_by_kind for id_ in ids_of_kind)

    def facets(self, ids: Iterable[int], names: Sequence[str] = ()) -> Mapping[int, Mapping[str, FacetRecord]]:
        return facet_queries.read_facets(self.connection, ids, names)

    def find(self, sought: NameSearch, window: Window) -> tuple[Sequence[Entry], int]:
        return facet_queries.find_names(self.connection, sought, window, self.scope)

    def tag_facets(self, at: int | None = None) -> Iterable[tuple[int, str]]:
        return facet_queries.read_tags(self.connection, at)

    def carrying(self, facet: str) -> Sequence[int]:
        return facet_queries.find_carriers(self.connection, facet)

    def tags(self) -> Sequence[TagCount]:
        return facet_queries.count_tags(self.connection)

    def tagged(self, tag: str, limit: int) -> Sequence[int]:
        return facet_queries.find_tagged(self.connection, tag, limit)

    def runs(self, run_ids: Iterable[str]) -> Sequence[RunEntry]:
        return runs.read_runs(self.connection, run_ids)

    def runs_of(self, job_id: int, window: Window) -> Sequence[RunEntry]:
        return runs.list_runs(self.connection, job_id, window)

    def count_runs(self, job_id: int) -> int:
        return runs.count_runs(self.connection, job_id)

    def latest_runs(self, job_ids: Iterable[int], limit: int) -> Mapping[int, Sequence[RunEntry]]:
        return runs.latest_runs(self.connection, job_ids, limit)

    def run_facets(self, ids: Iterable[int], key: str = "") -> Mapping[int, Sequence[RunFacet]]:
        return runs.read_run_facets(self.connection, ids, key)

    def source_jobs(self, namespaces: Iterable[str], since: int, until: int) -> Sequence[SourceJob]:
        return read_source_jobs(self.connection, namespaces, since, until)

    def capture_delays(self, ids: Iterable[int]) -> Mapping[int, int]:
        return {} if self.read_received is None else runs.read_delays(self.connection, ids, self.read_received)

    def touched(self, ids: Iterable[int]) -> Mapping[int, RunDatasets]:
        return runs.read_touched(self.connection, ids)

    def containers(self, ids: Iterable[int]) -> Mapping[int, RunName]:
        return runs.read_containers(self.connection, ids)

    def last_writes(self, dataset_ids: Iterable[int]) -> Mapping[int, Write]:
        return runs.last_writes(self.connection, dataset_ids)

    def last_write_times(self, dataset_ids: Iterable[int]) -> Mapping[int, int]:
        return runs.last_write_times(self.connection, dataset_ids)

    def writes(self, dataset_id: int, window: Window) -> Sequence[Write]:
        return runs.list_writes(self.connection, dataset_id, window)

    def writes_of_all(self, dataset_ids: Iterable[int], window: Window) -> Sequence[Write]:
        return runs.list_writes_of_all(self.connection, dataset_ids, window)

    def count_writes(self, dataset_id: int) -> int:
        return runs.count_writes(self.connection, dataset_id)

    def write(self, dataset_id: int, run: int) -> Write | None:
        return runs.read_write(self.connection, dataset_id, run)

    def schemas(self, dataset_ids: Iterable[int]) -> Mapping[int, Sequence[SchemaRecord]]:
        return facet_queries.read_schemas(self.connection, dataset_ids)

    def versions(self, job_id: int) -> Sequence[VersionRecord]:
        return facet_queries.read_versions(self.connection, job_id)

    def members(self, versions: Iterable[int]) -> Mapping[int, RunDatasets]:
        return runs.read_members(self.connection, versions)

    def events(self, period: EventFilter, window: Window) -> Sequence[EventEntry]:
        return events.list_events(self.connection, period, window, self.scope)

    def count_events(self, period: EventFilter) -> int:
        return events.count_events(self.connection, period, self.scope)

    def event(self, key: str) -> EventEntry | None:
        return events.read_event(self.connection, key)

    def declaration(self, job_id: int) -> EventEntry | None:
        return events.last_declaration(self.connection, job_id)

    def states(self, times: Sequence[tuple[int, int]]) -> Sequence[Mapping[RunState, int]]:
        return events.count_states(self.connection, times, self.scope)

    def known(self, kind: Kind, times: Sequence[int]) -> Sequence[int]:
        return events.count_known(self.connection, kind, times, self.scope)

    def registry(self, names: Iterable[DatasetName]) -> Mapping[DatasetName, Mapping[str, FacetRecord]]:
        ids = {node_id(name): name for name in names}
        known = self.entries(ids).keys() - self.deleted(ids)
        facets = self.facets(known)
        return {ids[id_]: facets.get(id_, {}) for id_ in sorted(known)}


def _by_kind(ids: Iterable[int]) -> Iterator[tuple[Kind, Sequence[int]]]:
    distinct_ids = sorted(set(ids))
    for kind in (Kind.DATASET, Kind.JOB):
        if of_kind := [id_ for id_ in distinct_ids if kind_of(id_) is kind]:
            yield kind, of_kind
