"""What execution says of an edit beside what the fingerprint says of it, for every corpus."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from whence.capture.sql.fingerprint.projects.code import ProjectCode
from whence.capture.sql.fingerprint.projects.evaluation import Readings
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.capture.sql.trials.refinement import try_changes
from whence.model.changes import ChangeKind, ColumnChange

Compare = Callable[[ProjectCode, ProjectCode, Readings], tuple[ColumnChange, ...]]
"""What judges two versions: `compare_projects`, or `compare_and_try`."""
EVERY_EDIT = slice(None)
"""The part of a corpus that is all of it."""


def compare_and_try(base: ProjectCode, head: ProjectCode, readings: Readings) -> tuple[ColumnChange, ...]:
    """The changes that executing both versions confirms, or cannot judge."""
    changes = [one for one in compare_projects(base, head, readings) if not one.kind.is_harmless]
    tried = try_changes(changes, base, head)
    return tuple(one for one in tried if one.kind is not ChangeKind.NOT_CONFIRMED)


Place = tuple[str, str]
"""A dataset and a column of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One edit. `columns`: those of each dataset before the edit; `is_broken`: the head does not run.

    `unplaced`: datasets whose rows differ although each column has the same values: execution names no column.
    """

    title: str
    is_harmless: bool
    is_broken: bool
    changed: frozenset[Place]
    unplaced: frozenset[str]
    columns: Mapping[str, Sequence[str]]
    changes: tuple[ColumnChange, ...]
    """The changes that are not harmless."""

    @property
    def is_silent(self) -> bool:
        return not self.changes

    @property
    def is_unknown(self) -> bool:
        return any(change.kind is ChangeKind.UNKNOWN for change in self.changes)

    def claimed(self) -> frozenset[Place]:
        """The columns that the fingerprint names, except of datasets where execution shows no single column."""
        places = (place for change in self.changes for place in self._places(change.dataset.name, change.column))
        return frozenset(place for place in places if place[0] not in self.unplaced)

    def misses(self) -> bool:
        datasets = {change.dataset.name for change in self.changes}
        return not self.claimed() >= self.changed or not datasets >= self.unplaced

    def is_exact(self) -> bool:
        return not self.misses() and self.claimed() == self.changed

    def _places(self, dataset: str, column: str | None) -> set[Place]:
        return {(dataset, column)} if column is not None else {(dataset, name) for name in self.columns[dataset]}


def figures(scored: Sequence[Verdict]) -> Mapping[str, tuple[int, int]]:
    """The figures, each as (right, all)."""
    harmless = [one for one in scored if one.is_harmless]
    harmful = [one for one in scored if not one.is_harmless]
    built = [one for one in harmful if not one.is_broken]
    return {
        "harmful found": (sum(not one.is_silent for one in harmful), len(harmful)),
        "harmless silent": (sum(one.is_silent for one in harmless), len(harmless)),
        "known": (sum(not one.is_unknown for one in scored), len(scored)),
        "exact columns": (sum(one.is_exact() for one in built), len(built)),
        "no column missed": (sum(not one.misses() for one in built), len(built)),
    }
