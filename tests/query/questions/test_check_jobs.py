"""Jobs that only check data in answers: apart from what is affected, now and as of a time, for every viewer."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from whence.model.access import Grant, Role, Viewer
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.write import column_lineage, dataset, facet, run_event
from whence.query.answers.values import Filter, Question
from whence.query.questions.impact import impact
from whence.query.questions.lineage import downstream
from whence.query.visibility.graph import seen_by
from whence.store.connection.engine import reading
from whence.store.snapshots.graph import StoreGraph

HOUR = 3_600_000_000
ORDERS, GOLD = DatasetName("prod", "orders"), DatasetName("prod", "gold")
AMOUNT, TOTAL = FieldName(ORDERS, "amount"), FieldName(GOLD, "total")
LOAD, SODA, DBT, BOARD = (
    JobName("prod", "load"),
    JobName("soda", "scan"),
    JobName("dbt", "tests"),
    JobName("bi", "board"),
)


def ran(job: JobName, hour: int, inputs: list[dict[str, Any]], outputs: list[dict[str, Any]] | None = None) -> bytes:
    run = RunName(f"01890000-0000-7000-8000-{[LOAD, SODA, DBT, BOARD].index(job):04}{hour:08}", job)
    return json.dumps(run_event(hour * HOUR, RunState.COMPLETE, run, inputs=inputs, outputs=outputs or [])).encode()


def checked(name: DatasetName) -> dict[str, Any]:
    results = [{"assertion": "not_null", "column": "amount", "success": True}]
    return dataset(
        name, inputFacets={"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=results)}
    )


COLUMNS = {"columnLineage": column_lineage([Edge(source=AMOUNT, target=TOTAL, type="DIRECT", subtype="IDENTITY")])}
BODIES = [
    ran(LOAD, 1, [dataset(ORDERS)], [dataset(GOLD, facets=COLUMNS)]),
    ran(SODA, 2, [checked(ORDERS)]),
    ran(DBT, 2, [checked(ORDERS), checked(GOLD)]),
    ran(BOARD, 3, [checked(GOLD)]),
    ran(BOARD, 4, [dataset(ORDERS), checked(GOLD)]),  # from now on it also shows something that it does not check
]


@pytest.fixture
def graph(store: Engine) -> Iterator[StoreGraph]:
    apply_bodies(store, BODIES)
    with reading(store) as connection:
        yield StoreGraph(connection)


def names(several: Any) -> list[Node]:
    return [one.name for one in several]


def test_they_are_not_affected(graph: StoreGraph) -> None:
    found = impact(graph, ORDERS, Question())
    assert names(found.checks) == [DBT, SODA]
    assert found.counts.checks == 2
    assert set(names(found.nodes())) == {BOARD, GOLD}
    assert (found.counts.nodes, found.counts.jobs, found.counts.by_kind["job"]) == (2, 2, 1)
    assert sum(found.counts.by_distance.values()) == sum(found.counts.by_type.values()) == 2
    assert names(found.jobs) == [BOARD, LOAD]
    assert found.checks[0].last_run is not None


def test_a_filter_by_kind_lists_the_affected_jobs(graph: StoreGraph) -> None:
    found = impact(graph, ORDERS, Question(only=Filter(kinds=("job",))))
    assert (names(found.nodes()), names(found.checks)) == ([BOARD, LOAD], [DBT, SODA])


def test_as_of_a_time(graph: StoreGraph) -> None:
    def at(hour: int) -> tuple[list[Node], list[Node]]:
        found = impact(graph, GOLD, Question(at=hour * HOUR))
        return names(found.nodes()), names(found.checks)

    assert [at(hour) for hour in (1, 2, 3, 4)] == [([], []), ([], [DBT]), ([], [BOARD, DBT]), ([BOARD], [DBT])]


def test_an_answer_marks_them(graph: StoreGraph) -> None:
    found = downstream(graph, ORDERS, Question())
    assert {one.name: one.is_check for one in found.nodes if isinstance(one.name, JobName)} == {
        BOARD: False,
        DBT: True,
        SODA: True,
    }


def test_a_column_that_only_they_read_is_no_gap(graph: StoreGraph) -> None:
    found = downstream(graph, TOTAL, Question(at=3 * HOUR))
    assert (found.gaps, found.completeness.complete) == ((), True)
    assert impact(graph, TOTAL, Question(at=3 * HOUR)).completeness.complete
    assert [gap.owner for gap in downstream(graph, TOTAL, Question()).gaps] == [BOARD]


def test_a_hidden_job_is_not_known_as_one(graph: StoreGraph) -> None:
    viewer = Viewer(name="user:ana", grants=(Grant(Role.READER, "prod"), Grant(Role.READER, "soda")))
    found = impact(seen_by(viewer, b"secret", graph), ORDERS, Question())
    assert names(found.checks) == [SODA]
    assert found.completeness.hidden_nodes == 2
    assert found.counts.by_kind["job"] == 2, "the hidden ones count as affected: what they do is not shown"
