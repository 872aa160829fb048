"""What is connected with a thing, against a plain search over random worlds: cycles, aliases, declared lineage."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from fixtures.examples import examples
from fixtures.migrated_stores import open_migrated
from query.worlds.random_worlds import Statement, World, load
from whence.model.graph import Direction
from whence.model.ids import node_id
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, JobName, Node
from whence.query.traversal.component import connected_component, touched_by
from whence.store.adjacency.build import build_csr
from whence.store.adjacency.overlay import StoreAdjacency
from whence.store.connection.engine import reading, sqlite_url
from whence.store.snapshots.graph import StoreGraph

DATASETS = tuple(DatasetName("ns", name) for name in "abcdefgh")
JOBS = tuple(JobName("ns", f"j{number}") for number in range(7))
some = st.sets(st.sampled_from(DATASETS), max_size=2).map(sorted)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    base: Path = tmp_path_factory.mktemp("neighbours")
    made = open_migrated(sqlite_url(base / "store.db"))
    yield made
    made.dispose()


@st.composite
def worlds(draw: st.DrawFn) -> World:
    statements = []
    for job in JOBS:
        ends = [Edge(source=one, target=job) for one in draw(some)] + [
            Edge(source=job, target=one) for one in draw(some)
        ]
        statements.append(Statement(owner=job, edges=tuple((edge, Origin.BOUNDARY) for edge in ends)))
    for target, sources in draw(st.dictionaries(st.sampled_from(DATASETS), some, max_size=2)).items():
        edges = [Edge(source=source, target=target, type="DIRECT") for source in sources]
        statements.append(Statement(owner=target, edges=tuple((edge, Origin.EXPLICIT) for edge in edges)))
    group = draw(st.one_of(st.none(), st.permutations(DATASETS).map(lambda all_: tuple(all_[:2]))))
    return World(statements=tuple(statements), groups=(group,) if group else (), declared=(), jobs=JOBS)


def one_name(world: World, node: Node) -> Node:
    return next((group[0] for group in world.groups if node in group), node)


def expected(world: World, root: Node, depth: int) -> set[Node]:
    """By its definition: hop by hop, from jobs to their datasets, and from datasets to what touches them."""
    pairs = [
        (one_name(world, edge.source), one_name(world, edge.target))
        for statement in world.statements
        for edge, _ in statement.edges
    ]
    near: dict[Node, set[Node]] = {}
    for source, target in pairs:
        near.setdefault(source, set()).add(target)
        near.setdefault(target, set()).add(source)

    def beside(nodes: set[Node]) -> set[Node]:
        return {other for one in nodes for other in near.get(one, ())}

    def with_datasets(nodes: set[Node]) -> set[Node]:
        return nodes | beside({one for one in nodes if isinstance(one, JobName)})

    found = with_datasets({one_name(world, root)})
    for _ in range(depth):
        found = with_datasets(found | beside({one for one in found if isinstance(one, DatasetName)}))
    return found


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(world=worlds(), root=st.sampled_from([*DATASETS, *JOBS]), depth=st.integers(0, 4))
def test_what_is_connected(engine: Engine, world: World, root: DatasetName | JobName, depth: int) -> None:
    load(engine, world)
    known = {end for statement in world.statements for edge, _ in statement.edges for end in (edge.source, edge.target)}
    known |= {member for group in world.groups for member in group} | set(JOBS)
    if root not in known:
        return
    with reading(engine) as connection:
        found = connected_component(StoreGraph(connection), root, depth)
        arrays = StoreAdjacency(connection, build_csr(connection))
        arrayed = connected_component(StoreGraph(connection, arrays), root, depth)
        for way in Direction:
            jobs = list(map(node_id, JOBS))
            ends = [touched_by(StoreGraph(connection, one), jobs, way, 100) for one in (None, arrays)]
            assert sorted(ends[0]) == sorted(ends[1])
    near, further = expected(world, root, depth), expected(world, root, depth + 1)
    assert set(found.nodes) == near - {one_name(world, root)} | {root}, "the root goes by the name that was asked for"
    assert found.complete == (further == near)
    assert [node_id(node) for node in found.nodes] == list(found.ids)
    assert arrayed == found
    event("complete" if found.complete else "cut")
