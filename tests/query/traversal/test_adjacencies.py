"""Arrays and tables as adjacencies of one search: the same bytes, whatever changed since the arrays were made."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine

from fixtures.examples import examples
from query.traversal.test_filters import assertions_of, with_facets
from query.traversal.test_walk_oracle import DATASETS, FIELDS, JOBS, PASSED_BY, TYPES, Y, edges, slow, worlds
from query.worlds.random_worlds import Statement, World, load, nodes_of
from whence.api.http.envelopes import Paging, envelope
from whence.model.ids import node_id
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.values import Question
from whence.query.questions.impact import impact
from whence.query.questions.lineage import reach_downstream, reach_upstream
from whence.query.questions.paths import paths
from whence.query.rendering import listings
from whence.query.rendering.listings import Listing
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.adjacency.build import build_csr
from whence.store.adjacency.csr import read_csr, write_csr
from whence.store.adjacency.overlay import StoreAdjacency, lay_over
from whence.store.connection.engine import reading, writing
from whence.store.ingest.change_log import (
    OWNER,
    TRAITS,
    ChangeVersion,
    close_change_version,
    note_changes,
    read_change_version,
)
from whence.store.ingest.retention_summary import retention_horizon
from whence.store.schema.tables import FOREVER
from whence.store.snapshots.graph import StoreGraph

Asked = dict[str, Any]
"""A question by the names of its parameters."""
Later = dict[JobName | DatasetName, list[tuple[Edge, Origin]]]
"""Owner → the edges that it asserts later."""
Tiers = dict[JobName | DatasetName, str]
asked = st.fixed_dictionaries(
    {
        "way": st.sampled_from(("upstream", "downstream", "both", "impact", "paths")),
        "source": st.sampled_from(FIELDS + FIELDS + DATASETS + JOBS),
        "types": st.sampled_from((None, frozenset({"DIRECT"}), frozenset({"INDIRECT"}), frozenset(TYPES[:2]))),
        "depth": st.sampled_from((None, None, None, 0, 1, 2)),
        "max_nodes": st.sampled_from((5_000, 5_000, 1, 2, 3, 5)),
        "max_edges": st.sampled_from((50_000, 50_000, 50_000, 2, 6)),
        "root": st.sampled_from(FIELDS + FIELDS + DATASETS + JOBS),
        "limit": st.sampled_from((1, 3, 100)),
        "at": st.sampled_from((None, None, 5, 10, 19, 20, 29, 30)),
    }
)
owned = st.lists(assertions_of, min_size=len(DATASETS + JOBS), max_size=len(DATASETS + JOBS))
worlds_with_facets = st.builds(with_facets, worlds(), owned)
retold = st.dictionaries(st.sampled_from(DATASETS + JOBS), st.sampled_from(("gold", "bronze")), max_size=2)
"""Tiers that are said later."""
changes = st.dictionaries(
    st.sampled_from((*JOBS, DatasetName("ns", "new"))), st.lists(edges(JOBS[0]), max_size=6), max_size=2
)


BEYOND = {
    "way": "downstream",
    "types": None,
    "depth": 1,
    "max_nodes": 9,
    "max_edges": 9,
    "root": Y,
    "limit": 9,
    "at": None,
}


@slow
@given(world=worlds_with_facets, later=changes, tiers=retold, questions=st.lists(asked, min_size=1, max_size=4))
@example(world=PASSED_BY, later={}, tiers={}, questions=[BEYOND])
def test_arrays_answer_as_tables_do(
    sqlite_store: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    world: World,
    later: Later,
    tiers: Tiers,
    questions: list[Asked],
) -> None:
    _check(sqlite_store, tmp_path_factory.getbasetemp() / "edges.csr", world, later, tiers, questions)


def test_arrays_answer_as_tables_do_on_each_store(store: Engine, tmp_path: Path) -> None:
    @settings(slow, max_examples=examples(50))
    @given(world=worlds_with_facets, later=changes, tiers=retold, questions=st.lists(asked, min_size=1, max_size=4))
    def run(world: World, later: Later, tiers: Tiers, questions: list[Asked]) -> None:
        _check(store, tmp_path / "edges.csr", world, later, tiers, questions)

    run()


def _check(engine: Engine, file: Path, world: World, later: Later, tiers: Tiers, questions: list[Asked]) -> None:
    load(engine, world)
    with writing(engine) as connection:
        note_changes(connection, OWNER, [node_id(job) for job in JOBS])
        close_change_version(connection)
    with reading(engine) as connection:
        version = read_change_version(connection)
        assert version is not None
        write_csr(file, version, build_csr(connection))
    load(engine, _changed(world, later, tiers))
    with writing(engine) as connection:
        note_changes(connection, OWNER, [node_id(owner) for owner in later])
        note_changes(connection, TRAITS, map(node_id, tiers))
        close_change_version(connection)
    with reading(engine) as connection:
        arrays = _arrays(connection, file)
        for question in questions:
            _compare(StoreGraph(connection), StoreGraph(connection, arrays), question)


def _changed(world: World, later: Later, tiers: Tiers) -> World:
    kept = [
        replace(statement, end=30) if statement.owner in later and statement.end == FOREVER else statement
        for statement in world.statements
        if statement.owner not in later or statement.start < 30
    ]
    news = [
        Statement(owner=owner, edges=tuple(edges), start=30, run_id="0b5ba1e0-0000-4000-8000-000000000003")
        for owner, edges in later.items()
    ]
    facets = [(of, "whence_tier", json.dumps({"tier": tier})) for of, tier in tiers.items()]
    return replace(world, statements=(*kept, *news), facets=(*world.facets, *facets))


def test_arrays_have_no_more_of_the_past_than_there_is_room_for(
    sqlite_store: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whence.store.adjacency.rows.MOST_PAST", 5)
    one, other = (_of_hub(JOBS[0], several) for several in (DATASETS[1:3], DATASETS[3:5]))
    spans = [
        replace(statement, start=at, end=at + 10)
        for at, statement in zip((10, 20, 30, 40), (one, other) * 2, strict=True)
    ]
    load(sqlite_store, World(statements=(*spans, replace(_of_hub(JOBS[0], DATASETS[5:6]), start=50))))
    version = _close(sqlite_store, OWNER, JOBS[0])
    with reading(sqlite_store) as connection:
        write_csr(tmp_path / "edges.csr", version, build_csr(connection))
        graph = StoreGraph(connection, _arrays(connection, tmp_path / "edges.csr"))
        assert [at for at in range(5, 60, 5) if has_arrays(graph, at)] == [30, 35, 40, 45, 50, 55]
        for at in range(5, 60, 5):
            found = reach_downstream(graph, DATASETS[0], Question(at=at)).answer()
            assert found == reach_downstream(StoreGraph(connection), DATASETS[0], Question(at=at)).answer()


def test_paths_through_dense_worlds(sqlite_store: Engine) -> None:
    """Between all pairs of few nodes with many edges: long paths, also by whole datasets and their fields."""
    longest = 0
    for seed in range(examples(40)):
        dice = random.Random(seed)
        columns = [_column(dice) for _ in range(dice.randint(4, 14))]
        world = World(statements=(Statement(owner=JOBS[0], edges=tuple(columns)),), groups=(DATASETS[2:4],))
        load(sqlite_store, world)
        with reading(sqlite_store) as connection:
            tables = StoreGraph(connection)
            arrays = StoreGraph(connection, StoreAdjacency(connection, build_csr(connection)))
            for source, target in product(sorted(nodes_of(world), key=str), repeat=2):
                found = paths(tables, source, target, Question())
                assert paths(arrays, source, target, Question()) == found
                longest = max(longest, *(len(path.steps) for path in found.paths), 0)
    assert longest > 4


def test_no_path_from_a_dataset_that_no_edge_has(sqlite_store: Engine) -> None:
    """Nor from the jobs that are sources of columns, which have no dataset either."""
    a, b, lone = DATASETS[:3]
    into = Edge(source=FieldName(a, "x"), target=FieldName(b, "x"), type="DIRECT"), Origin.COLUMN
    of_job = Edge(source=JOBS[1], target=FieldName(b, "x")), Origin.BOUNDARY
    statements = (Statement(owner=JOBS[0], edges=(into, of_job)),)
    load(sqlite_store, World(statements=statements, declared=(FieldName(lone, "x"),)))
    with reading(sqlite_store) as connection:
        graph = StoreGraph(connection, StoreAdjacency(connection, build_csr(connection)))
        found = paths(graph, lone, FieldName(b, "x"), Question())
        assert found == paths(StoreGraph(connection), lone, FieldName(b, "x"), Question())
        assert not found.paths


@pytest.mark.parametrize("most", [0, 1])
def test_the_past_of_owners_that_changed_since(
    sqlite_store: Engine, tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read for the time that is asked about; where too many changed, the tables are walked."""
    monkeypatch.setattr("whence.store.adjacency.overlay.MOST_CHANGED_THEN", most)
    before = replace(_of_hub(JOBS[0], DATASETS[1:3]), start=10, end=20)
    load(sqlite_store, World(statements=(before, replace(_of_hub(JOBS[0], DATASETS[3:4]), start=20))))
    version = _close(sqlite_store, OWNER, JOBS[0])
    with reading(sqlite_store) as connection:
        write_csr(tmp_path / "edges.csr", version, build_csr(connection))
    others = [replace(before, end=15), replace(_of_hub(JOBS[0], DATASETS[4:6]), start=15, end=30)]
    load(sqlite_store, World(statements=(*others, replace(_of_hub(JOBS[0], DATASETS[3:4]), start=30))))
    _close(sqlite_store, OWNER, JOBS[0])
    with reading(sqlite_store) as connection:
        graph = StoreGraph(connection, _arrays(connection, tmp_path / "edges.csr"))
        assert has_arrays(graph, 17) == bool(most)
        for at in (9, 12, 17, 25, 30, None):
            found = reach_downstream(graph, DATASETS[0], Question(at=at)).answer()
            assert found == reach_downstream(StoreGraph(connection), DATASETS[0], Question(at=at)).answer()


