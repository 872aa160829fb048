"""History, why, why not, and the lineage of runs, told of the churn story; on both stores."""

import json
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from query.worlds.churn_story import (
    FEATURES,
    HOUR,
    MINUTE,
    MODEL,
    NOW,
    PREDICTIONS,
    SESSIONS,
    TABLE,
    USAGE,
    WORLD,
    column,
    data,
    job,
)
from query.worlds.random_worlds import Statement, World, load
from whence.errors import AmbiguousNodeError, NodeNotFoundError
from whence.govern.stale_jobs import make_decommission_event
from whence.model.events import RunState
from whence.model.graph import Direction
from whence.model.ids import event_id, hash64
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import dataset, run_event
from whence.query.answers.values import DIRECT, Question
from whence.query.history.history import history
from whence.query.questions.why import why
from whence.query.questions.why_not import Reason, why_not
from whence.query.runs.run_lineage import resolve_run, run_lineage
from whence.store.connection.engine import reading, writing
from whence.store.schema.tables import facet
from whence.store.snapshots.graph import StoreGraph

CHURN = column("predictions", "churn_probability")
LAST_LOGIN = column("raw/usage_logs.csv", "last_login")
MINUTES = column("silver/sessions", "minutes")
RUNS = {number: f"{number * 11111111:08d}-0000-4000-8000-000000000000" for number in range(1, 5)}


def test_the_history_of_a_field_says_what_changed_and_which_run_did_it(graph: StoreGraph) -> None:
    found = history(graph, FieldName(TABLE, "avg_minutes"))
    now, before = found.lineage
    assert found == history(graph, FieldName(FEATURES, "avg_minutes"))
    assert (now.valid_from, now.valid_to, before.valid_from, before.valid_to) == (
        NOW - 5 * MINUTE,
        None,
        NOW - 24 * HOUR,
        NOW - 5 * MINUTE,
    )
    assert now.run is not None
    assert (now.owner, now.run.name.run_id, before.edges) == (job("build_features"), RUNS[2], 1)
    (changed,) = now.changes.changed
    assert (changed.source, changed.before[0].subtype, changed.after[0].subtype) == (MINUTES, "IDENTITY", "AGGREGATION")
    assert {one.source for one in now.changes.added} == {
        column("silver/sessions", "customer_id"),
        column("raw/customers.csv", "id"),
    }
    assert now.changes.removed == ()


def test_the_history_of_a_job_is_all_that_it_says(graph: StoreGraph) -> None:
    versions = history(graph, job("build_features")).lineage
    assert [one.edges for one in versions] == [9, 2]
    assert not history(graph, USAGE).lineage


def test_the_history_of_a_dataset_has_its_schemas(store: Engine) -> None:
    schemas = ((USAGE, '{"fields":[{"name":"a","type":"int"}]}', 10, 20), (USAGE, '{"fields":[{"name":"b"}]}', 15, 30))
    load(store, replace(WORLD, schemas=schemas, declared=(FieldName(USAGE, "b"),)))
    with reading(store) as connection:
        graph = StoreGraph(connection)
        found, of_field = history(graph, USAGE), history(graph, FieldName(USAGE, "b"))
    assert [[(one.name, one.before, one.after) for one in version.changes] for version in found.schemas] == [
        [("a", "int", None), ("b", None, "")],
        [("a", None, "int")],
    ]
    assert [[one.name for one in version.changes] for version in of_field.schemas] == [["b"]]
    assert found.completeness.complete


def test_a_job_that_stops_saying_something_is_in_the_history(store: Engine) -> None:
    whole, other = (
        (Edge(source=USAGE, target=SESSIONS), Origin.COLUMN),
        (Edge(source=MODEL, target=SESSIONS), Origin.COLUMN),
    )
    owner = job("clean_sessions")
    statements = (
        Statement(owner=owner, edges=(whole, other), start=10, end=20),
        Statement(owner=owner, edges=(whole,), start=20, end=30),
    )
    load(store, World(statements=statements))
    with reading(store) as connection:
        versions = history(StoreGraph(connection), SESSIONS).lineage
    assert [(one.valid_from, one.valid_to, one.edges) for one in versions] == [(20, 30, 1), (10, 20, 2)]
    assert [one.source for one in versions[0].changes.removed] == [MODEL]


def test_why_has_all_runs_of_every_edge(graph: StoreGraph) -> None:
    found = why(graph, MINUTES, CHURN, Question())
    edges = [edge for path in found.paths for step in path.steps for edge in step.edges]
    assert len(found.paths) == 2
    assert {run.name.run_id for edge in edges for one in edge.evidence for run in one.runs} == {
        RUNS[2],
        RUNS[3],
        RUNS[4],
    }


