"""Small stories, told by hand, of what comes after something was forgotten."""

import json

import pytest
from sqlalchemy import Engine

from fixtures.readings_of_events import empty, readings_of
from oracle.stories import START, Json, column_lineage, dataset, declared, moment, run, span_lines
from whence.derive.writing.merge import merge_chunk
from whence.model.names import DatasetName
from whence.query.answers.values import Question
from whence.query.questions.lineage import downstream
from whence.query.questions.why_not import why_not
from whence.store.connection.engine import reading
from whence.store.ingest.recompute import recompute
from whence.store.ingest.retention_summary import RetentionHorizon
from whence.store.lifecycle.dump import dump
from whence.store.lifecycle.purge import enforce_horizon
from whence.store.snapshots.graph import StoreGraph
from whence.store.status.ledger import Ledger, read_all_receipts, read_ledger

AB = [dataset("b", column_lineage(x=["a.k"]))]
GONE = {"whence_lifecycle": {"state": "DECOMMISSIONED"}}


def at(second: int) -> int:
    return START + second * 1_000_000


def horizon(runs: int, history: int = 0, keep: int = 0) -> RetentionHorizon:
    return RetentionHorizon(runs=at(runs), keep=keep, history=at(history))


def tell(engine: Engine, *parts: list[Json] | RetentionHorizon) -> list[str]:
    """What a store says that got these events and forgot in between; only what anybody still may ask."""
    empty(engine)
    readings = readings_of([json.dumps(one).encode() for part in parts if isinstance(part, list) for one in part])
    start = 0
    for part in parts:
        match part:
            case RetentionHorizon():
                enforce_horizon(engine, part)
            case events:
                merge_chunk(engine, readings[start : start + len(events)])
                start += len(events)
                recompute(engine, {"log": start + 1})
    return span_lines(map(json.loads, dump(engine)))


STORIES: dict[str, tuple[list[list[Json] | RetentionHorizon], list[str]]] = {
    "what holds stays, though all runs that said it are gone": (
        [[run(1, "COMPLETE", 1, "a", AB), run(2, "COMPLETE", 2, "a", AB)], horizon(5)],
        ["@j observed 1- sure: a.k>b.x a>b"],
    ),
    "a failed run still erases nothing": (
        [[run(1, "COMPLETE", 1, "a", AB)], horizon(5), [run(2, "START", 7, "c", "b"), run(2, "FAIL", 8)]],
        ["@j observed 1- sure: a.k>b.x a>b"],
    ),
    "a run without columns still keeps those that were known": (
        [[run(1, "COMPLETE", 1, "a", AB)], horizon(5), [run(2, "COMPLETE", 7, "c", "b")]],
        ["@j observed 1-7 sure: a.k>b.x a>b", "@j observed 7- sure: a.k>b.x ~c>b"],
    ),
    "what was never sure is replaced by what is": (
        [[run(1, "START", 1, "a", "b")], horizon(5), [run(2, "START", 7, "c", "b")]],
        ["@j observed 1-7 unsure: ~a>b", "@j observed 7- unsure: ~c>b"],
    ),
    "an end stays an end": (
        [[run(1, "COMPLETE", 1, "a", "b"), declared(2, job=GONE)], horizon(5), [run(2, "START", 7, "a", "b")]],
        ["@j observed 1-2 sure: ~a>b"],
    ),
    "lineage that ended before the horizon is gone": (
        [[run(1, "COMPLETE", 1, "a", "b"), run(2, "COMPLETE", 4, "c", "b")], horizon(5, history=4)],
        ["@j observed 4- sure: ~c>b"],
    ),
    "an event from before the horizon is too late to change anything": (
        [[run(1, "COMPLETE", 1, "a", "b")], horizon(5), [run(2, "COMPLETE", 4, "c", "b")]],
        ["@j observed 1- sure: ~a>b"],
    ),
    "a run that spoke again is known from then on": (
        [[run(1, "START", 1, "a", "b")], horizon(5), [run(1, "COMPLETE", 7, "c", "b")]],
        ["@j observed 1-7 unsure: ~a>b", "@j observed 7- sure: ~c>b"],
    ),
    "a run that is kept may still end": (
        [[run(1, "START", 1, "a", "b")], horizon(5, keep=1), [run(1, "COMPLETE", 7)]],
        ["@j observed 7- sure: ~a>b"],
    ),
    "of declarations the last one stays": (
        [[declared(1, "a", "b"), declared(2, "c", "b")], horizon(5), [declared(7)]],
        ["@j declared 1-2 sure: ~a>b", "@j declared 2-7 sure: ~c>b"],
    ),
    "forgetting twice is forgetting once, later": (
        [
            [run(1, "COMPLETE", 1, "a", AB)],
            horizon(3),
            [run(2, "COMPLETE", 4, "c", "b")],
            horizon(6, history=4),
            [run(3, "COMPLETE", 8, "d", "b")],
        ],
        ["@j observed 4-8 sure: a.k>b.x ~c>b", "@j observed 8- sure: a.k>b.x ~d>b"],
    ),
}


