"""Service level objectives in answers: values."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from whence.client.connection import Connection
from whence.client.options import Time, iso_text

Value = TypeVar("Value")
_AT_ONCE = 1_000


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
    runbook: str | None = None


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


class DeclaredObjective(msgspec.Struct, frozen=True, kw_only=True):
    """An objective as it is declared: `text` is JSON of the form of `slos.yaml`, None if the key may not see it."""

    service: str
    name: str
    dataset: str
    text: str | None


class DeclaredObjectives(msgspec.Struct, frozen=True, kw_only=True):
    """The objectives of some datasets; `hidden`: how many there are of datasets that the key may not see."""

    objectives: tuple[DeclaredObjective, ...]
    hidden: int = 0


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


class SloQuestions:
    """The questions about objectives, for a client of a server."""

    _connection: Connection

    def _converted(self, value: Any, type_: type[Value]) -> Value:
        raise NotImplementedError

    def slos(self, *, dataset: str = "", as_of: Time | None = None) -> Slos:
        """The declared objectives at a time, by service and name: all, or those of a dataset (its node id)."""
        options = {"dataset": dataset, "as_of": iso_text(as_of), "limit": _AT_ONCE}
        return read_slos(lambda some: self._converted(self._connection.get("/api/v2/slos", some), SlosPage), options)

    def slo(self, name: str, *, as_of: Time | None = None, series: int = 0) -> SloDetail:
        """An objective by its name, `service/name` or id, at a time; `series`: so many points of its time window."""
        options = {"as_of": iso_text(as_of), "series": series}
        return self._converted(self._connection.get(f"/api/v2/slos/{quote(name, safe='')}", options), SloAnswer).data

    def objectives(self, datasets: Sequence[str]) -> DeclaredObjectives:
        """The objectives that are declared for datasets (their node ids), with their texts."""
        listed, wanted = self.slos(), frozenset(datasets)
        found = (
            DeclaredObjective(service=one.service, name=one.name, dataset=one.dataset, text=self.slo(one.id).text)
            for one in listed.slos
            if one.dataset in wanted
        )
        return DeclaredObjectives(objectives=tuple(found), hidden=listed.hidden)
