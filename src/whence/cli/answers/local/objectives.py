"""Declared objectives, read in a store on this machine."""

from collections.abc import Sequence

from whence.client.acts.slos import DeclaredObjective, DeclaredObjectives
from whence.govern.slos.records import held_declarations
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph


def read_objectives(graph: StoreGraph, datasets: Sequence[str]) -> DeclaredObjectives:
    """The objectives that hold for datasets (their node ids)."""
    wanted = frozenset(datasets)
    held = (one.record for one in held_declarations(StoreCatalog(graph.connection)).values())
    found = (
        DeclaredObjective(service=one.service, name=one.name, dataset=one.dataset, text=one.text)
        for one in held
        if one.dataset in wanted
    )
    return DeclaredObjectives(objectives=tuple(found))
