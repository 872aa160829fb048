"""Objectives that the last 30 days of a dataset would have kept, as a file `slos.yaml`.

docs/reference/slos.md states the rule.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

from whence.govern.slos.evaluation.facts import Facts, refreshing
from whence.govern.slos.evaluation.judge import judge
from whence.govern.slos.objectives import DAY
from whence.govern.slos.slo_file import read_slos
from whence.model.ids import node_id
from whence.model.names import DatasetName

PERIOD = 30 * DAY
"""Of what happened in it, objectives are suggested: the time window that they have, too."""
_MINUTE, _HOUR = 60_000_000, 3_600_000_000
LEAST_WRITES = 10
"""Fewer say too little."""
_LEAST_ROWS = 28
"""Runs with a number of rows: twice the history of the rule of volume."""
_LIMITS = (15, 30, 60, 120, 180, 240, 360, 480, 720, 1_560, 3_000, 10_080)
"""Minutes: a quarter of an hour to a week; a daily table has 26 hours."""
_DELAYS = (1, 5, 15, 60, 360)
"""Minutes."""
_SHARES = (95, 90, 80, 60)
"""Per cent of the columns of a dataset."""
_SLACK = 1.05
"""A limit is at least the 95th percentile of the gaps times this."""
_TARGETS = ("99.5", "99", "98", "95", "90", "80")
"""Per cent. Higher ones are for people to choose."""
_LONGEST_NAME = 150
_RUNBOOK = (
    "# Some of these page, so they need a runbook: https://… with what to do (or a tag `runbook` of each dataset)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """An objective as it is written, and why."""

    name: str
    dataset: DatasetName
    indicator: Mapping[str, Any]
    target: str
    reason: str

    @property
    def members(self) -> Mapping[str, Any]:
        """Its members in the file."""
        about = {"name": self.name, "dataset": str(self.dataset), "description": self.reason}
        return {**about, "indicator": self.indicator, "objective": {"target": f"{self.target}%"}}


def suggest_objectives(dataset: DatasetName, facts: Facts, at: int) -> Iterator[Suggestion]:
    """Suggest objectives for a dataset by what happened in the `PERIOD` until a time (µs)."""
    writes = [one for one in refreshing(facts.until(at)) if at - PERIOD <= one.time]
    if len(writes) < LEAST_WRITES:
        return
    gaps = sorted(later.time - earlier.time for earlier, later in pairwise(writes))
    usual = gaps[ceil(len(gaps) * 0.95) - 1]
    limit = next((one for one in _LIMITS if one * _MINUTE >= _SLACK * usual), None)
    if limit is not None:
        reason = f"95 % of {len(gaps)} gaps between writes were at most {_length_text(usual)}"
        yield from _with_target(dataset, ("is fresh", {"freshness": {"limit": _limit_text(limit)}}, reason), facts, at)
    yield from _suggest_lineage(dataset, facts, at)
    counted = sum(one.rows is not None for one in writes)
    if counted >= _LEAST_ROWS:
        yield from _with_target(dataset, ("has its rows", {"volume": {}}, f"{counted} runs say their rows"), facts, at)


def _suggest_lineage(dataset: DatasetName, facts: Facts, at: int) -> Iterator[Suggestion]:
    """Bounds of what runs reported of lineage, each if at least `LEAST_WRITES` runs say."""
    reported = [one for one in facts.until(at).lineage if at - PERIOD <= one.time]
    shares = sorted(one.covered / one.columns for one in reported if one.columns)
    if len(shares) >= LEAST_WRITES and (least := _least_share(shares)):
        reason = f"95 % of {len(shares)} runs report sources of at least {least} % of the columns"
        indicator = {"lineage": {"metric": "coverage", "atLeast": f"{least}%"}}
        yield from _with_target(dataset, ("has column lineage", indicator, reason), facts, at)
    delays = sorted(max(one.delay, 0) for one in reported if one.delay is not None)
    usual = delays[ceil(len(delays) * 0.95) - 1] if delays else 0
    limit = next((one for one in _DELAYS if one * _MINUTE >= _SLACK * usual), None)
    if len(delays) >= LEAST_WRITES and limit is not None:
        reason = f"95 % of {len(delays)} runs were received within {_length_text(usual)}"
        indicator = {"lineage": {"metric": "captureLatency", "atMost": _limit_text(limit)}}
        yield from _with_target(dataset, ("is captured in time", indicator, reason), facts, at)
    runs = sum(at - PERIOD <= one.time <= at for one in facts.runs)
    if runs >= LEAST_WRITES:
        reason = f"{runs} runs of the jobs that write it are known"
        yield from _with_target(dataset, ("loses no runs", {"lineage": {"metric": "loss"}}, reason), facts, at)


def _least_share(shares: Sequence[float]) -> int:
    """The greatest of `_SHARES` (per cent) that 95 % reach; 0: none."""
    reached = shares[len(shares) - ceil(len(shares) * 0.95)]
    return next((one for one in _SHARES if reached >= one / 100), 0)


def write_suggestions(service: str, some: Sequence[Suggestion]) -> str:
    """The file: YAML whose values are JSON. Raises RulesFileError if `service` is blank or too long."""
    lines = ["version: 1", f"service: {_json(service)}", "slos:" if some else "slos: []"]
    for one in some:
        members = [f"{key}: {_json(value)}" for key, value in one.members.items()]
        lines += [f"{'    ' if place else '  - '}{line}" for place, line in enumerate(members)]
    text = "\n".join(lines) + "\n"
    found = read_slos(text, "suggestions")
    return f"{_RUNBOOK}\n{text}" if any(one.pages for one in found.objectives) else text


def _with_target(
    dataset: DatasetName, wanted: tuple[str, Mapping[str, Any], str], facts: Facts, at: int
) -> Iterator[Suggestion]:
    """The suggestion with the highest target that was kept; none if not even the lowest one was."""
    what, indicator, reason = wanted
    for target in _TARGETS:
        found = Suggestion(
            name=f"{_short_name(dataset)} {what}", dataset=dataset, indicator=indicator, target=target, reason=reason
        )
        (one,) = read_slos(_json({"version": 1, "service": "suggested", "slos": [found.members]})).objectives
        budget = judge(one, facts, at).budget
        if budget is not None and budget.total and budget.bad <= budget.allowed:
            yield found
            return


def _short_name(dataset: DatasetName) -> str:
    """The namespace, since production and staging have the same tables; a hash where a name cannot be written."""
    text = f"{dataset.namespace} {dataset.name}"
    if len(text) <= _LONGEST_NAME and text.isprintable() and text == " ".join(text.split()):
        return text
    return f"{text[:_LONGEST_NAME].strip()} {node_id(dataset) % 2**64:016x}"


def _json(value: object) -> str:
    """A value as JSON that is YAML, too: what cannot be printed is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in text)


def _limit_text(minutes: int) -> str:
    return f"{minutes}m" if minutes % 60 else f"{minutes // 60}h"


def _length_text(micros: int) -> str:
    if micros < _MINUTE:
        return f"{micros / 1_000_000:.3g} s"
    return f"{micros / _HOUR:.3g} h" if micros >= _HOUR else f"{micros / _MINUTE:.3g} min"
