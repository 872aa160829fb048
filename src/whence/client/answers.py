"""Answers as typed values: the JSON documents of the API (docs/reference/http-api.md), frozen.

Nodes and runs are node ids (`dataset:…`, `run:…`), times ISO 8601 in UTC.
"""

from collections.abc import Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from whence.client import data_frames, notebook
from whence.client.sensitivity import FoundNode, PlaceOfPersonalData, SensitivityLabel
from whence.client.timeline import ChangesNotKnown, ChangeUpstream, DatasetVersion
from whence.client.values import (
    Affected,
    Change,
    CheckResult,
    Completeness,
    Counts,
    Edge,
    Gap,
    Handover,
    Measurement,
    Path,
    ReachedNode,
    ReachedRun,
    State,
    Version,
)
from whence.csv_text import csv_text

if TYPE_CHECKING:
    import pandas
    import polars

Json = dict[str, Any]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The common methods of all answers. Their rows are the items of one member."""

    _rows: ClassVar[str] = ""
    """The member with the rows; empty: the answer itself is the only row."""
    _columns: ClassVar[tuple[str, ...]] = ()

    def document(self, beside: Json | None = None) -> Json:
        """The answer as one JSON document: the output of `whence … --output json`. `beside`: further members of its
        head.
        """
        members: Json = msgspec.to_builtins(self)
        document: Json = {}
        for name, value in members.items():
            document |= {**(beside or {}), **value} if name == "completeness" else {name: value}
        return document

    def csv(self) -> str:
        """The rows as CSV: the output of `whence … --output csv`."""
        return csv_text(self._columns, self._table())

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows as a pandas DataFrame. Raises NotInstalledError."""
        return data_frames.pandas_frame(self._columns, self._table())

    def to_polars(self) -> "polars.DataFrame":
        """The rows as a polars DataFrame. Raises NotInstalledError."""
        return data_frames.polars_frame(self._columns, self._table())

    def __repr__(self) -> str:
        return notebook.text_table(self._title(), self._columns, self._table(notebook.SHOWN), self._size())

    def _repr_html_(self) -> str:
        return notebook.html_table(self._title(), self._columns, self._table(notebook.SHOWN), self._size())

    def _table(self, limit: int | None = None) -> Sequence[Mapping[str, Any]]:
        found: list[Json] = msgspec.to_builtins(list(getattr(self, self._rows)[:limit]) if self._rows else [self])
        return found

    def _size(self) -> int:
        rows: Sized = getattr(self, self._rows) if self._rows else (self,)
        return len(rows)

    def _title(self) -> str:
        return type(self).__name__


class Lineage(Answer, frozen=True, kw_only=True):
    """Nodes upstream or downstream of `root`, by distance and name, with the edges that lead to them.

    `dropped_at`: when the dataset in the question was dropped or renamed, if it was.
    """

    _rows: ClassVar[str] = "nodes"
    _columns: ClassVar[tuple[str, ...]] = ("node", "kind", "depth", "parent", "aliases", "via", "shown", "more", "role")

    root: str
    direction: str
    grain: str
    types: tuple[str, ...]
    dropped_at: str | None
    completeness: Completeness
    nodes: tuple[ReachedNode, ...]
    edges: tuple[Edge, ...]
    gaps: tuple[Gap, ...]

    def _title(self) -> str:
        return f"{_number(self.nodes, 'node')} {self.direction} of {self.root}, {_completeness_text(self.completeness)}"


class Impact(Answer, frozen=True, kw_only=True):
    """What breaks if `root` changes: counts of all affected nodes, the nodes by distance and name, and the nearest 100
    jobs that derive one of them. `kinds=["job"]` has all jobs as nodes. `checks`: the nearest 100 jobs that only check
    one of them or the root, which are not affected.
    """

    _rows: ClassVar[str] = "nodes"
    _columns: ClassVar[tuple[str, ...]] = (
        "node",
        "kind",
        "distance",
        "influence",
        "type",
        "owners",
        "tier",
        "path",
        "parent",
        "root",
        "last_run",
    )

    root: str
    grain: str
    types: tuple[str, ...]
    counts: Counts
    jobs: tuple[Affected, ...]
    dropped_at: str | None
    completeness: Completeness
    nodes: tuple[Affected, ...]
    checks: tuple[Affected, ...] = ()

    def _title(self) -> str:
        return f"impact of {self.root}: {_count(self.counts.nodes, 'node')}, {_completeness_text(self.completeness)}"


