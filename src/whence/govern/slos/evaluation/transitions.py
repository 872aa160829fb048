"""The transitions of objectives: which violations began and ended, and which alerts opened and closed, in order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from whence.govern.slos.evaluation.facts import Facts
from whence.govern.slos.evaluation.judge import Judgement, judge
from whence.govern.slos.objectives import Notify, Objective
from whence.model.names import DatasetName


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """An objective whose indicator is bad from a time on (µs), or no longer; or an alert that opens or closes.

    `notify` and `rule` are of an alert; None and empty for a violation.
    """

    time: int
    dataset: str
    objective: str
    begins: bool
    notify: Notify | None = None
    rule: str = ""

    @property
    def order(self) -> tuple[int, str, str, bool, str, str]:
        """By time; what ends at a time is before what begins."""
        return self.time, self.dataset, self.objective, self.begins, self.notify or "", self.rule


def replay(
    objectives: Sequence[Objective], facts: Mapping[DatasetName, Facts], since: int, until: int
) -> tuple[Transition, ...]:
    """The transitions from a time (µs) until another that the facts imply, whatever the order in which they arrived."""
    found = (
        transition
        for one in objectives
        for transition in transitions_of(one, judge(one, facts.get(one.dataset, Facts()), until))
    )
    return tuple(sorted((one for one in found if since <= one.time <= until), key=lambda one: one.order))


def transitions_of(one: Objective, found: Judgement) -> Iterator[Transition]:
    """The transitions of one objective."""
    new = partial(Transition, dataset=str(one.dataset), objective=one.name)
    for violation in found.violations:
        yield new(time=violation.start, begins=True)
        if violation.end is not None:
            yield new(time=violation.end, begins=False)
    for alert in found.alerts:
        yield new(time=alert.start, begins=True, notify=alert.notify, rule=alert.rule)
        if alert.end is not None:
            yield new(time=alert.end, begins=False, notify=alert.notify, rule=alert.rule)
