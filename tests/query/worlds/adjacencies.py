"""A store's graph over each of its adjacencies: the tables, or arrays of all edges in front of them."""

from hypothesis import strategies as st
from sqlalchemy import Connection

from whence.store.adjacency.build import build_csr
from whence.store.adjacency.overlay import StoreAdjacency
from whence.store.snapshots.graph import StoreGraph

ADJACENCIES = ("tables", "arrays")
adjacencies = st.sampled_from(ADJACENCIES)


def graph_over(connection: Connection, adjacency: str) -> StoreGraph:
    """The graph whose searches go over an adjacency."""
    if adjacency == "tables":
        return StoreGraph(connection)
    return StoreGraph(connection, StoreAdjacency(connection, build_csr(connection)))
