"""`whence dump`: the canonical state of a store on stdout."""

import sys

from whence.store.lifecycle.dump import dump
from whence.store.snapshots.graph import open_graph


def dump_state(store_url: str) -> None:
    """Print every fact and everything derived as sorted JSON lines. Raises StoreError if there is no store."""
    with open_graph(store_url) as graph:
        for line in dump(graph.connection.engine):
            sys.stdout.write(line + "\n")
