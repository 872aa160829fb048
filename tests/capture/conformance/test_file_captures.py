"""The checks that captures of files pass, run as a user runs them: `whence capture dbt|sql-log`, each in a process.

Their numbers are those of test_conformance. Such a capture is in no process of the user: there is nothing to undo (8),
and it costs a job nothing (9).
"""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine

from capture.conformance.cases import SECRET
from capture.conformance.file_cases import FILE_CASES, SLOW_FILE_CASES, FileCase
from capture.conformance.running import Condition, Files
from fixtures.captured_lineage import store_events
from fixtures.collectors import Collector, collecting
from whence.openlineage.validation.strict import require_valid

_SECONDS = 240
Json = dict[str, Any]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        cases = (*FILE_CASES, *SLOW_FILE_CASES) if metafunc.config.getoption("long") else FILE_CASES
        metafunc.parametrize("case", cases, ids=[one.capture for one in cases], scope="module")


@pytest.fixture(scope="module")
def healthy(case: FileCase, tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("prod ü")
    return Files(folder, tuple(case.prepare(folder, False)))


@pytest.fixture(scope="module")
def failed(case: FileCase, tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("staging")
    return Files(folder, tuple(case.prepare(folder, True)))


@pytest.fixture(scope="module")
def collected(healthy: Files) -> Collector:
    """A collector that is well, and has what the files say."""
    with collecting() as collector:
        healthy.captured(collector)
    return collector


@pytest.fixture(scope="module")
def with_failure(failed: Files) -> Collector:
    """A collector that has what the files with a failure say."""
    with collecting() as collector:
        failed.captured(collector)
    return collector


def test_1_the_store_has_the_lineage_that_the_text_says(
    case: FileCase, collected: Collector, sqlite_store: Engine
) -> None:
    assert case.edges_in(store_events(sqlite_store, collected.events)) == case.edges


def test_2_a_failure_has_its_message_and_erases_nothing(
    case: FileCase, collected: Collector, with_failure: Collector, sqlite_store: Engine
) -> None:
    ends = [one for one in with_failure.events if any(_messages(one))]
    assert any(case.failure in message for one in ends for message in _messages(one))
    assert case.edges_in(store_events(sqlite_store, [*collected.events, *ends])) == case.edges


def test_3_a_capture_that_is_killed_is_run_again(
    case: FileCase, healthy: Files, collected: Collector, sqlite_store: Engine
) -> None:
    with collecting() as collector:
        Condition.HANGING.apply(collector)
        with healthy.capture(collector) as process:
            assert collector.asked.wait(_SECONDS)
            process.kill()
        assert process.returncode == -9
        collector.released.set()
        Condition.WELL.apply(collector)
        healthy.captured(collector)
        healthy.captured(collector, "flush", "--strict")
    assert store_events(sqlite_store, collector.events) == store_events(sqlite_store, collected.events)


def test_4_order_and_duplicates_do_not_matter(case: FileCase, collected: Collector, sqlite_store: Engine) -> None:
    once = store_events(sqlite_store, collected.events)
    again = [*collected.events, *collected.events]
    random.Random(4).shuffle(again)
    assert store_events(sqlite_store, again) == once


def test_5_the_collector_changes_nothing_that_arrives(
    case: FileCase, healthy: Files, collected: Collector, sqlite_store: Engine
) -> None:
    with collecting() as collector:
        Condition.OVERLOADED.apply(collector)
        with healthy.capture(collector) as process:
            output, errors = process.communicate(timeout=_SECONDS)
        left = 4 if healthy.words[0] == "run" else 0
        assert (process.returncode, collector.events) == (left, []), output + errors
        Condition.WELL.apply(collector)
        healthy.captured(collector, "flush", "--strict")
    assert store_events(sqlite_store, collector.events) == store_events(sqlite_store, collected.events)


def test_6_events_are_valid_and_have_no_secret(case: FileCase, collected: Collector, with_failure: Collector) -> None:
    for collector in (collected, with_failure):
        for event in collector.events:
            require_valid(event)
        assert SECRET.encode() not in b"\n".join(collector.bodies)


def test_7_the_table_has_the_name_that_everybody_gives_it(case: FileCase, healthy: Files, collected: Collector) -> None:
    assert case.table(healthy.folder) in {name for event in collected.events for name in _tables(event)}


def _messages(event: Json) -> Iterator[str]:
    """Why a run failed; why a part of what is declared could not be read."""
    facets = event.get("run", {}).get("facets", {})
    if event.get("eventType") == "FAIL":
        yield facets["errorMessage"]["message"]
    yield from (one["errorMessage"] for one in facets.get("extractionError", {}).get("errors", ()))


def _tables(event: Json) -> Iterator[tuple[str, str]]:
    """What an event writes, and what it declares that a report is made of."""
    declared = event.get("dataset", {}).get("facets", {}).get("lineage", {}).get("inputs", ())
    for one in (*event.get("outputs", ()), *declared):
        yield one["namespace"], one["name"]
