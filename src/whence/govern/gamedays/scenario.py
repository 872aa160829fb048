"""A scenario: an estate of scheduled jobs, the faults that are injected into it, and what is expected to be found."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from whence.govern.slos.objectives import Objective
from whence.model.names import DatasetName, JobName

MINUTE = 60_000_000
DAY = 1_440 * MINUTE

Source = tuple[str, str]
"""A column that another is computed from: the key of its dataset, and its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column, its type, and the columns that it is computed from."""

    name: str
    type: str = "string"
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A dataset of the estate. `key`: how the scenario refers to it; `rows`: how many a run writes, about.

    `kind`: its dataset type (MODEL, DASHBOARD), empty for a table. `tier`: 1 is the most critical.
    """

    key: str
    name: DatasetName
    owner: str = ""
    tier: int | None = None
    kind: str = ""
    rows: int = 1_000
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A job that runs on a schedule: the first time each day at `at`, then `every` (µs); a run takes `takes` (µs).

    `reads` and `writes` are keys of datasets. `dag`: the pipeline that it is a task of; `commit`: the version of its
    code.
    """

    name: JobName
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    at: int
    every: int = DAY
    takes: int = 5 * MINUTE
    dag: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with the runs of a job from the start of the fault until it is fixed.

    `missing`: it does not run; `fails`: it fails with this message; `late`: it starts so much later (µs). What it
    writes: `rows` and `copies` are factors of the rows, copies being duplicates; `nulls`: the share of values that are
    missing, by column; `drops`, `adds`, `renames`, `retypes`: columns. `reads`: keys that it reads in place of others.
    `commit`: the version of the code that brought the fault.
    """

    job: JobName
    missing: bool = False
    fails: str = ""
    late: int = 0
    rows: float = 1.0
    copies: float = 1.0
    nulls: Mapping[str, float]
    drops: frozenset[str] = frozenset()
    adds: Mapping[str, str]
    renames: Mapping[str, str]
    retypes: Mapping[str, str]
    reads: Mapping[str, str]
    commit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What is to be found. `symptom`: where people notice it; `root`: the dataset where it began, and perhaps the
    column that is wrong; `owner`: who is asked to act.

    `contained`: the jobs to be paused. `detected_within`, `closed_within`: after the fault began, and after it was
    fixed (µs).
    """

    symptom: Source
    root: Source
    owner: str
    contained: frozenset[JobName]
    detected_within: int
    closed_within: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A scenario. The estate is well from `start` (µs) until `fault_at`; the faults are fixed at `fixed_at`."""

    name: str
    title: str
    origin: str
    start: int
    fault_at: int
    fixed_at: int
    tables: Mapping[str, Table]
    tasks: tuple[Task, ...]
    faults: tuple[Fault, ...]
    objectives: tuple[Objective, ...]
    expected: Expected

    @property
    def end(self) -> int:
        """When it is over (µs)."""
        return self.fixed_at + self.expected.closed_within

    def moved_to_end_before(self, time: int) -> "Scenario":
        """The same some weeks earlier or later, so that it ends in the week before a time (µs), on the same weekday."""
        weeks = (time - self.end) // (7 * DAY) * 7 * DAY
        return replace(self, start=self.start + weeks, fault_at=self.fault_at + weeks, fixed_at=self.fixed_at + weeks)

    def fault_of(self, job: JobName, at: int) -> Fault | None:
        """What is wrong with a run of a job that is scheduled for a time (µs)."""
        if not self.fault_at <= at < self.fixed_at:
            return None
        return next((one for one in self.faults if one.job == job), None)