def test_arrays_know_what_their_store_has_forgotten(sqlite_store: Engine) -> None:
    """A file that was made after a purge may be used over a backup from before it."""
    load(sqlite_store, World(statements=(_of_hub(JOBS[0], DATASETS[1:3]),)))
    horizons = {"number": 1, "lane": "log", "position": 0, "runs": 0, "keep": 1, "history": 25, "finished": True}
    with writing(sqlite_store) as connection:
        connection.execute(retention_horizon.insert(), horizons)
    try:
        with reading(sqlite_store) as connection:
            arrays = StoreAdjacency(connection, build_csr(connection))
            assert [at for at in (20, 24, 25, 30) if arrays.as_of(at) is not None] == [25, 30]
    finally:
        with writing(sqlite_store) as connection:
            connection.execute(retention_horizon.delete())


def _column(dice: random.Random) -> tuple[Edge, Origin]:
    targets: tuple[Node, ...] = (*FIELDS[:8], *DATASETS[:4])
    ends: tuple[Node, Node] = dice.choice(FIELDS[:8]), dice.choice(targets)
    source, target = ends if dice.random() < 0.7 else ends[::-1]
    return Edge(source=source, target=target, type="DIRECT"), Origin.COLUMN


def test_order_of_names_that_the_arrays_do_not_know(store: Engine, tmp_path: Path) -> None:
    """A hub of many consumers, to whom few came later: their places are sought among the others'."""
    marks = ("", "%", ":", "é", "\U0001f3ed", "\u202e", "'", "A", "zz")
    several = [DatasetName("ns", f"{marks[n % len(marks)]}table_{n}") for n in range(200)]
    later = [DatasetName("ns", name) for name in ("\x01", "%3A", "table_", "table_100x", "\U0010ffff", "~")]
    world = World(statements=(_of_hub(JOBS[0], several),))
    load(store, world)
    version = _close(store, OWNER, JOBS[0])
    with reading(store) as connection:
        write_csr(tmp_path / "edges.csr", version, build_csr(connection))
    load(store, World(statements=(*world.statements, _of_hub(JOBS[1], later))))
    _close(store, OWNER, JOBS[1])
    with reading(store) as connection:
        arrays = _arrays(connection, tmp_path / "edges.csr")
        assert arrays is not None
        for way in ("impact", "downstream"):
            question = {"way": way, "root": DATASETS[0], "limit": 7, "depth": None, "types": None, "at": None}
            budgets = {"max_nodes": 5_000, "max_edges": 50_000}
            _compare(StoreGraph(connection), StoreGraph(connection, arrays), question | budgets)


