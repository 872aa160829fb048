"""The status that `whence doctor` prints: counts of one moment, or said to be of an earlier one."""

from typing import Any

import pytest

from whence.cli.administration.status import standing_lines

STORE: dict[str, Any] = {
    "applied": 2,
    "duplicate": 1,
    "quarantined": 1,
    "bytes": None,
    "quarantined_by_reason": {},
    "runs_without_start": 0,
    "runs_without_end": 0,
    "sql": {"jobs_compared": 0},
    "producers": [],
}


def store_line(*, received: int, waiting: int = 0, missing: int = 0) -> str:
    status = {
        "received": {"records": received, "bytes": None},
        "waiting": {"records": waiting, "bytes": None, "seconds": 1.0},
        "refused": {},
        "damaged": [],
        "missing": missing,
        "store": STORE,
    }
    return next(line.plain for line in standing_lines(status) if line.plain.startswith("store"))


@pytest.mark.parametrize(("received", "waiting", "missing"), [(4, 0, 0), (7, 3, 0), (5, 0, 1), (4, 1, 0)])
def test_counts_of_the_latest_events_stand_alone(received: int, waiting: int, missing: int) -> None:
    line = store_line(received=received, waiting=waiting, missing=missing)
    assert line == "store     2 applied, 1 duplicate, 1 quarantined"


def test_counts_of_an_earlier_moment_say_so() -> None:
    line = store_line(received=7, waiting=1)
    assert line == "store     2 applied, 1 duplicate, 1 quarantined (counted before the latest events)"
