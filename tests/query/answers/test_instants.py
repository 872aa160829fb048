"""Times as people write them."""

import pytest

from whence.query.answers.instants import FIRST, LAST, instant, iso

NOW = 1_795_000_000_000_000


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("now", NOW),
        ("yesterday", NOW - 86_400_000_000),
        ("2h", NOW - 7_200_000_000),
        ("-90s", NOW - 90_000_000),
        ("30 min ago", NOW - 1_800_000_000),
        ("1.5 days ago", NOW - 129_600_000_000),
        ("1 week ago", NOW - 604_800_000_000),
        ("1795000000000001", NOW + 1),
        ("2026-11-18", 1_794_960_000_000_000),
        ("2026-11-18T11:06:40Z", NOW),
        ("2026-11-18T12:06:40.000001+01:00", NOW + 1),
        (" 2026-11-18 11:06:40 ", NOW),
    ],
)
def test_a_time(text: str, meant: int) -> None:
    assert instant(text, NOW) == meant


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "h", "5 parsecs ago", "²h", "12"])
def test_no_time(text: str) -> None:
    with pytest.raises(ValueError, match="not a time"):
        instant(text, NOW)


def test_iso_round_trips() -> None:
    assert iso(NOW) == "2026-11-18T11:06:40Z"
    assert iso(NOW + 1) == "2026-11-18T11:06:40.000001Z"
    assert instant(iso(NOW + 1), 0) == NOW + 1
    assert iso(-1) == "1969-12-31T23:59:59.999999Z"


def test_iso_of_days_that_offsets_lead_to() -> None:
    """An event at `0001-01-01T00:00:00+23:59` is accepted, so whoever reads it must be told a time."""
    assert iso(FIRST) == "0001-01-01T00:00:00Z"
    assert iso(FIRST - 86_340_000_000) == "0000-12-31T00:01:00Z"
    assert iso(LAST + 999_999) == "9999-12-31T23:59:59.999999Z"
    assert iso(LAST + 1_000_000) == "+10000-01-01T00:00:00Z"
