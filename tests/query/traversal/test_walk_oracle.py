"""Traversals over each adjacency against brute force on random worlds: cycles, aliases, whole datasets, jobs, history;
on both stores.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from fixtures.examples import examples
from query.worlds.adjacencies import adjacencies, graph_over
from query.worlds.brute_force import ask, one_name
from query.worlds.random_worlds import Statement, World, load
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.values import Answer, Paths, Question, Step, touches
from whence.query.questions.lineage import downstream, upstream
from whence.query.questions.paths import paths
from whence.store.connection.engine import reading
from whence.store.schema.tables import FOREVER

DATASETS = tuple(DatasetName("ns", name) for name in "abcdef")
FIELDS = tuple(FieldName(of, name) for of in DATASETS for name in ("x", "y"))
JOBS = tuple(JobName("ns", name) for name in ("j", "k", "l"))
TYPES = ("DIRECT", "INDIRECT", "UNKNOWN")

fine = st.tuples(st.sampled_from(FIELDS + DATASETS), st.sampled_from(FIELDS), st.booleans()).map(
    lambda ends: (ends[0], ends[1]) if ends[2] else (ends[1], ends[0])
)
coarse = st.tuples(st.sampled_from(DATASETS), st.sampled_from(DATASETS))
at_job = st.tuples(st.sampled_from(DATASETS + FIELDS[:4]), st.sampled_from(JOBS), st.booleans()).map(
    lambda ends: (ends[0], ends[1]) if ends[2] else (ends[1], ends[0])
)


@st.composite
def edges(draw: st.DrawFn, owner: JobName) -> tuple[Edge, Origin]:
    if not draw(st.integers(0, 5)):
        return Edge(source=owner, target=draw(st.sampled_from(FIELDS))), Origin.UNREPORTED
    if not draw(st.integers(0, 5)):
        return Edge(source=owner, target=draw(st.sampled_from(FIELDS + DATASETS))), Origin.INCOMPLETE
    source, target = draw(st.one_of(fine, fine, coarse, at_job))
    if JobName in (type(source), type(target)):
        return Edge(source=source, target=target), Origin.BOUNDARY
    origin = (
        Origin.COLUMN
        if FieldName in (type(source), type(target))
        else draw(st.sampled_from((Origin.COLUMN, Origin.INFERRED)))
    )
    return Edge(source=source, target=target, type=draw(st.sampled_from(TYPES))), origin


@st.composite
def worlds(draw: st.DrawFn) -> World:
    statements = []
    for owner in JOBS:
        then, now = (draw(st.lists(edges(owner), max_size=size)) for size in (4, 12))
        statements.append(Statement(owner=owner, edges=tuple(then), start=10, end=20))
        statements.append(
            Statement(
                owner=owner, edges=tuple(now), start=20, end=FOREVER, run_id="0b5ba1e0-0000-4000-8000-000000000002"
            )
        )
    grouped = draw(st.lists(st.sampled_from(DATASETS), max_size=4, unique=True))
    groups = [tuple(grouped[:2]), tuple(grouped[2:])] if len(grouped) == 4 else [tuple(grouped)]
    return World(
        statements=tuple(statements),
        groups=tuple(group for group in groups if len(group) > 1),
        declared=FIELDS,
        jobs=JOBS,
    )


questions = st.fixed_dictionaries(
    {
        "direction": st.sampled_from(("upstream", "downstream")),
        "types": st.sampled_from((frozenset({"DIRECT"}), frozenset({"INDIRECT"}), frozenset({"DIRECT", "INDIRECT"}))),
        "depth": st.sampled_from((None, None, None, 0, 1, 2)),
        "at": st.sampled_from((None, None, 5, 10, 19, 20)),
        "root": st.sampled_from(FIELDS + FIELDS + DATASETS + JOBS),
    }
)
slow = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


X, Y = (FieldName(DATASETS[0], name) for name in "xy")
PASSED_BY = World(
    statements=(
        Statement(
            owner=JOBS[0],
            edges=(
                (Edge(source=Y, target=X, type="DIRECT"), Origin.COLUMN),
                (Edge(source=X, target=JOBS[0]), Origin.BOUNDARY),
            ),
        ),
        Statement(owner=JOBS[1], edges=((Edge(source=Y, target=DATASETS[0], type="DIRECT"), Origin.COLUMN),)),
    )
)
"""Beyond `x` there is a job; the whole dataset passes it by, because there the job derives something."""


BEYOND = {"root": Y, "direction": "downstream", "types": {"DIRECT"}, "depth": 1, "at": None}


@settings(slow, max_examples=examples(1_000))
@given(world=worlds(), question=questions, over=adjacencies)
@example(world=PASSED_BY, question=BEYOND, over="tables")
@example(world=PASSED_BY, question=BEYOND, over="arrays")
def test_walk_equals_brute_force(sqlite_store: Engine, world: World, question: dict[str, Any], over: str) -> None:
    _check(sqlite_store, world, question, over)


def test_walk_equals_brute_force_on_each_store(store: Engine) -> None:
    @settings(slow, max_examples=25, derandomize=True)
    @given(world=worlds(), question=questions, over=adjacencies)
    def run(world: World, question: dict[str, Any], over: str) -> None:
        _check(store, world, question, over)

    run()


def _check(engine: Engine, world: World, question: dict[str, Any], over: str) -> None:
    load(engine, world)
    answer = _answer(engine, question, over)
    expected = ask(world, **question)
    event(f"nodes reached: {min(len(expected.distance) // 3 * 3, 12)}")
    assert {node.name: node.depth for node in answer.nodes} == expected.distance
    assert {(one.source, one.target, one.owner) for one in answer.edges} == expected.edges
    assert {(gap.at, gap.owner, frozenset(gap.datasets), gap.reason) for gap in answer.gaps} == expected.gaps
    assert set(answer.completeness.frontier) == expected.more == {node.name for node in answer.nodes if node.more}
    assert answer.completeness.frontier_nodes == len(expected.more)
    at = question["at"]
    first = min(one.start for one in world.statements)
    is_recorded = at is None or (isinstance(at, int) and at >= first)
    assert answer.completeness.recorded_from == (None if is_recorded else first)
    assert answer.completeness.complete == (is_recorded and not expected.more and not expected.gaps)
    assert answer.completeness.depth_reached == max(expected.distance.values())
    assert answer == _answer(engine, question, over)
    _check_witnesses(answer)
    for node in answer.nodes[1:]:
        assert node.parent is not None
        assert node.edge is not None
        last = answer.edges[node.edge]
        assert (last.source, last.target, last.owner) in expected.takes[node.parent]


def _answer(engine: Engine, question: dict[str, Any], over: str, **budgets: Any) -> Answer:
    walk: Callable[..., Answer] = upstream if question["direction"] == "upstream" else downstream
    with reading(engine) as connection:
        asked = Question(depth=question["depth"], types=question["types"], at=question["at"], **budgets)
        return walk(graph_over(connection, over), question["root"], asked)


def _check_witnesses(answer: Answer) -> None:
    depths = {node.name: node.depth for node in answer.nodes}
    for node in answer.nodes[1:]:
        assert node.parent is not None
        assert node.edge is not None
        last = answer.edges[node.edge]
        near, far = (last.target, last.source) if answer.direction == "upstream" else (last.source, last.target)
        assert depths[node.parent] == node.depth - 1
        assert far == node.name
        assert touches(node.parent, near)


@settings(slow, max_examples=examples(150))
@given(world=worlds(), question=questions, max_nodes=st.integers(1, 6), max_edges=st.integers(1, 8), over=adjacencies)
def test_budgets_are_kept_and_admitted(
    sqlite_store: Engine, world: World, question: dict[str, Any], max_nodes: int, max_edges: int, over: str
) -> None:
    load(sqlite_store, world)
    answer = _answer(sqlite_store, question, over, max_nodes=max_nodes, max_edges=max_edges)
    whole = ask(world, **question)
    reached = {node.name: node.depth for node in answer.nodes}
    assert len(reached) <= max_nodes
    assert sum(len(one.transformations) for one in answer.edges) <= max_edges
    assert reached.items() <= whole.distance.items()
    assert {(one.source, one.target, one.owner) for one in answer.edges} <= whole.edges
    left_out = set(whole.distance) - set(reached)
    assert not (left_out and answer.completeness.complete)
    assert bool(answer.completeness.frontier) == (answer.completeness.stopped_by not in (None, "beginning", "columns"))
    assert set(answer.completeness.frontier) <= set(reached)


@settings(slow, max_examples=examples(150))
@given(world=worlds(), ends=st.tuples(*[st.sampled_from(FIELDS + FIELDS + DATASETS + JOBS)] * 2), over=adjacencies)
def test_paths_are_all_simple_paths(sqlite_store: Engine, world: World, ends: tuple[Node, Node], over: str) -> None:
    load(sqlite_store, world)
    with reading(sqlite_store) as connection:
        found = paths(graph_over(connection, over), *ends, Question(), limit=100_000)
    name = one_name(world)
    lengths = [len(path.steps) for path in found.paths]
    assert lengths == sorted(lengths)
    assert len({path.steps for path in found.paths}) == len(found.paths)
    for path in found.paths:
        _check_path(found, path.steps, name)
    if isinstance(ends[0], JobName) or isinstance(ends[1], JobName):
        return
    start, end = (end if found.grain == "field" else getattr(end, "dataset", end) for end in ends)
    reach = (
        ask(world, end, "upstream", {"DIRECT", "INDIRECT"}, None, None)
        if found.grain == "field" and isinstance(end, FieldName)
        else None
    )
    if reach is None or isinstance(start, DatasetName):
        return
    goals = {name(start), name(start.dataset)} if isinstance(start, FieldName) else {name(start)}
    shortest = min((reach.distance[goal] for goal in goals if goal in reach.distance), default=None)
    assert min(lengths, default=None) == shortest


def _check_path(found: Paths, steps: tuple[Step, ...], name: Callable[[Node], Node]) -> None:
    nodes = [step.target for step in steps]
    assert len(set(nodes)) == len(nodes)
    if not steps:
        return
    first, last = steps[0], steps[-1]
    assert touches(name(found.source), first.source)
    assert last.target == name(found.target)
    for step in steps:
        for one in step.edges:
            assert one.source == step.source
            assert touches(step.target, one.target)
