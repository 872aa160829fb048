"""When the data of a dataset began to violate its contract, and when that ended: a pure function over its history.

The contract is evaluated, by the function that answers what holds now, at each time at which something changed that it
depends on. Nothing is stored, so a late event moves a transition as it moves every other answer about the past.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from whence.govern.contracts.evaluation.judge import judge_rules
from whence.govern.contracts.evaluation.observations import (
    Observed,
    last_write,
    observe,
    times_of_reports,
)
from whence.govern.contracts.evaluation.schema import evaluate_contract
from whence.govern.contracts.evaluation.service_levels import LastWrite, deadlines
from whence.govern.contracts.evaluation.silent_sources import SilentTime, read_silent_times, reason_at
from whence.govern.contracts.evaluation.verdicts import Outcome, RuleVerdict
from whence.model.names import DatasetName
from whence.query.lookup.contracts import ContractedDataset, ContractVersion
from whence.query.ports.catalog import Catalog

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
    """Transitions, the latest first. `known_from`: there are no others from this time on (µs), and what was before was
    not read or is deleted; None: there are no others in the period.
    """

    found: tuple[Transition, ...] = ()
    known_from: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Times:
    """Times (µs), ascending, at which to evaluate. `known_from`: the first of them, if there may be others before.
    `silent`: when nobody knew whether the dataset was written.
    """

    every: Sequence[int]
    known_from: int | None = None
    silent: Sequence[SilentTime] = ()


def find_transitions(
    catalog: Catalog, graph: Observed, dataset: ContractedDataset, until: int, since: int | None = None
) -> Transitions:
    """The transitions of a dataset's contract until a time (µs), and only those after `since` if it is given."""
    times = _times(catalog, graph, dataset, until)
    # The last evaluation not after `since` is the state from which the first transition comes.
    wanted = times.every if since is None else times.every[max(bisect_right(times.every, since) - 1, 0) :]
    chosen = wanted[-MOST_TIMES:]
    known_from = times.known_from if len(chosen) == len(wanted) else chosen[0]
    if known_from is not None and since is not None and known_from <= since:
        known_from = None
    is_whole = times.known_from is None and len(chosen) == len(times.every)
    found = list[Transition]()
    before: States | None = {} if is_whole else None
    for time in chosen:
        after = _states(graph, dataset, time, times.silent)
        if before is not None:
            found += _changes(time, before, after)
        before = after
    return Transitions(found=tuple(sorted(found, key=_order)), known_from=known_from)


def _order(one: Transition) -> tuple[int, str, str]:
    return (-one.time, one.column, one.rule)


def _times(catalog: Catalog, graph: Observed, dataset: ContractedDataset, until: int) -> _Times:
    """When what the contract depends on changed, and when a service level ran out; from when on these are all."""
    versions = [one for one in dataset.versions if one.applied_at <= until]
    if not versions:
        return _Times(every=())
    first = min(one.applied_at for one in versions)
    reports, reports_from = times_of_reports(graph, dataset.name, until, MOST_TIMES)
    writes, writes_from = _writes(graph, dataset.name, until, first) if _has_levels(versions) else ((), None)
    ends = (end for version in versions for write in writes for end in deadlines(version, write))
    silent = read_silent_times(catalog, dataset, sorted(writes, key=lambda one: one.time), until)
    heard = (one.until for one in silent if one.until is not None)
    times = {*reports, *(write.time for write in writes), *ends, *heard}
    starts = (reports_from, writes_from, graph.runs_forgotten_before())
    known_from = max((one for one in starts if one is not None and one > first), default=None)
    every = {one for one in times if first < one <= until} | {one.applied_at for one in versions}
    if known_from is None:
        return _Times(every=sorted(every), silent=silent)
    # What holds there is what the first transition comes from.
    return _Times(
        every=sorted(one for one in {*every, known_from} if known_from <= one <= until),
        known_from=known_from,
        silent=silent,
    )


def _has_levels(versions: Iterable[ContractVersion]) -> bool:
    return any(one.levels for one in versions)


def _writes(graph: Observed, name: DatasetName, until: int, since: int) -> tuple[Sequence[LastWrite], int | None]:
    """The completed writes from the latest back to the last one before a time, at most MOST_TIMES; and the earliest of
    these if there are more.
    """
    found, at = list[LastWrite](), until
    while (write := last_write(graph, name, at)) is not None and len(found) < MOST_TIMES:
        found.append(write)
        if write.time <= since:
            return found, None
        at = write.time - 1
    return found, None if write is None else found[-1].time


def _states(graph: Observed, dataset: ContractedDataset, at: int, silent: Sequence[SilentTime]) -> States:
    held = dataset.at(at)
    if held is None:
        return {}
    data = replace(observe(graph, {dataset.name: held}, at)[dataset.name], silent=reason_at(silent, at))
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
