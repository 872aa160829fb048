"""Plans of containment: the schedules whose jobs depend on a broken column, and nothing else."""

import json
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from govern.containment.estates import AT, SECOND, Estate
from whence.govern.containment.documents import plan_listing
from whence.govern.containment.plan import ContainmentPlan, make_plan
from whence.model.access import Grant, Role, Viewer
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.write import column_lineage, dataset, facet, own_facet, parent_facet, run_event
from whence.query.answers.values import Question
from whence.query.visibility.catalog import VisibleCatalog, scope_of
from whence.query.visibility.graph import VisibleGraph, seen_by
from whence.store.connection.engine import reading
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

SEEDS = range(1, 9)
QUESTION = Question(max_nodes=200_000, max_edges=2_000_000)


def plan(store: Engine, root: Node, viewer: Viewer | None = None) -> ContainmentPlan:
    with reading(store) as connection:
        graph, catalog = StoreGraph(connection), StoreCatalog(connection)
        if viewer is None:
            return make_plan(graph, catalog, root, QUESTION)
        shown = seen_by(viewer, b"secret", graph)
        assert isinstance(shown, VisibleGraph)
        scoped = StoreCatalog(connection, scope=scope_of(viewer, catalog.every_namespace()))
        return make_plan(shown, VisibleCatalog(shown.visible_ids, scoped), root, QUESTION)


@pytest.fixture
def estates(store: Engine) -> list[Estate]:
    found = list(map(Estate, SEEDS))
    apply_bodies(store, [body for one in found for body in one.bodies()])
    return found


def test_a_plan_has_exactly_what_depends_on_the_root(store: Engine, estates: list[Estate]) -> None:
    """Equal to a search by brute force in estates of which the test knows how they were made."""
    sizes = set()
    roots: list[FieldName | DatasetName]
    for estate in estates:
        columns = sorted(
            {end for job in estate.jobs for edge in job.edges for end in (edge.source, edge.target)}, key=str
        )
        fields = [end for end in columns if isinstance(end, FieldName)]
        chosen = estate.dice.sample(fields, 5)
        roots = [*chosen, chosen[0].dataset]
        for root in roots:
            found = plan(store, root)
            assert {one.job: one.affected.distance for one in found.dependents} == estate.dependents(root), root
            planned = {one.schedule.id: (one.distance, frozenset(one.jobs), one.running) for one in found.schedules}
            assert planned == estate.schedules(root), root
            assert [one.distance for one in found.schedules] == sorted(one.distance for one in found.schedules)
            assert {one.schedule.namespace for one in found.schedules} <= {estate.airflow}
            assert (found.uncertain, found.hidden) == ((), 0)
            sizes.add(len(found.schedules))
    assert {0, 1, 2, 3} <= sizes


def test_the_same_graph_gives_the_same_bytes(store: Engine, estates: list[Estate]) -> None:
    root = next(edge.source for edge in estates[0].jobs[0].edges)
    first, second = (json.dumps(plan_listing(plan(store, root)).document()) for _ in range(2))
    assert first == second


def test_a_viewer_is_told_of_no_hidden_job(store: Engine, estates: list[Estate]) -> None:
    """Hidden jobs are counted; of what starts a visible job, a hidden DAG is not named."""
    counted = 0
    for estate in estates:
        jobs_only = Viewer(
            name="eve",
            grants=(Grant(Role.READER, f"*.db{estate.seed}"), Grant(Role.READER, f"spark{estate.seed}")),
        )
        data_only = Viewer(name="dan", grants=(Grant(Role.READER, f"*.db{estate.seed}"),))
        root = estate.jobs[0].edges[0].source
        whole = plan(store, root)
        seen = plan(store, root, jobs_only)
        assert [one.job for one in seen.dependents] == [one.job for one in whole.dependents]
        assert not seen.schedules
        assert estate.airflow not in json.dumps(plan_listing(seen).document())
        hidden = plan(store, root, data_only)
        assert (hidden.dependents, hidden.schedules, hidden.hidden) == ((), (), len(whole.dependents))
        assert f"spark{estate.seed}" not in json.dumps(plan_listing(hidden).document())
        counted += hidden.hidden
    assert counted


