"""Counts of the last hours and days, at times that the test chooses: turns of the hour and the day, months, clocks."""

from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import pytest

from api.asked import Client, asking
from marquez.conftest import prepare
from marquez.shop import DAY, HOUR, bodies
from whence.query.answers.instants import iso, microseconds
from whence.store.connection.engine import sqlite_url


class At(Protocol):
    """Makes clients whose time stands still."""

    def __call__(self, now: int) -> AbstractContextManager[Client]: ...


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("statistics")
    prepare(made, bodies())
    return made


@pytest.fixture
def at(base: Path) -> At:
    return lambda now: asking(base / "data0", sqlite_url(base / "store0.db"), lambda: now)


def ends(client: Client, period: str, timezone: str = "UTC") -> list[tuple[str, str]]:
    found: list[dict[str, Any]] = client.get("/api/v1/stats/jobs", period=period, timezone=timezone).json
    return [(one["startInterval"], one["endInterval"]) for one in found]


def instant_of(text: str) -> int:
    return microseconds(datetime.fromisoformat(text).astimezone(UTC))


def test_the_current_hour_is_the_last(at: At) -> None:
    for now, last in (("2026-11-30T23:59:59.999999Z", "23:00:00Z"), ("2026-11-30T23:00:00Z", "23:00:00Z")):
        with at(instant_of(now)) as client:
            hours = ends(client, "DAY")
        assert hours[-1] == (f"2026-11-30T{last}", "2026-12-01T00:00:00Z"), now
        assert hours[0] == ("2026-11-30T00:00:00Z", "2026-11-30T01:00:00Z")
        assert len(hours) == 24


@pytest.mark.parametrize(
    ("now", "timezone", "first", "last"),
    [
        ("2026-12-31T10:00:00Z", "Pacific/Kiritimati", "2026-12-26", "2027-01-01"),  # 14 hours ahead: tomorrow
        ("2027-01-01T07:59:59Z", "America/Los_Angeles", "2026-12-25", "2026-12-31"),  # 8 behind: yesterday
        ("2026-10-25T00:30:00Z", "Europe/Vienna", "2026-10-19", "2026-10-25"),  # the day of 25 hours
        ("2028-03-01T00:00:00Z", "UTC", "2028-02-24", "2028-03-01"),  # over a leap day
    ],
)
def test_a_day_is_a_date(at: At, now: str, timezone: str, first: str, last: str) -> None:
    """The charts write `startInterval` as a date in UTC, whatever time zone they ask for."""
    with at(instant_of(now)) as client:
        days = ends(client, "WEEK", timezone)
    assert (days[0][0], days[-1][0]) == (f"{first}T00:00:00Z", f"{last}T00:00:00Z")
    assert len(days) == 7
    assert {one[10:] for pair in days for one in pair} == {"T00:00:00Z"}
    assert [end for _, end in days[:-1]] == [start for start, _ in days[1:]]


def test_an_hour_has_the_events_of_it(at: At) -> None:
    """Each event is in one interval, at whatever time one asks."""
    with at(DAY + 3 * HOUR) as client:
        hours = client.get("/api/v1/stats/lineage-events", period="DAY").json
        jobs = client.get("/api/v1/stats/jobs", period="DAY").json
    with at(DAY + 4 * HOUR) as client:
        later = client.get("/api/v1/stats/lineage-events", period="DAY").json
    assert sum(one["start"] for one in hours) > 0
    assert hours[1:] == later[:-1]
    assert later[-1]["startInterval"] <= iso(DAY + 4 * HOUR) < later[-1]["endInterval"]
    counts = [one["count"] for one in jobs]
    assert counts == sorted(counts)
    assert counts[0] == 0 < counts[-1]
