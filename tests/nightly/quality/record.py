"""Records what Great Expectations and Soda found, for tests/capture/quality: `python -m nightly.quality.record`."""

import os
import subprocess
import tempfile
from pathlib import Path

from environments import environment

ROOT = Path(__file__).parents[3]
FOLDER = Path(__file__).parent
RECORDS = ROOT / "tests/capture/quality"
TOOLS = {"great_expectations": "great_expectations-1.24.1.json", "soda": "soda-4.28.0.json"}


def record(tool: str, written: Path) -> None:
    """Run the job of a tool in its environment; its results go to a file."""
    python = environment(tool, FOLDER / f"{tool}.lock") / "bin/python"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [str(python), str(FOLDER / f"jobs/{tool}_job.py"), str(written)],
            cwd=folder,
            env={**os.environ, "GX_ANALYTICS_ENABLED": "false", "SODA_CORE_TELEMETRY_ENABLED": "false"},
            check=True,
        )


if __name__ == "__main__":
    for name, file in TOOLS.items():
        record(name, RECORDS / file)
