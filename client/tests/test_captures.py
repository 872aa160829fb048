"""The contract: captures are found, installed once at the first import, guarded, and taken back."""

import logging
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from whence_client.captures import ATTACH, Findings, Guard, Patches, Session, Undo, Versions, check_package
from whence_client.captures.imports import install_on_import
from whence_client.captures.registry import install, registered_captures, uninstall_all
from whence_client.captures.session import with_errors
from whence_client.outbox import Outbox
from whence_client.process.settings import Settings

CAPTURE = """
from whence_client.captures import ATTACH, Findings, Patches, Versions

class Frames:
    name, kind, versions = "frames", ATTACH, Versions("1", "2")
    seen = []

    def check(self):
        return Findings("1.0")

    def install(self, session):
        import frames
        patches = Patches(session.guard(self.name))
        patches.observe(frames, "read", lambda result, args, kwargs: self.seen.append((result, args)))
        return patches.undo

capture = Frames()
"""
ENGINE = """
class Engine:
    name, kind = "engine", ATTACH

    def check(self):
        return Findings("0", ("it is too old",))

Frames.engines, engine = ("engine",), Engine()
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `frames`, and a distribution that has a capture of it, and one that is broken."""
    (tmp_path / "frames.py").write_text("def read(path):\n    return path.upper()\n")
    (tmp_path / "frames_capture.py").write_text(CAPTURE)
    info = tmp_path / "frames_capture-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: frames-capture\nVersion: 1\n")
    points = "[whence.captures]\nframes = frames_capture:capture\nother = no_such_module:capture\n"
    (info / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    uninstall_all()
    for name in ("frames", "frames_capture"):
        sys.modules.pop(name, None)


@pytest.fixture
def session() -> Session:
    return Session(Outbox(Settings(transport="off")))


def test_captures_are_found_and_a_broken_one_says_why(packages: Path) -> None:
    (mine,) = registered_captures("frames")
    assert (mine.capture.name, mine.problem) == ("frames", "")
    (broken,) = registered_captures("other")
    assert "no_such_module" in broken.problem


def test_an_engine_of_a_captured_library_is_not_doubted(
    packages: Path, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    (packages / "engine.py").write_text("")
    (packages / "frames_capture.py").write_text(f"{CAPTURE}{ENGINE}")
    (packages / "frames.py").write_text("def read(path):\n    import engine\n    return path.upper()\n")
    engine = "[whence.captures]\nframes = frames_capture:capture\nengine = frames_capture:engine\n"
    (packages / "frames_capture-1.dist-info/entry_points.txt").write_text(engine)
    stop = install_on_import(session)
    with caplog.at_level(logging.INFO):
        import_module("frames").read("a")
        sys.modules.pop("engine")
        import_module("engine")
    stop()
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("INFO", "engine: it is too old"),
        ("WARNING", "engine: it is too old"),
    ]


def test_the_first_import_installs_and_undo_restores_the_same_function(packages: Path, session: Session) -> None:
    assert "frames" not in sys.modules
    stop = install_on_import(session)
    assert "frames" not in sys.modules
    assert "frames_capture" not in sys.modules
    frames = import_module("frames")

    observed = frames.read
    assert observed("a") == "A"
    assert sys.modules["frames_capture"].capture.seen == [("A", ("a",))]
    assert frames.__spec__ is not None
    assert frames.__spec__.loader.__class__.__name__ == "SourceFileLoader"
    uninstall_all()
    assert frames.read is observed.__wrapped__
    stop()
    assert not [one for one in sys.meta_path if type(one).__module__.startswith("whence_client")]


def test_a_package_that_is_there_already_is_hooked_at_once_and_only_once(packages: Path, session: Session) -> None:
    frames = import_module("frames")

    original = frames.read
    stop = install_on_import(session)
    observed = frames.read
    assert observed.__wrapped__ is original
    undo = install(sys.modules["frames_capture"].capture, session)
    assert frames.read is observed
    undo()
    undo()
    assert frames.read is original
    stop()


def test_a_missing_package_is_a_sentence(session: Session, caplog: pytest.LogCaptureFixture) -> None:
    class Missing:
        name, kind, versions = "missing", ATTACH, Versions("1", "2")

        def check(self) -> Findings:
            return check_package("no-such-distribution", self.versions)

        def install(self, session: Session) -> Undo:
            raise AssertionError

    install(Missing(), session)()
    assert caplog.messages == ["missing: no-such-distribution is not installed here"]


@pytest.mark.parametrize(
    ("versions", "problem", "doubt"),
    [
        (Versions("1", "999"), "", ""),
        (Versions("998", "999"), "is older than 998", ""),
        (Versions("0.1", "0.2"), "", "is newer than 0.2, the newest release tried; lineage may be incomplete"),
    ],
)
def test_versions(versions: Versions, problem: str, doubt: str) -> None:
    found = check_package("pytest", versions)
    assert problem in "".join(found.problems)
    assert doubt in "".join(found.doubts)
    assert found.is_usable is not bool(problem)


def test_a_failing_observer_never_reaches_the_job(caplog: pytest.LogCaptureFixture) -> None:
    class Owner:
        def method(self) -> int:
            return 1

        @staticmethod
        def static() -> int:
            return 2

        @classmethod
        def made(cls) -> "type[Owner]":
            return cls

    class Child(Owner):
        pass

    def fail(*_: Any) -> None:
        raise ValueError("x")

    guard = Guard("mine")
    patches = Patches(guard)
    before = {name: vars(Owner)[name] for name in ("method", "static", "made")}
    for name in before:
        patches.observe(Owner, name, fail)
    patches.observe(Child, "method", fail)
    patches.observe(Owner, "gone", fail)
    for _ in range(3):
        assert (Child().method(), Owner.static(), Child.made()) == (1, 2, Child)
    assert guard.counts["Owner.static: ValueError"] == 3
    assert len([one for one in caplog.messages if "Owner.static" in one]) == 1
    assert guard.take_errors()["mine: Owner.method"] == "ValueError: x"
    assert guard.take_errors() == {}
    patches.undo()
    assert {name: vars(Owner)[name] for name in before} == before
    assert "method" not in vars(Child)


def test_an_error_of_the_job_itself_goes_on() -> None:
    guard = Guard("mine")
    with pytest.raises(KeyboardInterrupt), guard("hook"):
        raise KeyboardInterrupt


def test_a_hook_that_is_too_slow_too_often_is_switched_off(caplog: pytest.LogCaptureFixture) -> None:
    guard = Guard("mine", budget=-1)
    calls: list[int] = []
    with caplog.at_level(logging.WARNING):
        for number in range(50):
            guard.run("slow", calls.append, number)
    assert len(calls) == 20
    assert "switched off" in guard.take_errors()["mine: slow"]
    assert len(caplog.messages) == 1


def test_quick_calls_make_up_for_slow_ones() -> None:
    guard = Guard("mine")
    for seconds in [1.0, *([0.001] * 4)] * 100 + [1.0] * 19:
        guard.note_time("busy", seconds)
    assert not guard.is_off("busy")
    guard.note_time("busy", 1.0)
    assert guard.is_off("busy")


def test_errors_join_those_of_the_event() -> None:
    event = with_errors({"run": {"runId": "1", "facets": {}}}, {"a": "x"})
    both = with_errors(event, {"b": "y"})["run"]["facets"]["extractionError"]
    assert [(one["task"], one["errorMessage"]) for one in both["errors"]] == [("a", "x"), ("b", "y")]
    assert both["failedTasks"] == 2