class Paths(Answer, frozen=True, kw_only=True):
    """The paths from source to target, the shortest first."""

    _rows: ClassVar[str] = "paths"
    _columns: ClassVar[tuple[str, ...]] = ("steps", "via")

    source: str
    target: str
    grain: str
    types: tuple[str, ...]
    completeness: Completeness
    paths: tuple[Path, ...]

    def __repr__(self) -> str:
        return "\n".join(map(notebook.printable, (self._title(), *map(_chain, self.paths[: notebook.SHOWN]))))

    def _repr_html_(self) -> str:
        lines = [{"path": _chain(path)} for path in self.paths]
        return notebook.html_table(self._title(), ("path",), lines[: notebook.SHOWN], len(lines))

    def _title(self) -> str:
        ends = f"from {self.source} to {self.target}"
        return f"{_number(self.paths, 'path')} {ends}, {_completeness_text(self.completeness)}"


class WhyNot(Answer, frozen=True, kw_only=True):
    """Why no path leads from source to target; if one does (`connected`), `path`."""

    _columns: ClassVar[tuple[str, ...]] = (
        *("source", "target", "connected", "reason", "detail", "nearest", "until", "path"),
    )

    source: str
    target: str
    connected: bool
    reason: str | None
    detail: str
    nearest: tuple[str, ...]
    until: str | None
    path: Path | None
    completeness: Completeness

    def _title(self) -> str:
        return f"{self.source} … {self.target}: {self.reason or 'connected'}"


class History(Answer, frozen=True, kw_only=True):
    """All versions of a node, the newest first."""

    _rows: ClassVar[str] = "versions"
    _columns: ClassVar[tuple[str, ...]] = (
        *("kind", "from", "until", "said_by", "aspect", "confirmed", "run", "event", "size", "changes"),
    )

    node: str
    kind: str
    completeness: Completeness
    versions: tuple[Version, ...]

    def _title(self) -> str:
        return f"{_number(self.versions, 'version')} of {self.node}"


class Diff(Answer, frozen=True, kw_only=True):
    """The differences between two states: nodes and columns by name, then edges by their ends."""

    _rows: ClassVar[str] = "changes"
    _columns: ClassVar[tuple[str, ...]] = (*("change", "what", "node", "source", "target", "owner", "before", "after"),)

    before: State
    after: State
    counts: dict[str, dict[str, int]]
    completeness: Completeness
    changes: tuple[Change, ...]

    def _title(self) -> str:
        return _number(self.changes, "change")


class RunLineage(Answer, frozen=True, kw_only=True):
    """The runs upstream or downstream of a run, by depth; `origins`: inputs that no known run wrote."""

    _rows: ClassVar[str] = "runs"
    _columns: ClassVar[tuple[str, ...]] = (
        *("run", "job", "depth", "state", "began_at", "ended_at", "commit", "reads", "writes"),
    )

    root: str
    job: str
    direction: str
    origins: tuple[str, ...]
    completeness: Completeness
    runs: tuple[ReachedRun, ...]
    handovers: tuple[Handover, ...]

    def _title(self) -> str:
        return f"{_number(self.runs, 'run')} {self.direction} of {self.root}, {_completeness_text(self.completeness)}"


class Measurements(Answer, frozen=True, kw_only=True):
    """The measurements of a dataset, a column or the runs of a job, the newest first."""

    _rows: ClassVar[str] = "measurements"
    _columns: ClassVar[tuple[str, ...]] = (
        *("time", "dataset", "column", "facet", "role"),
        *("metric", "value", "run", "job"),
    )

    node: str
    completeness: Completeness
    measurements: tuple[Measurement, ...]

    def _title(self) -> str:
        return f"{_number(self.measurements, 'measurement')} of {self.node}, {_completeness_text(self.completeness)}"


class CheckResults(Answer, frozen=True, kw_only=True):
    """The results of the checks of a dataset or a column, the newest first."""

    _rows: ClassVar[str] = "checks"
    _columns: ClassVar[tuple[str, ...]] = (
        *("time", "dataset", "column", "assertion", "held", "severity"),
        *("expected", "actual", "failures", "run", "job"),
    )

    node: str
    completeness: Completeness
    checks: tuple[CheckResult, ...]

    def _title(self) -> str:
        return f"{_number(self.checks, 'check result')} of {self.node}, {_completeness_text(self.completeness)}"


