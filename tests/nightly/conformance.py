"""`make nightly-conformance`: runs the job of each capture against its expected lineage, and writes
docs/reference/captures.md.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from capture.conformance.cases import CASES, SLOW, Case
from capture.conformance.running import ROOT, WELL, Ran, facts_of, release_of, run_job
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate

PAGE = ROOT / "docs/reference/captures.md"
ALL = (*CASES, *SLOW)

HEAD = """# Captures in your process

`make nightly-conformance` writes this page (`ARGS="--only polars"`: only the lines of these captures). It runs one job
for each capture as users do, `whence run -- python job.py`, and sends the events to a collector. Then it compares the
`DIRECT` column lineage in a store, and the checks of data, with what the job's code says, written by hand. *Announced*
are columns whose source cannot be known: each has its reason in the lineage.

The same jobs are killed, fail, and run with a collector that is overloaded or hangs. The checks are in
`tests/capture/conformance`. More jobs of each system are in the tests of its capture, and the guide of each lists what
they hold.

| capture | release | facts right, wrong, missing | precision | recall | announced | events | bytes | lost |
|---|---|---|---|---|---|---|---|---|
"""


def row(case: Case, folder: Path) -> str:
    """The line of a capture: its job run once."""
    ran = run_job(case, "succeed", WELL, folder)
    if ran.code:
        sys.stderr.write(ran.errors[-4000:])
        raise SystemExit(f"the job of {case.capture} ended with {ran.code}")
    found = facts_in_store(ran, folder)
    right, wrong, missing = len(found & case.facts), len(found - case.facts), len(case.facts - found)
    shares = f"{right / max(1, right + wrong):.2f} | {right / max(1, right + missing):.2f}"
    counts = (
        f"{right}, {wrong}, {missing} | {shares} | {len(case.unknown)} | {len(ran.events)} | {len(ran.bytes_sent):,}"
    )
    return f"| {case.capture} | {release_of(case)} | {counts} | {case.lost} |"


def facts_in_store(ran: Ran, folder: Path) -> set[str]:
    """The column lineage and checks of a job's events in a store of its own."""
    engine = open_store(sqlite_url(folder / "store.db"))
    migrate(engine)
    try:
        return facts_of(ran.events, engine)
    finally:
        engine.dispose()


def read_rows(page: str) -> dict[str, str]:
    """The lines of the table in a page, by capture."""
    lines = page.rpartition("|---|\n")[2].splitlines()
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines}


def write_page(rows: dict[str, str]) -> str:
    """The text of the page: the lines of all captures that have one."""
    return HEAD + "".join(f"{rows[case.capture]}\n" for case in ALL if case.capture in rows)


def main() -> None:
    """Run the captures that were asked for, print their lines, and put them into the page."""
    parser = argparse.ArgumentParser(prog="python -m nightly.conformance", description=__doc__)
    names = [case.capture for case in ALL]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="CAPTURE")
    wanted = parser.parse_args().only
    rows = read_rows(PAGE.read_text("utf-8")) if PAGE.exists() else {}
    with tempfile.TemporaryDirectory(prefix="whence-conformance-") as directory:
        for case in (one for one in ALL if one.capture in wanted):
            rows[case.capture] = row(case, Path(directory).resolve() / case.capture)
            sys.stdout.write(f"{rows[case.capture]}\n")
            sys.stdout.flush()
    PAGE.write_text(write_page(rows), "utf-8")


if __name__ == "__main__":
    main()
