"""`make nightly-conformance`: runs the job of each capture against its expected lineage, and writes
docs/reference/captures.md.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from capture.conformance.cases import CASES, SLOW, Case
from capture.conformance.file_cases import FILE_CASES, SLOW_FILE_CASES, FileCase
from capture.conformance.running import ROOT, Condition, Files, facts_of, release_of, run_job
from capture.conformance.server_cases import SERVER_CASES, SLOW_SERVER_CASES, ServerCase
from capture.conformance.wide_jobs import MEASURE, WIDE_JOBS
from fixtures.captured_lineage import dataset_edges, store_events
from fixtures.collectors import collecting
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate

PAGE = ROOT / "docs/reference/captures.md"
_RUNS = 3
"""How often a job is run to measure it."""
AnyCase = Case | FileCase | ServerCase
ALL: tuple[AnyCase, ...] = (*CASES, *SLOW, *FILE_CASES, *SLOW_FILE_CASES, *SERVER_CASES, *SLOW_SERVER_CASES)

HEAD = """# Captures

`make nightly-conformance` writes this page (`ARGS="--only polars"`: only the lines of these captures). It runs one job
for each capture as users do, `whence run -- python job.py` or `whence capture`, and sends the events to a collector.
Then it compares the `DIRECT` column lineage in a store, and the checks of data, with what the job's code says, written
by hand. Of a server that a capture polls it is the lineage between datasets, from recorded answers of a real
one, or answers of the form that its documentation says. Of Kafka's clients it is the lineage between topics, and of
Kubeflow that between artifacts, which have no columns.
*Announced* are columns whose source cannot be known: each has its reason in the lineage.

*ms in the job* is the time that a capture takes in the job's main thread: at the import of its package, then the sum of
all hook calls, and the longest call, which is what a query waits at most. The next column has the same for a job with
300 columns. What runs in other threads is not in it: Spark's figures are those of the start and the end of its session.
At the start, Spark makes the state of the session, which the job's first query would make otherwise (0.57 of 0.65 s in
one run); at the end, the job waits until the last plan is read. What the hooks of Kafka's clients do for each message
is not in it, either. The numbers are medians of three runs. A hook is switched off after 20 calls of more than 50 ms;
four quick calls make up for one of them.

The same jobs are killed, fail, and run with a collector that is overloaded, hangs, answers after five seconds, is away,
or refuses events as too large: their exit code and output are those that they have without Whence. The checks are in
`tests/capture/conformance`. More jobs of each system are in the tests of its capture, and the guide of each lists what
they hold.

| capture | release | facts right, wrong, missing | precision | recall | announced | events | bytes | ms in the job \
| 300 columns | lost |
|---|---|---|---|---|---|---|---|---|---|---|
"""


def row(case: AnyCase, folder: Path) -> str:
    """The line of a capture: its job run once, and again to measure it."""
    match case:
        case Case():
            ran = run_job(case, "succeed", Condition.WELL, folder)
            _refuse_failure(case, ran.code, ran.errors)
            cost = f"{cost_of(case, case.job, folder)} | {cost_of(case, WIDE_JOBS[case.capture], folder)}"
            return _line(case, case.facts, ran.events, len(ran.bytes_sent), folder, cost)
        case FileCase():
            folder.mkdir()
            with collecting() as collector:
                Files(folder, tuple(case.prepare(folder, False))).captured(collector)
            return _line(case, case.edges, collector.events, sum(map(len, collector.bodies)), folder, "– | –")
        case ServerCase():
            folder.mkdir()
            with case.serve() as url, collecting() as collector:
                Files(folder, case.words(url)).captured(collector)
            return _line(case, case.edges, collector.events, sum(map(len, collector.bodies)), folder, "– | –")


def cost_of(case: Case, job: str, folder: Path) -> str:
    """Milliseconds that a capture takes in the thread of a job, as medians of runs: its installation, the sum of the
    hook calls, and the longest of them.
    """
    size = "small" if job is case.job else "wide"
    runs = [_seconds_of(case, job, folder.with_name(f"{folder.name}-{size}-{number}")) for number in range(_RUNS)]
    start = median(sum(run["start"]) for run in runs) * 1000
    whole, longest = (median(measure(run["calls"] or [0.0]) for run in runs) * 1000 for measure in (sum, max))
    return f"{start:,.0f} + {whole:,.0f} ({longest:,.0f})"


def _seconds_of(case: Case, job: str, folder: Path) -> dict[str, list[float]]:
    """The seconds of the installation of captures, and those of each hook call, in the thread of a job."""
    ran = run_job(replace(case, job=MEASURE + job), "succeed", Condition.WELL, folder)
    _refuse_failure(case, ran.code, ran.errors)
    seconds: dict[str, list[float]] = json.loads((folder / "times.json").read_text())
    return seconds


def _refuse_failure(case: Case, code: int, errors: str) -> None:
    if code:
        sys.stderr.write(errors[-4000:])
        raise SystemExit(f"the job of {case.capture} ended with {code}")


def _line(case: AnyCase, facts: frozenset[str], events: Iterable[Any], sent: int, folder: Path, cost: str) -> str:
    kept = list(events)
    found = facts_in_store(case, kept, folder)
    right, wrong, missing = len(found & facts), len(found - facts), len(facts - found)
    shares = f"{right / max(1, right + wrong):.2f} | {right / max(1, right + missing):.2f}"
    unknown = 0 if isinstance(case, ServerCase) else len(case.unknown)
    counts = f"{right}, {wrong}, {missing} | {shares} | {unknown} | {len(kept)} | {sent:,}"
    release = release_of(case) if isinstance(case, Case) else case.release
    return f"| {case.capture} | {release} | {counts} | {cost} | {case.lost} |"


def facts_in_store(case: AnyCase, events: Iterable[Any], folder: Path) -> set[str]:
    """The column lineage and checks of events in a store of its own; of a server, the lineage between datasets."""
    engine = open_store(sqlite_url(folder / "store.db"))
    migrate(engine)
    try:
        match case:
            case ServerCase():
                return dataset_edges(store_events(engine, events))
            case FileCase():
                return case.edges_in(store_events(engine, events))
            case Case():
                return facts_of(events, engine)
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
