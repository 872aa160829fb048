"""The checks that every capture in the user's process passes (CONTRIBUTING, "Add a capture source"), with its real
system, run as a user runs it: `whence run -- python job.py`.
"""

import importlib
import importlib.metadata
import inspect
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import Engine

from capture.conformance.cases import CASES, SECRET, SLOW, Case
from capture.conformance.running import Condition, Ran, facts_of, registered_captures, run_alone, run_job
from capture.conformance.wide_jobs import WIDE_JOBS
from client.tests.frames.sessions import Kept
from fixtures.captured_lineage import store_events
from nightly.conformance import ALL, PAGE, read_rows, write_page
from whence.openlineage.validation.strict import require_valid
from whence_client import pyarrow
from whence_client.captures.registry import install
from whence_client.duckdb.hooks import DuckdbCapture
from whence_client.frames.pandas.hooks import PandasCapture
from whence_client.frames.polars.hooks import PolarsCapture
from whence_client.kafka.hooks import KafkaCapture
from whence_client.quality.soda import MODULE as SODA
from whence_client.sklearn.hooks import SklearnCapture

NIGHTLY = {"mlflow.models.model", "mlflow.pyfunc", "mlflow.sklearn"} | {
    "great_expectations",
    "ibis",
    "pyspark.sql.session",
    SODA,
}
"""Captures whose system needs an environment of its own: cases that run with `--long`."""
ELSEWHERE = {f"pyarrow.{name}" for name in pyarrow.__all__ if name != "csv"}
"""Captures of modules that have their hooks from another one's: they have tests of their own."""


def pyarrow_capture() -> Any:
    """The capture of one module of PyArrow."""
    return pyarrow.csv


OBSERVING = (PandasCapture, PolarsCapture, DuckdbCapture, pyarrow_capture, SklearnCapture, KafkaCapture)


def name_of(capture: Callable[[], Any]) -> str:
    """The name of a capture."""
    return str(capture().name)


TROUBLED = (Condition.SLOW, Condition.AWAY, Condition.SMALL, Condition.HANGING)
"""Collectors under which a job succeeds. Each case has one of them in turn, and with `--long` all."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    is_long = metafunc.config.getoption("long")
    cases = (*CASES, *SLOW) if is_long else CASES
    if "condition" in metafunc.fixturenames:
        pairs = [
            (case, one)
            for number, case in enumerate(cases)
            for one in (TROUBLED if is_long else (TROUBLED[number % len(TROUBLED)],))
        ]
        ids = [f"{case.capture}-{one.value}" for case, one in pairs]
        metafunc.parametrize(("case", "condition"), pairs, ids=ids, scope="module")
    elif "case" in metafunc.fixturenames:
        metafunc.parametrize("case", cases, ids=[one.capture for one in cases], scope="module")


@pytest.fixture(scope="module")
def healthy(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The job that succeeds, with a collector that is well."""
    return run_job(case, "succeed", Condition.WELL, tmp_path_factory.mktemp("prod ü") / "job")