@pytest.mark.parametrize("name", STORIES)
def test_story(small: Engine, name: str) -> None:
    parts, expected = STORIES[name]
    assert tell(small, *parts) == expected


def test_a_late_event_is_refused_with_a_reason(small: Engine) -> None:
    known = run(1, "COMPLETE", 1, "a", "b")
    tell(small, [known], horizon(5), [known, run(2, "COMPLETE", 4, "c", "b"), run(3, "COMPLETE", 5, "a", "b")])
    assert read_ledger(small) == Ledger(applied=2, duplicate=0, quarantined=2)
    reasons = {one.reason for one in read_all_receipts(small) if one.outcome == "quarantined"}
    assert reasons == {
        "/eventTime: before 2026-01-01T00:00:05.000000Z, and what happened before then is forgotten here"
    }


def test_an_answer_about_forgotten_times_says_so(small: Engine) -> None:
    events = [run(1, "COMPLETE", 1, "a", "b"), run(2, "COMPLETE", 4, "a", "c")]
    tell(small, events, horizon(5, history=4))
    with reading(small) as connection:
        graph, node = StoreGraph(connection), DatasetName("n", "a")
        extents = [downstream(graph, node, Question(at=when)).completeness for when in (at(3), at(4), None)]
    assert [(one.complete, one.stopped_by) for one in extents] == [(False, "retention"), (True, None), (True, None)]
    assert extents[0].forgotten_before == at(4)


def test_why_not_says_that_the_past_was_deleted(small: Engine) -> None:
    asked = ("n:a", "n:d", Question())
    events = [run(1, "COMPLETE", 1, "x", "b"), run(2, "COMPLETE", 5, "c", "d"), run(3, "COMPLETE", 6, "a", "e")]
    tell(small, events)
    with reading(small) as connection:
        assert why_not(StoreGraph(connection), *asked).detail == "no event ever reported it"
    tell(small, events, horizon(5, history=4))
    with reading(small) as connection:
        found = why_not(StoreGraph(connection), *asked)
        gone = why_not(StoreGraph(connection), "n:a", "zz:revenue", Question())
    assert found.detail == "no event since 2026-01-01T00:00:04Z reported it; what ended before was deleted"
    assert gone.detail == "no event since 2026-01-01T00:00:04Z names zz:revenue; what ended before was deleted"


def test_evidence_of_what_is_forgotten_is_half_a_key_and_a_time(small: Engine) -> None:
    tell(small, [run(1, "COMPLETE", 1, "a", "b")], horizon(5))
    with reading(small) as connection:
        answer = downstream(StoreGraph(connection), DatasetName("n", "a"), Question())
    (evidence,) = answer.edges[0].evidence
    assert (evidence.first.time, evidence.first.position, len(evidence.first.key)) == (at(1), None, 16)
    assert evidence.runs == ()
    assert moment(1).startswith("2026-01-01T00:00:01")
