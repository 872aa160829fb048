"""Short, unambiguous labels of datasets, fields, jobs, runs and ages."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from whence.cli.output.streams import safe
from whence.client.values.graph import Evidence, RunSeen
from whence.model.names import DatasetName, FieldName, JobName, Node, parse_node
from whence.query.answers.instants import read_iso
from whence.query.answers.values import dataset_of
from whence.query.lookup.resolve import forms

_STATES = {"FAIL": " failed", "ABORT": " aborted", "START": " running", "RUNNING": " running"}
_LONG_JOB = 40
_UNITS = ((86_400, "day"), (3_600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of all names in one answer."""

    whole: Mapping[DatasetName | JobName, str]

    def of(self, name: Node) -> str:
        """A short name, safe to print."""
        match name:
            case FieldName(dataset, field):
                return f"{self.whole.get(dataset, safe(dataset.name))}.{safe(field)}"
            case DatasetName() | JobName():
                return self.whole.get(name, safe(name.name))


@lru_cache(maxsize=65_536)
def name_of(node: str) -> Node:
    """The name in a node id."""
    return parse_node(node) or JobName("", node)


def label(names: Iterable[Node], more: str = "…") -> Labels:
    """The shortest ends of names that are still distinct.

    A table keeps at least its schema and name, a path at least its last part. A long job name of several dotted parts,
    as Spark's are, keeps the first and the last, with `more` between them.
    """
    known = set(names)
    datasets = {dataset for name in known if (dataset := dataset_of(name))}
    return Labels(_shortened(datasets) | _jobs({name for name in known if isinstance(name, JobName)}, more))


def run_of(evidence: Iterable[Evidence], now: int) -> str:
    """The latest run in some evidence and its age, or the age of a declaration. `now` in microseconds UTC."""
    runs = [run for one in evidence for run in one.runs]
    if not runs:
        last = max((read_iso(one.last_seen.time) for one in evidence), default=None)
        return "" if last is None else f"declared {age(now - last)}"
    run = max(runs, key=lambda one: (read_iso(one.said_at), one.run))
    return f"run {safe(short_run(_run_id(run)))}{_STATES.get(run.state, '')}, {age(now - _spoke_at(run))}"


def age(microseconds: int) -> str:
    """An age in the largest fitting unit."""
    seconds = microseconds // 1_000_000
    for size, unit in _UNITS:
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''} ago"
    return "just now"


def _run_id(run: RunSeen) -> str:
    return run.run.removeprefix("run:")


def _spoke_at(run: RunSeen) -> int:
    times = (read_iso(time) for time in (run.ended_at, run.last_seen) if time)
    return next(filter(None, times), 0) or read_iso(run.said_at)


def short_run(run_id: str) -> str:
    """Eight digits of a run id: the first ones, or the last ones if the first are a time, which neighbours share."""
    is_time_first = run_id[14:15] == "7"  # RFC 9562: the version is the 13th digit
    return run_id[-8:] if is_time_first else run_id[:8]


def _jobs(jobs: set[JobName], more: str) -> dict[DatasetName | JobName, str]:
    """For each job the first unique one of: the name without its middle, the name, the complete name."""
    labels: dict[DatasetName | JobName, str] = {}
    for form in (lambda job: _without_middle(job.name, more), lambda job: job.name, _with_namespace):
        forms_left = {job: form(job) for job in jobs if job not in labels}
        counts = Counter(forms_left.values())
        labels |= {job: safe(text) for job, text in forms_left.items() if counts[text] == 1}
    return labels


def _with_namespace(job: JobName) -> str:
    return f"{job.namespace}/{job.name}"


def _without_middle(name: str, more: str) -> str:
    parts = name.split(".")
    return name if len(name) <= _LONG_JOB or len(parts) < 3 else f"{parts[0]}{more}{parts[-1]}"


def _shortened(datasets: set[DatasetName]) -> dict[DatasetName | JobName, str]:
    """For each dataset the first unique end of its name. Files that differ by their extensions keep these."""
    short: dict[DatasetName | JobName, str] = {}
    left, length = datasets, 1
    while left:
        ends = {one: _end(one, length) for one in left}
        short |= _unique(ends, short.values())
        whole = {one: end + _extension(one) for one, end in ends.items() if one not in short}
        short |= _unique(whole, short.values())
        left = {one for one in left if one not in short and length < len(forms(one)[0])}
        length += 1
    return short | {one: safe(str(one)) for one in datasets if one not in short}


def _unique(ends: Mapping[DatasetName, str], taken: Iterable[str]) -> dict[DatasetName | JobName, str]:
    texts = {one: safe(end) for one, end in ends.items()}
    counts = Counter((*texts.values(), *taken))
    return {one: text for one, text in texts.items() if counts[text] == 1}


def _end(dataset: DatasetName, length: int) -> str:
    """The last parts of a name: of a path `length` of them without the extension, of a table one more. A name of one
    part, such as a topic's, has its namespace before it.
    """
    parts = forms(dataset)[-1]
    if not parts:
        return str(dataset)
    if "/" in dataset.name or _extension(dataset) or len(parts) == 1:
        return "/".join(parts[-length:])
    if "." in dataset.name:
        return ".".join(parts[-min(length + 1, len(parts)) :])
    return parts[-1] if length == 1 else f"{dataset.namespace}/{dataset.name}"


def _extension(dataset: DatasetName) -> str:
    """The extension of a file's name, with its dot; empty for other datasets."""
    return f".{dataset.name.rpartition('.')[2]}" if len(forms(dataset)) > 1 else ""
