"""What people recorded for the gate, read in a store on this machine."""

from whence.client.values.gate_records import Approval, RecordedWaiver
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph


def read_approvals(graph: StoreGraph, repository: str, commit: str) -> tuple[Approval, ...]:
    """Who approved a commit of a repository."""
    from whence.govern.gate.records import approvals_of

    found = approvals_of(StoreCatalog(graph.connection), repository, commit)
    return tuple(Approval(person=one.person, commit=one.commit) for one in found)


def read_waivers(graph: StoreGraph, repository: str) -> tuple[RecordedWaiver, ...]:
    """The recorded waivers of a repository, expired ones among them."""
    from whence.govern.gate.records import waivers_of

    found = waivers_of(StoreCatalog(graph.connection), repository)
    return tuple(
        RecordedWaiver(change=one.change, owner=one.owner, reason=one.reason, expires=one.expires.isoformat())
        for one in found
    )
