"""What to run again: by which runs of Airflow, by which dbt models, and what need not run."""

import json
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from govern.containment.estates import AT, SECOND
from govern.containment.test_plan import AMOUNT, CLEAN, COPY, DAY, GOLD, MAKE, edge, ran
from whence.cli.answers.local.options import answer_of
from whence.cli.containment.rerun import airflow_requests, dbt_arguments
from whence.client.acts.containment import RerunPlan
from whence.govern.containment.rerun import plan_rerun
from whence.govern.containment.rerun_documents import rerun_listing
from whence.model.access import Grant, Role, Viewer
from whence.model.names import FieldName, JobName, Node
from whence.openlineage.write import dataset_event, own_facet
from whence.query.answers.values import Question
from whence.query.visibility.catalog import VisibleCatalog, scope_of
from whence.query.visibility.graph import VisibleGraph, seen_by
from whence.store.connection.engine import reading
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

CLEANED, TOTAL = FieldName(CLEAN, "amount"), FieldName(GOLD, "total")
SUM = JobName("prod.dbt", "sum")


def in_run(dag: str, run: str, task: str) -> dict[str, Any]:
    """The run facet of Airflow's provider, with the run of the DAG."""
    members = {"dag": {"dag_id": dag}, "dagRun": {"run_id": run}, "task": {"task_id": task}}
    return {"airflow": own_facet("AirflowRunFacet", **members)}


@pytest.fixture
def filled(store: Engine) -> Engine:
    model = own_facet("DbtDatasetFacet", uniqueId="model.shop.gold.v2")
    bodies = [
        ran(MAKE, 1, [edge(AMOUNT, CLEANED)], facets=in_run("etl.v2", "day 1", "make.it")),
        ran(SUM, 2, [edge(CLEANED, TOTAL)], facets=in_run("etl.v2", "day 1", "dbt")),
        ran(COPY, 3, [edge(DAY, FieldName(GOLD, "day")), edge(AMOUNT, FieldName(GOLD, "amount"))]),
        ran(MAKE, 11, [edge(AMOUNT, CLEANED)], facets=in_run("etl.v2", "day 2", "make.it")),
        ran(SUM, 12, [edge(CLEANED, TOTAL)], facets=in_run("etl.v2", "day 2", "dbt")),
        ran(MAKE, 21, [edge(AMOUNT, CLEANED)], facets=in_run("etl.v2", "day 3", "make.it")),
        json.dumps(dataset_event(AT, GOLD, facets={"whence_dbt": model})).encode(),
    ]
    apply_bodies(store, bodies)
    return store


def plan(store: Engine, *targets: Node, since: int | None = None, viewer: Viewer | None = None) -> RerunPlan:
    wanted = (list(targets), None if since is None else AT + since * SECOND)
    with reading(store) as connection:
        graph, catalog = StoreGraph(connection), StoreCatalog(connection)
        if viewer is None:
            return answer_of(rerun_listing(plan_rerun(graph, catalog, AMOUNT, wanted, Question())), RerunPlan)
        shown = seen_by(viewer, b"secret", graph)
        assert isinstance(shown, VisibleGraph)
        scoped = StoreCatalog(connection, scope=scope_of(viewer, catalog.every_namespace()))
        visible = VisibleCatalog(shown.visible_ids, scoped)
        return answer_of(rerun_listing(plan_rerun(shown, visible, AMOUNT, wanted, Question())), RerunPlan)


def test_layers_runs_and_models(filled: Engine) -> None:
    found = plan(filled, TOTAL)
    assert [(one.layer, one.node, one.dbt) for one in found.jobs] == [(1, str(MAKE), None), (2, str(SUM), "gold.v2")]
    assert [(run.id, run.task, run.dag_run) for one in found.jobs for run in one.runs] == [
        ("etl.v2", "make.it", "day 3"),
        ("etl.v2", "dbt", "day 2"),
    ]
    assert dbt_arguments(found) == "--select gold.v2"
    assert {one.node for one in plan(filled).jobs} == {str(MAKE), str(SUM), str(COPY)}


def test_a_request_clears_also_what_succeeded_with_wrong_data(filled: Engine) -> None:
    requests = list(airflow_requests(plan(filled, TOTAL, since=10)))
    path = "/api/v2/dags/etl.v2/clearTaskInstances"
    body = {"dry_run": True, "only_failed": False, "reset_dag_runs": True, "include_downstream": False}
    assert requests == [
        {"layer": 1, "method": "POST", "path": path, "body": body | {"dag_run_id": "day 2", "task_ids": ["make.it"]}},
        {"layer": 1, "method": "POST", "path": path, "body": body | {"dag_run_id": "day 3", "task_ids": ["make.it"]}},
        {"layer": 2, "method": "POST", "path": path, "body": body | {"dag_run_id": "day 2", "task_ids": ["dbt"]}},
    ]


def test_what_has_not_run_since_need_not_run(filled: Engine) -> None:
    found = plan(filled, since=20)
    assert [one.node for one in found.jobs] == [str(MAKE)]
    assert {one.node: one.reason for one in found.skipped} == {
        str(COPY): "it has not run since",
        str(SUM): "it has not run since",
    }
    late = plan(filled, since=30)
    assert (late.jobs, len(late.skipped)) == ((), 3)


def test_hidden_jobs_are_counted(filled: Engine) -> None:
    viewer = Viewer(name="eve", grants=(Grant(Role.READER, "prod.db"), Grant(Role.READER, "prod.spark")))
    found = plan(filled, viewer=viewer)
    assert ({one.node for one in found.jobs}, found.hidden) == ({str(MAKE), str(COPY)}, 1)
    assert "prod.dbt" not in json.dumps(found.document())
