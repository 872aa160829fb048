"""Functions as jobs: each call is a run, of coroutines, generators and methods, too."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import pytest
from client.tests.recording import MemoryOutbox, names, recorded

import whence_client as whence

sent = pytest.fixture(recorded)


def test_functions_methods_and_arguments(sent: MemoryOutbox) -> None:
    class Loader:
        @whence.job(inputs=lambda self, day: [f"s3://lake/raw/{day}"], outputs="s3://lake/silver")
        def load(self, day: str) -> str:
            """Load a day."""
            return day

    @whence.job
    def plain() -> None:
        whence.current_run().reads("a")

    @whence.job("named", namespace="other")
    def named() -> None: ...

    assert Loader().load("monday") == "monday"
    assert Loader.load.__doc__ == "Load a day."
    plain()
    named()
    jobs = list(dict.fromkeys((one["job"]["namespace"], one["job"]["name"]) for one in sent.events))
    test = "test_functions_methods_and_arguments"
    assert [name.rpartition("test_jobs.")[2] for _, name in jobs] == [f"{test}.Loader.load", f"{test}.plain", "named"]
    assert jobs[2] == ("other", "named")
    assert names(sent.events[0]["inputs"]) == [("s3://lake", "raw/monday")]
    assert names(sent.events[3]["inputs"]) == [("shop", "a")]


def test_inputs_that_cannot_be_computed_do_not_stop_the_function(sent: MemoryOutbox) -> None:
    @whence.job("x", inputs=lambda: 1 / 0, outputs=lambda: 5)
    def work() -> int:
        return 7

    assert work() == 7
    assert "ZeroDivisionError" in str(sent.last()["run"]["facets"]["extractionError"])


def test_generators(sent: MemoryOutbox) -> None:
    seen: list[Any] = []

    @whence.job("gen")
    def numbers() -> "Generator[int, None, str]":
        for number in range(3):
            seen.append(whence.current_run().ref.job)
            with contextlib.suppress(KeyError):
                yield number
        return "end"

    def consume() -> "Iterator[int]":
        result = yield from numbers()
        seen.append(result)

    for _ in consume():
        assert whence.current_run() is None
    assert seen == ["gen", "gen", "gen", "end"]
    assert sent.states() == ["START", "COMPLETE"]
    left = numbers()
    next(left)
    assert left.throw(KeyError("x")) == 1
    left.close()
    assert sent.states()[2:] == ["START", "ABORT"]
    broken = numbers()
    next(broken)
    with pytest.raises(ValueError, match="x"):
        broken.throw(ValueError("x"))
    assert sent.states()[4:] == ["START", "FAIL"]


def test_coroutines_and_asynchronous_generators(sent: MemoryOutbox) -> None:
    @whence.job("co")
    async def work(fail: bool) -> str:
        await asyncio.sleep(0)
        assert whence.current_run().ref.job == "co"
        if fail:
            raise ValueError("x")
        return "done"

    @whence.job("agen")
    async def numbers() -> AsyncIterator[int]:
        yield 1
        assert whence.current_run().ref.job == "agen"
        yield 2

    async def main() -> list[int]:
        assert await work(False) == "done"
        with pytest.raises(ValueError, match="x"):
            await work(True)
        return [number async for number in numbers()]

    assert asyncio.run(main()) == [1, 2]
    assert sent.states("co") == ["START", "COMPLETE", "START", "FAIL"]
    assert sent.states("agen") == ["START", "COMPLETE"]


def test_a_function_with_a_deadline_flushes_before_it_returns(sent: MemoryOutbox, monkeypatch: Any) -> None:
    budgets: list[float] = []

    def flush(seconds: float, *, stall: float) -> bool:
        budgets.append(seconds)
        return stall <= 1

    monkeypatch.setattr(sent, "flush", flush)

    class Context:
        def get_remaining_time_in_millis(self) -> int:
            return 3000

    @whence.job("handler")
    def handler(event: dict[str, Any], context: Context) -> str:
        return "ok"

    assert handler({}, Context()) == "ok"
    assert budgets == [2.8]


def test_the_decorator_of_home_made_emitters() -> None:
    """The form of the guide that many copied: only the import changes."""
    from whence_client import Dataset, track_lineage

    events: list[dict[str, Any]] = []

    class Emitter:
        def emit(self, event: dict[str, Any]) -> None:
            events.append(event)

    @track_lineage(
        inputs=[Dataset("s3://lake", "raw/orders")],
        outputs=[Dataset("s3://lake", "silver/orders", schema_fields=[{"name": "id", "type": "int"}])],
        job_namespace="production",
        emitter=Emitter(),
    )
    def clean_orders(fail: bool = False) -> int:
        if fail:
            raise ValueError("no orders")
        return 5

    assert clean_orders() == 5
    with pytest.raises(ValueError, match="no orders"):
        clean_orders(fail=True)
    assert [one["eventType"] for one in events] == ["START", "COMPLETE", "START", "FAIL"]
    assert {one["job"]["namespace"] for one in events} == {"production"}
    assert events[0]["job"]["name"].endswith("clean_orders")
    assert names(events[1]["inputs"]) == [("s3://lake", "raw/orders")]
    assert events[1]["outputs"][0]["facets"]["schema"]["fields"] == [{"name": "id", "type": "int"}]
    assert "no orders" in events[3]["run"]["facets"]["errorMessage"]["message"]


def test_an_emitter_that_fails_does_not_reach_the_job() -> None:
    from whence_client import track_lineage

    class Broken:
        def emit(self, event: dict[str, Any]) -> None:
            raise OSError("away")

    @track_lineage([], [], emitter=Broken())
    def work() -> int:
        return 1

    assert work() == 1
