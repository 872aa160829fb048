"""The calendars and the maintenance of `slos.yaml`."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from itertools import pairwise
from typing import Any

from whence.errors import WhenceError
from whence.govern.slos.calendars import DAY_MINUTES, Calendar, Hours, Maintenance, holidays_of, zone_named
from whence.govern.yaml_nodes import Node, read_members
from whence.model.names import DatasetName, parse_node
from whence.query.answers.instants import microseconds

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TIME = re.compile(r"(\d{1,2}):(\d{2})")
_A_YEAR = (2_026,)
"""Any year: to see whether a country is known."""


def read_calendars(node: Node) -> Mapping[str, Calendar]:
    """The calendars by name. Raises RulesFileError with file and line."""
    found: dict[str, Calendar] = {}
    for key, value in node.items():
        name = key.filled()
        if name in found:
            raise key.mistake(f"the calendar {name!r} is here twice")
        found[name] = _calendar(name, value)
    return found


def _calendar(name: str, node: Node) -> Calendar:
    readers = {"timeZone": read_zone, "open": _week, "holidays": _holidays, "exceptions": _exceptions}
    stated = read_members(node, readers, ("timeZone", "open"))
    country, subdivision = stated.get("holidays", ("", ""))
    calendar = Calendar(
        name=name,
        zone=stated["timeZone"],
        week=stated["open"],
        country=country,
        subdivision=subdivision,
        exceptions=stated.get("exceptions", ()),
    )
    if not calendar.weekly:
        raise node.mistake("nothing is ever open")
    return calendar


def read_zone(node: Node) -> str:
    """The name of a time zone. Raises RulesFileError."""
    try:
        return zone_named(node.filled()).key
    except ValueError as error:
        raise node.mistake(str(error)) from None


def _week(node: Node) -> tuple[Hours, ...]:
    week: dict[int, Hours] = {}
    for key, value in node.items():
        for day in _days(key):
            if day in week:
                raise key.mistake(f"{_DAYS[day]} is here twice")
            week[day] = read_hours(value)
    return tuple(week.get(day, ()) for day in range(7))


def _days(key: Node) -> range:
    first, dash, last = (part.strip() for part in key.filled().lower().partition("-"))
    if first not in _DAYS or (dash and last not in _DAYS):
        raise key.mistake(f"write a day, such as mon, or some, such as mon-fri; days are {', '.join(_DAYS)}")
    begin, end = _DAYS.index(first), _DAYS.index(last or first)
    if end < begin:
        raise key.mistake("write the earlier day first")
    return range(begin, end + 1)


def read_hours(node: Node) -> Hours:
    """Hours such as `08:00-18:00`, some of them in a list, or `closed`. Raises RulesFileError."""
    items = node.list() if node.is_list() else (node,)
    found = sorted(hours for item in items for hours in _hours(item))
    for (_, end), (start, _) in pairwise(found):
        if start < end:
            raise node.mistake("these hours overlap")
    return tuple(found)


def _hours(node: Node) -> Hours:
    if node.filled() == "closed":
        return ()
    start, _, end = (part.strip() for part in node.filled().partition("-"))
    minutes = parse_time(start), parse_time(end)
    if minutes[0] is None or minutes[1] is None or not minutes[0] < minutes[1]:
        raise node.mistake("write hours such as 08:00-18:00, at most until 24:00, or closed")
    return ((minutes[0], minutes[1]),)


def parse_time(text: str) -> int | None:
    """The minutes since midnight of `08:30`; None if it is no time of a day."""
    found = _TIME.fullmatch(text)
    if found is None or int(found[2]) > 59:
        return None
    minutes = 60 * int(found[1]) + int(found[2])
    return minutes if minutes <= DAY_MINUTES else None


def _holidays(node: Node) -> tuple[str, str]:
    stated = read_members(node, {"country": Node.filled, "subdivision": Node.filled}, ("country",))
    country, subdivision = stated["country"].upper(), stated.get("subdivision", "")
    try:
        holidays_of(country, subdivision, _A_YEAR)
    except (ValueError, WhenceError) as error:
        raise node.mistake(str(error)) from None
    return country, subdivision


def _exceptions(node: Node) -> tuple[tuple[date, Hours], ...]:
    found: dict[date, Hours] = {}
    for key, value in node.items():
        if (day := key.day()) in found:
            raise key.mistake(f"{day} is here twice")
        found[day] = read_hours(value)
    return tuple(sorted(found.items()))


def read_maintenance(node: Node) -> tuple[Maintenance, ...]:
    """The times that do not count. Raises RulesFileError."""
    return tuple(_maintenance(item) for item in node.list())


def _maintenance(node: Node) -> Maintenance:
    readers = {"from": _moment, "until": _moment, "reason": Node.filled, "dataset": read_dataset}
    stated: dict[str, Any] = read_members(node, readers, ("from", "until", "reason"))
    if stated["until"] <= stated["from"]:
        raise node.mistake("it ends before it begins")
    dataset = str(stated["dataset"]) if "dataset" in stated else ""
    return Maintenance(start=stated["from"], end=stated["until"], reason=stated["reason"], dataset=dataset)


def read_dataset(node: Node) -> DatasetName:
    """The dataset of a node id. Raises RulesFileError."""
    node.filled()
    name = parse_node(node.string())  # not stripped: names may end in a blank
    if not isinstance(name, DatasetName) or not name.namespace or not name.name:
        raise node.mistake("write the node id of a dataset, such as dataset:postgres://shop:5432:shop.public.orders")
    return name


def _moment(node: Node) -> int:
    try:
        moment = datetime.fromisoformat(node.filled())
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise node.mistake("write a time with its offset, such as 2026-11-28T20:00+01:00")
    return microseconds(moment)
