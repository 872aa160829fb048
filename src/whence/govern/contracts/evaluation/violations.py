"""From when until when data violated the rules of their contract: a pure function of versions and of what was observed.

It says at each time what an evaluation at that time says, and needs no evaluation of everything at every time: columns
are judged when they were reported, rules when a check or a measurement decides them, levels when one runs out.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from whence.govern.contracts.evaluation.quality import CheckResult, Report, judge_each
from whence.govern.contracts.evaluation.service_levels import LastWrite, deadlines, judge_levels
from whence.govern.contracts.evaluation.silent_sources import SilentTime, reason_at
from whence.govern.contracts.evaluation.transitions import judge_columns
from whence.govern.contracts.evaluation.verdicts import Outcome, RuleVerdict
from whence.model.graph import SchemaRow
from whence.model.names import DatasetName
from whence.query.history.schemas import columns_of, schema_at
from whence.query.lookup.contracts import ContractedDataset, ContractVersion

Key = tuple[str, str]
"""A rule and its column, in lower case."""
Entry = tuple[int, RuleVerdict | None]
"""A verdict that holds from a time on (µs); None: the contract has no such rule any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedHistory:
    """What was observed of a dataset. Reports and checks: the latest first; schemas in any order; writes: the earliest
    first. `silent`: when nobody knew whether it was written.
    """

    schemas: tuple[SchemaRow, ...] = ()
    reports: tuple[Report, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    writes: tuple[LastWrite, ...] = ()
    silent: tuple[SilentTime, ...] = ()


NOTHING = ObservedHistory()


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A rule that is violated from a time on (µs) until another, None while it is. `verdict`: the last one.

    `good_at`: the report or write by which it held before, or when a violation before it ended; 0: none is known. A
    report of a violation that arrives late leaves that as it is.
    """

    dataset: DatasetName
    since: int
    until: int | None = None
    good_at: int = 0
    verdict: RuleVerdict


def find_violations(dataset: ContractedDataset, seen: ObservedHistory, until: int) -> Sequence[Violation]:
    """The violations of the contract of a dataset that were known at a time (µs), of each rule in order. That nothing
    is reported any more ends none.
    """
    begins = sorted({one.applied_at for one in dataset.versions if one.applied_at <= until})
    entries: dict[Key, list[Entry]] = {}
    for begin, end in pairwise([*begins, until + 1]):
        held = dataset.at(begin)
        found = {} if held is None else _judge(held, seen, begin, end)
        for key in entries.keys() - found.keys():
            entries[key].append((begin, None))
        for key, some in found.items():
            entries.setdefault(key, []).extend(some)
    return [one for _, some in sorted(entries.items()) for one in _violations(dataset.name, some)]


def _violations(dataset: DatasetName, entries: Iterable[Entry]) -> Iterator[Violation]:
    current: Violation | None = None
    good_at = 0
    for time, verdict in entries:
        if verdict is not None and verdict.outcome is Outcome.NOT_EVALUATED:
            continue
        if verdict is not None and verdict.outcome is Outcome.VIOLATED:
            new = Violation(dataset=dataset, since=time, good_at=good_at, verdict=verdict)
            current = new if current is None else replace(current, verdict=verdict)
            continue
        if verdict is not None and verdict.time is not None:
            good_at = verdict.time
        elif current is not None:
            good_at = time
        if current is not None:
            yield replace(current, until=time)
            current = None
    if current is not None:
        yield current


def _judge(held: ContractVersion, seen: ObservedHistory, begin: int, end: int) -> Mapping[Key, Sequence[Entry]]:
    """The verdicts on a version that held from a time on (µs), and not at another any more."""
    found: dict[Key, list[Entry]] = {}
    for time in _between(_schema_times(seen.schemas), begin, end):
        for one in judge_columns(held, columns_of(schema_at(seen.schemas, time))):
            found.setdefault(_key(one.rule, one.column), []).append((time, one))
    for rule, verdicts in judge_each(held, seen.reports, seen.checks):
        found[_key(rule.name, rule.column)] = list(_within(verdicts, begin, end))
    for time, one in _judge_levels(held, seen, begin, end):
        found.setdefault(_key(one.rule, one.column), []).append((time, one))
    return found


def _schema_times(schemas: Iterable[SchemaRow]) -> Iterator[int]:
    """When another schema may count: one that began before and is reported again counts from right after the last one
    on (`schema_at`).
    """
    for one in schemas:
        yield from (one.first_time, one.last_time, one.last_time + 1)


def _judge_levels(
    held: ContractVersion, seen: ObservedHistory, begin: int, end: int
) -> Iterator[tuple[int, RuleVerdict]]:
    if not held.levels:
        return
    writes, written = seen.writes, [one.time for one in seen.writes]
    heard = (one.until for one in seen.silent if one.until is not None)
    for time in _between((*_level_times(held, writes), *heard), begin, end):
        place = bisect_right(written, time)
        silent = reason_at(seen.silent, time)
        for verdict in judge_levels(held, writes[place - 1] if place else None, time, silent):
            yield time, verdict


def _level_times(held: ContractVersion, writes: Sequence[LastWrite]) -> Iterator[int]:
    """When a write is too old before the next one comes; and the writes before and after that."""
    for place, write in enumerate(writes):
        after = writes[place + 1].time if place + 1 < len(writes) else None
        too_old = [one for one in deadlines(held, write) if after is None or one < after]
        if too_old:
            yield from (write.time, *too_old, *(() if after is None else (after,)))


def _within(verdicts: Iterable[RuleVerdict], begin: int, end: int) -> Iterator[Entry]:
    """The last verdict until the begin of a period, and those in it."""
    first: RuleVerdict | None = None
    rest = list[Entry]()
    for one in verdicts:
        assert one.time is not None
        if one.time <= begin:
            first = one
        elif one.time < end:
            rest.append((one.time, one))
    if first is not None:
        yield begin, first
    yield from rest


def _between(times: Iterable[int], begin: int, end: int) -> Sequence[int]:
    return [begin, *sorted({one for one in times if begin < one < end})]


def _key(rule: str, column: str) -> Key:
    return rule, column.casefold()
