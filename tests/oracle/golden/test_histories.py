"""Histories whose meaning was reasoned by hand from docs/explanation/state.md."""

import pytest

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
)

AB = [dataset("b", column_lineage(x=["a.k"]))]
"""Output b with b.x from a.k."""
LISTED = {"schema": {"fields": [{"name": one} for one in ("x", "y", "s", "s.t")]}}
INSERT = {"sql": {"query": "insert into b (x)\nselect\n  t.k as x\nfrom a as t\nwhere t.k = '1'", "dialect": "spark"}}
PARTLY = [dataset("b", {**LISTED, **column_lineage(x=["a.k"], s=[])})]
"""Output b with columns x, y and s: x is from a.k, s from nothing."""
GONE = {"whence_lifecycle": {"state": "DECOMMISSIONED"}}


def evidence(unexplained: dict[str, str], doubts: dict[str, str] | None = None) -> Json:
    """The facet with reasons of columns without a known source, and doubts about columns that have one."""
    return {
        "whence_columnEvidence": {
            "unexplained": [{"field": name, "reason": reason} for name, reason in unexplained.items()],
            "doubts": [{"field": name, "reason": reason} for name, reason in (doubts or {}).items()],
        }
    }


def partial(event: Json) -> Json:
    """The event, of a run that reports an error of its extraction."""
    return {**event, "run": {**event["run"], "facets": {"extractionError": {}}}}


LOST = [dataset("b", evidence({"x": "left_the_engine", "y": "no_source", "z": "seed: of a file"}))]
"""Output b with b.x from what is not known, b.y from nothing, b.z from a file of the project."""

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
    "a run that reports an error and no inputs does not know where its output is from": (
        [partial(run(1, "COMPLETE", 1, "", "b"))],
        ["@j observed 1- sure: !!@j>b"],
    ),
    "a run without inputs and without an error reads nothing": (
        [run(1, "COMPLETE", 1, "", "b")],
        ["@j observed 1- sure:"],
    ),
    "an error beside inputs says that there may be others": (
        [partial(run(1, "COMPLETE", 1, "a", "b")), run(2, "COMPLETE", 5, "a", "b")],
        ["@j observed 1-5 sure: !!@j>b ~a>b", "@j observed 5- sure: ~a>b"],
    ),
    "an error beside columns says that there may be others": (
        [partial(run(1, "COMPLETE", 1, "a", AB)), run(2, "COMPLETE", 5, "a", "b")],
        ["@j observed 1-5 sure: !!@j>b a.k>b.x a>b", "@j observed 5- sure: a.k>b.x ~a>b"],
    ),
    "two events with an error make nothing good": (
        [partial(run(1, "START", 1, "a", "b")), partial(run(1, "COMPLETE", 3, "a", AB))],
        ["@j observed 3- sure: !!@j>b a.k>b.x a>b"],
    ),
    "an error beside inputs is made good by an event that reports more": (
        [partial(run(1, "START", 1, "a", "b")), run(1, "COMPLETE", 3, "a", AB)],
        ["@j observed 3- sure: a.k>b.x a>b"],
    ),
    "a failed run that reports an error is not known either, until a good one is": (
        [partial(run(1, "FAIL", 1, "", "b")), run(2, "COMPLETE", 5, "a", "b")],
        ["@j observed 1-5 unsure: !!@j>b", "@j observed 5- sure: ~a>b"],
    ),
    "an error of a start is made good by the end": (
        [partial(run(1, "START", 1, "", "b")), run(1, "COMPLETE", 3, "a", "b")],
        ["@j observed 3- sure: ~a>b"],
    ),
    "an error of an end is made good by the start": (
        [run(1, "START", 1, "a", "b"), partial(run(1, "COMPLETE", 3, "", "b"))],
        ["@j observed 3- sure: ~a>b"],
    ),
    "a run with an error erases no columns, and says that there may be others": (
        [
            run(1, "COMPLETE", 1, "a", AB),
            partial(run(2, "COMPLETE", 3, "", "b")),
            run(3, "COMPLETE", 5, "a", AB),
        ],
        [
            "@j observed 1-3 sure: a.k>b.x a>b",
            "@j observed 3-5 sure: !!@j>b a.k>b.x",
            "@j observed 5- sure: a.k>b.x a>b",
        ],
    ),
    "a column that the producer lost is incomplete, without inputs too; one that is made of nothing is not": (
        [run(1, "COMPLETE", 1, "", LOST), run(2, "COMPLETE", 5, "a", AB)],
        ["@j observed 1-5 sure: !!@j>b.x", "@j observed 5- sure: a.k>b.x a>b"],
    ),
    "a column is incomplete that lost one of its sources, beside those that are known": (
        [
            run(1, "COMPLETE", 1, "a", [dataset("b", {**AB[0]["facets"], **evidence({}, {"x": "left_the_engine"})})]),
            run(2, "COMPLETE", 3, "a", "b"),
            run(3, "COMPLETE", 5, "a", [dataset("b", {**AB[0]["facets"], **evidence({}, {"x": "opaque_function"})})]),
        ],
        [
            "@j observed 1-3 sure: !!@j>b.x a.k>b.x a>b",
            "@j observed 3-5 sure: !!@j>b.x a.k>b.x ~a>b",
            "@j observed 5- sure: a.k>b.x a>b",
        ],
    ),
    "a column that the producer lost is not unreported besides": (
        [run(1, "COMPLETE", 1, "a", [dataset("b", {**PARTLY[0]["facets"], **evidence({"y": "not_captured"})})])],
        ["@j observed 1- sure: !!@j>b.y a.k>b.x a>b"],
    ),
    "a declaration of a dataset may be incomplete, if it has lineage": (
        [
            dataset_event(1, "b", {"lineage": {"inputs": [dataset("a")]}, **evidence({"x": "not_captured"})}),
            dataset_event(3, "c", evidence({"x": "not_captured"})),
        ],
        ["b declared 1- sure: !!b>b.x =a>b"],
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
