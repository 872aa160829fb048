"""The alerts of an objective in `slos.yaml`. An alert that can never open is refused, with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from whence.govern.slos.burn_rates import can_open, factor_of, greatest_factor
from whence.govern.slos.indicator_file import read_duration, read_number, read_share
from whence.govern.slos.objectives import BurnRate, Misses, Notify
from whence.govern.yaml_nodes import Node, Reader, read_members

_MOST_OCCURRENCES = 1_000
_MOST_ALERTS = 16
"""Of one objective: each has metrics of its own."""


@dataclass(frozen=True, slots=True)
class StatedBurnRate:
    """An alert on a burn rate as it is written: by a share of the budget, or by a factor."""

    node: Node
    stated: Mapping[str, Any]

    def burn_rate(self, target: Fraction, open_time: Fraction, *, is_time: bool) -> BurnRate:
        """The alert. `open_time`: that of the time window (µs). Raises RulesFileError if it can never open."""
        if not is_time:
            raise self.node.mistake("burn rates are of freshness; write alerts such as {bad: 1, of: 1, notify: ticket}")
        long, short = self.stated["longWindow"], self.stated["shortWindow"]
        share = self.stated.get("budget")
        budget = self.stated["factor"] * long / open_time if share is None else share
        rate = BurnRate(budget=budget, long=long, short=short, notify=self.stated["notify"])
        if not can_open(rate, target, open_time):
            raise self.node.mistake(_why_never(rate, target, open_time))
        return rate


@dataclass(frozen=True, slots=True)
class StatedMisses:
    """An alert on occurrences as it is written."""

    node: Node
    misses: Misses

    def checked(self, *, is_time: bool) -> Misses:
        """The alert. Raises RulesFileError."""
        if is_time:
            raise self.node.mistake(
                "freshness has a budget of time: write budget or factor, longWindow and shortWindow"
            )
        return self.misses


@dataclass(frozen=True, slots=True)
class Alerts:
    """The alerts of an objective as they are written."""

    burn_rates: tuple[StatedBurnRate, ...]
    misses: tuple[StatedMisses, ...]


def read_alerting(node: Node) -> Alerts:
    """Read a list of alerts; an empty one has none. Raises RulesFileError."""
    rates, misses = list[StatedBurnRate](), list[StatedMisses]()
    if len(node.list()) > _MOST_ALERTS:
        raise node.mistake(f"write at most {_MOST_ALERTS} alerts")
    for item in node.list():
        if any(key.text in ("bad", "of") for key, _ in item.items()):
            misses.append(_misses(item))
        else:
            rates.append(_burn_rate(item))
    return Alerts(tuple(rates), tuple(misses))


def _burn_rate(node: Node) -> StatedBurnRate:
    required = ("longWindow", "shortWindow", "notify")
    stated = read_members(node, _BURN_RATE, required)
    if ("budget" in stated) == ("factor" in stated):
        raise node.mistake("write one of budget, a share such as 2%, and factor, a number such as 14.4")
    if not 0 < stated["shortWindow"] <= stated["longWindow"]:
        raise node.mistake("the short window is not longer than the long one")
    if not stated.get("budget", stated.get("factor")):
        raise node.mistake("an alert at 0 would always be open")
    return StatedBurnRate(node, stated)


def _misses(node: Node) -> StatedMisses:
    stated = read_members(node, {"bad": _count, "of": _count, "notify": _notify}, ("bad", "of", "notify"))
    if stated["bad"] > stated["of"]:
        raise node.mistake(f"{stated['bad']} of {stated['of']} can never be bad")
    return StatedMisses(node, Misses(**stated))


def _count(node: Node) -> int:
    if not 1 <= (number := node.integer()) <= _MOST_OCCURRENCES:
        raise node.mistake(f"write a number from 1 to {_MOST_OCCURRENCES:,}")
    return number


def _notify(node: Node) -> Notify:
    if node.filled() not in tuple(Notify):
        raise node.mistake(f"write one of {', '.join(Notify)}")
    return Notify(node.filled())


def _why_never(rate: BurnRate, target: Fraction, open_time: Fraction) -> str:
    if rate.long > open_time:
        hours = float(open_time) / 3_600_000_000
        return f"the alert can never open: its long window is longer than the {hours:g} open hours of the time window"
    factor, most = (float(one) for one in (factor_of(rate, open_time), greatest_factor(target)))
    share = 100 * float(target)
    return (
        f"the alert can never open: its factor is {factor:.4g}, and with a target of {share:g} % the budget "
        f"burns at most {most:.4g} times too fast; write a smaller budget, a longer window or a higher target"
    )


_BURN_RATE: Mapping[str, Reader] = {
    "budget": read_share,
    "factor": lambda node: read_number(node, node.filled()),
    "longWindow": read_duration,
    "shortWindow": read_duration,
    "notify": _notify,
}
