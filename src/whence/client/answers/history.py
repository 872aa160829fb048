"""Answers about time: versions, changes and runs."""

from typing import ClassVar

from whence.client.answers.answer import Answer, count_rows, describe_completeness
from whence.client.values.graph import Completeness
from whence.client.values.history import Change, Handover, ReachedRun, State, Version
from whence.client.values.timeline import ChangesNotKnown, ChangeUpstream, DatasetVersion


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
        return f"{count_rows(self.versions, 'version')} of {self.node}"


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
        return count_rows(self.changes, "change")


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
        completeness = describe_completeness(self.completeness)
        return f"{count_rows(self.runs, 'run')} {self.direction} of {self.root}, {completeness}"


class DatasetVersions(Answer, frozen=True, kw_only=True):
    """The versions of a dataset, the newest first."""

    _rows: ClassVar[str] = "versions"
    _columns: ClassVar[tuple[str, ...]] = (
        *("version", "time", "run", "job", "run_state", "operation", "has_new_data"),
        *("rows", "before", "user", "engine", "lost"),
    )

    node: str
    completeness: Completeness
    versions: tuple[DatasetVersion, ...]

    def _title(self) -> str:
        return f"{count_rows(self.versions, 'version')} of {self.node}, {describe_completeness(self.completeness)}"


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
        several, period = count_rows(self.changes, "change"), f"from {self.since} to {self.until}"
        return f"{several} upstream of {self.node} {period}, {describe_completeness(self.completeness)}"
