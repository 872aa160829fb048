"""`make nightly-spark`: runs the statements with the Python capture on several releases of Spark, compares what it sent
with the truth, and records the plans that tests/capture/spark reads without Spark. Names of releases choose some.
"""

import gzip
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from environments import environment
from nightly.producers.spark_user import SparkUser, copy_client
from nightly.spark_battery import statements
from nightly.spark_battery.score import judge, print_verdicts

HERE = Path(__file__).parent
PLANS = HERE.parents[1] / "capture/spark/plans"
_ICEBERG = "org.apache.iceberg:iceberg-spark-runtime"


@dataclass(frozen=True, slots=True)
class Release:
    """A release of PySpark that a lock file pins, and the packages of table formats for it."""

    lock: Path
    needs: dict[str, str]


RELEASES = (
    Release(
        HERE.parent / "producers/spark35.lock",
        {"delta": "io.delta:delta-spark_2.12:3.3.3", "iceberg": f"{_ICEBERG}-3.5_2.12:1.12.0"},
    ),
    Release(
        HERE / "spark41.lock",
        {"delta": "io.delta:delta-spark_4.1_2.13:4.4.0", "iceberg": f"{_ICEBERG}-4.1_2.13:1.12.0"},
    ),
    Release(HERE.parent / "producers/spark43.lock", {}),
)


def run(release: Release, base: Path) -> bool:
    """Run all statements on one release, print the verdicts, and keep the plans. True if all are exact."""
    copy_client(base / "lib")
    user = SparkUser(environment(release.lock.stem, release.lock), base)
    root = base / "data"
    root.mkdir()
    done = user.run(str(HERE / "run.py"), str(root), json.dumps(release.needs))
    if done.returncode:
        sys.stderr.write(done.stderr[-4000:])
        return False
    ran = json.loads(done.stdout.splitlines()[-1])
    names = [one.name for one in statements.STATEMENTS if not one.needs - release.needs.keys()]
    events = [json.loads(line) for line in (root / "events.jsonl").read_text("utf-8").splitlines()]
    verdicts = judge(events, str(root), names)
    print_verdicts(ran["spark"], verdicts)
    text = (root / "records.jsonl").read_bytes()
    (PLANS / f"spark-{ran['spark']}.jsonl.gz").write_bytes(gzip.compress(text, mtime=0))
    return not any(one.differences for one in verdicts)


def main(names: list[str]) -> int:
    """Run the chosen releases. Returns the exit code."""
    exact = True
    for release in RELEASES:
        if not names or release.lock.stem in names:
            with tempfile.TemporaryDirectory(prefix="whence-spark-") as directory:
                exact &= run(release, Path(directory).resolve())
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
