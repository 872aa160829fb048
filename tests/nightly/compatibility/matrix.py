"""`make nightly-compatibility`: runs a user's job on every release of Spark, with each table format, against a running
Whence, compares the lineage that is answered with the truth, and writes docs/reference/compatibility.md.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
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
"""What `user_job.JOIN` says."""

IMPLIED = frozenset(Flow(f"{side}.customer_id", "INDIRECT FILTER", "joined") for side in ("orders", "customers"))
"""An inner join passes no row whose key is null: Spark makes that a filter, which the listener shows."""


ABOUT = """# Compatibility of whence-client

`make nightly-compatibility` writes this page. In an environment of its own for each release it runs a user's job: two
Parquet tables are joined and filtered into a third one, of each format, with the listener that `attach` chose, against
a Whence that runs. Then it asks for the lineage of every column written, and compares it with the truth: three columns
with their transformations, both join keys, and the filter. *exact* means that all of it is there and nothing else.
Parquet is written under a hostile name in a dev namespace, the others in prod.

| Spark | Scala | Java | Python | listener | Parquet | Delta Lake | Iceberg |
|---|---|---|---|---|---|---|---|
"""
NOTES = """
¹ and both join keys as filters, since an inner join passes no null: Spark adds that to its plan.

A release in between is likely to work; `attach` warns of one that is older or newer than these.
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of the job: what it ran on, and a cell of the table."""

    on: dict[str, str]
    cell: str


def run(user: SparkUser, served: Served, release: Release, kind: str, package: str) -> Ran:
    """Run the job once, and compare. The parquet job of dev has a hostile name; all others are of prod."""
    stage, target = ("dev", HOSTILE) if kind == "parquet" else ("prod", "joined")
    base = user.base / kind
    base.mkdir()
    key = served.user(f"{release.name}-{kind}", "writer", f"{stage}.{release.name}").key
    done = user.run(JOB, str(base), kind, target, package, served.url, key, f"{stage}.{release.name}")
    if done.returncode:
        sys.stderr.write(done.stderr[-4000:])
        return Ran({}, f"fails: {(done.stderr.strip().splitlines() or ['nothing said'])[-1][:120]}")
    on = json.loads(done.stdout.splitlines()[-1])
    served.admin.await_all()
    name = str(base / "lake" / "shop" / target) if kind == "iceberg" else str(base / target)
    return Ran(on, compare(found_flows(served.admin, base, name)))


def found_flows(user: User, base: Path, name: str) -> frozenset[Flow]:
    """The flows into the written table, which is called `joined` whatever its name is."""
    short = {name: "joined"}
    return user.lineage("file", name, lambda one: short.get(one, one.removeprefix(f"{base}/"))).flows


def compare(found: frozenset[Flow]) -> str:
    """A cell: what is missing, and what is said but wrong."""
    lost, wrong = sorted(TRUTH - found), sorted(found - TRUTH - IMPLIED)
    if not lost and not wrong:
        return "exact ¹" if found & IMPLIED else "exact"
    parts = [f"lost: {', '.join(map(_flow, lost))}"] if lost else []
    return "; ".join([*parts, *([f"wrong: {', '.join(map(_flow, wrong))}"] if wrong else [])])


def _flow(one: Flow) -> str:
    return f"`{one.source}` {one.how} `{one.target}`"


def rows(served: Served, base: Path) -> Iterator[str]:
    """A line of the table for each release."""
    for release in RELEASES:
        place = base / release.name
        copy_client(place / "lib")
        user = SparkUser(environment(release.name, release.lock), place)
        plain = run(user, served, release, "parquet", "")
        cells = [
            f"{run(user, served, release, kind, package).cell} ({package.rpartition(':')[2]})"
            if package
            else "no build"
            for kind, package in (("delta", release.delta), ("iceberg", release.iceberg))
        ]
        on = plain.on
        head = [release.spark, on.get("scala", ""), on.get("java", ""), on.get("python", ""), on.get("listener", "")]
        line = f"| {' | '.join([*head, plain.cell, *cells])} |"
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        yield line


def _cell(user: SparkUser, served: Served, release: Release, kind: str, package: str) -> str:
    if not package:
        return "no build"
    return f"{run(user, served, release, kind, package).cell} ({package.rpartition(':')[2]})"


def write_page(lines: list[str]) -> None:
    """Write the page."""
    PAGE.write_text(
        f"{ABOUT}{chr(10).join(lines)}\n{NOTES}",
        "utf-8",
    )


def main() -> None:
    """Run all, and write the page."""
    with tempfile.TemporaryDirectory(prefix="whence-compatibility-") as directory:
        base = Path(directory).resolve()
        with serving(base / "whence") as served:
            write_page(list(rows(served, base)))


if __name__ == "__main__":
    main()
