"""What captures cost a job: CPU time of its main thread for each query over 300 columns, by the collector's state.

CPU time, unlike the time between two lines, does not tell how busy the machine is. Exit code and output must be the
same as without the capture.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from fixtures.collectors import Collector, collecting

ROOT = Path(__file__).parents[2]
RUN = "import sys; from whence_client.runs.command import run_command; sys.exit(run_command(sys.argv[1:]))"
QUERIES, ROWS, COLUMNS = 15, 20_000, 300
STATES = {"without": -1, "well": 201, "overloaded": 503, "hanging": 0, "away": -2}
TIMED = """
import hashlib, json, pathlib, sys, time
times = []
for number in range({queries} + 1):
    began = time.thread_time()
    query()
    times.append(time.thread_time() - began)
out = pathlib.Path("out")
print(hashlib.sha256(out.read_bytes()).hexdigest())
pathlib.Path("times.json").write_text(json.dumps(sorted(times[1:])))
sys.exit(3)
"""
JOBS = {
    "pandas": """
import pandas as pd
def query():
    wide = pd.read_parquet("wide.parquet")
    (wide[wide["c0"] > 2] * 2).groupby("c1", as_index=False).sum().to_csv("out", index=False)
""",
    "polars": """
import polars as pl
def query():
    wide = pl.scan_parquet("wide.parquet").filter(pl.col("c0") > 2).with_columns(pl.all() * 2)
    wide.group_by("c1", maintain_order=True).agg(pl.all().sum()).sink_csv("out")
""",
    "duckdb": """
import duckdb
names = ", ".join(f"sum(c{n} * 2) AS c{n}" for n in range(2, 300))
def query():
    totals = f"SELECT c1, {names} FROM 'wide.parquet' WHERE c0 > 2 GROUP BY c1 ORDER BY c1"
    duckdb.sql(f"COPY ({totals}) TO 'out' (FORMAT csv)")
""",
}


def run_job(engine: str, state: str, collector: Collector, folder: Path) -> tuple[float, float, str, int]:
    """The median and the largest CPU time of a query in milliseconds, the output's hash, and the exit code."""
    (folder / "job.py").write_text(JOBS[engine] + TIMED.format(queries=QUERIES))
    collector.status = max(STATES[state], 0)
    url = "http://127.0.0.1:9" if state == "away" else collector.url
    command = [sys.executable, "job.py"]
    settings = {
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT / "client/src"), os.environ.get("PYTHONPATH")))),
        "WHENCE_URL": url,
        "WHENCE_OUTBOX": str(folder / f"outbox-{engine}-{state}"),
        "WHENCE_EXIT_SECONDS": "1",
        "POLARS_MAX_THREADS": "1",
    }
    done = subprocess.run(
        command if state == "without" else [sys.executable, "-c", RUN, *command],
        cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    times: list[float] = json.loads((folder / "times.json").read_text())
    return times[len(times) // 2] * 1000, times[-1] * 1000, done.stdout, done.returncode


def main() -> None:
    """Print a line for each capture and state."""
    import polars as pl

    with tempfile.TemporaryDirectory() as place, collecting() as collector:
        folder = Path(place)
        columns = {f"c{n}": [(row * (n + 7)) % 5 for row in range(ROWS)] for n in range(COLUMNS)}
        pl.DataFrame(columns).write_parquet(folder / "wide.parquet")
        for engine in sys.argv[1:] or JOBS:
            plain = run_job(engine, "without", collector, folder)
            sys.stdout.write(f"{engine}: {plain[0]:.0f} ms a query without the capture\n")
            for state in list(STATES)[1:]:
                half, most, output, code = run_job(engine, state, collector, folder)
                assert (output, code) == plain[2:], (output, code, plain)
                line = f"  collector {state}: {half - plain[0]:+.0f} ms at the median, at most {most - plain[1]:+.0f}\n"
                sys.stdout.write(line)
                sys.stdout.flush()
            collector.released.set()


if __name__ == "__main__":
    main()
