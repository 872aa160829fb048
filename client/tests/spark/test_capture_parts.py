"""The parts of the Spark capture that need no Spark: trees, runs, names, and the worker's thread."""

import threading
from typing import Any

import pytest

from whence_client.captures import Guard
from whence_client.events.runs import RunRef
from whence_client.lineage.columns import Dataset
from whence_client.spark.capture.runs import JobRuns
from whence_client.spark.capture.tables import name_jdbc, name_path, name_paths
from whence_client.spark.capture.worker import MOST_WAITING, Worker
from whence_client.spark.plan.relations import Context, read_relation
from whence_client.spark.plan.trees import Tree, fold, subtrees

APPLICATION = RunRef("prod", "shop", "00000000-0000-4000-8000-000000000001")


def attribute(number: int, name: str = "a") -> Tree:
    return [{"class": "x.AttributeReference", "num-children": 0, "name": name, "exprId": {"id": number}}]


def test_a_plan_deeper_than_the_stack_is_read() -> None:
    """A loop of `withColumn` makes such plans."""
    depth = 5000
    leaf: dict[str, Any] = {"class": "x.LogicalRelation", "num-children": 0, "output": [attribute(1)]}
    project: dict[str, Any] = {"class": "x.Project", "num-children": 1, "projectList": [attribute(1)], "child": 0}
    relation = read_relation([project] * depth + [leaf], Context({1: (Dataset("file", "/orders"),)}))
    ((edge),) = relation.column(0).direct
    assert (edge.source.dataset, edge.source.field, edge.subtype) == (("file", "/orders"), "a", "IDENTITY")


def test_the_first_attribute_of_a_process_has_the_number_zero() -> None:
    leaf: dict[str, Any] = {"class": "x.LogicalRelation", "num-children": 0, "output": [attribute(0)]}
    project: dict[str, Any] = {"class": "x.Project", "num-children": 1, "projectList": [attribute(0)], "child": 0}
    relation = read_relation([project, leaf], Context({0: (Dataset("file", "/orders"),)}))
    assert [len(one.direct) for one in relation.values] == [1]


def test_what_an_unknown_operator_adds_is_not_guessed() -> None:
    leaf: dict[str, Any] = {"class": "x.LogicalRelation", "num-children": 0, "output": [attribute(1)]}
    unknown: dict[str, Any] = {
        "class": "x.New",
        "num-children": 1,
        "output": [attribute(1), attribute(2, "b")],
        "child": 0,
    }
    relation = read_relation([unknown, leaf], Context({1: (Dataset("file", "/orders"),)}))
    assert [len(one.direct) for one in relation.values] == [1, 0]
    assert relation.column(1).reasons == {"not_captured"}


def test_an_incomplete_tree_is_an_error() -> None:
    with pytest.raises(ValueError, match="incomplete"):
        fold([{"class": "x.Project", "num-children": 1}], lambda node, values: None)


def test_the_children_of_a_tree() -> None:
    nodes = [{"class": name, "num-children": count} for name, count in (("+", 2), ("-", 1), ("a", 0), ("b", 0))]
    assert [[node["class"] for node in tree] for tree in subtrees(nodes)] == [["-", "a"], ["b"]]


def test_writes_that_add_are_one_run_until_one_fails_or_replaces() -> None:
    runs = JobRuns(APPLICATION)
    outcomes = [(True, False), (True, False), (True, True), (True, False), (False, False), (True, False)]
    ids = [runs.next_run("shop.a", adds=adds, failed=failed).run_id for adds, failed in outcomes]
    numbers = [list(dict.fromkeys(ids)).index(one) for one in ids]
    assert numbers == [0, 0, 1, 2, 3, 3]
    assert JobRuns(APPLICATION).next_run("shop.a", adds=True, failed=False).run_id == ids[0]


def test_a_partition_and_many_files_are_their_table() -> None:
    assert name_path("s3a://lake/orders/day=1/hour=2").name == "orders"
    assert name_path("file:/a/x=y b/täglich").name == "/a/x=y b/täglich"
    assert [one.name for one in name_paths(f"/a/part-{number}" for number in range(100))] == ["/a"]
    assert len(name_paths(f"/a/{number}" for number in range(3))) == 3


def test_a_query_in_the_place_of_a_table_is_no_table() -> None:
    assert name_jdbc("jdbc:postgresql://db/shop", "(select 1) t") is None
    assert name_jdbc("jdbc:postgresql://db/shop", "orders") == ("postgres://db:5432", "shop.public.orders")


def test_the_worker_drops_what_does_not_fit_and_reports_it(caplog: pytest.LogCaptureFixture) -> None:
    guard = Guard("spark")
    worker, gate, started = Worker(guard), threading.Event(), threading.Event()

    def wait() -> None:
        started.set()
        gate.wait()

    worker.submit("query", wait)
    assert started.wait(60)
    for _ in range(MOST_WAITING + 1):
        worker.submit("query", lambda: None)
    assert not worker.drain(0)
    gate.set()
    assert worker.drain(60)
    assert "more than 1000 queries wait" in guard.take_errors()["spark: query"]


def test_an_error_of_a_task_does_not_end_the_worker() -> None:
    guard = Guard("spark")
    worker, done = Worker(guard), threading.Event()

    def divide_by_zero() -> None:
        _ = 1 / 0

    worker.submit("query", divide_by_zero)
    worker.submit("query", done.set)
    assert worker.drain(60)
    assert done.is_set()
    assert "ZeroDivisionError" in guard.take_errors()["spark: query"]
