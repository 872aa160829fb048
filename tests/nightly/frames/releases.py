"""The tests of a capture with releases that people still run, or run already: `make nightly-releases`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from environments import packages

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
FRAMES = "client/tests/frames"
TESTS = {
    "duckdb": ("tests/capture/duckdb",),
    "pandas": (FRAMES,),
    "polars": (f"{FRAMES}/test_polars.py", f"{FRAMES}/test_polars_documented.py", "-W", "ignore::DeprecationWarning"),
}
_SECONDS = 600


@pytest.mark.parametrize("lock", sorted(one.stem for name in TESTS for one in HERE.glob(f"{name}*.lock")))
def test_the_capture_does_the_same_with_another_release(lock: str) -> None:
    path = HERE / f"{lock}.lock"
    package, _, version = path.with_suffix(".in").read_text("utf-8").strip().partition("==")
    environment = {**os.environ, "PYTHONPATH": str(packages(lock, path))}
    found = _run(environment, "-c", f"import {package}; print({package}.__version__)")
    assert found.stdout.strip() == version
    tests = _run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS[package])
    assert tests.returncode == 0, tests.stdout[-4000:]


def _run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
