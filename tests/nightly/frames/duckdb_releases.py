"""The tests of the DuckDB capture with releases that people still run: `make nightly-duckdb`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from environments import packages

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
_SECONDS = 600


@pytest.mark.parametrize("lock", sorted(one.stem for one in HERE.glob("duckdb*.lock")))
def test_the_capture_does_the_same_with_an_older_release(lock: str) -> None:
    path = HERE / f"{lock}.lock"
    environment = {**os.environ, "PYTHONPATH": str(packages(lock, path))}
    found = _run(environment, "-c", "import duckdb; print(duckdb.__version__)")
    assert found.stdout.strip() == path.with_suffix(".in").read_text("utf-8").strip().removeprefix("duckdb==")
    tests = _run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/capture/duckdb")
    assert tests.returncode == 0, tests.stdout[-4000:]


def _run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