RAW, CLEAN, GOLD = (DatasetName("prod.db", name) for name in ("raw", "clean", "gold"))
AMOUNT, DAY = FieldName(RAW, "amount"), FieldName(RAW, "day")
MAKE, COPY, OPAQUE, LOOSE, FIX = (JobName("prod.spark", name) for name in ("make", "copy", "opaque", "loose", "fix"))


def ran(job: JobName, number: int, edges: list[Edge], **more: Any) -> bytes:
    """A run of a job at a second, with the columns that it reports. `reads`, `writes`: datasets without columns."""
    reads, writes = {*more.get("reads", ())}, {*more.get("writes", ())}
    reads |= {one.source.dataset for one in edges if isinstance(one.source, FieldName)}
    ends = {one.target.dataset for one in edges if isinstance(one.target, FieldName)}
    event = run_event(
        AT + number * SECOND,
        more.get("state", RunState.COMPLETE),
        RunName(f"01890000-0000-7000-8000-{number:012d}", job),
        run_facets=more.get("facets", {}),
        inputs=[dataset(one) for one in sorted(reads)],
        outputs=[
            *(dataset(one, facets={"columnLineage": column_lineage(edges)}) for one in sorted(ends)),
            *(dataset(one) for one in sorted(writes - ends)),
        ],
    )
    return json.dumps(event).encode()


def edge(source: FieldName, target: FieldName) -> Edge:
    return Edge(source=source, target=target, type="DIRECT", subtype="IDENTITY")


def in_dag(dag: str) -> dict[str, Any]:
    """The run facet of Airflow's OpenLineage provider."""
    return {"airflow": own_facet("AirflowRunFacet", dag={"dag_id": dag}, task={"task_id": "t"})}


def test_other_columns_gaps_and_jobs_without_a_schedule(store: Engine) -> None:
    cleaned, shown = FieldName(CLEAN, "amount"), FieldName(GOLD, "day")
    lonely = parent_facet(RunName("01890000-0000-7000-8000-00000000aaaa", JobName("prod.cron", "nightly.sh")))
    bodies = [
        ran(FIX, 1, [edge(FieldName(DatasetName("prod.db", "source"), "x"), AMOUNT)], facets=in_dag("etl.v2")),
        ran(MAKE, 2, [edge(AMOUNT, cleaned)], facets=in_dag("etl.v2")),
        ran(MAKE, 3, [edge(AMOUNT, cleaned)], facets=in_dag("backfill")),
        ran(COPY, 4, [edge(DAY, shown)], facets=in_dag("reports")),
        ran(OPAQUE, 5, [], reads=[RAW], writes=[DatasetName("prod.db", "dump")], facets=in_dag("dumps")),
        ran(LOOSE, 6, [edge(cleaned, FieldName(GOLD, "amount"))], facets={"parent": lonely}),
    ]
    apply_bodies(store, bodies)
    found = plan(store, AMOUNT)
    assert [(one.schedule.id, one.writes_root, one.jobs) for one in found.schedules] == [
        ("backfill", False, (MAKE,)),
        ("etl.v2", True, (MAKE,)),
    ]
    assert found.uncertain == (OPAQUE,), "it reads the dataset, and does not report which columns"
    assert not found.completeness.complete
    loose = next(one for one in found.dependents if one.job == LOOSE)
    assert (loose.schedules, loose.outermost, loose.reason) == (
        (),
        JobName("prod.cron", "nightly.sh"),
        "what contains its runs is no DAG of Airflow",
    )
    whole = plan(store, RAW)
    assert {one.schedule.id for one in whole.schedules} == {"backfill", "etl.v2", "reports", "dumps"}


def test_a_dag_that_runs_is_known_to_run(store: Engine) -> None:
    cleaned = FieldName(CLEAN, "amount")
    dag = JobName("prod.airflow", "etl.v2")
    run = RunName("01890000-0000-7000-8000-00000000bbbb", dag)
    typed = facet("JobTypeJobFacet", processingType="BATCH", integration="AIRFLOW", jobType="DAG")
    started = run_event(AT, RunState.START, run)
    started["job"]["facets"] = {"jobType": typed}
    apply_bodies(
        store,
        [json.dumps(started).encode(), ran(MAKE, 2, [edge(AMOUNT, cleaned)], facets={"parent": parent_facet(run)})],
    )
    (one,) = plan(store, AMOUNT).schedules
    assert (one.schedule.id, one.schedule.namespace, one.running) == ("etl.v2", "prod.airflow", True)