def test_of_a_large_frontier_the_nearest_are_named_and_all_are_counted(sqlite_store: Engine, tmp_path: Path) -> None:
    near = [DatasetName("ns", f"t{n}") for n in range(150)]
    beyond = [Edge(source=one, target=DatasetName("ns", f"u{n}"), type="DIRECT") for n, one in enumerate(near)]
    statements = _of_hub(JOBS[0], near), Statement(owner=JOBS[1], edges=tuple((one, Origin.COLUMN) for one in beyond))
    load(sqlite_store, World(statements=statements))
    version = _close(sqlite_store, OWNER, JOBS[0])
    with reading(sqlite_store) as connection:
        write_csr(tmp_path / "edges.csr", version, build_csr(connection))
        tables, arrays = StoreGraph(connection), StoreGraph(connection, _arrays(connection, tmp_path / "edges.csr"))
        for asked in (Question(depth=1), Question(max_nodes=200), Question(max_edges=200)):
            whole, other = (reach_downstream(graph, DATASETS[0], asked).answer() for graph in (tables, arrays))
            assert whole == other
            more = [node.name for node in whole.nodes if node.more]
            assert (whole.completeness.frontier, whole.completeness.frontier_nodes) == (tuple(more[:100]), len(more))
            assert len(more) > 100


