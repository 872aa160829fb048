"""`make nightly-flink`: a real Flink compiles the statements. `python -m nightly.flink.plans_compiled` records."""

import json
import shutil
import subprocess
from pathlib import Path

from capture.bi.expected import read_expected
from capture.flink.test_plans import PLANS, lines_of
from environments import environment
from whence.capture.flink.plans import read_plan

HERE = Path(__file__).parent
LOCK = HERE / "flink.lock"
_SECONDS = 900


def compile_plans(folder: Path) -> None:
    """Write the plans of all statements."""
    python = environment("flink", LOCK) / "bin/python"
    done = subprocess.run(
        [str(python), "-m", "nightly.flink.compile_plans", str(folder)],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]


def test_the_plans_say_what_the_statements_say(tmp_path: Path) -> None:
    compile_plans(tmp_path)
    found = {path.stem: lines_of(read_plan(path)) for path in sorted(tmp_path.glob("*.json"))}
    expected = read_expected(PLANS.parent / "edges.txt")
    assert {name: lines for name, lines in found.items() if lines} == expected
    assert found.keys() == {path.stem for path in PLANS.glob("*.json")}


def main() -> None:
    """Record."""
    shutil.rmtree(PLANS, ignore_errors=True)
    PLANS.mkdir()
    compile_plans(PLANS)
    for path in PLANS.glob("*.json"):
        path.write_text(json.dumps(json.loads(path.read_text("utf-8")), separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main()