@pytest.mark.parametrize(
    ("source", "target", "question", "reason", "named"),
    [
        ("silver/sessions.minutes", str(CHURN), Question(), None, ""),
        ("usage_logs.last_login", str(CHURN), Question(), Reason.NO_COLUMN_LINEAGE, str(job("clean_sessions"))),
        ("usge_logs.last_login", str(CHURN), Question(), Reason.NAME_MISMATCH, str(LAST_LOGIN)),
        ("zzzzzz", "qqqqqq", Question(), Reason.NO_EVENT, ""),
        ("customers.id", str(CHURN), Question(types=DIRECT), Reason.PRUNED, ""),
        ("silver/sessions.minutes", str(CHURN), Question(depth=1), Reason.PRUNED, ""),
        ("silver/sessions.minutes", str(CHURN), Question(max_nodes=2), Reason.PRUNED, ""),
        ("predictions", "model", Question(), Reason.NO_EVENT, ""),
        ("predictions.id", str(column("gold/features", "email_hash")), Question(), Reason.NO_EVENT, ""),
    ],
)
def test_why_not(
    graph: StoreGraph, source: str, target: str, question: Question, reason: Reason | None, named: str
) -> None:
    found = why_not(graph, source, target, question)
    assert found.reason == reason, found
    assert (found.path is not None) == (reason in (None, Reason.NO_COLUMN_LINEAGE) or question.types is not None)
    assert not named or found.nearest[0] == named
    assert found.detail


def test_why_not_any_more(store: Engine) -> None:
    whole = (Edge(source=USAGE, target=SESSIONS), Origin.COLUMN)
    other = (Edge(source=MODEL, target=SESSIONS), Origin.COLUMN)
    owner = job("clean_sessions")
    load(
        store,
        World(
            statements=(
                Statement(owner=owner, edges=(whole,), start=10, end=20),
                Statement(owner=owner, edges=(other,), start=20),
            )
        ),
    )
    with reading(store) as connection:
        graph = StoreGraph(connection)
        found, then = (why_not(graph, str(USAGE), str(SESSIONS), Question(at=at)) for at in (None, 15))
    assert (found.reason, found.until, found.nearest, then.reason) == (Reason.SUPERSEDED, 20, (str(owner),), None)
    assert found.path is not None


def test_what_a_job_that_was_ended_said_is_superseded(store: Engine) -> None:
    source, target, owner = DatasetName("n", "orders"), DatasetName("n", "revenue"), JobName("n", "sum")
    run = RunName("0190b3a1-0000-7000-8000-000000000000", owner)
    ran = run_event(10, RunState.COMPLETE, run, inputs=[dataset(source)], outputs=[dataset(target)])
    apply_bodies(store, [json.dumps(one).encode() for one in (ran, make_decommission_event(owner, 20, "moved"))])
    with reading(store) as connection:
        found = why_not(StoreGraph(connection), str(source), str(target), Question())
    assert (found.reason, found.until, found.nearest) == (Reason.SUPERSEDED, 20, (str(owner),))


def test_why_not_by_a_name_that_is_nearly_the_same(store: Engine) -> None:
    meant, typed = DatasetName("s3://lake", "raw/orders"), DatasetName("s3://lake2", "raw/orders")
    edges = ((Edge(source=meant, target=SESSIONS), Origin.COLUMN),)
    load(
        store,
        World(
            statements=(
                Statement(owner=job("a"), edges=edges),
                Statement(owner=job("b"), edges=((Edge(source=typed, target=MODEL), Origin.COLUMN),)),
            )
        ),
    )
    with reading(store) as connection:
        found = why_not(StoreGraph(connection), str(typed), str(SESSIONS), Question())
    assert (found.reason, found.nearest) == (Reason.NAME_MISMATCH, (str(meant),))


