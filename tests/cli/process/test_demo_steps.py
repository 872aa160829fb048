"""A step of the demo says how long it took, or that it failed: never that what did not happen is done."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from whence.cli.process.demo import DemoRun
from whence.errors import WhenceError

DONE = "everything it said is in the graph"


@pytest.fixture
def printed() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def tour(printed: io.StringIO, tmp_path: Path) -> DemoRun:
    return DemoRun(tmp_path, Console(file=printed, highlight=False))


def test_a_step_ends_with_its_duration(tour: DemoRun, printed: io.StringIO) -> None:
    with tour.timed(DONE):
        pass
    assert re.fullmatch(rf"  {DONE}: \d\.\d s\n", printed.getvalue())


@pytest.mark.parametrize("reason", [WhenceError("the store is slow"), KeyboardInterrupt()])
def test_a_step_that_fails_says_so(tour: DemoRun, printed: io.StringIO, reason: BaseException) -> None:
    with pytest.raises(type(reason)), tour.timed(DONE):
        raise reason
    assert re.fullmatch(rf"  {DONE}: failed after \d\.\d s\n", printed.getvalue())