class DatasetVersions(Answer, frozen=True, kw_only=True):
    """The versions of a dataset, the newest first."""

    _rows: ClassVar[str] = "versions"
    _columns: ClassVar[tuple[str, ...]] = (
        *("version", "time", "run", "job", "operation", "has_new_data"),
        *("rows", "before", "user", "engine", "lost"),
    )

    node: str
    completeness: Completeness
    versions: tuple[DatasetVersion, ...]

    def _title(self) -> str:
        return f"{_number(self.versions, 'version')} of {self.node}, {_completeness_text(self.completeness)}"


class ChangesUpstream(Answer, frozen=True, kw_only=True):
    """What changed at a node and upstream of it after `since` and not after `until`, the newest first.

    `datasets` and `jobs`: how many were searched, the node included. `not_known`: why changes may be missing.
    """

    _rows: ClassVar[str] = "changes"
    _columns: ClassVar[tuple[str, ...]] = (
        *("time", "kind", "change", "node", "distance"),
        *("parts", "job", "run", "event"),
    )

    node: str
    since: str
    until: str
    datasets: int
    jobs: int
    not_known: tuple[ChangesNotKnown, ...]
    completeness: Completeness
    changes: tuple[ChangeUpstream, ...]

    def _title(self) -> str:
        several, period = _number(self.changes, "change"), f"from {self.since} to {self.until}"
        return f"{several} upstream of {self.node} {period}, {_completeness_text(self.completeness)}"


class Sensitivity(Answer, frozen=True, kw_only=True):
    """The sensitivity labels of a node (upstream), or those that its data gives to others: the highest grade first.

    `counts`: the labels of every grade, also of those below `at_least`. `sources`: how many sensitive columns were
    found. `gaps`: the owners that reported no columns where the search ended.
    """

    _rows: ClassVar[str] = "labels"
    _columns: ClassVar[tuple[str, ...]] = ("node", "category", "grade", "assumed", "proven", "source", "path", "steps")

    node: str
    direction: str
    at_least: str
    counts: dict[str, int]
    sources: int
    gaps: tuple[str, ...]
    completeness: Completeness
    labels: tuple[SensitivityLabel, ...]

    def _title(self) -> str:
        way = "of" if self.direction == "upstream" else "downstream of"
        return f"{_number(self.labels, 'sensitivity label')} {way} {self.node}, {_completeness_text(self.completeness)}"


class SubjectData(Answer, frozen=True, kw_only=True):
    """Where the data of a person is, in the order in which to erase it: in `datasets` of them.

    `starts`: the columns where it comes in; `more_starts`: how many more tagged datasets there are, from which the
    answer did not start. `gaps`: the owners that reported no columns where the search ended.
    """

    _rows: ClassVar[str] = "places"
    _columns: ClassVar[tuple[str, ...]] = (
        *("step", "dataset", "grade", "columns", "types", "owners", "tier", "retention", "must_keep_days"),
        *("last_written", "readers", "hidden_readers"),
    )

    starts: tuple[str, ...]
    more_starts: int
    at_least: str
    datasets: int
    gaps: tuple[str, ...]
    completeness: Completeness
    places: tuple[PlaceOfPersonalData, ...]

    def _title(self) -> str:
        return f"{_number(self.places, 'dataset')} with personal data, {_completeness_text(self.completeness)}"


class Found(Answer, frozen=True, kw_only=True):
    """The results of a search, the best first. `complete`: there are no others. `not_labelled`: how many more columns
    may have the labels that it asked for, because of what is not known.
    """

    _rows: ClassVar[str] = "nodes"
    _columns: ClassVar[tuple[str, ...]] = ("node", "kind", "by", "labels", "standings")

    text: str
    complete: bool
    not_labelled: int = 0
    nodes: tuple[FoundNode, ...]

    def _title(self) -> str:
        return f"{_number(self.nodes, 'node')} for {self.text!r}{'' if self.complete else ', and more'}"


def _number(rows: Sized, noun: str) -> str:
    return _count(len(rows), noun)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _completeness_text(completeness: Completeness) -> str:
    return "complete" if completeness.complete else f"not complete ({completeness.stopped_by})"


def _chain(path: Path) -> str:
    return " → ".join([*(step.source for step in path.steps[:1]), *(step.target for step in path.steps)])