@pytest.fixture(scope="module")
def failed(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The job that fails, with a collector that has no capacity."""
    return run_job(case, "fail", Condition.OVERLOADED, tmp_path_factory.mktemp("staging") / "job")


@pytest.fixture(scope="module")
def killed(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The job that is killed, with a collector that does not answer."""
    return run_job(case, "kill", Condition.HANGING, tmp_path_factory.mktemp("dev") / "job")


def states(events: Any) -> list[str]:
    return [one["eventType"] for one in events]


def test_1_the_store_has_the_lineage_that_the_code_says(case: Case, healthy: Ran, sqlite_store: Engine) -> None:
    assert facts_of(healthy.events, sqlite_store) == case.facts
    reasons: dict[str, str] = {}
    for event in healthy.events:
        for output in event.get("outputs", ()):
            evidence = output["facets"].get("whence_columnEvidence", {})
            reasons |= {one["field"]: one["reason"] for one in evidence.get("unexplained", ())}
    assert case.unknown <= reasons.keys()
    assert "no_source" not in {reasons[one] for one in case.unknown}
    assert states(healthy.outer())[-1] == "COMPLETE"
    outer = healthy.outer()[0]["run"]["runId"]
    inner = [one for one in healthy.events if one["job"]["name"] != "job"]
    assert inner
    assert {one["run"]["facets"]["parent"]["root"]["run"]["runId"] for one in inner} == {outer}


def test_2_a_failure_has_its_message_and_erases_nothing(
    case: Case, healthy: Ran, failed: Ran, sqlite_store: Engine
) -> None:
    end = failed.outer()[-1]
    assert end["eventType"] == "FAIL"
    messages = [
        one["run"]["facets"]["errorMessage"] for one in failed.outer() if "errorMessage" in one["run"]["facets"]
    ]
    assert any("no connection" in one["message"] for one in messages)
    assert any("job.py" in one.get("stackTrace", "") for one in messages)
    assert facts_of([*healthy.events, *failed.outer()], sqlite_store) == case.facts


def test_3_a_killed_job_never_completes(case: Case, killed: Ran) -> None:
    assert killed.code == 128 + 9
    assert "COMPLETE" not in states(killed.outer())
    assert states(killed.outer())[-1] in ("FAIL", "ABORT")


def test_4_order_and_duplicates_do_not_matter(case: Case, healthy: Ran, sqlite_store: Engine) -> None:
    once = store_events(sqlite_store, healthy.events)
    again = [*healthy.events, *healthy.events]
    random.Random(4).shuffle(again)
    assert store_events(sqlite_store, again) == once


def test_5_the_collector_changes_neither_the_job_nor_what_arrives(
    case: Case, healthy: Ran, failed: Ran, killed: Ran, sqlite_store: Engine
) -> None:
    assert (healthy.code, failed.code) == (0, 1)
    assert {healthy.output, failed.output, killed.output} == {"done\n"}
    assert "Traceback" not in healthy.errors
    for ran in (failed, killed):
        assert ran.at_once == ()
        assert facts_of(ran.events, sqlite_store) == case.facts


def test_5_a_job_ends_as_without_whence_whatever_the_collector_does(
    case: Case, condition: Condition, tmp_path: Path, sqlite_store: Engine
) -> None:
    alone = run_alone(case, "succeed", tmp_path / "alone")
    ran = run_job(case, "succeed", condition, tmp_path / "job")
    assert (ran.code, ran.output) == (alone.returncode, alone.stdout) == (0, "done\n")
    assert "Traceback" not in ran.errors
    assert "COMPLETE" not in states(ran.outer_at_once())
    assert states(ran.outer())[-1] == "COMPLETE"
    assert facts_of(ran.events, sqlite_store) == case.facts


def test_6_events_are_valid_and_have_no_secret(case: Case, healthy: Ran, failed: Ran, killed: Ran) -> None:
    for ran in (healthy, failed, killed):
        for event in ran.events:
            require_valid(event)
        assert SECRET.encode() not in ran.bytes_sent


def test_7_files_and_topics_have_the_names_that_everybody_gives_them(case: Case, healthy: Ran) -> None:
    inputs = {(one["namespace"], one["name"]) for event in healthy.events for one in event["inputs"]}
    outputs = {(one["namespace"], one["name"]) for event in healthy.events for one in event["outputs"]}
    assert healthy.read in inputs
    assert healthy.written in outputs


@pytest.mark.parametrize("capture", OBSERVING, ids=name_of)
def test_8_undo_leaves_every_object_of_the_package_as_it_was(capture: Callable[[], Any]) -> None:
    made = capture()
    importlib.import_module(made.name)
    before = members_of(made.name)
    undo = made.install(Kept())
    again = made.install(Kept())
    hooked = members_of(made.name)
    changed = [key for key, one in hooked.items() if before.get(key) is not one]
    assert changed
    again()
    kept = members_of(made.name)
    assert [key for key, one in hooked.items() if kept.get(key) is not one] == []
    undo()
    after = members_of(made.name)
    assert [key for key, one in before.items() if after.get(key) is not one] == []
    assert [key for key in changed if isinstance(hooked[key], property) != is_property(*key)] == []
    assert [key for key in after if key not in before and not isinstance(after[key], ModuleType)] == []


def is_property(module: str, *names: str) -> bool:
    """Whether a member of a module, or of a class in it or of one that it extends, is a property."""
    owner = sys.modules[module] if len(names) == 1 else vars(sys.modules[module])[names[0]]
    return isinstance(inspect.getattr_static(owner, names[-1], None), property)


def members_of(package: str) -> dict[tuple[str, ...], Any]:
    """The members of all modules and classes of a package that are loaded."""
    found: dict[tuple[str, ...], Any] = {}
    for name, module in list(sys.modules.items()):
        if name == package or name.startswith(f"{package}."):
            for member, value in list(vars(module).items()):
                found[name, member] = value
                if isinstance(value, type) and value.__module__.startswith(package):
                    found |= {(name, member, inner): one for inner, one in vars(value).items()}
    return found


@pytest.mark.parametrize("capture", OBSERVING, ids=name_of)
def test_8_an_absent_package_is_a_sentence(
    capture: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    install(capture(), Kept())()
    assert [one.endswith("is not installed here") for one in caplog.messages] == [True]


@pytest.mark.parametrize("capture", OBSERVING, ids=name_of)
def test_10_a_newer_release_is_doubted_and_captured(
    capture: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "999.0")
    found = capture().check()
    assert found.is_usable
    assert ["newer than" in one for one in found.doubts] == [True]
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.0.1")
    assert not capture().check().is_usable


def test_the_page_of_captures_has_a_line_for_each() -> None:
    text = PAGE.read_text("utf-8")
    assert list(read_rows(text)) == [case.capture for case in ALL]
    assert write_page(read_rows(text)) == text
    for case in ALL:
        assert f" | {case.lost} |" in read_rows(text)[case.capture]


def test_what_a_capture_costs_is_measured_for_each() -> None:
    assert set(WIDE_JOBS) == {case.capture for case in (*CASES, *SLOW)}


def test_every_registered_capture_is_checked() -> None:
    observing = set(map(name_of, OBSERVING))
    assert {case.capture for case in CASES if case.package} <= observing
    assert observing <= {case.capture for case in (*CASES, *SLOW)}
    assert observing | NIGHTLY | ELSEWHERE == set(registered_captures())
