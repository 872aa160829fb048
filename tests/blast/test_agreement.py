"""Blast radius against `whence downstream` on random worlds: cycles, self loops, aliases, whole datasets, history."""

from dataclasses import replace

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, delete, insert

from blast.brute import Typed, counts
from blast.combining import combined
from fixtures.examples import examples
from query.traversal.test_walk_oracle import DATASETS, JOBS, worlds
from query.worlds.brute_force import one_name
from query.worlds.random_worlds import World, load, nodes_of
from whence.derive.blast_radius.count import Effort, prepare
from whence.derive.blast_radius.digraphs import build_survey
from whence.derive.blast_radius.graph_arrays import read_lineage
from whence.model.ids import node_id
from whence.model.names import FieldName, JobName
from whence.query.answers.values import Question
from whence.query.questions.lineage import downstream
from whence.store.connection.engine import reading, writing
from whence.store.graph.blast_radius import GraphTables
from whence.store.schema.tables import facet_body
from whence.store.snapshots.graph import StoreGraph

slow = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
EXACT = Effort(exact_work=10**9)

typed = st.builds(
    lambda models, dashboards: Typed(dashboards=dashboards - models, models=models),
    st.frozensets(st.sampled_from(DATASETS), max_size=3),
    st.frozensets(st.sampled_from(DATASETS + JOBS), max_size=4),
)


@settings(slow, max_examples=examples(100))
@given(world=worlds(), typed=typed)
def test_counts_what_downstream_answers(sqlite_store: Engine, world: World, typed: Typed) -> None:
    _check(sqlite_store, _without_fields_at_jobs(world), typed)


def test_counts_what_downstream_answers_on_each_store(store: Engine) -> None:
    @settings(slow, max_examples=20, derandomize=True)
    @given(world=worlds(), typed=typed)
    def run(world: World, typed: Typed) -> None:
        _check(store, _without_fields_at_jobs(world), typed)

    run()


def _check(engine: Engine, world: World, typed: Typed) -> None:
    load(engine, world)
    _declare_types(engine, typed)
    name = one_name(world)
    with reading(engine) as connection:
        graph = StoreGraph(connection)
        answers = {name(node): downstream(graph, node, Question()) for node in nodes_of(world)}
        lineage = read_lineage(GraphTables(connection))
    expected = counts(world, typed, answers)
    found = combined(prepare(build_survey(lineage), EXACT), shares=2)
    event(f"most downstream: {max(sum(one.values()) for one in expected.values()) // 5 * 5}")
    assert {node_id(node): tuple(some.values()) for node, some in expected.items()} == found.counts
    assert not any(found.estimated.values())


def _without_fields_at_jobs(world: World) -> World:
    """Jobs are at dataset level (state.md, "Explicit entries"): no edge leads from a field to a job."""
    statements = tuple(
        replace(
            one,
            edges=tuple(
                (edge, origin)
                for edge, origin in one.edges
                if not (isinstance(edge.source, FieldName) and isinstance(edge.target, JobName))
            ),
        )
        for one in world.statements
    )
    return replace(world, statements=statements)


def _declare_types(engine: Engine, typed: Typed) -> None:
    rows = [(node, "DASHBOARD") for node in typed.dashboards]
    rows += [(node, "model") for node in typed.models]
    with writing(engine) as connection:
        connection.execute(delete(facet_body))
        for node, expected in rows:
            name = "jobType" if isinstance(node, JobName) else "datasetType"
            values = {"subject_id": node_id(node), "name": name, "body_id": 1, "payload": f'{{"{name}":"{expected}"}}'}
            connection.execute(insert(facet_body), values)
