"""`make nightly-spark-connect`: runs the statements over Spark Connect, compares what the capture sent with the truth,
and records the explanations that tests/capture/spark reads without Spark.
"""

import gzip
import json
import sys
import tempfile
from pathlib import Path

from environments import environment
from nightly.producers.spark_user import SparkUser, copy_client
from nightly.spark_battery import statements
from nightly.spark_battery.score import judge, print_verdicts

HERE = Path(__file__).parent
EXPLANATIONS = HERE.parents[1] / "capture/spark/explanations"
LOCKS = (HERE / "connect43.lock",)
NOT_RUNNABLE = ("s47_rdd_round_trip", "s56_read_tables_written_before", "s68_foreach_batch")
"""Statements that Spark Connect refuses: it has no RDDs, a column of one of two frames of the same table is ambiguous
to it, and a function of `foreachBatch` may not join a frame of the session around it.
"""


def run(lock: Path, base: Path) -> bool:
    """Run all statements in one environment, print the verdicts, and keep the explanations. True if all are exact."""
    copy_client(base / "lib")
    user = SparkUser(environment(lock.stem, lock), base)
    root = base / "data"
    root.mkdir()
    done = user.run(str(HERE / "connect_run.py"), str(root))
    if done.returncode:
        sys.stderr.write(done.stderr[-4000:])
        return False
    ran = json.loads(done.stdout.splitlines()[-1])
    names = [one.name for one in statements.STATEMENTS if not one.needs and one.name not in NOT_RUNNABLE]
    events = [json.loads(line) for line in (root / "events.jsonl").read_text("utf-8").splitlines()]
    verdicts = judge(events, str(root), names)
    print_verdicts(f"Connect {ran['spark']}", verdicts)
    text = (root / "records.jsonl").read_bytes()
    (EXPLANATIONS / f"spark-{ran['spark']}.jsonl.gz").write_bytes(gzip.compress(text, mtime=0))
    return not any(one.differences for one in verdicts)


def main(names: list[str]) -> int:
    """Run the chosen environments. Returns the exit code."""
    exact = True
    for lock in LOCKS:
        if not names or lock.stem in names:
            with tempfile.TemporaryDirectory(
                prefix="whence-connect-where-paths-are-longer-than-what-spark-prints-of-one-"
            ) as directory:
                exact &= run(lock, Path(directory).resolve())
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
