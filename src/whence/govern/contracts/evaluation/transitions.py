"""When the data of a dataset began to violate its contract, and when that ended: a pure function over its history.

The contract is evaluated, by the function that answers what holds now, at each time at which something changed that it
depends on. Nothing is stored, so a late event moves a transition as it moves every other answer about the past.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.govern.contracts.evaluation.judge import judge_rules
from whence.govern.contracts.evaluation.observations import (
    Observed,
    last_write,
    observe,
    times_of_reports,
)
from whence.govern.contracts.evaluation.schema import evaluate_contract
from whence.govern.contracts.evaluation.service_levels import LastWrite, deadlines
from whence.govern.contracts.evaluation.verdicts import Outcome, RuleVerdict
from whence.model.names import DatasetName
from whence.query.lookup.contracts import ContractedDataset, ContractVersion

MOST_TIMES = 50
"""The times at which a contract is evaluated for one answer: the latest."""
COLUMN = "column"
"""The rule that a promised column is reported, with its type."""

States = Mapping[tuple[str, str], RuleVerdict]
"""Rule and column → the verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """A rule that is violated from a time on (µs), or no longer. `before` and `after` are None without the rule."""

    time: int
    rule: str
    column: str
    before: Outcome | None
    after: Outcome | None
    verdict: RuleVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Transitions:
    """Transitions, the latest first. `complete`: there are no others in the period."""

    found: tuple[Transition, ...] = ()
    complete: bool = True


def find_transitions(graph: Observed, dataset: ContractedDataset, until: int, since: int | None = None) -> Transitions:
    """The transitions of a dataset's contract until a time (µs), and only those after `since` if it is given."""
    times = _times(graph, dataset, until)
    # The last evaluation not after `since` is the state from which the first transition comes.
    wanted = times if since is None else times[max(bisect_right(times, since) - 1, 0) :]
    chosen = wanted[-MOST_TIMES:]
    is_complete = len(chosen) == len(wanted)
    found = list[Transition]()
    before: States | None = {} if len(chosen) == len(times) else None
    for time in chosen:
        after = _states(graph, dataset, time)
        if before is not None:
            found += _changes(time, before, after)
        before = after
    return Transitions(found=tuple(sorted(found, key=_order)), complete=is_complete)


def _order(one: Transition) -> tuple[int, str, str]:
    return (-one.time, one.column, one.rule)


def _times(graph: Observed, dataset: ContractedDataset, until: int) -> Sequence[int]:
    """When what the contract depends on changed, and when a service level ran out."""
    versions = [one for one in dataset.versions if one.applied_at <= until]
    times = {one.applied_at for one in versions}
    if versions:
        first = min(times)
        times |= {one for one in times_of_reports(graph, dataset.name, until, MOST_TIMES) if one > first}
        for write in _writes(graph, dataset.name, until, first):
            ends = (end for version in versions for end in deadlines(version, write))
            times |= {time for time in (write.time, *ends) if first < time <= until}
    return sorted(times)


def _writes(graph: Observed, name: DatasetName, until: int, since: int) -> Iterator[LastWrite]:
    """The completed writes from the latest back to the last one before a time, at most MOST_TIMES."""
    at = until
    for _ in range(MOST_TIMES):
        write = last_write(graph, name, at)
        if write is None:
            return
        yield write
        if write.time <= since:
            return
        at = write.time - 1


def _states(graph: Observed, dataset: ContractedDataset, at: int) -> States:
    held = dataset.at(at)
    if held is None:
        return {}
    data = observe(graph, {dataset.name: held}, at)[dataset.name]
    verdicts = (*judge_columns(held, data.columns), *judge_rules(held, data, at))
    return {(one.rule, one.column.casefold()): one for one in verdicts}


def judge_columns(held: ContractVersion, seen: Mapping[str, str]) -> Iterator[RuleVerdict]:
    """The verdicts on the promised columns. `seen`: the columns that runs report, and their types."""
    found = evaluate_contract(held, seen)
    violated = {one.column.casefold(): one for one in found.violations}
    for column in held.columns:
        violation = violated.get(column.name.casefold())
        if violation is not None:
            yield RuleVerdict(
                rule=COLUMN,
                column=column.name,
                outcome=Outcome.VIOLATED,
                expected=violation.expected,
                observed=violation.observed or "not reported",
            )
        else:
            outcome = Outcome.NOT_EVALUATED if found.not_evaluated else Outcome.HOLDS
            yield RuleVerdict(rule=COLUMN, column=column.name, outcome=outcome, reason=found.not_evaluated)


def _changes(time: int, before: States, after: States) -> Iterator[Transition]:
    """The rules that are violated before or after, and not both."""
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        was, is_ = (None if one is None else one.outcome for one in (old, new))
        if was is not is_ and Outcome.VIOLATED in (was, is_):
            verdict = new if new is not None else before[key]
            yield Transition(
                time=time, rule=verdict.rule, column=verdict.column, before=was, after=is_, verdict=verdict
            )
