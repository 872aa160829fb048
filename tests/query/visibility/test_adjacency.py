"""Who may not see all gets the same bytes from arrays as from tables."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine

from query.traversal.test_adjacencies import _arrays, _compare
from query.worlds.random_policies import policy, world
from query.worlds.random_worlds import World, load, nodes_of
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName
from whence.query.traversal.component import connected_component
from whence.query.visibility.graph import seen_by
from whence.store.adjacency.build import build_csr
from whence.store.adjacency.csr import write_csr
from whence.store.connection.engine import reading, writing
from whence.store.ingest.change_log import OWNER, close_change_version, note_changes, read_change_version
from whence.store.snapshots.graph import StoreGraph

WORLDS, WORLDS_LONG = 20, 400
"""Random worlds, ordinarily and with `--long`."""
STORED, STORED_LONG = 4, 20
"""The same, on each store."""
SECRET = b"of this installation"


def test_arrays_answer_viewers_as_tables_do(sqlite_store: Engine, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    for seed in range(WORLDS_LONG if pytestconfig.getoption("long") else WORLDS):
        check(sqlite_store, tmp_path / "edges.csr", random.Random(seed))


def test_so_it_is_on_each_store(store: Engine, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    for seed in range(STORED_LONG if pytestconfig.getoption("long") else STORED):
        check(store, tmp_path / "edges.csr", random.Random(f"stored {seed}"))


def check(engine: Engine, file: Path, dice: random.Random) -> None:
    one = world(dice)
    viewer = policy(dice, one).viewer
    load(engine, with_history(one, dice))
    with writing(engine) as connection:
        note_changes(connection, OWNER, [node_id(one.jobs[0])])
        close_change_version(connection)
    with reading(engine) as connection:
        version = read_change_version(connection)
        assert version is not None
        write_csr(file, version, build_csr(connection))
        tables = seen_by(viewer, SECRET, StoreGraph(connection))
        arrays = seen_by(viewer, SECRET, StoreGraph(connection, _arrays(connection, file)))
        known = [
            node for node in sorted(nodes_of(one), key=str) if tables.nodes([node_id(node)]).get(node_id(node)) == node
        ]
        for root in dice.sample(known, min(4, len(known))):
            question = {"root": root, "source": dice.choice(known), "limit": dice.choice((2, 100)), "types": None} | {
                "way": dice.choice(("upstream", "downstream", "both", "impact", "paths")),
                "depth": dice.choice((None, None, 1, 2)),
                "at": dice.choice((None, None, 9, 10, 15, 20)),
                "max_nodes": dice.choice((5_000, 5_000, 3)),
                "max_edges": dice.choice((50_000, 50_000, 4)),
            }
            _compare(tables, arrays, question)
            if not isinstance(root, FieldName):
                assert connected_component(tables, root, 3) == connected_component(arrays, root, 3)


def with_history(one: World, dice: random.Random) -> World:
    """The world, with owners and tiers of its datasets and jobs, and with what was said before."""
    before = [
        replace(
            statement, edges=dice.choice(one.statements).edges, start=0, end=10, run_id=f"before-{statement.run_id}"
        )
        for statement in one.statements
    ]
    wholes = [node for node in sorted(nodes_of(one), key=str) if isinstance(node, DatasetName | JobName)]
    owners = [(node, "ownership", json.dumps({"owners": [{"name": dice.choice("xy")}]})) for node in wholes]
    tiers = [(node, "whence_tier", json.dumps({"tier": dice.choice("12")})) for node in wholes]
    return replace(one, statements=(*before, *one.statements), facets=(*owners, *tiers))
