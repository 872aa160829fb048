"""Runs that report the results of data quality checks, more than once."""

import json
import random
from dataclasses import dataclass

from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, run_event

HOUR = 3_600_000_000


@dataclass(frozen=True)
class CheckReport:
    """What an event of a run says of checks: of which dataset, which of them held."""

    run: RunName
    time: int
    of: DatasetName
    checks: tuple[tuple[str, str | None, bool], ...]


def check_reports(seed: int, now: int) -> list[CheckReport]:
    """Runs that check two datasets, twice each: what a run says later replaces what it said before."""
    rng = random.Random(seed)
    tables = [DatasetName("db://a", name) for name in ("x", "y", "z")]
    reports = []
    for number in range(30):
        run = RunName(f"{number:08}-0000-4000-8000-000000000001", JobName("j", f"job{number % 4}"))
        for of in rng.sample(tables, 2):
            for moment in sorted(rng.sample(range(1, 1_000), 2)):
                names = rng.sample(["unique", "not_null", "accepted_values"], rng.randrange(4))
                checks = tuple((name, rng.choice([None, "id"]), rng.random() < 0.7) for name in names)
                reports.append(CheckReport(run, now - number // 3 * HOUR - moment, of, checks))
    return reports


def check_event(one: CheckReport) -> bytes:
    checks = [
        {"assertion": name, "success": held, **({"column": column} if column else {})}
        for name, column, held in one.checks
    ]
    odd = [{"assertion": 5, "success": False}, {"assertion": "no result"}, {"success": False}, "text"]
    assertions = facet("DataQualityAssertionsDatasetFacet", assertions=[*checks, *odd])
    read_records = dataset(one.of, inputFacets={"dataQualityAssertions": assertions})
    return json.dumps(run_event(one.time, RunState.RUNNING, one.run, inputs=[read_records])).encode()
