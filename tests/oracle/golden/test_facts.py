"""Facets, parents, names, times and attempts, reasoned by hand from docs/explanation/state.md."""

import pytest

from oracle.naming import normal
from oracle.reading import micros
from oracle.stories import (
    Json,
    dataset,
    dataset_event,
    run,
    state,
)


def _facet(events: list[Json], name: str) -> tuple[object, int]:
    (line,) = [line for line in state(events) if line.get("fact") == "facet" and line["name"] == name]
    return line["payload"], line["rank"]


def test_a_facet_is_replaced_whole_by_time_then_rank() -> None:
    start = run(1, "START", 5, "", [dataset("b", {"doc": {"one": 1}})])
    end = run(1, "COMPLETE", 5, "", [dataset("b", {"doc": {"two": 2}})])
    early = run(1, "COMPLETE", 4, "", [dataset("b", {"doc": {"three": 3}})])
    assert _facet([end, start, early], "doc") == ({"two": 2}, 3)


def test_a_deleted_facet_is_absent_and_brings_no_older_one_back() -> None:
    events = [dataset_event(1, "b", {"doc": {"one": 1}}), dataset_event(2, "b", {"doc": {"_deleted": True}})]
    assert _facet(events, "doc") == (None, 0)


@pytest.mark.parametrize(("named", "parent"), [("dag", "dag"), ("dag.task", "dag.task"), ("dag.own", "dag")])
def test_a_parent_without_a_uuid_has_the_one_that_marquez_gives(named: str, parent: str) -> None:
    event = run(1, "COMPLETE", 1)
    event["job"]["name"] = "dag.own"
    facet = {"run": {"runId": "scheduled__2022-03-14"}, "job": {"namespace": "n", "name": named}}
    event["run"]["facets"] = {"parent": facet}
    containers = [line["container"] for line in state([event]) if line.get("fact") == "containment"]
    assert containers == [f"run:7a8bf5e6-8cc5-3450-8fd1-ad5aad2c75fd@job:n:{parent}"]


def test_a_parent_known_from_its_child_only_is_a_placeholder() -> None:
    event, parent = run(1, "COMPLETE", 1), run(2, None, 1)
    itself = {"run": {"runId": event["run"]["runId"]}, "job": {"namespace": "n", "name": "j"}}
    facet = {"run": parent["run"], "job": {"namespace": "n", "name": "dag"}, "root": itself}
    event["run"]["facets"] = {"parent": facet}
    lines = state([event])
    (placeholder,) = [line for line in lines if line.get("fact") == "run" and line["seen_from"] is None]
    assert placeholder["node"] == f"run:{parent['run']['runId']}@job:n:dag"
    assert placeholder["state"] == "OTHER"
    assert placeholder["state_at"] is None
    containments = [(line["relation"], line["container"]) for line in lines if line.get("fact") == "containment"]
    assert containments == [("parent", placeholder["node"])]  # a run is never its own root


NAMES = {
    ("s3a://lake/", "raw//users/"): ("s3://lake", "raw/users"),
    ("s3n://Lake", "Raw"): ("s3://Lake", "Raw"),
    ("S3N://lake", "x/"): ("S3N://lake", "x/"),
    ("abfs://c@a.dfs", "x"): ("abfss://c@a.dfs", "x"),
    ("postgres://db/", "shop.public.Orders"): ("postgres://db:5432", "shop.public.Orders"),
    ("mysql://db:None", "shop.orders"): ("mysql://db:3306", "shop.orders"),
    ("kafka://[::1]", "topic"): ("kafka://[::1]:9092", "topic"),
    ("kafka://a,b", "topic"): ("kafka://a,b", "topic"),
    ("postgres://u:p@s@db", "a"): ("postgres://db:5432", "a"),
    ("file://", "/a//b/"): ("file", "/a/b"),
    ("postgres://db:15432", "a//b/"): ("postgres://db:15432", "a//b/"),
    ("file", "//"): ("file", "/"),
    ("s3a", "x//"): ("s3a", "x//"),
    ("hdfs://nn:8020", "/x/"): ("hdfs://nn:8020", "/x"),
}


@pytest.mark.parametrize("pair", NAMES)
def test_names_are_normalised(pair: tuple[str, str]) -> None:
    assert normal(*pair) == NAMES[pair]
    assert normal(*NAMES[pair]) == NAMES[pair]


TIMES = {
    "1970-01-01T00:00:00Z": 0,
    "1970-01-02": 86_400_000_000,
    "1970-01-01 00:01": 60_000_000,
    "1970-01-01T00:00:00.1": 100_000,
    "1970-01-01T00:00:00,0000019Z": 1,
    "1970-01-01T01:30:00.5+01:30": 500_000,
    "1969-12-31t16:00:00-0800": 0,
    "1969-12-31T23:59:59.999999z": -1,
    "2100-12-31T23:59:59Z": 4_133_980_799_000_000,
}


@pytest.mark.parametrize("text", TIMES)
def test_times_are_microseconds(text: str) -> None:
    assert micros(text) == TIMES[text]


ATTEMPTS = {
    "START 0, FAIL 1, COMPLETE 2": "FAIL 1",
    "FAIL 1, COMPLETE 2": "FAIL 1",
    "FAIL 1, START 2, COMPLETE 3": "COMPLETE 3",
    "FAIL 1, START 2, COMPLETE 2": "COMPLETE 2",
    "START 1, FAIL 1, COMPLETE 2": "FAIL 1",
    "START 0, FAIL 1, COMPLETE 1": "FAIL 1",
    "FAIL 1, START 2, FAIL 3, COMPLETE 4": "FAIL 3",
    "COMPLETE 1, FAIL 2": "FAIL 2",
    "FAIL 1, START 2, COMPLETE 3, START 4": "FAIL 1",
    "ABORT 1, COMPLETE 2": "ABORT 1",
    "ABORT 1, START 2, COMPLETE 3": "COMPLETE 3",
    "FAIL 1, ABORT 2, COMPLETE 3": "ABORT 2",
    "FAIL 1, ABORT 1, COMPLETE 3": "FAIL 1",
    "FAIL 1, START 2": "FAIL 1",
    "FAIL 1, START 2, RUNNING 3": "FAIL 1",
    "START 1, START 4, COMPLETE 3": "COMPLETE 3",
}


@pytest.mark.parametrize("attempts", ATTEMPTS)
def test_state_of_a_run_of_several_attempts(attempts: str) -> None:
    words = [one.split() for one in attempts.split(", ")]
    [line] = [one for one in state(run(1, word, int(at)) for word, at in words) if one.get("fact") == "run"]
    expected, at = ATTEMPTS[attempts].split()
    assert (line["state"], line["state_at"]) == (expected, micros(f"2026-01-01T00:00:0{at}Z"))
