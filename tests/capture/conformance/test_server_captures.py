"""The checks that captures of servers pass, run as a user runs them: `whence capture run airflow`, in a process.

Their numbers are those of test_conformance. Such a capture is in no process of the user: there is nothing to undo (8),
and it costs a job nothing (9). The servers give recorded answers; tests/nightly/orchestrators polls real ones.
"""

import random
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pytest
from sqlalchemy import Engine

from capture.conformance.cases import SECRET
from capture.conformance.running import Condition, Files
from capture.conformance.server_cases import SERVER_CASES, SLOW_SERVER_CASES, ServerCase
from fixtures.captured_lineage import dataset_edges, store_events
from fixtures.collectors import Collector, collecting
from whence.openlineage.validation.strict import require_valid

_SECONDS = 240


def _cases(config: pytest.Config) -> tuple[ServerCase, ...]:
    return (*SERVER_CASES, *SLOW_SERVER_CASES) if config.getoption("long") else SERVER_CASES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        cases = _cases(metafunc.config)
        metafunc.parametrize("case", cases, ids=[one.capture for one in cases], scope="module")


@dataclass(frozen=True, slots=True)
class Refused:
    """A poll whose events an overloaded collector refuses."""

    server: Files
    collector: Collector
    process: "subprocess.Popen[str]"


@pytest.fixture(scope="module")
def urls(pytestconfig: pytest.Config) -> Iterator[Mapping[str, str]]:
    """The address of the server of each case."""
    with ExitStack() as stack:
        yield {one.capture: stack.enter_context(one.serve()) for one in _cases(pytestconfig)}


@pytest.fixture(scope="module")
def refused(
    pytestconfig: pytest.Config, urls: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Refused]]:
    """Such a poll of each server. Each tries for half a minute; all do so at once, while other tests run."""
    with ExitStack() as stack:
        polled = {one.capture: _polled(one, urls[one.capture], tmp_path_factory) for one in _cases(pytestconfig)}
        yield {name: stack.enter_context(_refusing(one)) for name, one in polled.items()}


@contextmanager
def _refusing(server: Files) -> Iterator[Refused]:
    with collecting() as collector:
        Condition.OVERLOADED.apply(collector)
        with server.capture(collector) as process:
            yield Refused(server, collector, process)


@pytest.fixture(scope="module")
def url(case: ServerCase, urls: Mapping[str, str]) -> str:
    return urls[case.capture]


@pytest.fixture
def server(case: ServerCase, url: str, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The server, for a user who has not polled it yet."""
    return _polled(case, url, tmp_path_factory)


def _polled(case: ServerCase, url: str, folders: pytest.TempPathFactory) -> Files:
    return Files(folders.mktemp("prod ü"), case.words(url))


@pytest.fixture(scope="module")
def collected(
    case: ServerCase, url: str, refused: Mapping[str, Refused], tmp_path_factory: pytest.TempPathFactory
) -> Collector:
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
    assert bool(ends) == bool(case.failed)  # a tool of reports runs nothing
    errors = [one["run"]["facets"].get("errorMessage", {}) for one in ends]
    reported = [one for one in errors if case.failed in one.get("message", "")]
    assert bool(reported) == bool(case.failed)
    assert [one for one in reported if one.get("stackTrace")] == (reported if case.has_stack else [])


def test_3_a_job_that_is_killed_never_completes(case: ServerCase, collected: Collector) -> None:
    runs = [one for one in collected.events if "eventType" in one]
    states = {one["eventType"] for one in runs if case.killed and one["job"]["name"].startswith(case.killed)}
    assert ("START" in states) == bool(case.killed)
    assert "COMPLETE" not in states


def test_3_a_poll_that_is_killed_is_repeated(server: Files, collected: Collector, sqlite_store: Engine) -> None:
    with collecting() as collector:
        Condition.HANGING.apply(collector)
        with server.capture(collector) as process:
            assert collector.asked.wait(_SECONDS)
            process.kill()
        assert process.returncode == -9
        collector.released.set()
        Condition.WELL.apply(collector)
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
    case: ServerCase, refused: Mapping[str, Refused], collected: Collector, sqlite_store: Engine
) -> None:
    one = refused[case.capture]
    output, errors = one.process.communicate(timeout=_SECONDS)
    assert (one.process.returncode, one.collector.events) == (4, []), output + errors
    Condition.WELL.apply(one.collector)
    one.server.captured(one.collector, "flush", "--strict")
    assert store_events(sqlite_store, one.collector.events) == store_events(sqlite_store, collected.events)


def test_6_events_are_valid_and_have_no_secret(collected: Collector) -> None:
    for event in collected.events:
        require_valid(event)
    assert SECRET.encode() not in b"\n".join(collected.bodies)


def test_7_the_table_has_the_name_that_everybody_gives_it(case: ServerCase, collected: Collector) -> None:
    assert case.table in set(_named(collected.events))


def _named(value: Any) -> Iterator[tuple[str, str]]:
    """All that events name, in lineage facets, too."""
    if isinstance(value, dict):
        if "namespace" in value and "name" in value:
            yield value["namespace"], value["name"]
        value = list(value.values())
    if isinstance(value, list):
        yield from chain.from_iterable(map(_named, value))
