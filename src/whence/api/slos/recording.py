"""Evaluates the declared objectives of a store: their states, and the transitions that are to be recorded."""

from sqlalchemy import Engine

from whence.api.operations.recording import TransitionRecording
from whence.govern.slos.declared import Evaluation, evaluate_all
from whence.store.catalog.runs import ReadReceived
from whence.store.connection.lock import hold_slo_lock
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

SloRecording = TransitionRecording[Evaluation]
"""Evaluates objectives and records their transitions while the server runs."""


def evaluate_store(engine: Engine, now: int, read_received: ReadReceived | None = None) -> Evaluation:
    """Evaluate all declared objectives. Raises StoreError; StoreBusyError if another instance does."""
    with hold_slo_lock(engine), snapshot(engine) as connection:
        return evaluate_all(StoreCatalog(connection, read_received=read_received), StoreGraph(connection), now)
