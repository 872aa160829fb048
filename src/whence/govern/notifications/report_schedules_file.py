"""The `reports` of `receivers.yaml`: who gets the weekly report, and when."""

from collections.abc import Mapping
from dataclasses import replace

from whence.govern.notifications.receivers import EmailReceiver, Receiver, SlackReceiver
from whence.govern.notifications.report_schedules import WEEKDAYS, ReportSchedule
from whence.govern.slos.calendar_file import parse_time, read_zone
from whence.govern.slos.calendars import DAY_MINUTES
from whence.govern.yaml_nodes import Node, read_members


def read_schedules(node: Node, receivers: Mapping[str, Receiver]) -> tuple[ReportSchedule, ...]:
    """Read the schedules of reports to receivers of the file, by name. Raises RulesFileError."""
    return tuple(_schedule(one, receivers) for one in node.list())


def _schedule(node: Node, receivers: Mapping[str, Receiver]) -> ReportSchedule:
    readers = {"receiver": lambda one: _names(one, receivers), "weekly": _weekly, "timeZone": read_zone}
    stated = read_members(node, readers, ("receiver", "weekly"))
    weekly: ReportSchedule = stated["weekly"]
    return replace(weekly, receivers=stated["receiver"], zone=stated.get("timeZone", "UTC"))


def _weekly(node: Node) -> ReportSchedule:
    day, _, time = node.filled().lower().partition(" ")
    minute = parse_time(time.strip())
    if day not in WEEKDAYS or minute is None or minute == DAY_MINUTES:
        raise node.mistake(f"write a day and a time, such as mon 07:00; days are {', '.join(WEEKDAYS)}")
    return ReportSchedule(receivers=(), weekday=WEEKDAYS.index(day), minute=minute)


def _names(node: Node, receivers: Mapping[str, Receiver]) -> tuple[str, ...]:
    items = node.list() if node.is_list() else (node,)
    if not items:
        raise node.mistake("write at least one receiver")
    for item in items:
        name = item.filled()
        if name not in receivers:
            raise item.mistake(f"no receiver is named {name!r}; the file has {', '.join(sorted(receivers)) or 'none'}")
        if not isinstance(receivers[name].target, EmailReceiver | SlackReceiver):
            raise item.mistake(f"{name!r} gets no reports: name receivers of e-mail or Slack")
    return tuple(item.filled() for item in items)
