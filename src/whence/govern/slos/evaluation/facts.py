"""What happened to a dataset, as far as its objectives ask for it: what an evaluation reads."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import Protocol

from whence.govern.contracts.evaluation.quality import CheckResult, Report
from whence.model.names import RunName
from whence.query.answers.instants import iso


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A completed run that wrote the dataset, and when (µs). `nominal`: the start of the period that it was for.
    `rows`: how many it wrote, None if no run reports it.
    """

    time: int
    run: RunName | None = None
    nominal: int | None = None
    rows: int | float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaSeen:
    """Columns that were reported first at a time (µs), and until now last at `last`: name → type, as sorted pairs."""

    time: int
    columns: tuple[tuple[str, str], ...]
    last: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedLineage:
    """What a completed run reported of the lineage of the dataset that it wrote at a time (µs): for how many of its
    columns sources, from how many datasets, and of how many of these nobody knew the origin. `delay`: from the end of
    the run until its event was received (µs), None if that is not known.
    """

    time: int
    run: RunName | None = None
    columns: int = 0
    covered: int = 0
    sources: int = 0
    unknown: int = 0
    delay: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    """A run of a job that writes the dataset, when it was over or silent for a day (µs), and which ends it reported."""

    time: int
    run: RunName | None = None
    has_start: bool = True
    has_end: bool = True


_SILENT = "its source has been silent since "


def is_of_silence(reason: str) -> bool:
    """Whether it is for a silent source that nothing is evaluated: the reason as it is recorded."""
    return reason.startswith(_SILENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """The source of a dataset is silent from a time on (µs), and was heard of last before."""

    since: int
    heard: int

    @property
    def text(self) -> str:
        """Why nobody knows whether a dataset was written."""
        heard = iso(self.heard - self.heard % 1_000_000)
        return f"{_SILENT}{heard}: nobody knows whether it was written"


class _Timed(Protocol):
    @property
    def time(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a dataset, in any order. `since`: nothing that happened before is known (µs)."""

    writes: tuple[Write, ...] = ()
    reports: tuple[Report, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    schemas: tuple[SchemaSeen, ...] = ()
    lineage: tuple[ReportedLineage, ...] = ()
    runs: tuple[ReportedRun, ...] = ()
    since: int = 0
    silence: Silence | None = None
    """Of the source of the dataset, at the end of what is known."""

    def until(self, at: int) -> "Facts":
        """What had happened at a time (µs)."""
        kinds: tuple[Sequence[_Timed], ...] = (
            self.writes,
            self.reports,
            self.checks,
            self.schemas,
            self.lineage,
            self.runs,
        )
        if all(one.time <= at for some in kinds for one in some) and all(one.last <= at for one in self.schemas):
            return self
        return Facts(
            writes=tuple(one for one in self.writes if one.time <= at),
            reports=tuple(one for one in self.reports if one.time <= at),
            checks=tuple(one for one in self.checks if one.time <= at),
            schemas=tuple(self._schemas_until(at)),
            lineage=tuple(one for one in self.lineage if one.time <= at),
            runs=tuple(one for one in self.runs if one.time <= at),
            since=self.since,
            silence=self.silence,
        )

    def _schemas_until(self, at: int) -> Iterator[SchemaSeen]:
        """Schemas as they were known. Of one that was reported later again, its last report until then is not known:
        it is taken to be the last write.
        """
        written = max((one.time for one in self.writes if one.time <= at), default=0)
        for one in self.schemas:
            if one.time <= at:
                yield one if one.last <= at else replace(one, last=max(one.time, written))


def refreshing(facts: Facts) -> list[Write]:
    """The writes that bring newer data, in order: some rows, and not of an earlier period than one before.

    A backfill, whose nominal time lies behind, refreshes nothing.
    """
    found = list[Write]()
    newest: int | None = None
    for one in _ordered(facts.writes):
        if one.rows == 0:
            continue
        if one.nominal is not None:
            if newest is not None and one.nominal < newest:
                continue
            newest = one.nominal
        found.append(one)
    return found


def backfills(facts: Facts) -> frozenset[RunName]:
    """The runs that wrote an earlier period than a run before them."""
    found = set[RunName]()
    newest: int | None = None
    for one in _ordered(facts.writes):
        if one.nominal is None:
            continue
        if newest is not None and one.nominal < newest and one.run is not None:
            found.add(one.run)
        newest = one.nominal if newest is None else max(newest, one.nominal)
    return frozenset(found)


def _ordered(writes: Iterable[Write]) -> Sequence[Write]:
    """By time, and by all else where times are equal."""
    found = sorted(writes, key=attrgetter("time"))
    is_total = all(one.time < other.time for one, other in pairwise(found))
    return found if is_total else sorted(found, key=_order)


def _order(one: Write) -> tuple[int, int, float, str]:
    nominal = -1 if one.nominal is None else one.nominal
    return one.time, nominal, -1.0 if one.rows is None else float(one.rows), str(one.run)
