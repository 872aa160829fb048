"""Impact of a column: the jobs with what they belong to and their last run, and how directly each node is affected."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from whence.model.access import Grant, Role, Viewer
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.write import column_lineage, dataset, facet, job_event, own_facet, parent_facet, run_event
from whence.query.answers.values import Filter, Question
from whence.query.questions.impact import Affected, Impact, impact
from whence.query.questions.lineage import downstream
from whence.query.visibility.graph import seen_by
from whence.store.connection.engine import reading
from whence.store.snapshots.graph import StoreGraph

HOUR = 3_600_000_000
RAW, CLEAN, GOLD, REPORT = (DatasetName("db", name) for name in ("raw", "clean", "gold", "report"))
DAG, TASK, BACKFILL = (JobName("airflow", name) for name in ("daily", "daily.load", "backfill"))
LOAD, JOIN, COPY = (JobName("spark", name) for name in ("load", "join", "copy"))
AMOUNT = FieldName(RAW, "amount")


def run_of(job: JobName, number: int) -> RunName:
    return RunName(f"01890000-0000-7000-8000-{hash_of(job):04d}{number:08d}", job)


def hash_of(job: JobName) -> int:
    return [DAG, TASK, BACKFILL, LOAD, JOIN, COPY].index(job)


def ran(job: JobName, number: int, state: RunState, edges: list[Edge], parent: dict[str, Any] | None) -> dict[str, Any]:
    """The end of the run of a job at an hour."""
    targets = {edge.target.dataset for edge in edges if isinstance(edge.target, FieldName)}
    sources = {edge.source.dataset for edge in edges if isinstance(edge.source, FieldName)}
    outputs = [
        dataset(
            one,
            facets={
                "columnLineage": column_lineage([edge for edge in edges if getattr(edge.target, "dataset", 0) == one])
            },
        )
        for one in sorted(targets)
    ]
    return run_event(
        number * HOUR,
        state,
        run_of(job, number),
        run_facets={"parent": parent} if parent else {},
        inputs=[dataset(one) for one in sorted(sources)],
        outputs=outputs,
    )


def edge(source: FieldName, target: FieldName, type_: str = "DIRECT", subtype: str = "IDENTITY") -> Edge:
    return Edge(source=source, target=target, type=type_, subtype=subtype)


CLEANED, KEPT = FieldName(CLEAN, "amount"), FieldName(CLEAN, "kept")
TOTAL, SHARE, SHOWN = FieldName(GOLD, "total"), FieldName(GOLD, "share"), FieldName(REPORT, "total")
IN_DAG = parent_facet(run_of(TASK, 1), root=run_of(DAG, 1))
IN_BACKFILL = parent_facet(run_of(BACKFILL, 5))
EVENTS = [
    ran(LOAD, 1, RunState.COMPLETE, [edge(AMOUNT, CLEANED), edge(AMOUNT, KEPT, "INDIRECT", "FILTER")], IN_DAG),
    ran(JOIN, 2, RunState.COMPLETE, [edge(CLEANED, TOTAL, "INDIRECT", "JOIN"), edge(KEPT, SHARE)], IN_DAG),
    # The short way to report.total is indirect, the long one through clean.amount direct.
    ran(COPY, 3, RunState.COMPLETE, [edge(CLEANED, SHOWN), edge(KEPT, SHOWN, "INDIRECT", "FILTER")], None),
    run_event(4 * HOUR, RunState.FAIL, run_of(JOIN, 4), run_facets={"parent": IN_BACKFILL}),
    job_event(
        1 * HOUR,
        JOIN,
        facets={
            "ownership": facet("OwnershipJobFacet", owners=[{"name": "team:money"}]),
            "tags": facet("TagsJobFacet", tags=[{"key": "nightly", "value": "true", "source": "CODE"}]),
            "whence_tier": own_facet("TierFacet", tier="1"),
        },
    ),
]
BODIES = [json.dumps(event).encode() for event in EVENTS]


@pytest.fixture
def ask(store: Engine) -> Iterator[Callable[..., Impact]]:
    apply_bodies(store, BODIES)
    with ExitStack() as stack:

        def asked(root: Node = AMOUNT, viewer: Viewer | None = None, **question: Any) -> Impact:
            graph = StoreGraph(stack.enter_context(reading(store)))
            return impact(seen_by(viewer, b"secret", graph) if viewer else graph, root, Question(**question))

        yield asked


def by_name(found: Impact) -> dict[str, Affected]:
    return {str(one.name): one for one in found.jobs}


def test_each_job_has_its_pipeline_its_last_run_and_its_owner(ask: Callable[..., Impact]) -> None:
    jobs = by_name(ask())
    assert list(jobs) == [str(LOAD), str(COPY), str(JOIN)], "by distance, then name"
    load, join, copy = (jobs[str(one)] for one in (LOAD, JOIN, COPY))
    assert (load.parent, load.root) == (TASK, DAG)
    assert (join.parent, join.root, join.owners, join.tier) == (BACKFILL, BACKFILL, ("team:money",), "1")
    assert join.last_run
    assert (join.last_run.state, join.last_run.state_at, join.last_run.name) == (
        RunState.FAIL,
        4 * HOUR,
        run_of(JOIN, 4),
    )
    assert (copy.parent, copy.root, copy.owners) == (None, None, ())
    assert join.path == (AMOUNT, KEPT, JOIN), "a direct edge comes first"


def test_as_of_a_time_the_last_run_is_the_last_that_had_begun(ask: Callable[..., Impact]) -> None:
    join = by_name(ask(at=3 * HOUR))[str(JOIN)]
    assert (join.parent, join.root) == (TASK, DAG)
    assert join.last_run
    assert (join.last_run.state, join.last_run.state_at) == (RunState.COMPLETE, 2 * HOUR)
    assert by_name(ask(at=1 * HOUR)).keys() == {str(LOAD)}


def test_a_run_that_ended_later_was_still_running(store: Engine, ask: Callable[..., Impact]) -> None:
    begun = run_event(6 * HOUR, RunState.START, run_of(COPY, 9))
    ended = run_event(8 * HOUR, RunState.FAIL, run_of(COPY, 9))
    apply_bodies(store, [json.dumps(event).encode() for event in (begun, ended)], first=50)
    states = {}
    for hour in (5, 7, 9):
        last = by_name(ask(at=hour * HOUR))[str(COPY)].last_run
        assert last
        states[hour] = (last.state.name, last.state_at // HOUR)
    assert states == {5: ("COMPLETE", 3), 7: ("RUNNING", 6), 9: ("FAIL", 8)}


def test_how_directly_each_node_is_affected(ask: Callable[..., Impact]) -> None:
    found = ask()
    assert {node.name: node.influence for node in found.nodes()} == {
        CLEANED: "DIRECT",
        KEPT: "INDIRECT",
        TOTAL: "INDIRECT",
        SHARE: "INDIRECT",
        SHOWN: "DIRECT",
    }
    assert found.counts.by_influence == {"DIRECT": 2, "INDIRECT": 3}
    assert {name: one.influence for name, one in by_name(found).items()} == {
        str(LOAD): "DIRECT",
        str(COPY): "DIRECT",
        str(JOIN): "INDIRECT",
    }


def test_a_filter_by_kind_lists_jobs_as_nodes(ask: Callable[..., Impact]) -> None:
    listed = ask(only=Filter(kinds=("job",)))
    assert [node.name for node in listed.nodes()] == [LOAD, COPY, JOIN]
    assert list(listed.nodes()) == list(listed.jobs)
    assert listed.counts.by_kind == {"job": 3}
    assert [node.name for node in ask(only=Filter(kinds=("JOB", "field"))).nodes()][:1] == [CLEANED]
    for only in (
        Filter(kinds=("job",), owners=("team:money",)),
        Filter(kinds=("job",), tags=("nightly",)),
        Filter(kinds=("job",), jobs=(str(JOIN),)),
    ):
        assert [node.name for node in ask(only=only).nodes()] == [JOIN], only
    assert not ask(only=Filter(kinds=("job",), owners=("nobody",))).nodes()


def test_a_walk_lists_jobs_too_with_the_edge_that_they_derive(store: Engine, ask: Callable[..., Impact]) -> None:
    with reading(store) as connection:
        answer = downstream(StoreGraph(connection), AMOUNT, Question(only=Filter(kinds=("job",))))
    jobs = [node for node in answer.nodes if node.shown and node.depth]
    assert [(node.name, node.depth, node.parent) for node in jobs] == [
        (LOAD, 1, AMOUNT),
        (COPY, 2, CLEANED),
        (JOIN, 2, KEPT),
    ]
    for node in jobs:
        assert node.edge is not None
        assert (answer.edges[node.edge].owner, answer.edges[node.edge].source) == (node.name, node.parent)


def test_a_pipeline_that_is_hidden_has_no_name(ask: Callable[..., Impact]) -> None:
    grants = tuple(Grant(Role.READER, namespace) for namespace in ("db", "spark"))
    found = ask(viewer=Viewer(name="user:ann", grants=grants))
    load = by_name(found)[str(LOAD)]
    assert load.parent not in (None, TASK)
    assert "daily" not in str(found.jobs)
    assert load.last_run
    assert load.last_run.name == run_of(LOAD, 1)
