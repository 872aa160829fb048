"""Objectives in `/metrics`: what their last evaluation found. A scrape evaluates nothing.

An objective has series only for those who may see the namespace of its dataset, as everywhere else.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from whence.api.operations.prometheus import Families
from whence.govern.slos.declared import EvaluatedSlo, Evaluation
from whence.govern.slos.evaluation.judge import Budget
from whence.govern.slos.evaluation.states import SUPPRESSED, state_of
from whence.govern.slos.export import series
from whence.govern.slos.export.series import STATES, label_text, state_label, window_label
from whence.govern.slos.objectives import Budgeting, Notify, Objective, kind_of_indicator
from whence.model.access import Viewer
from whence.model.slo_records import StateText

MOST_SLOS = 1_000
"""The most objectives with series of their own: the first by service, name and id."""
_MOST_VIEWERS = 16
"""Viewers whose text is kept until the next evaluation."""
_BY = (series.ID, series.SERVICE, series.NAME)


class SloExposition:
    """The series of the last evaluation as text, rendered once for each viewer. Threads may share it."""

    def __init__(self, last: Callable[[], Evaluation | None]) -> None:
        self._last = last
        self._rendered: Evaluation | None = None
        self._texts: dict[Viewer, bytes] = {}

    def read(self, viewer: Viewer) -> bytes:
        """The series that a viewer may see; none before the first evaluation."""
        if (last := self._last()) is None:
            return b""
        if last is not self._rendered or len(self._texts) > _MOST_VIEWERS:
            self._rendered, self._texts = last, {}
        texts = self._texts
        if viewer not in texts:
            texts[viewer] = generate_latest(Families(slo_families(last, viewer)))
        return texts[viewer]


def slo_families(last: Evaluation, viewer: Viewer) -> Iterator[Metric]:
    """The metrics of an evaluation for one viewer."""
    shown = sorted((one for one in last.slos if viewer.can_see(one.declaration.dataset)), key=_order)
    states = [_state(one) for one in shown]
    yield GaugeMetricFamily(series.EVALUATED, "When the objectives were evaluated last", last.at / 1e6)
    yield _counts(Counter(states), len(last.slos) - len(shown))
    unlisted = GaugeMetricFamily(series.UNLISTED, "Objectives that are only counted: there are too many")
    unlisted.add_metric((), max(0, len(shown) - MOST_SLOS))
    yield unlisted
    every = _Families()
    for one, state in zip(shown[:MOST_SLOS], states, strict=False):
        every.add(one, state)
    yield from every.families.values()


def _order(one: EvaluatedSlo) -> tuple[str, str, str]:
    return one.declaration.record.service, one.declaration.record.name, one.declaration.id


def _state(one: EvaluatedSlo) -> StateText:
    objective, found = one.declaration.objective, one.judgement
    return state_of(objective, found).state if objective and found else "not evaluated"


def _counts(counts: Mapping[StateText, int], hidden: int) -> Metric:
    family = GaugeMetricFamily(series.COUNT, "Declared objectives by state", labels=("state",))
    for state in STATES:
        family.add_metric((state_label(state),), counts.get(state, 0))
    family.add_metric((series.HIDDEN,), hidden)
    return family


def _family(name: str, meaning: str, *more: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, meaning, labels=(*_BY, *more))


class _Families:
    """The families with a series for each objective."""

    def __init__(self) -> None:
        made: Sequence[GaugeMetricFamily] = (
            _family(series.INFO, "An objective: its dataset and its indicator", "dataset", "indicator"),
            _family(series.STATE, "1 for the state of the objective, else 0", "state"),
            _family(series.OPEN_ALERT, "Whether an alert is open, by how urgent it is", "notify"),
            _family(series.TARGET, "The share that has to be good"),
            _family(series.GOOD, "What was good in the time window: open seconds, or occurrences", "unit"),
            _family(series.TOTAL, "What counts in the time window", "unit"),
            _family(series.REMAINING, "The share of the error budget that is left; negative if overdrawn"),
            _family(series.SUPPRESSED_SHARE, "The share of the time window that maintenance and backfills removed"),
            _family(series.BURN_RATE, "How fast the budget burns in a window of open time; 1 is evenly", "window"),
            _family(series.RECENT_BAD, "Bad ones of the last occurrences", "of"),
        )
        self.families = {one.name: one for one in made}

    def add(self, found: EvaluatedSlo, state: StateText) -> None:
        """Add the series of an objective."""
        record, one = found.declaration.record, found.declaration.objective
        labels = found.declaration.id, label_text(record.service), label_text(record.name)
        indicator = kind_of_indicator(one.indicator) if one else ""
        self._add(series.INFO, 1, *labels, label_text(record.dataset), indicator)
        for each in STATES:
            self._add(series.STATE, float(each == state), *labels, state_label(each))
        if one is not None:
            self._add(series.TARGET, float(one.target), *labels)
            self._add_judgement(one, found, state, labels)

    def _add_judgement(self, one: Objective, found: EvaluatedSlo, state: StateText, labels: tuple[str, ...]) -> None:
        if (judged := found.judgement) is None:
            return
        opened = {alert.notify for alert in judged.open_alerts} if state != SUPPRESSED else set[Notify]()
        for notify in {alert.notify: None for alert in one.alerting}:
            self._add(series.OPEN_ALERT, float(notify in opened), *labels, notify.value)
        if judged.budget is not None:
            self._add_budget(one, judged.budget, labels)
        rates = {rate: value for burn in judged.burns for rate, value in burn.windows}
        for length, rate in rates.items():
            self._add(series.BURN_RATE, rate, *labels, window_label(length))
        for number, bad in {missed.rule.of: missed.bad for missed in judged.missed}.items():
            self._add(series.RECENT_BAD, bad, *labels, str(number))

    def _add_budget(self, one: Objective, budget: Budget, labels: tuple[str, ...]) -> None:
        is_time = one.budgeting is Budgeting.TIMESLICES
        unit, size = ("seconds", 1_000_000) if is_time else ("occurrences", 1)
        self._add(series.GOOD, (budget.total - budget.bad) / size, *labels, unit)
        self._add(series.TOTAL, budget.total / size, *labels, unit)
        self._add(series.SUPPRESSED_SHARE, budget.suppressed_share, *labels)
        if budget.remaining is not None:
            self._add(series.REMAINING, budget.remaining, *labels)

    def _add(self, name: str, value: float, *labels: str) -> None:
        self.families[name].add_metric(labels, value)
