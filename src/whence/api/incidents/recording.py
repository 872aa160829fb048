"""Computes the incidents in a store, and the transitions that are to be recorded."""

from sqlalchemy import Engine

from whence.api.operations.recording import TransitionRecording
from whence.govern.incidents.current import ComputedIncidents, read_streaks
from whence.govern.incidents.current import compute_incidents as compute
from whence.store.connection.lock import hold_incident_lock
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

IncidentRecording = TransitionRecording[ComputedIncidents]
"""Computes incidents and records their transitions while the server runs."""


def compute_incidents(engine: Engine, now: int) -> ComputedIncidents:
    """Compute all incidents. Raises StoreError; StoreBusyError if another instance does."""
    with hold_incident_lock(engine), snapshot(engine) as connection:
        streaks = read_streaks(connection, now)
        return compute(StoreCatalog(connection), StoreGraph(connection), streaks, now)
