"""The graph of a store including its pending assertions, as far as answers to writes show it: names, and the declared
inputs and outputs of jobs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from whence.api.pending.assertions import Pending, PendingEvent
from whence.api.pending.catalog import PendingCatalog, last_declared
from whence.log import Position
from whence.model.events import JobEvent
from whence.model.graph import Direction, EdgeRow, Grain, Hop
from whence.model.ids import node_id
from whence.model.lineage import Origin
from whence.model.names import JobName
from whence.openlineage.read import read_accepted
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

_RUNS = 10
"""The number of a job's runs that are read for its observed inputs and outputs."""


@dataclass(frozen=True, slots=True)
class PendingGraph(StoreGraph):
    """A `StoreGraph` overlaid with pending declarations of jobs. The port documents the methods."""

    pending: Pending = field(default_factory=Pending)

    @classmethod
    def over(cls, connection: Connection, pending: Pending) -> "PendingGraph":
        """The graph of a snapshot. It has no adjacency file, which describes the store alone."""
        return cls(connection, _known=dict(pending.names()), pending=pending)

    def edges(self, probes: Sequence[int], hop: Hop, limit: int) -> Sequence[EdgeRow]:
        known = StoreGraph.edges(self, probes, hop, limit)
        declared = self._declared(probes) if hop.grain is Grain.JOB else {}
        if not declared:
            return known
        left = [row for row in known if not self._is_replaced(row, hop.direction, declared)]
        return [*left, *(_edge(job, end) for job, one in declared.items() for end in _ends(one, hop.direction))]

    def _declared(self, jobs: Iterable[int]) -> Mapping[int, JobEvent]:
        """The pending declaration of each job that has one."""
        names = self.pending.names()
        last = {id_: last_declared(self._pending_events(names.get(id_))) for id_ in jobs}
        return {id_: one.event for id_, one in last.items() if one and isinstance(one.event, JobEvent)}

    def _pending_events(self, name: object) -> Sequence[PendingEvent]:
        return self.pending.of_node(name) if isinstance(name, JobName) else ()

    def _is_replaced(self, row: EdgeRow, way: Direction, declared: Mapping[int, JobEvent]) -> bool:
        """Whether an edge exists only in a declaration that a pending one replaces."""
        before = self._stored_declaration(row.near_id) if row.near_id in declared else None
        return before is not None and row.far_dataset_id in _ends(before, way) - self._observed(row.near_id, way)

    def _stored_declaration(self, job: int) -> JobEvent | None:
        """The declaration of a job in the store."""
        entry = StoreCatalog(self.connection).declaration(job)
        records = (
            self.pending.log.read_records([Position.from_int(entry.position)]) if entry and self.pending.log else ()
        )
        events = [read_accepted(one.payload) for one in records if one is not None and entry and one.key == entry.key]
        return next((one for one in events if isinstance(one, JobEvent)), None)

    def _observed(self, job: int, way: Direction) -> set[int]:
        """The inputs or outputs of the latest runs of a job."""
        catalog = PendingCatalog(self.connection, pending=self.pending)
        runs = [one.id for one in catalog.latest_runs([job], _RUNS).get(job, ())]
        touched = catalog.touched(runs).values()
        return {id_ for one in touched for id_ in (one.inputs if way is Direction.UPSTREAM else one.outputs)}


def _ends(event: JobEvent, way: Direction) -> set[int]:
    return {node_id(one.name) for one in (event.inputs if way is Direction.UPSTREAM else event.outputs)}


def _edge(job: int, dataset: int) -> EdgeRow:
    return EdgeRow(
        near_id=job,
        far_id=dataset,
        near_dataset_id=0,
        far_dataset_id=dataset,
        owner_id=job,
        set_id=0,
        type="UNKNOWN",
        subtype="",
        masking=False,
        description="",
        origin=Origin.BOUNDARY,
        confirmed=True,
    )