def _of_hub(job: JobName, consumers: Sequence[DatasetName]) -> Statement:
    edges = tuple((Edge(source=DATASETS[0], target=one, type="DIRECT"), Origin.INFERRED) for one in consumers)
    return Statement(owner=job, edges=edges)


@pytest.mark.parametrize("many", [False, True])
def test_what_is_said_of_aliases_and_said_anew_is_counted(
    store: Engine, tmp_path: Path, many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if many:
        monkeypatch.setattr("whence.store.adjacency.overlay.MOST_CHANGED", 0)
    a, b, c, d = DATASETS[:4]
    of_hub = _of_hub(JOBS[0], [b, d])
    column = Edge(source=FieldName(a, "x"), target=FieldName(b, "x"), type="DIRECT"), Origin.COLUMN
    world = World(
        statements=(replace(of_hub, edges=(*of_hub.edges, column)),),
        groups=((b, c),),
        facets=((b, "ownership", '{"owners":[{"name":"ann"}]}'), (c, "whence_tier", '{"tier":"gold"}')),
    )
    load(store, world)
    version = _close(store, OWNER, JOBS[0])
    with reading(store) as connection:
        write_csr(tmp_path / "edges.csr", version, build_csr(connection))
    load(store, replace(world, facets=(*world.facets, (c, "ownership", '{"owners":[{"name":"bob"}]}'))))
    _close(store, TRAITS, c)
    with reading(store) as connection:
        arrays = _arrays(connection, tmp_path / "edges.csr")
        assert arrays is not None
        counts = impact(StoreGraph(connection, arrays), a, Question()).counts
        of_column = impact(StoreGraph(connection, arrays), FieldName(a, "x"), Question())
        assert of_column.counts.by_owner == {"ann": 1, "bob": 1}, "the dataset is not reached itself"
        assert [one.tier for one in of_column.nodes()] == ["gold"]
    assert counts.by_owner == {"": 1, "ann": 1, "bob": 1}
    assert counts.by_tier == {"": 1, "gold": 1}


def has_arrays(graph: StoreGraph, at: int | None) -> bool:
    return isinstance(next(graph.adjacencies(at, ())), StoreAdjacency)


def _close(store: Engine, kind: int, changed: Node) -> ChangeVersion:
    with writing(store) as connection:
        note_changes(connection, kind, [node_id(changed)])
        close_change_version(connection)
    with reading(store) as connection:
        version = read_change_version(connection)
    assert version is not None
    return version


def _arrays(connection: Connection, file: Path) -> StoreAdjacency | None:
    found = read_csr(file)
    assert found is not None
    return lay_over(connection, *found)


def _compare(tables: QuestionGraph, arrays: QuestionGraph, question: Asked) -> None:
    one, other = _pages(tables, question), _pages(arrays, question)
    assert one == other


def _pages(graph: QuestionGraph, question: Asked) -> list[str]:
    """The answer page by page, as bytes."""
    pages, cursor = [], ""
    listing = _listing(graph, question)
    while True:
        page = envelope(listing, Paging(cursor=cursor, limit=question["limit"]), "q")
        pages.append(json.dumps(page))
        cursor = page["page"]["next"]
        if not cursor:
            return [*pages, _listing(graph, question).csv()]


def _listing(graph: QuestionGraph, question: Asked) -> Listing:
    budgets = {name: question[name] for name in ("depth", "types", "max_nodes", "max_edges", "at")}
    root, asked_for = question["root"], Question(**budgets)
    match question["way"]:
        case "impact":
            return listings.impact_listing(impact(graph, root, asked_for))
        case "both":
            return listings.both_listing(
                reach_upstream(graph, root, asked_for), reach_downstream(graph, root, asked_for)
            )
        case "paths":
            return listings.paths_listing(paths(graph, question["source"], root, asked_for, 5))
        case way:
            return listings.lineage_listing(
                (reach_upstream if way == "upstream" else reach_downstream)(graph, root, asked_for)
            )
