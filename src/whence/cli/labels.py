"""Short names that say enough: for datasets, fields and jobs as a person reads them, runs, ages."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whence.cli.output import safe
from whence.model.events import RunState
from whence.model.graph import Evidence
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers import dataset_of
from whence.query.resolve import forms

_STATES = {
    RunState.FAIL: " failed",
    RunState.ABORT: " aborted",
    RunState.START: " running",
    RunState.RUNNING: " running",
}
_UNITS = ((86_400, "day"), (3_600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of all names in one answer."""

    whole: Mapping[DatasetName | JobName, str]

    def of(self, name: Node) -> str:
        """A name, short; safe to print."""
        match name:
            case FieldName(dataset, field):
                return f"{self.whole.get(dataset, safe(dataset.name))}.{safe(field)}"
            case DatasetName() | JobName():
                return self.whole.get(name, safe(name.name))


def label(names: Iterable[Node]) -> Labels:
    """The shortest ends of names that still differ from each other.

    Of a table at least its schema and name, of a path at least its last part.
    """
    known = set(names)
    datasets = {dataset for name in known if (dataset := dataset_of(name))}
    return Labels(_shortened(datasets) | _jobs({name for name in known if isinstance(name, JobName)}))


def run_of(evidence: Iterable[Evidence], now: int) -> str:
    """The latest run behind some evidence and its age, or the age of a declaration. `now` in microseconds UTC."""
    runs = [run for one in evidence for run in one.runs]
    if not runs:
        last = max((one.last.time for one in evidence), default=None)
        return "" if last is None else f"declared {age(now - last)}"
    run = max(runs, key=lambda one: (one.said_at, one.name.run_id))
    at = run.ended_at or run.last_seen or run.said_at
    return f"run {safe(run.name.run_id[:8])}{_STATES.get(run.state, '')}, {age(now - at)}"


def age(microseconds: int) -> str:
    """How long ago, in the largest unit that fits."""
    seconds = microseconds // 1_000_000
    for size, unit in _UNITS:
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''} ago"
    return "just now"


def _jobs(jobs: set[JobName]) -> dict[DatasetName | JobName, str]:
    counts = Counter(job.name for job in jobs)
    return {job: safe(job.name if counts[job.name] == 1 else f"{job.namespace}/{job.name}") for job in jobs}


def _shortened(datasets: set[DatasetName]) -> dict[DatasetName | JobName, str]:
    short: dict[DatasetName | JobName, str] = {}
    left, length = datasets, 1
    while left:
        ends = {one: _end(one, length) for one in left}
        counts = Counter(ends.values())
        short |= {one: safe(end) for one, end in ends.items() if counts[end] == 1}
        left = {one for one in left if counts[ends[one]] > 1 and length < len(forms(one)[0])}
        short |= {one: safe(str(one)) for one, end in ends.items() if counts[end] > 1 and one not in left}
        length += 1
    return short


def _end(dataset: DatasetName, length: int) -> str:
    """The last parts of a name: of a path `length` of them without the extension, of a table one more."""
    parts = forms(dataset)[-1]
    if not parts:
        return str(dataset)
    if "/" in dataset.name or len(parts) == 1:
        return "/".join(parts[-length:])
    return ".".join(parts[-min(length + 1, len(parts)) :]) if "." in dataset.name or length > 1 else parts[-1]
