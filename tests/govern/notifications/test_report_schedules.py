"""When the weekly report is due, and for whom: over changes of clocks, restarts and changes of the schedule."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.examples import examples
from govern.notifications.receivers import FILE
from whence.errors import RulesFileError
from whence.govern.notifications.messages import REPORT_PATIENCE, find_reports
from whence.govern.notifications.outbox import find_messages
from whence.govern.notifications.receipts import Receipts, receipt_of, receipts_of
from whence.govern.notifications.receivers_file import read_receivers
from whence.govern.notifications.report_schedules import ReportSchedule
from whence.query.answers.instants import instant, iso

REPORTS = "reports:\n  - receiver: [mail, channel]\n    weekly: mon 07:00\n    timeZone: Europe/Berlin\n"
SECOND = 1_000_000


def schedule(weekday: int, minute: int, zone: str) -> ReportSchedule:
    return ReportSchedule(receivers=("mail",), weekday=weekday, minute=minute, zone=zone)


@pytest.mark.parametrize(
    ("one", "now", "last", "next_"),
    [
        (schedule(0, 420, "Europe/Berlin"), "2026-11-27T02:00", "2026-11-23T06:00:00Z", "2026-11-30T06:00:00Z"),
        (schedule(0, 420, "Europe/Berlin"), "2026-10-26T05:59", "2026-10-19T05:00:00Z", "2026-10-26T06:00:00Z"),
        (schedule(6, 150, "Europe/Berlin"), "2026-03-29T01:30", "2026-03-29T01:30:00Z", "2026-04-05T00:30:00Z"),
        (schedule(6, 150, "Europe/Berlin"), "2026-10-25T00:30", "2026-10-25T00:30:00Z", "2026-11-01T01:30:00Z"),
        (schedule(0, 0, "Pacific/Kiritimati"), "2026-11-29T10:00", "2026-11-29T10:00:00Z", "2026-12-06T10:00:00Z"),
    ],
)
def test_a_report_is_due_at_a_local_time(one: ReportSchedule, now: str, last: str, next_: str) -> None:
    at = instant(now, 0)
    assert (iso(one.last_due(at)), iso(one.next_due(at))) == (last, next_)


@settings(max_examples=examples(60))
@given(
    st.integers(0, 6),
    st.integers(0, 1_439),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"]),
    st.integers(0, 20 * 365 * 24 * 60),
)
def test_as_a_search_by_minutes_finds_it(weekday: int, minute: int, zone: str, since: int) -> None:
    """The wall clock of the eight days before is looked at each quarter: clocks differ by quarters of hours. A time
    in a gap of the clock is left out.
    """
    one, now = schedule(weekday, minute, zone), datetime(2015, 1, 1, tzinfo=UTC) + timedelta(minutes=since)
    last = datetime.fromtimestamp(one.last_due(round(now.timestamp()) * SECOND) / SECOND, UTC)
    wanted = (weekday, *divmod(minute, 60))
    first = (now.minute - minute) % 15
    back = (now - timedelta(minutes=ago) for ago in range(first, 8 * 1_440, 15))
    shown = ((time, time.astimezone(ZoneInfo(zone))) for time in back)
    found = [time for time, local in shown if (local.weekday(), local.hour, local.minute) == wanted and not local.fold]
    if found and found[0] > now - timedelta(days=7):
        assert last == found[0]
    assert last <= now < last + timedelta(days=7, hours=1)


def test_a_report_of_a_week_is_sent_once_to_each_receiver() -> None:
    receivers, now = read_receivers(FILE + REPORTS), instant("2026-11-23T06:00", 0)
    due = [message for _, message in find_reports(receivers, now)]
    assert [(one.receiver, one.key, iso(one.at)) for one in due] == [
        ("mail", "weekly-report 2026-W47", "2026-11-23T06:00:00Z"),
        ("channel", "weekly-report 2026-W47", "2026-11-23T06:00:00Z"),
    ]
    known = receipts_of([receipt_of(due[0], "", 1)])
    assert [one.receiver.name for one in find_messages(receivers, known, now)] == ["channel"]
    moved = read_receivers(FILE + REPORTS.replace("07:00", "08:00"))
    assert [one.receiver.name for one in find_messages(moved, known, now + 3_600 * SECOND)] == ["channel"]
    assert len([*find_messages(receivers, known, now + 7 * 86_400 * SECOND)]) == 2  # of the next week


def test_a_server_that_was_away_sends_it_for_three_days() -> None:
    receivers, due = read_receivers(FILE + REPORTS), instant("2026-11-23T06:00", 0)
    assert len([*find_messages(receivers, Receipts(references={}), due + REPORT_PATIENCE)]) == 2
    assert not [*find_messages(receivers, Receipts(references={}), due + REPORT_PATIENCE + 1)]


@pytest.mark.parametrize(
    ("written", "instead", "mistake"),
    [
        ("mon 07:00", "monday 07:00", "write a day and a time, such as mon 07:00; days are mon, tue"),
        ("mon 07:00", "mon 24:00", "write a day and a time"),
        ("mon 07:00", "mon", "write a day and a time"),
        ("Europe/Berlin", "Europe/Berlim", "no time zone is named 'Europe/Berlim'"),
        ("[mail, channel]", "[mail, pager]", "'pager' gets no reports: name receivers of e-mail or Slack"),
        ("[mail, channel]", "[]", "write at least one receiver"),
        ("[mail, channel]", "nobody", "no receiver is named 'nobody'"),
        ("timeZone", "timezone", "no key 'timezone' belongs here; did you mean 'timeZone'?"),
    ],
)
def test_a_mistake_has_its_line(written: str, instead: str, mistake: str) -> None:
    text = FILE + REPORTS
    line = text[: text.index(written, len(FILE))].count("\n") + 1
    with pytest.raises(RulesFileError) as raised:
        read_receivers(FILE + REPORTS.replace(written, instead))
    assert f":{line}: {mistake}" in str(raised.value)
