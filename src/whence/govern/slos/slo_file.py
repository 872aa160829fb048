"""Reading `slos.yaml`: a closed schema, so a misspelt key is an error with its line, never an objective that is off."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from whence.govern.slos.alerting_file import Alerts, read_alerting
from whence.govern.slos.burn_rates import alerts_that_can_open, open_time_of
from whence.govern.slos.calendar_file import read_calendars, read_dataset, read_maintenance
from whence.govern.slos.calendars import ALWAYS, Calendar, Maintenance
from whence.govern.slos.indicator_file import read_duration, read_indicator, read_share
from whence.govern.slos.objectives import DAY, Freshness, Misses, Notify, Objective
from whence.govern.yaml_nodes import Node, Reader, parse, read_each, read_members, read_version
from whence.govern.yaml_values import read_values

_LONGEST_WINDOW = 366 * DAY
_LONGEST_NAME = 200
_LONGEST_ADDRESS = 2_000
DEFAULT_MISSES = (Misses(bad=1, of=1, notify=Notify.TICKET),)


@dataclass(frozen=True, slots=True, kw_only=True)
class SloFile:
    """A file: the objectives of one service."""

    service: str
    objectives: tuple[Objective, ...]


def read_slos(text: str, file: str = "slos.yaml") -> SloFile:
    """Read the objectives of a file. Raises RulesFileError with file and line."""
    root = parse(text, file)
    if root is None:
        root = parse("{}", file)
        assert root is not None
    stated = read_members(root, _TOP, ("version", "service", "slos"))
    values = read_values(root).root
    shared = _Shared(
        service=stated["service"],
        calendars=stated.get("calendars", {}),
        maintenance=stated.get("maintenance", ()),
        runbook=stated.get("runbook", ""),
        values=values,
    )
    objectives = read_each(enumerate(stated["slos"]), lambda item: shared.read(item[1], item[0]))
    _refuse_duplicates(objectives, stated["slos"])
    return SloFile(service=shared.service, objectives=objectives)


def _refuse_duplicates(objectives: Sequence[Objective], nodes: Sequence[Node]) -> None:
    seen = set[str]()
    for one, node in zip(objectives, nodes, strict=True):
        if one.name in seen:
            raise node.mistake(f"the name {one.name!r} is here twice")
        seen.add(one.name)


def _name(node: Node) -> str:
    if len(text := node.filled()) > _LONGEST_NAME:
        raise node.mistake(f"a name has at most {_LONGEST_NAME} characters")
    return text


def _window(node: Node) -> int:
    stated = read_members(node, {"duration": read_duration, "isRolling": Node.boolean}, ("duration",))
    if not stated.get("isRolling", True):
        raise node.mistake("windows of Whence are rolling: write isRolling: true")
    if not DAY <= stated["duration"] <= _LONGEST_WINDOW:
        raise node.mistake("write a duration from 1d to 366d")
    return int(stated["duration"])


def _objective(node: Node) -> Fraction:
    target: Fraction = read_members(node, {"target": read_share}, ("target",))["target"]
    if not 0 < target < 1:
        raise node.mistake("write a target above 0 % and below 100 %: no budget is left at 100 %")
    return target


def _runbook(node: Node) -> str:
    """An address that people follow. Raises RulesFileError."""
    text = node.filled()
    is_address = text.startswith(("https://", "http://")) and text.isprintable() and " " not in text
    if not is_address or len(text) > _LONGEST_ADDRESS:
        raise node.mistake(f"write the address of a runbook: https://… (at most {_LONGEST_ADDRESS:,} characters)")
    return text


_TOP: Mapping[str, Reader] = {
    "version": read_version,
    "service": _name,
    "calendars": read_calendars,
    "maintenance": read_maintenance,
    "runbook": _runbook,
    "slos": Node.list,
}
_SLO: Mapping[str, Reader] = {
    "name": _name,
    "description": Node.filled,
    "runbook": _runbook,
    "dataset": read_dataset,
    "indicator": read_indicator,
    "objective": _objective,
    "timeWindow": _window,
    "budgetingMethod": Node.filled,
    "calendar": lambda node: (node.filled(), node),
    "alerting": lambda node: (read_alerting(node), node),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """What the objectives of a file share. `runbook`: of those without one; `values`: the file as JSON values."""

    service: str
    calendars: Mapping[str, Calendar]
    maintenance: tuple[Maintenance, ...]
    runbook: str
    values: Mapping[str, Any]

    def read(self, node: Node, index: int) -> Objective:
        """An objective of the file. Raises RulesFileError."""
        stated = read_members(node, _SLO, ("name", "dataset", "indicator", "objective"))
        found = Objective(
            service=self.service,
            name=stated["name"],
            description=stated.get("description", ""),
            runbook=stated.get("runbook", self.runbook),
            dataset=stated["dataset"],
            indicator=stated["indicator"],
            target=stated["objective"],
            window=stated.get("timeWindow", 30 * DAY),
            calendar=self._calendar(stated),
            maintenance=tuple(
                one for one in self.maintenance if not one.dataset or one.dataset == str(stated["dataset"])
            ),
            place=node.place,
        )
        stated_method = stated.get("budgetingMethod", found.budgeting)
        if stated_method != found.budgeting:
            raise node.mistake(f"the budgetingMethod of this indicator is {found.budgeting}")
        return replace(self._with_alerts(found, stated, node), text=self._text(index, found))

    def _calendar(self, stated: Mapping[str, Any]) -> Calendar:
        name, node = stated.get("calendar", ("", None))
        if not name or node is None:
            return ALWAYS
        if name not in self.calendars:
            known = ", ".join(self.calendars) or "none"
            raise node.mistake(f"no calendar is named {name!r}; the file has {known}")
        return self.calendars[name]

    def _with_alerts(self, one: Objective, stated: Mapping[str, Any], node: Node) -> Objective:
        is_time = isinstance(one.indicator, Freshness)
        open_time = open_time_of(one.calendar, one.window)
        if "alerting" not in stated:
            rates = tuple(alerts_that_can_open(one.target, open_time)) if is_time else ()
            if is_time and not rates:
                raise node.mistake("no default alert can open with this target; write `alerting` with your own")
            return replace(one, burn_rates=rates, misses=() if is_time else DEFAULT_MISSES)
        alerts, _ = stated["alerting"]
        return replace(one, **_checked(alerts, one, open_time, is_time=is_time))

    def _text(self, index: int, one: Objective) -> str:
        """The objective as a file of its own, with what it uses of the others' parts."""
        calendars = {
            name: value for name, value in self.values.get("calendars", {}).items() if name == one.calendar.name
        }
        maintenance = [
            value
            for value in self.values.get("maintenance", [])
            if value.get("dataset", str(one.dataset)) == str(one.dataset)
        ]
        document = {"version": 1, "service": self.service, "slos": [self.values["slos"][index]]}
        document |= {"calendars": calendars} if calendars else {}
        document |= {"maintenance": maintenance} if maintenance else {}
        document |= {"runbook": one.runbook} if one.runbook and "runbook" not in self.values["slos"][index] else {}
        return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _checked(alerts: Alerts, one: Objective, open_time: Fraction, *, is_time: bool) -> Mapping[str, Any]:
    """The alerts of an objective. Raises RulesFileError for one that is not of its kind, or that can never open."""
    return {
        "burn_rates": tuple(alert.burn_rate(one.target, open_time, is_time=is_time) for alert in alerts.burn_rates),
        "misses": tuple(alert.checked(is_time=is_time) for alert in alerts.misses),
    }
