"""Service levels of a contract, judged by when the dataset was written last. A pure function of that and a time."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whence.govern.contracts.evaluation.verdicts import Outcome, Range, RuleVerdict, fulfils
from whence.govern.contracts.thresholds import seconds_in
from whence.model.names import RunName
from whence.query.lookup.contracts import ContractVersion, PromisedLevel

_WRITTEN = frozenset(("frequency", "frequencyofupdate"))
"""At most this long between two writes."""
_AGE = frozenset(("freshness", "latency"))
"""At most this old, at any time."""
_DATES = frozenset(("endofsupport", "endoflife", "generalavailability"))
"""Days of the contract, not conditions on its data."""
_WORDS = re.compile(r"[^a-z]")
_LIMIT = "mustBeLessOrEqualTo"


@dataclass(frozen=True, slots=True)
class LastWrite:
    """The last completed run that wrote a dataset, and when (µs)."""

    time: int
    run: RunName | None


def judge_levels(
    held: ContractVersion, written: LastWrite | None, at: int, silent: str = ""
) -> tuple[RuleVerdict, ...]:
    """Judge the service levels of a version at a time (µs). `silent`: why nobody knows whether it was written later."""
    return tuple(_judge(one, written, at, silent) for one in held.levels if _name(one) not in _DATES)


def deadlines(held: ContractVersion, written: LastWrite) -> Iterator[int]:
    """The first times (µs) at which a write is too old for a service level of a version."""
    for level in held.levels:
        limit = _limit(level)
        if _name(level) in _WRITTEN | _AGE and limit is not None:
            yield written.time + int(limit * 1_000_000) + 1


def _limit(level: PromisedLevel) -> float | None:
    """The seconds of a service level; None if it is no number of a known unit of time."""
    seconds = seconds_in(level.unit)
    if seconds is None or isinstance(level.value, bool) or not isinstance(level.value, int | float):
        return None
    return float(level.value * seconds)


def _judge(level: PromisedLevel, written: LastWrite | None, at: int, silent: str) -> RuleVerdict:
    name, limit = _name(level), _limit(level)
    if name not in _WRITTEN | _AGE:
        return _not_evaluated(level, _UNKNOWN.get(name, "no run reports it"))
    if limit is None:
        return _not_evaluated(level, "it is no number of a known unit of time")
    if written is None:
        return _not_evaluated(level, "no completed run has written the dataset")
    age = max(0, at - written.time) / 1_000_000
    # The values of a column are at least as old as the write that brought them.
    found = Range(age, float("inf") if name in _AGE and "." in level.element else age)
    answer = fulfils({_LIMIT: limit}, found)
    if silent and answer is False:
        return _not_evaluated(level, silent)
    return RuleVerdict(
        rule=level.property,
        column=_column(level),
        outcome={True: Outcome.HOLDS, False: Outcome.VIOLATED, None: Outcome.NOT_EVALUATED}[answer],
        expected=_expected(level),
        observed=f"last written {_duration(age)} before",
        reason="" if answer is not None else "the age of the values is not known, only that of the last write",
        time=written.time,
        run=written.run,
    )


_UNKNOWN = {"retention": "no run reports how long rows are kept"}


def _not_evaluated(level: PromisedLevel, reason: str) -> RuleVerdict:
    return RuleVerdict(
        rule=level.property,
        column=_column(level),
        outcome=Outcome.NOT_EVALUATED,
        expected=_expected(level),
        reason=reason,
    )


def _name(level: PromisedLevel) -> str:
    return _WORDS.sub("", level.property.casefold())


def _column(level: PromisedLevel) -> str:
    return level.element.partition(".")[2] if "," not in level.element else ""


def _expected(level: PromisedLevel) -> str:
    return f"{level.value} {level.unit}".strip()


def _duration(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
