"""Service level objectives in answers: values."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec


class SloBudget(msgspec.Struct, frozen=True, kw_only=True):
    """An error budget: seconds of open time (`Timeslices`), or occurrences. `remaining`: the share that is left."""

    budgeting_method: str
    total: float
    allowed: float
    bad: float
    suppressed: float
    suppressed_share: float
    remaining: float | None


class SloWindow(msgspec.Struct, frozen=True, kw_only=True):
    """A window of open time, and how fast it burns the budget: 1 is evenly."""

    seconds: float
    burn_rate: float


class SloBurnRate(msgspec.Struct, frozen=True, kw_only=True):
    """An alert on a burn rate, and how fast its windows burn now."""

    notify: str
    factor: float
    long_window: SloWindow
    short_window: SloWindow


class SloAlert(msgspec.Struct, frozen=True, kw_only=True):
    """An open alert."""

    notify: str
    since: str
    rule: str


class Slo(msgspec.Struct, frozen=True, kw_only=True):
    """A declared objective and its state. Texts are None if the key may not see everything."""

    id: str
    version: str
    service: str
    name: str
    dataset: str
    description: str | None
    indicator: str | None
    target: float | None
    window_days: float | None
    declared_at: str
    declared_by: str
    state: str
    notify: str | None
    since: str | None
    observed: str | None
    expected: str | None
    reason: str | None
    run: str | None
    budget: SloBudget | None
    burn_rates: tuple[SloBurnRate, ...]
    alerts: tuple[SloAlert, ...]


class Slos(msgspec.Struct, frozen=True, kw_only=True):
    """Objectives of visible datasets at a time; `hidden`: how many there are besides."""

    at: str
    slos: tuple[Slo, ...]
    hidden: int


class SloTransition(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded change of the state, when it happened."""

    id: str
    time: str
    before: str
    after: str
    notify_before: str | None
    notify: str | None
    reason: str | None
    run: str | None
    version: str


class SloPoint(msgspec.Struct, frozen=True, kw_only=True):
    """An objective at one time: the share of the budget that was left, and the burn rates in the long windows."""

    at: str
    remaining: float | None
    bad: float
    allowed: float
    burn_rates: tuple[float, ...]


class SloDetail(msgspec.Struct, frozen=True, kw_only=True):
    """An objective with its text (JSON), its transitions, the latest first, and a series."""

    at: str
    slo: Slo
    text: str | None
    declared: tuple[str, ...]
    transitions: tuple[SloTransition, ...]
    series: tuple[SloPoint, ...]


class SlosPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of objectives."""

    data: Slos
    page: dict[str, Any] | None


class SloAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer about one objective."""

    data: SloDetail


def read_slos(get_page: Callable[[Mapping[str, Any]], SlosPage], options: Mapping[str, Any]) -> Slos:
    """All pages of objectives; all are of the same time."""
    found: list[Slo] = []
    query = dict(options)
    while True:
        page = get_page(query)
        found += page.data.slos
        query |= {"cursor": (page.page or {}).get("next"), "as_of": page.data.at}
        if not query["cursor"]:
            return msgspec.structs.replace(page.data, slos=tuple(found))
