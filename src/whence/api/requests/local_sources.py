"""What questions about a period need beside the graph of a store on this machine."""

import time

from whence.client.options import Bounds, Time, iso_text
from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.query.history.changes.period import Period, read_period
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph


def contracts_in(graph: StoreGraph) -> EvaluatedContracts:
    """The contracts of a store, in the snapshot of a graph."""
    return EvaluatedContracts(StoreCatalog(graph.connection), graph)


def period_of(since: Time, until: Time | None, bounds: Bounds) -> Period:
    """The period that options name. Raises ValueError if there is none."""
    return read_period(iso_text(since) or "", iso_text(until), iso_text(bounds.get("as_of")), time.time_ns() // 1_000)