def test_runs_upstream_of_a_run(graph: StoreGraph) -> None:
    found = run_lineage(graph, resolve_run(graph, f"run:{RUNS[4]}"), Direction.UPSTREAM)
    assert [(one.depth, one.name.run_id) for one in found.runs] == [
        (0, RUNS[4]),
        (1, RUNS[2]),
        (1, RUNS[3]),
        (2, RUNS[1]),
    ]
    assert {(one.writer.run_id, one.reader.run_id, one.dataset) for one in found.handovers} == {
        (RUNS[2], RUNS[4], TABLE),
        (RUNS[3], RUNS[4], MODEL),
        (RUNS[2], RUNS[3], TABLE),
        (RUNS[1], RUNS[2], SESSIONS),
    }
    assert found.origins == (data("raw/customers.csv"), USAGE)
    assert (found.completeness.complete, found.completeness.depth_reached) == (True, 2)
    cut = run_lineage(graph, resolve_run(graph, RUNS[4]), Direction.UPSTREAM, depth=1)
    assert (len(cut.runs), cut.completeness.stopped_by) == (3, "depth")
    few = run_lineage(graph, resolve_run(graph, RUNS[4]), Direction.UPSTREAM, max_runs=2)
    assert (len(few.runs), few.completeness.stopped_by) == (2, "nodes")


def test_runs_downstream_of_a_run(graph: StoreGraph) -> None:
    found = run_lineage(graph, resolve_run(graph, RUNS[1]), Direction.DOWNSTREAM)
    read = {(one.reader.job, one.dataset) for one in found.handovers}
    assert read == {
        (job("build_features"), SESSIONS),
        (job("train_model"), TABLE),
        (job("score"), TABLE),
        (job("score"), MODEL),
        (job("report"), PREDICTIONS),
    }


def test_a_run_reads_what_was_written_last_before_it_began(store: Engine) -> None:
    write = ((Edge(source=JobName("n", "w"), target=MODEL), Origin.BOUNDARY),)
    read = ((Edge(source=MODEL, target=JobName("n", "r")), Origin.BOUNDARY),)
    writers = [
        Statement(
            owner=JobName("n", "w"),
            edges=write,
            start=10 * n,
            run_id=f"{n}" * 8 + "-0000-4000-8000-000000000000",
            end=10 * n + 5,
        )
        for n in (1, 2, 3)
    ]
    readers = [
        Statement(
            owner=JobName("n", "r"), edges=read, start=at, end=at + 1, run_id=f"{at:08}-1111-4000-8000-000000000000"
        )
        for at in (5, 15, 25, 35)
    ]
    failed = Statement(
        owner=JobName("n", "w"), edges=write, start=24, end=25, state=5, run_id="44444444-2222-4000-8000-000000000000"
    )
    load(store, World(statements=(*writers, *readers, failed)))
    with reading(store) as connection:
        graph = StoreGraph(connection)

        def others(run: str, direction: Direction) -> list[str]:
            found = run_lineage(graph, resolve_run(graph, run), direction)
            return [one.name.run_id[:8] for one in found.runs[1:]]

        assert [others(one.run_id, Direction.UPSTREAM) for one in readers] == [[], ["1" * 8], ["2" * 8], ["3" * 8]]
        assert [others(one.run_id, Direction.DOWNSTREAM) for one in writers] == [
            ["00000015"],
            ["00000025"],
            ["00000035"],
        ]


def test_the_commit_of_a_run_is_what_the_run_itself_said(store: Engine) -> None:
    statement = next(one for one in WORLD.statements if one.run_id == RUNS[3])
    load(
        store,
        replace(
            WORLD, facets=((job("train_model"), "sourceCodeLocation", '{"url":"https://git/x","version":"abc123"}'),)
        ),
    )
    key = f"{hash64(statement.run_id + str(statement.owner)) & (2**63 - 1):016x}{0:016x}"
    with reading(store) as connection:
        assert (
            run_lineage(StoreGraph(connection), resolve_run(StoreGraph(connection), RUNS[3]), Direction.UPSTREAM, 0)
            .runs[0]
            .commit
            is None
        )
    with writing(store) as connection:
        connection.execute(facet.update().values(event_id=event_id(key)))
    with reading(store) as connection:
        graph = StoreGraph(connection)
        commit = run_lineage(graph, resolve_run(graph, RUNS[3]), Direction.UPSTREAM, 0).runs[0].commit
    assert commit is not None
    assert (commit.version, commit.url) == ("abc123", "https://git/x")


def test_a_run_that_several_jobs_claim(store: Engine) -> None:
    edges = ((Edge(source=USAGE, target=SESSIONS), Origin.COLUMN),)
    load(store, World(statements=tuple(Statement(owner=job(name), edges=edges, run_id=RUNS[1]) for name in ("a", "b"))))
    with reading(store) as connection:
        graph = StoreGraph(connection)
        with pytest.raises(AmbiguousNodeError) as caught:
            resolve_run(graph, RUNS[1])
        assert resolve_run(graph, caught.value.candidates[1]).name.job == job("b")
        with pytest.raises(NodeNotFoundError):
            resolve_run(graph, "run:none")
