"""The lineage graph over one snapshot of a store: one indexed query for each hop of a traversal."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, Select, func, select
from sqlalchemy.exc import SQLAlchemyError

from whence.errors import StoreError
from whence.model.blast_radius import BlastRadius
from whence.model.graph import (
    ALL_TIME,
    AssertingEvent,
    Candidates,
    Direction,
    EdgeRow,
    Evidence,
    FacetRow,
    FieldRow,
    GapRow,
    HeldFacetRow,
    HeldRow,
    Hit,
    Hop,
    JobRun,
    MeasurementRow,
    RunRow,
    RunTouch,
    SchemaRow,
    SearchTerms,
    SetEdge,
    SpanRow,
    TextMatches,
)
from whence.model.ids import Kind, kind_of
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.facets.assertions import ChecksPage
from whence.store.adjacency.overlay import StoreAdjacency
from whence.store.adjacency.tables import TableAdjacency
from whence.store.catalog import runs as catalog_runs
from whence.store.catalog.name_patterns import search_names
from whence.store.catalog.search_candidates import Vocabulary, find_candidates, find_facet_matches
from whence.store.connection.engine import open_store, reading
from whence.store.connection.revision import refuse_other_schema
from whence.store.graph import history as graph_history
from whence.store.graph import runs as graph_runs
from whence.store.graph.blast_radius import find
from whence.store.graph.check_jobs import read_check_jobs
from whence.store.graph.edges import PROBE, edges_statement, opened, when
from whence.store.graph.evidence import read_evidence
from whence.store.graph.gaps import (
    coarse_statement,
    incomplete_statements,
    readers_statement,
    unreported_statements,
)
from whence.store.graph.measurements import read_ended_runs, read_measurements
from whence.store.graph.names import (
    datasets_named,
    fields_named,
    fields_statement,
    groups_statement,
    jobs_named,
)
from whence.store.ingest.dropped_datasets import read_dropped
from whence.store.ingest.retention_summary import forgotten_history, forgotten_runs
from whence.store.schema.array_parameters import giving
from whence.store.schema.tables import event, progress
from whence.store.status.data_quality import read_checks, read_checks_of_each

_FIRST_EVENT = select(func.min(event.c.time))


def existing_store(url: str, *, any_schema: bool = False) -> Engine:
    """Open an existing store that answers.

    Raises StoreError if none does, or if its tables are not those of this release, unless `any_schema`.
    """
    engine = _open_existing(url)
    try:
        with reading(engine) as connection:
            if not any_schema:
                refuse_other_schema(connection)
            connection.execute(select(progress).limit(1)).all()
    except StoreError:
        engine.dispose()
        raise
    except SQLAlchemyError as error:
        engine.dispose()
        raise StoreError(f"the store cannot be read: {str(error).splitlines()[0]}") from error
    return engine


@contextmanager
def open_graph(url: str) -> Iterator["StoreGraph"]:
    """Open the graph of an existing store as one snapshot. Raises StoreError if it is missing or does not respond."""
    engine = _open_existing(url)
    try:
        with reading(engine) as connection:
            refuse_other_schema(connection)
            yield StoreGraph(connection)
    except SQLAlchemyError as error:
        raise StoreError(f"the store cannot be read: {str(error).splitlines()[0]}") from error
    finally:
        engine.dispose()


def _open_existing(url: str) -> Engine:
    try:
        engine = open_store(url)
    except SQLAlchemyError as error:
        raise StoreError(f"the store cannot be read: {str(error).splitlines()[0]}") from error
    file = engine.url.database
    if engine.dialect.name == "sqlite" and not (file and Path(file).is_file()):
        raise StoreError(
            f"no store at {file}; `whence up` or `whence demo` makes one, --data or --store name another place"
        )
    return engine


class _Completeness(NamedTuple):
    reached: tuple[int, ...]
    forgotten_before: int | None


@dataclass(frozen=True, slots=True)
class StoreGraph:
    """The lineage graph of one store in one transaction (`engine.reading`)."""

    connection: Connection
    arrays: StoreAdjacency | None = None
    """The edges as arrays, in the same transaction, if present."""
    _known: dict[int, Node] = field(default_factory=dict, repr=False, compare=False)
    """Names already read, since the parts of an answer request the same ones."""
    _vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False, compare=False)
    _cached_completeness: list[_Completeness] = field(default_factory=list, repr=False, compare=False)
    """The progress, once it was read, since tags and each part of an answer contain it."""

    def reached(self) -> tuple[int, ...]:
        """The position in each lane of the log before which every event is in this graph."""
        return self._completeness().reached

    def forgotten_before(self) -> int | None:
        """The time (µs) before which retention deleted lineage that is no longer valid, or None."""
        return self._completeness().forgotten_before

    def recorded_from(self) -> int | None:
        """The time of the first event (µs), or None."""
        first: int | None = self.connection.scalar(_FIRST_EVENT)
        return first

    def hidden(self, ids: Iterable[int]) -> frozenset[int]:
        """Empty: `query.visibility.graph` hides nodes."""
        return frozenset()

    def edges(self, probes: Sequence[int], hop: Hop, limit: int) -> Sequence[EdgeRow]:
        """The edges at the given nodes, at most `limit`, in the order of `probes` and then of their far ends."""
        dialect = self.connection.dialect.name
        statement = edges_statement(dialect, hop.direction, hop.grain, when(hop.at))
        values = giving(dialect, PROBE, list(enumerate(probes))) | {"most": limit, "at": hop.at}
        return opened(self.connection, map(EdgeRow._make, self.connection.execute(statement, values).all()))

    def adjacencies(self, at: int | None, roots: Iterable[int]) -> Iterator[StoreAdjacency | TableAdjacency]:
        """The arrays of the edges, if their file has the required ones; then the tables."""
        if found := self._arrays_at(at):
            yield found
        yield TableAdjacency.of(self, at, roots)

    def _arrays_at(self, at: int | None) -> StoreAdjacency | None:
        if self.arrays is None or at is None:
            return self.arrays
        horizon = self.forgotten_before()
        return None if at == ALL_TIME or (horizon is not None and at < horizon) else self.arrays.as_of(at)

    def groups(self, dataset_ids: Iterable[int]) -> Mapping[int, tuple[DatasetName, ...]]:
        """The alias group of each dataset that has aliases, representative first, then by name."""
        found: dict[int, list[tuple[bool, DatasetName]]] = {}
        for id_, first, namespace, name in self._execute_for_ids(groups_statement, dataset_ids):
            found.setdefault(id_, []).append((not first, DatasetName(namespace, name)))
        return {id_: tuple(name for _, name in sorted(members)) for id_, members in found.items() if len(members) > 1}

    def fields(self, dataset_ids: Iterable[int]) -> Sequence[FieldRow]:
        """The fields of the given datasets, from schemas or lineage."""
        return sorted(map(FieldRow._make, self._execute_for_ids(fields_statement, dataset_ids)))

    def gaps(self, dataset_ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """Assertions about these datasets without columns, at most `limit` rows."""
        dialect, time = self.connection.dialect.name, when(hop.at)
        probes = giving(dialect, PROBE, list(enumerate(dataset_ids))) | {"at": hop.at}
        coarse = self.connection.execute(coarse_statement(dialect, hop.direction, time), probes | {"most": limit})
        rows = [GapRow._make(row) for row in coarse]
        if hop.direction is Direction.DOWNSTREAM and len(rows) < limit:
            left = probes | {"most": limit - len(rows)}
            readers = self.connection.execute(readers_statement(dialect, time), left)
            rows += [GapRow(dataset_id, owner_id, 0) for dataset_id, owner_id in readers]
        return sorted(rows)

    def unreported(self, ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """Columns that a job writes without reporting their source columns, at most `limit` rows."""
        statements = unreported_statements(self.connection.dialect.name, hop.direction, when(hop.at))
        return self._gap_rows(statements, ids, hop, limit)

    def incomplete(self, ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """Columns and outputs of which a job reports that it does not know all sources, at most `limit` rows."""
        statements = incomplete_statements(self.connection.dialect.name, hop.direction, hop.grain, when(hop.at))
        return self._gap_rows(statements, ids, hop, limit)

    def _gap_rows(
        self, statements: Sequence[Select[Any]], ids: Sequence[int], hop: Hop, limit: int
    ) -> Sequence[GapRow]:
        values = giving(self.connection.dialect.name, PROBE, list(enumerate(ids))) | {"at": hop.at, "most": limit}
        rows = (row for statement in statements for row in self.connection.execute(statement, values))
        return [GapRow._make(row) for row in rows][:limit]

    def nodes(self, ids: Iterable[int]) -> Mapping[int, Node]:
        """The names of the given datasets, fields and jobs; an unknown id is left out."""
        wanted, known = list(ids), self._known
        by_kind: dict[Kind, list[int]] = {}
        for id_ in wanted:
            if id_ not in known:
                by_kind.setdefault(kind_of(id_), []).append(id_)
        for kind, unknown in by_kind.items():
            known |= self._names(kind, unknown)
        return {id_: known[id_] for id_ in wanted if id_ in known}

    def search(self, fragments: Sequence[str], kind: Kind, limit: int) -> Sequence[Hit]:
        """Nodes whose name contains the fragments in this order, ignoring case: the shortest names first."""
        return search_names(self.connection, fragments, kind, limit)

    def find(self, clue: SearchTerms, kind: Kind, limit: int) -> Candidates:
        """Nodes whose names may match, the most likely first; no other node matches if `complete`."""
        return find_candidates(self.connection, self.nodes, self._vocabulary, clue, kind, limit)

    def facet_matches(self, words: Sequence[str], limit: int) -> TextMatches:
        """Nodes with a facet that contains all words, or words that begin with them."""
        return find_facet_matches(self.connection, self.nodes, words, limit)

    def evidence(self, set_ids: Iterable[int], at: int | None, runs: int) -> Mapping[int, Evidence]:
        """The events and runs that prove each lineage set, not after `at`, with its latest `runs` runs."""
        return read_evidence(self.connection, sorted(set(set_ids)), at, runs)

    def blast(self, node_id: int) -> BlastRadius | None:
        """The blast radius of a canonical node, or None if none is computed, or the node is newer."""
        return find(self.connection, node_id)

    def dropped_at(self, dataset_id: int, at: int | None) -> int | None:
        """When a dataset was dropped, under any of its names, not after a time (µs, None: now); None if it was not."""
        return read_dropped(self.connection, dataset_id, at)

    def latest_run(self, job_id: int) -> RunRow | None:
        """The latest run of a job; None if it has none."""
        latest = catalog_runs.latest_runs(self.connection, [job_id], 1).get(job_id, ())
        return next(iter(self.runs([one.id for one in latest])), None)

    def last_runs(self, job_ids: Iterable[int], at: int | None) -> Mapping[int, JobRun]:
        """The last run of each job that has one, with the runs that contain it; as of a time."""
        return graph_runs.read_last_runs(self.connection, job_ids, at)

    def measurements(
        self, dataset_ids: Iterable[int], at: int | None, limit: int, facet: str = ""
    ) -> Sequence[MeasurementRow]:
        """The facets that measure these datasets, the latest first, at most `limit`; as of a time."""
        return read_measurements(self.connection, dataset_ids, at, limit, facet)

    def runs_forgotten_before(self) -> int | None:
        """The time (µs) before which retention may have deleted runs with what they measured, or None."""
        return forgotten_runs(self.connection)

    def checks(self, dataset_ids: Iterable[int], at: int | None) -> ChecksPage:
        """The checks of these datasets, by run, the latest first; as of a time."""
        return read_checks(self.connection, dataset_ids, at)

    def checks_of_each(self, groups: Sequence[frozenset[int]], at: int | None) -> Sequence[ChecksPage]:
        """The checks of each group of datasets; as of a time."""
        return read_checks_of_each(self.connection, groups, at)

    def check_jobs(self, job_ids: Iterable[int], at: int | None) -> frozenset[int]:
        """Which of these jobs only check data; as of a time."""
        return read_check_jobs(self.connection, job_ids, at)

    def ended_runs(self, job_id: int, at: int | None, limit: int) -> Sequence[RunRow]:
        """The runs of a job that started and ended, the latest end first, at most `limit`; as of a time."""
        return read_ended_runs(self.connection, job_id, at, limit)

    def run_ends(self, job_ids: Iterable[int], since: int, until: int, limit: int) -> Sequence[RunRow]:
        """The runs of jobs that ended in a period, the latest first, and the last run of each job before it."""
        return graph_runs.read_run_ends(self.connection, job_ids, since, until, limit)

    def run_events(self, times: Iterable[tuple[int, int]]) -> Mapping[tuple[int, int], AssertingEvent]:
        """For each (run, time) the last event of the run that is not after the time."""
        return graph_runs.read_run_events(self.connection, times)

    def facets(self, ids: Iterable[int], names: Sequence[str]) -> Sequence[FacetRow]:
        """The current payloads of the named facets of datasets and jobs; deleted ones are left out."""
        return graph_runs.read_facets(self.connection, ids, names)

    def tags_at(self, ids: Iterable[int], at: int) -> Sequence[HeldFacetRow]:
        """The tags facets of datasets and jobs at a time; deleted ones are left out."""
        return graph_history.read_tags(self.connection, ids, at)

    def events(self, ids: Iterable[int]) -> Mapping[int, tuple[AssertingEvent, int]]:
        """The stored events among these, with their subjects."""
        return graph_runs.read_events(self.connection, ids)

    def runs_named(self, run_id: str) -> Sequence[RunRow]:
        """The runs with this run id: one of each job that claims it."""
        return graph_runs.find_runs(self.connection, run_id)

    def runs(self, ids: Iterable[int]) -> Sequence[RunRow]:
        """The runs with these ids."""
        return graph_runs.read_runs(self.connection, ids)

    def asserted_sets(self, run_ids: Iterable[int]) -> Mapping[int, tuple[int, ...]]:
        """The lineage sets that each run asserted."""
        return graph_runs.read_asserted_sets(self.connection, run_ids)

    def writers(self, touches: Sequence[tuple[int, int]]) -> Sequence[RunTouch]:
        """For each (dataset, time), the last run that had completed writing it by then."""
        return graph_runs.read_writers(self.connection, touches)

    def next_writers(self, touches: Sequence[tuple[int, int]]) -> Sequence[RunTouch]:
        """For each (dataset, time), the first run after then that completed writing it."""
        return graph_runs.read_next_writers(self.connection, touches)

    def readers(self, periods: Sequence[tuple[int, int, int]], limit: int) -> Sequence[RunTouch]:
        """For each (dataset, from, until), the runs with events in that time that read it; at most `limit` in all."""
        return graph_runs.read_readers(self.connection, periods, limit)

    def owners(self, ids: Iterable[int]) -> Sequence[int]:
        """The owners that ever asserted an edge at one of these nodes."""
        return graph_history.read_owners(self.connection, ids)

    def spans(self, owner_ids: Iterable[int]) -> Sequence[SpanRow]:
        """All validity intervals of these owners, by owner, aspect and time."""
        return graph_history.read_spans(self.connection, owner_ids)

    def versions(self, ids: Iterable[int]) -> Mapping[int, tuple[int, ...]]:
        """The lineage sets of each version."""
        return graph_history.read_versions(self.connection, ids)

    def content(self, set_ids: Iterable[int]) -> Sequence[SetEdge]:
        """The edges of lineage sets."""
        return graph_history.read_content(self.connection, set_ids)

    def changed(self, since: int, until: int) -> Sequence[int]:
        """Owners with lineage that began or ended after `since`, and not after `until`."""
        return graph_history.read_changed(self.connection, since, until)

    def held(self, at: int | None, owner_ids: Iterable[int] | None) -> Sequence[HeldRow]:
        """The lineage sets that are valid now or at a time, of some owners or of all."""
        return graph_history.read_held(self.connection, at, owner_ids)

    def present(self, ids: Iterable[int], at: int | None) -> set[int]:
        """The nodes with an edge that is valid now, or at a time."""
        return graph_history.read_present(self.connection, ids, at)

    def schemas(self, dataset_ids: Iterable[int]) -> Sequence[SchemaRow]:
        """Every schema that these datasets ever had, the oldest first."""
        return graph_history.read_schemas(self.connection, dataset_ids)

    def described(self, since: int | None) -> Sequence[int]:
        """Datasets whose schema may have changed after a time, or with None all that have a schema."""
        return graph_history.read_described(self.connection, since)

    def _completeness(self) -> _Completeness:
        if not self._cached_completeness:
            positions = self.connection.execute(select(progress.c.position).order_by(progress.c.position)).scalars()
            self._cached_completeness.append(_Completeness(tuple(positions), forgotten_history(self.connection)))
        return self._cached_completeness[0]

    def _names(self, kind: Kind, ids: Sequence[int]) -> Mapping[int, Node]:
        match kind:
            case Kind.DATASET:
                return {
                    id_: DatasetName(namespace, name)
                    for id_, namespace, name in self._execute_for_ids(datasets_named, ids)
                }
            case Kind.JOB:
                return {
                    id_: JobName(namespace, name) for id_, namespace, name in self._execute_for_ids(jobs_named, ids)
                }
            case Kind.FIELD:
                found = self._execute_for_ids(fields_named, ids)
                return {id_: FieldName(DatasetName(namespace, of), name) for id_, name, namespace, of in found}
            case Kind.RUN:
                return {}

    def _execute_for_ids(self, statement: Callable[[str], Select[Any]], ids: Iterable[int]) -> Sequence[Any]:
        dialect = self.connection.dialect.name
        return self.connection.execute(statement(dialect), giving(dialect, ("id",), [(id_,) for id_ in ids])).all()
