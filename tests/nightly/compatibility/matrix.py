"""`make nightly-compatibility`: runs a user's job on every release of Spark, with each table format, against a running
Whence, compares the answered lineage with the expected lineage, and writes docs/reference/compatibility.md.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from environments import environment
from nightly.compatibility.releases import HERE, RELEASES, Release
from nightly.producers.served import Flow, Served, User, serving
from nightly.producers.spark_user import SparkUser, copy_client

ROOT = HERE.parents[2]
PAGE = ROOT / "docs/reference/compatibility.md"
JOB = str(HERE / "user_job.py")
HOSTILE = "o'Brien's täglich; DROP TABLE 日"

TRUTH = frozenset(
    {
        Flow("orders.order_id", "DIRECT IDENTITY", "joined.order_id"),
        Flow("customers.name", "DIRECT IDENTITY", "joined.customer"),
        Flow("orders.amount", "DIRECT TRANSFORMATION", "joined.doubled"),
        Flow("orders.customer_id", "INDIRECT JOIN", "joined"),
        Flow("customers.customer_id", "INDIRECT JOIN", "joined"),
        Flow("customers.region", "INDIRECT FILTER", "joined"),
    }
)
"""The expected lineage of `user_job.JOIN`."""

IMPLIED = frozenset(Flow(f"{side}.customer_id", "INDIRECT FILTER", "joined") for side in ("orders", "customers"))
"""Filters that Spark adds to an inner join, which passes no row whose key is null."""


HEAD = """# Compatibility of whence-client

`make nightly-compatibility` writes this page (`ARGS="--only 3.5.9 4.3.0"`: only the lines of these releases). It runs
the job of a user in a separate environment for each release. The job joins and filters two Parquet tables into a third
table of each format. `attach` chooses the listener, and the events go to a running Whence. Then the command asks for
the lineage of every written column and compares it with the expected lineage: three columns with their
transformations, both join keys, and the filter. *exact* means that all of it is found and nothing else. The Parquet
table has a hostile name in a dev namespace, the others are in prod.

| Spark | Scala | Java | Python | listener | Parquet | Delta Lake | Iceberg |
|---|---|---|---|---|---|---|---|
"""
NOTES = """
¹ and both join keys as filters, since an inner join passes no null: Spark adds that filter to its plan.

A release between these is likely to work; `attach` warns of an older or newer one.
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of the job: what it ran on, and a cell of the table."""

    on: dict[str, str]
    cell: str


def run(user: SparkUser, served: Served, release: Release, kind: str, package: str) -> Ran:
    """Run the job once, and compare. The Parquet job runs in dev and writes a hostile name; all others run in prod."""
    stage, target = ("dev", HOSTILE) if kind == "parquet" else ("prod", "joined")
    base = user.base / kind
    base.mkdir()
    key = served.user(f"{release.name}-{kind}", "writer", f"{stage}.{release.name}").key
    done = user.run(JOB, str(base), kind, target, package, served.url, key, f"{stage}.{release.name}")
    if done.returncode:
        sys.stderr.write(done.stderr[-4000:])
        return Ran({}, f"fails: {(done.stderr.strip().splitlines() or ['no message'])[-1][:120]}")
    on = json.loads(done.stdout.splitlines()[-1])
    served.admin.await_all()
    name = str(base / "lake" / "shop" / target) if kind == "iceberg" else str(base / target)
    return Ran(on, compare(found_flows(served.admin, base, name)))


def found_flows(user: User, base: Path, name: str) -> frozenset[Flow]:
    """The flows into the written table, under the name `joined`."""
    short = {name: "joined"}
    return user.lineage("file", name, lambda one: short.get(one, one.removeprefix(f"{base}/"))).flows


def compare(found: frozenset[Flow]) -> str:
    """The text of a cell: `exact`, or the lost and the wrong flows."""
    lost, wrong = sorted(TRUTH - found), sorted(found - TRUTH - IMPLIED)
    if not lost and not wrong:
        return "exact ¹" if found & IMPLIED else "exact"
    parts = [f"lost: {', '.join(map(_flow, lost))}"] if lost else []
    return "; ".join([*parts, *([f"wrong: {', '.join(map(_flow, wrong))}"] if wrong else [])])


def _flow(one: Flow) -> str:
    return f"`{one.source}` {one.how} `{one.target}`"


def row(served: Served, base: Path, release: Release) -> str:
    """Run the jobs of a release, and return its line of the table."""
    place = base / release.name
    copy_client(place / "lib")
    user = SparkUser(environment(release.name, release.lock), place)
    plain = run(user, served, release, "parquet", "")
    cells = [
        f"{run(user, served, release, kind, package).cell} ({package.rpartition(':')[2]})" if package else "no build"
        for kind, package in (("delta", release.delta), ("iceberg", release.iceberg))
    ]
    on = [plain.on.get(one, "") for one in ("scala", "java", "python", "listener")]
    return f"| {' | '.join([release.spark, *on, plain.cell, *cells])} |"


def read_rows(page: str) -> dict[str, str]:
    """The lines of the table in a page, by release."""
    lines = [line for line in page.splitlines() if line.startswith("| ") and line[2].isdigit()]
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines}


def write_page(rows: dict[str, str]) -> str:
    """The text of the page: the lines of all releases that have one."""
    lines = [rows[release.spark] for release in RELEASES if release.spark in rows]
    return f"{HEAD}{chr(10).join(lines)}\n{NOTES}"


def main() -> None:
    """Run the releases that were asked for, print their lines, and put them into the page."""
    parser = argparse.ArgumentParser(prog="python -m nightly.compatibility.matrix", description=__doc__)
    releases = [one.spark for one in RELEASES]
    parser.add_argument("--only", nargs="+", choices=releases, default=releases, metavar="RELEASE", help="of Spark")
    wanted = parser.parse_args().only
    rows = read_rows(PAGE.read_text("utf-8"))
    with tempfile.TemporaryDirectory(prefix="whence-compatibility-") as directory:
        base = Path(directory).resolve()
        with serving(base / "whence") as served:
            for release in (one for one in RELEASES if one.spark in wanted):
                rows[release.spark] = row(served, base, release)
                sys.stdout.write(f"{rows[release.spark]}\n")
                sys.stdout.flush()
    PAGE.write_text(write_page(rows), "utf-8")


if __name__ == "__main__":
    main()
