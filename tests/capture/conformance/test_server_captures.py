"""The checks that captures of servers pass, run as a user runs them: `whence capture run airflow`, in a process.

Their numbers are those of test_conformance. Such a capture is in no process of the user: there is nothing to undo (8),
and it costs a job nothing (9). The servers give recorded answers; tests/nightly/orchestrators polls real ones.
"""

import random
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from capture.conformance.cases import SECRET
from capture.conformance.running import HANGING, OVERLOADED, WELL, Files
from capture.conformance.server_cases import SERVER_CASES, ServerCase
from fixtures.captured_lineage import dataset_edges, store_events
from fixtures.collectors import Collector, collecting
from whence.openlineage.validation.strict import require_valid

_SECONDS = 240


@pytest.fixture(scope="module", params=SERVER_CASES, ids=lambda one: one.capture)
def case(request: pytest.FixtureRequest) -> ServerCase:
    found: ServerCase = request.param
    return found


@pytest.fixture(scope="module")
def url(case: ServerCase) -> Iterator[str]:
    with case.serve() as address:
        yield address


@pytest.fixture
def server(case: ServerCase, url: str, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The server, for a user who has not polled it yet."""
    return _polled(case, url, tmp_path_factory)


def _polled(case: ServerCase, url: str, folders: pytest.TempPathFactory) -> Files:
    return Files(folders.mktemp("prod ü"), ("run", case.capture, "--set", f"url={url}"))


@pytest.fixture(scope="module")
def collected(case: ServerCase, url: str, tmp_path_factory: pytest.TempPathFactory) -> Collector:
    """A collector that is well, and has what the server says."""
    with collecting() as collector:
        _polled(case, url, tmp_path_factory).captured(collector)
    return collector


def test_1_the_store_has_the_lineage_that_the_jobs_declare(
    case: ServerCase, collected: Collector, sqlite_store: Engine
) -> None:
    assert dataset_edges(store_events(sqlite_store, collected.events)) == case.edges


def test_2_a_failure_has_its_message_and_stack(case: ServerCase, collected: Collector) -> None:
    ends = [one for one in collected.events if one.get("eventType") == "FAIL"]
    errors = [one["run"]["facets"].get("errorMessage", {}) for one in ends]
    assert any(case.failed in one["message"] and one["stackTrace"] for one in errors if "stackTrace" in one)


def test_3_a_job_that_is_killed_never_completes(case: ServerCase, collected: Collector) -> None:
    states = {one["eventType"] for one in collected.events if one.get("job", {}).get("name") == case.killed}
    assert "START" in states
    assert "COMPLETE" not in states


def test_3_a_poll_that_is_killed_is_repeated(server: Files, collected: Collector, sqlite_store: Engine) -> None:
    with collecting() as collector:
        collector.status = HANGING
        with server.capture(collector) as process:
            assert collector.asked.wait(_SECONDS)
            process.kill()
        assert process.returncode == -9
        collector.released.set()
        collector.status = WELL
        server.captured(collector)
        server.captured(collector, "flush", "--strict")
    assert store_events(sqlite_store, collector.events) == store_events(sqlite_store, collected.events)


def test_4_order_duplicates_and_a_backfill_beside_do_not_matter(
    server: Files, collected: Collector, sqlite_store: Engine
) -> None:
    once = store_events(sqlite_store, collected.events)
    with collecting() as collector:
        _, name, *options = server.words
        server.captured(collector, "backfill", name, "--since", "2026-01-01", *options)
    assert collector.events
    again = [*collected.events, *collector.events]
    random.Random(4).shuffle(again)
    assert store_events(sqlite_store, again) == once


def test_5_a_collector_that_is_overloaded_changes_nothing_that_arrives(
    server: Files, collected: Collector, sqlite_store: Engine
) -> None:
    with collecting() as collector:
        collector.status = OVERLOADED
        with server.capture(collector) as process:
            output, errors = process.communicate(timeout=_SECONDS)
        assert (process.returncode, collector.events) == (4, []), output + errors
        collector.status = WELL
        server.captured(collector, "flush", "--strict")
    assert store_events(sqlite_store, collector.events) == store_events(sqlite_store, collected.events)


def test_6_events_are_valid_and_have_no_secret(collected: Collector) -> None:
    for event in collected.events:
        require_valid(event)
    assert SECRET.encode() not in b"\n".join(collected.bodies)


def test_7_the_table_has_the_name_that_everybody_gives_it(case: ServerCase, collected: Collector) -> None:
    outputs = {(one["namespace"], one["name"]) for event in collected.events for one in event.get("outputs", ())}
    assert case.table in outputs
