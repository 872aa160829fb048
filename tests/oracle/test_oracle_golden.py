"""Histories whose meaning was reasoned by hand from docs/explanation/state.md."""

import pytest

from oracle.naming import normal
from oracle.reading import micros
from oracle.stories import (
    STREAMING,
    Json,
    column,
    column_lineage,
    dataset,
    dataset_event,
    declared,
    history,
    run,
    state,
)

AB = [dataset("b", column_lineage(x=["a.k"]))]
"""Output b with b.x from a.k."""
LISTED = {"schema": {"fields": [{"name": one} for one in ("x", "y", "s", "s.t")]}}
INSERT = {"sql": {"query": "insert into b (x)\nselect\n  t.k as x\nfrom a as t\nwhere t.k = '1'", "dialect": "spark"}}
PARTLY = [dataset("b", {**LISTED, **column_lineage(x=["a.k"], s=[])})]
"""Output b with columns x, y and s: x is from a.k, s from nothing."""
GONE = {"whence_lifecycle": {"state": "DECOMMISSIONED"}}

HISTORIES: dict[str, tuple[list[Json], list[str]]] = {
    "one complete run holds from its end on": (
        [run(1, "START", 1, "a", "b"), run(1, "COMPLETE", 3)],
        ["@j observed 3- sure: ~a>b"],
    ),
    "the same lineage again opens no span": (
        [run(1, "COMPLETE", 1, "a", "b"), run(2, "COMPLETE", 5, "a", "b")],
        ["@j observed 1- sure: ~a>b"],
    ),
    "other lineage closes the span": (
        [run(1, "COMPLETE", 1, "a", "b"), run(2, "COMPLETE", 5, "c", "b")],
        ["@j observed 1-5 sure: ~a>b", "@j observed 5- sure: ~c>b"],
    ),
    "a failed run after a good one changes nothing": (
        [run(1, "COMPLETE", 1, "a", "b"), run(2, "FAIL", 5, "c", "b")],
        ["@j observed 1- sure: ~a>b"],
    ),
    "an unconfirmed run holds, from its first event, until a good one": (
        [run(1, "START", 1, "a", "b"), run(1, "FAIL", 3, "a", "b"), run(2, "COMPLETE", 5, "c", "b")],
        ["@j observed 1-5 unsure: ~a>b", "@j observed 5- sure: ~c>b"],
    ),
    "a good run with the same lineage confirms": (
        [run(1, "FAIL", 1, "a", "b"), run(2, "COMPLETE", 5, "a", "b")],
        ["@j observed 1-5 unsure: ~a>b", "@j observed 5- sure: ~a>b"],
    ),
    "inputs and outputs of a run are the union of its events, empty lists remove nothing": (
        [run(1, "START", 1, "a", ""), run(1, "RUNNING", 2, "", "b"), run(1, "COMPLETE", 3)],
        ["@j observed 3- sure:"],
    ),
    "START retried after COMPLETE does not reopen the run": (
        [run(1, "COMPLETE", 3, "a", "b"), run(1, "START", 9, "a", "b")],
        ["@j observed 3- sure: ~a>b"],
    ),
    "of two terminal states the later wins": (
        [run(1, "COMPLETE", 3, "a", "b"), run(1, "FAIL", 4)],
        ["@j observed 3- unsure: ~a>b"],
    ),
    "a failure is not undone by a COMPLETE of the same attempt": (
        [run(1, "START", 1, "a", "b"), run(1, "FAIL", 3), run(1, "COMPLETE", 4)],
        ["@j observed 1- unsure: ~a>b"],
    ),
    "nor is it where the run was aborted": (
        [run(1, "START", 1, "a", "b"), run(1, "ABORT", 3), run(1, "COMPLETE", 4)],
        ["@j observed 1- unsure: ~a>b"],
    ),
    "a failed run that goes on to complete erases nothing that a good one said": (
        [run(1, "COMPLETE", 1, "a", "b"), run(2, "FAIL", 5, "c", "b"), run(2, "COMPLETE", 6, "c", "b")],
        ["@j observed 1- sure: ~a>b"],
    ),
    "another attempt undoes a failure": (
        [run(1, "FAIL", 1, "a", "b"), run(1, "START", 2), run(1, "COMPLETE", 3)],
        ["@j observed 3- sure: ~a>b"],
    ),
    "a streaming run that failed and completed is not believed": (
        [run(1, "START", 1, "a", "b", STREAMING), run(1, "FAIL", 3), run(1, "COMPLETE", 4)],
        ["@j observed 1- unsure: ~a>b"],
    ),
    "a column that is listed and not reported is unreported, unless it is named or nested in one that is": (
        [run(1, "COMPLETE", 1, "a", PARTLY)],
        ["@j observed 1- sure: !@j>b.y a.k>b.x a>b"],
    ),
    "a job without inputs has no unreported columns": (
        [run(1, "COMPLETE", 1, "", PARTLY)],
        ["@j observed 1- sure: a.k>b.x a>b"],
    ),
    "unreported columns stay with the reported ones, and go with them": (
        [
            run(1, "COMPLETE", 1, "a", PARTLY),
            run(2, "COMPLETE", 3, "a", "b"),
            run(3, "COMPLETE", 5, "a", [dataset("b", {**LISTED, **column_lineage(x=["a.k"], y=[], s=[])})]),
        ],
        [
            "@j observed 1-3 sure: !@j>b.y a.k>b.x a>b",
            "@j observed 3-5 sure: !@j>b.y a.k>b.x ~a>b",
            "@j observed 5- sure: a.k>b.x a>b",
        ],
    ),
    "what is unreported beside a guess gives way with it": (
        [
            run(1, "START", 1, "a", [dataset("b", LISTED)], INSERT),
            run(1, "COMPLETE", 3, "a", AB, INSERT),
        ],
        [
            "@j observed 3- sure: ?a.k>b.x[DIRECT/IDENTITY/t.k] ?a.k>b[INDIRECT/FILTER] "
            "?a>b[DIRECT] ?a>b[INDIRECT] a.k>b.x a>b"
        ],
    ),
    "a read-only run erases nothing of what was written": (
        [run(1, "COMPLETE", 1, "a", "b"), run(2, "COMPLETE", 5, "c")],
        ["@j observed 1- sure: ~a>b", "@j read 5- sure:"],
    ),
    "a run without column lineage keeps the known columns of what it writes": (
        [run(1, "COMPLETE", 1, "a", AB), run(2, "COMPLETE", 5, "a", "b")],
        ["@j observed 1-5 sure: a.k>b.x a>b", "@j observed 5- sure: a.k>b.x ~a>b"],
    ),
    "but new column lineage replaces the old": (
        [run(1, "COMPLETE", 1, "a", AB), run(2, "COMPLETE", 5, "a", [dataset("b", column_lineage(y=["a.k"]))])],
        ["@j observed 1-5 sure: a.k>b.x a>b", "@j observed 5- sure: a.k>b.y a>b"],
    ),
    "an output that is no longer written is dropped with its columns": (
        [
            run(1, "COMPLETE", 1, "a", [*AB, dataset("c")]),
            run(2, "COMPLETE", 5, "a", "c"),
            run(3, "COMPLETE", 7, "a", "b c"),
        ],
        ["@j observed 1-5 sure: a.k>b.x a>b ~a>c", "@j observed 5-7 sure: ~a>c", "@j observed 7- sure: ~a>b ~a>c"],
    ),
    "what is inferred gives way to what the same run says elsewhere": (
        [run(1, "START", 1, "a c", "b"), run(1, "COMPLETE", 3, "", AB)],
        ["@j observed 3- sure: a.k>b.x a>b"],
    ),
    "two runs that end at one instant: the larger number holds, no span of no length": (
        [run(1, "COMPLETE", 3, "a", "b"), run(2, "COMPLETE", 3, "c", "b")],
        ["@j observed 3- sure: ~c>b"],
    ),
    "a streaming run is believed from its start, and after COMPLETE as well": (
        [
            run(1, "START", 1, "a", "b", STREAMING),
            run(1, "RUNNING", 4),
            run(2, "START", 2, "c", "b", STREAMING),
            run(2, "COMPLETE", 9),
        ],
        ["@j observed 1-2 sure: ~a>b", "@j observed 2- sure: ~c>b"],
    ),
    "a declaration replaces; an empty one closes": (
        [declared(1, "a", "b"), declared(4, "c", "b"), declared(6), declared(8, "a", "b")],
        ["@j declared 1-4 sure: ~a>b", "@j declared 4-6 sure: ~c>b", "@j declared 8- sure: ~a>b"],
    ),
    "a decommissioned job says nothing more, until it runs again": (
        [
            run(1, "COMPLETE", 1, "a", AB),
            run(2, "COMPLETE", 2, "a"),
            declared(3, "c", "b"),
            declared(5, "c", "b", GONE),
            run(3, "START", 7, "a", "b"),
            run(3, "COMPLETE", 8, "a", "b"),
        ],
        [
            "@j declared 3-5 sure: ~c>b",
            "@j observed 1-5 sure: a.k>b.x a>b",
            "@j observed 8- sure: ~a>b",
            "@j read 2-5 sure:",
        ],
    ),
    "what happened before a job was decommissioned may be told after": (
        [declared(5, job=GONE), run(1, "COMPLETE", 3, "a", "b")],
        ["@j observed 3-5 sure: ~a>b"],
    ),
    "a run does not decommission its job, nor does another state or a deleted facet": (
        [
            run(1, "COMPLETE", 1, "a", "b", GONE),
            declared(2, job={"whence_lifecycle": {"state": "decommissioned"}}),
            declared(3, job={"whence_lifecycle": {"state": "DECOMMISSIONED", "_deleted": True}}),
        ],
        ["@j observed 1- sure: ~a>b"],
    ),
    "declared and observed do not touch each other": (
        [declared(2, "c", "b"), run(1, "COMPLETE", 1, "a", "b")],
        ["@j declared 2- sure: ~c>b", "@j observed 1- sure: ~a>b"],
    ),
    "a late event changes the past only": (
        [run(2, "COMPLETE", 5, "c", "b"), run(1, "COMPLETE", 1, "a", "b")],
        ["@j observed 1-5 sure: ~a>b", "@j observed 5- sure: ~c>b"],
    ),
    "a dataset declares its own lineage; a deleted facet closes it": (
        [
            dataset_event(1, "b", {"lineage": {"inputs": [column("a.k") | {"type": "DATASET"}], "fields": {}}}),
            dataset_event(3, "b", {"documentation": {"description": "not lineage"}}),
            dataset_event(5, "b", {"lineage": {"_deleted": True}}),
        ],
        ["b declared 1-5 sure: =a.k>b =a>b"],
    ),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_history(name: str) -> None:
    events, expected = HISTORIES[name]
    assert history(events) == expected


def test_boundary_edges_are_always_there() -> None:
    assert history([run(1, "COMPLETE", 1, "a", "b")], boundary=True) == ["@j observed 1- sure: -@j>b -a>@j ~a>b"]


def test_explicit_lineage_is_the_whole_lineage() -> None:
    b = {"type": "DATASET", "namespace": "n", "name": "b"}
    direct = {"type": "direct", "subtype": "Identity", "masking": True}
    source = {**column("a.k", direct, direct, {"type": "INDIRECT", "subtype": "JOIN"}), "type": "DATASET"}
    entries = [
        b | {"inputs": [{"type": "JOB"}], "fields": {"x": {"inputs": [source, {"type": "JOB"}]}}},
        {
            "type": "JOB",
            "inputs": [
                {"type": "DATASET", "namespace": "n", "name": "c", "field": "k"},
                {"type": "JOB", "namespace": "n", "name": "up"},
            ],
        },
    ]
    event = run(1, "COMPLETE", 1, "d", AB, {"lineage": {"entries": entries}})
    fine = "=@j>b =@j>b.x =@up>@j =a.k>b.x[DIRECT/IDENTITY/masked] =a.k>b.x[INDIRECT/JOIN]"
    assert history([event]) == [f"@j observed 1- sure: {fine} =a>b[DIRECT] =a>b[INDIRECT] =c>@j"]


def test_legacy_copies_are_one_influence_on_the_output() -> None:
    filtered = {"type": "INDIRECT", "subtype": "FILTER"}
    fields = {name: {"inputFields": [column(f"a.{name}"), column("a.day", filtered)]} for name in ("x", "y")}
    event = run(1, "COMPLETE", 1, "a", [dataset("b", {"columnLineage": {"fields": fields}})])
    assert history([event]) == ["@j observed 1- sure: a.day>b[INDIRECT/FILTER] a.x>b.x a.y>b.y a>b a>b[INDIRECT]"]


def test_deprecated_transformations() -> None:
    fields = {
        "x": {"inputFields": [column("a.x")], "transformationType": "IDENTITY", "transformationDescription": "as is"},
        "y": {"inputFields": [column("a.y")], "transformationType": "MASKED"},
    }
    event = run(
        1, "COMPLETE", 1, "a", [dataset("b", {"columnLineage": {"fields": fields, "dataset": [column("a.z")]}})]
    )
    edges = (
        "a.x>b.x[DIRECT/IDENTITY/as is] a.y>b.y[DIRECT/TRANSFORMATION/masked] a.z>b[INDIRECT] a>b[DIRECT] a>b[INDIRECT]"
    )
    assert history([event]) == [f"@j observed 1- sure: {edges}"]


def test_influence_on_the_whole_output_is_indirect_whatever_it_says() -> None:
    influences = [column("a.x"), column("a.y", {"subtype": "FILTER"}), column("a.z", {"type": "DIRECT"})]
    event = run(1, "COMPLETE", 1, "a", [dataset("b", {"columnLineage": {"fields": {}, "dataset": influences}})])
    edges = "a.x>b[INDIRECT] a.y>b[INDIRECT/FILTER] a.z>b[INDIRECT] a>b[INDIRECT]"
    assert history([event]) == [f"@j observed 1- sure: {edges}"]


def _links(name: str, *links: tuple[str, str]) -> Json:
    identifiers = [{"namespace": "n", "name": alias, "type": kind} for alias, kind in links]
    return dataset_event(1, name, {"symlinks": {"identifiers": identifiers}})


def _groups(events: list[Json]) -> list[tuple[str, list[str]]]:
    return [(line["representative"], line["members"]) for line in state(events) if line.get("derived") == "alias_group"]


def test_a_table_name_represents_its_location() -> None:
    assert _groups([_links("/path", ("t", "TABLE"))]) == [("dataset:n:t", ["dataset:n:/path", "dataset:n:t"])]


def test_a_location_that_two_tables_share_joins_neither() -> None:
    assert _groups([_links("/path", ("t", "TABLE")), _links("/path", ("u", "TABLE"))]) == []


def test_a_shared_location_still_joins_by_other_links() -> None:
    events = [_links("/path", ("t", "TABLE"), ("u", "TABLE"), ("/mnt/path", "LOCATION"))]
    assert _groups(events) == [("dataset:n:/path", ["dataset:n:/mnt/path", "dataset:n:/path"])]


def test_a_path_represents_no_table() -> None:
    by_hive, by_spark = _links("t", ("/path", "LOCATION")), _links("/path", ("t", "TABLE"))
    both = [("dataset:n:t", ["dataset:n:/path", "dataset:n:t"])]
    assert _groups([by_hive]) == _groups([by_spark]) == _groups([by_hive, by_spark]) == both


def test_a_path_comes_after_names_of_other_types() -> None:
    events = [
        _links("t", ("/path", "LOCATION"), ("/other", "LOCATION")),
        _links("u", ("t", "")),
        _links("/a", ("t", "")),
    ]
    assert [first for first, _ in _groups(events)] == ["dataset:n:/a"]
    assert [first for first, _ in _groups([*events, _links("/other", ("u", "TABLE"))])] == ["dataset:n:u"]


def test_what_is_linked_as_a_table_is_none_of_the_paths() -> None:
    events = [_links("t", ("/b", "LOCATION")), _links("/c", ("/b", "TABLE"))]
    assert [first for first, _ in _groups(events)] == ["dataset:n:/b"]


def test_of_paths_alone_the_smallest_represents() -> None:
    events = [_links("/b", ("/c", "LOCATION")), _links("/c", ("/b", "LOCATION"))]
    assert [first for first, _ in _groups(events)] == ["dataset:n:/b"]


def _word(time: int, name: str, alias: str, kind: str) -> Json:
    identifiers = [{"namespace": "n", "name": alias, "type": f"whence:{kind.lower()}"}]
    return dataset_event(time, name, {"whence_aliases": {"identifiers": identifiers}})


def test_a_person_cuts_an_alias_and_joins_it_again() -> None:
    said = [_links("/path", ("t", "TABLE")), _links("/path", ("/mnt", "LOCATION"))]
    cut = _word(2, "t", "/path", "CUT")  # from either end
    assert _groups([*said, cut]) == [("dataset:n:/path", ["dataset:n:/mnt", "dataset:n:/path"])]
    again = _word(3, "/path", "t", "JOINED")
    everyone = [("dataset:n:t", ["dataset:n:/mnt", "dataset:n:/path", "dataset:n:t"])]
    assert _groups([*said, cut, again]) == everyone
    assert _groups([*said, _word(1, "/path", "t", "CUT"), _word(0, "/path", "t", "JOINED")]) != everyone


def test_a_cut_table_does_not_share_its_location() -> None:
    said = [_links("/path", ("t", "TABLE"), ("u", "TABLE")), _word(2, "/path", "u", "CUT")]
    assert _groups(said) == [("dataset:n:t", ["dataset:n:/path", "dataset:n:t"])]


def test_joining_again_joins_nothing_by_itself() -> None:
    assert _groups([_word(1, "a", "b", "JOINED")]) == []


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


@pytest.mark.parametrize("told", ATTEMPTS)
def test_state_of_a_run_of_several_attempts(told: str) -> None:
    words = [one.split() for one in told.split(", ")]
    [line] = [one for one in state(run(1, word, int(at)) for word, at in words) if one.get("fact") == "run"]
    expected, at = ATTEMPTS[told].split()
    assert (line["state"], line["state_at"]) == (expected, micros(f"2026-01-01T00:00:0{at}Z"))
