"""Projects: two versions of all the code that builds a set of datasets, and the changes between them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from whence.capture.sql.fingerprint.comparison import TargetChange, compare_targets
from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode
from whence.capture.sql.fingerprint.projects.evaluation import (
    DatasetVersion,
    ProjectVersion,
    Readings,
    evaluate,
    evaluate_alone,
)
from whence.capture.sql.lineage import Table
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import DatasetName

_SAME_DATA = frozenset({"table", "view", "ephemeral", "materialized_view", "materializedview", ""})
"""Materializations with the same rows at any time."""


def compare_projects(
    base: ProjectCode, head: ProjectCode, readings: Readings | None = None
) -> tuple[ColumnChange, ...]:
    """The changes of all datasets that two versions of a project build, sorted by dataset.

    Each dataset is compared by what it is made of through the whole project, which decides. If its own code differs, it
    is compared by that alone, too, which shows whether it is the cause. So a rename that every reader follows changes
    nothing for those behind. `readings` may be shared by comparisons. Raises DialectError.
    """
    return _compare(base, head, readings or Readings()).changes()


def compare_files(
    base: ProjectCode, head: ProjectCode, readings: Readings | None = None
) -> tuple[tuple[ColumnChange, ...], tuple[str, ...]]:
    """The changes, and the files that differ, have a statement that is not read, and build no known dataset: no change
    tells of them. Raises DialectError.
    """
    comparison = _compare(base, head, readings or Readings())
    return comparison.changes(), comparison.unread_files()


def _compare(base: ProjectCode, head: ProjectCode, readings: Readings) -> "_Comparison":
    base, head = with_common_facts(base, head)
    return _Comparison(base, head, readings, evaluate(base, readings), evaluate(head, readings))


def with_common_facts(base: ProjectCode, head: ProjectCode) -> tuple[ProjectCode, ProjectCode]:
    """Both versions with the keys and types that both have."""
    return _with_common_types(*_with_common_keys(base, head))


def _with_common_keys(base: ProjectCode, head: ProjectCode) -> tuple[ProjectCode, ProjectCode]:
    """Both versions with the keys that both declare: a head does not vouch for itself by a test that it brings."""
    common = {
        name: tuple(key for key in keys if key in head.keys[name])
        for name, keys in base.keys.items()
        if name in head.keys
    }
    return replace(base, keys=common), replace(head, keys=common)


def _with_common_types(base: ProjectCode, head: ProjectCode) -> tuple[ProjectCode, ProjectCode]:
    """Both versions with the types of columns that both know."""
    common = {
        table: {name: kind for name, kind in types.items() if head.types[table].get(name) == kind}
        for table, types in base.types.items()
        if table in head.types
    }
    return replace(base, types=common), replace(head, types=common)


@dataclass(slots=True)
class _Comparison:
    """`changed`: the datasets whose readers notice something, and whether only new rows have it. `gone`: tables that
    the base builds, and the head does not, as far as it can be read.
    """

    base_code: ProjectCode
    head_code: ProjectCode
    readings: Readings
    base: ProjectVersion
    head: ProjectVersion
    changed: dict[DatasetName, bool] = field(default_factory=dict)
    gone: frozenset[Table] = field(init=False)
    own: tuple[ProjectVersion, ProjectVersion] | None = None

    def __post_init__(self) -> None:
        missing = self.base.tables - self.head.tables
        self.gone = frozenset(table for table in missing if not self._may_be_built(table))

    def _may_be_built(self, table: Table) -> bool:
        """Whether the head cannot be read where the base builds a table: then nobody knows that it is gone."""
        built = self.base.datasets.get(self.base_code.dataset_of(table))
        return built is not None and any(file in self.head.problems for file in built.files)

    def changes(self) -> tuple[ColumnChange, ...]:
        return tuple(dict.fromkeys(change for name in self.order for change in self.changes_of(name)))

    def unread_files(self) -> tuple[str, ...]:
        old, new = ({code.file: code.content for code in one.codes} for one in (self.base_code, self.head_code))
        known = {one.code.file for version in (self.base, self.head) for one in version.datasets.values()}
        problems = self.base.problems.keys() | self.head.problems.keys()
        return tuple(sorted(file for file in problems - known if old.get(file) != new.get(file)))

    @property
    def order(self) -> Iterator[DatasetName]:
        """Datasets after those that they are made of; those that are gone first."""
        yield from (name for name in self.base.datasets if name not in self.head.datasets)
        yield from self.head.datasets

    def changes_of(self, name: DatasetName) -> Iterator[ColumnChange]:
        before, after = self.base.datasets.get(name), self.head.datasets.get(name)
        if after is None and before is not None:
            found = [_gone(name, before, self.head.problems.get(before.code.file, ""))]
        elif after is not None:
            found = [*self._broken_references(name, after)]
            found += _compare_versions(name, before, after, self._is_untouched(name))
        else:
            found = []
        if before is not None and after is not None:
            found = [self._with_origin(name, change, after) for change in found]
            found += [
                *_setting_changes(name, before.code, after.code),
                *_metadata_changes(name, before.code, after.code),
            ]
        if any(not change.kind.is_harmless for change in found):
            self.changed[name] = all(change.new_rows_only for change in found if not change.kind.is_harmless)
        yield from found

    def _broken_references(self, name: DatasetName, after: DatasetVersion) -> Iterator[ColumnChange]:
        for missing in sorted(map(str, after.reads & self.gone)):
            yield ColumnChange(
                dataset=name,
                column=None,
                kind=ChangeKind.BROKEN_REFERENCE,
                before=missing,
                reason=f"it reads {missing}, which nothing builds any more",
                file=after.code.file,
                line=after.code.line_of(after.line),
            )

    def _is_untouched(self, name: DatasetName) -> bool:
        """Whether neither a dataset's text nor anything that it is made of changed."""
        before, after = self.base.datasets.get(name), self.head.datasets.get(name)
        if before is None or after is None or before.code.content != after.code.content:
            return False
        return not any(parent in self.changed for parent in (*before.parents, *after.parents))

    def _with_origin(self, name: DatasetName, change: ColumnChange, after: DatasetVersion) -> ColumnChange:
        is_own = change.kind is ChangeKind.BROKEN_REFERENCE or self._is_cause(name, change)
        if is_own or change.kind.is_harmless:
            return replace(change, new_rows_only=after.code.is_incremental and _is_of_rows(change))
        causes = [self.changed[parent] for parent in after.parents if parent in self.changed]
        names = ", ".join(sorted(parent.name for parent in after.parents if parent in self.changed))
        reason = f"{change.reason}; the cause is upstream: {names}" if names else change.reason
        new_only = (bool(causes) and all(causes)) or (after.code.is_incremental and _is_of_rows(change))
        return replace(change, inherited=True, reason=reason, new_rows_only=new_only)

    def _is_cause(self, name: DatasetName, change: ColumnChange) -> bool:
        """Whether a dataset's own code changed, and that would change something by itself, or a function's did."""
        if not self._has_other_code(name):
            return not any(parent in self.changed for parent in self.head.datasets[name].parents)
        is_alone = not (self.base.datasets[name].parents or self.head.datasets[name].parents)
        if change.kind is ChangeKind.UNKNOWN or is_alone:
            return True
        before, after = (version.datasets[name] for version in self._own_versions())
        return any(not one.kind.is_harmless for one in compare_targets(before.targets, after.targets))

    def _has_other_code(self, name: DatasetName) -> bool:
        return self.base.datasets[name].code.content != self.head.datasets[name].code.content

    def _own_versions(self) -> tuple[ProjectVersion, ProjectVersion]:
        """Both versions of the datasets whose own code differs, by that code alone: read when a change needs it."""
        if self.own is None:
            names = {name for name in self.base.datasets if name in self.head.datasets and self._has_other_code(name)}
            of_base, of_head = (
                frozenset(file for name in names for file in version.datasets[name].files)
                for version in (self.base, self.head)
            )
            self.own = (
                evaluate_alone(self.base_code, self.readings, self.base, of_base),
                evaluate_alone(self.head_code, self.readings, self.head, of_head),
            )
        return self.own


def _is_of_rows(change: ColumnChange) -> bool:
    return change.kind in (ChangeKind.ROWS, ChangeKind.VALUES, ChangeKind.TYPE)


def _gone(name: DatasetName, before: DatasetVersion, problem: str) -> ColumnChange:
    """A dataset that no statement of the head is known to build."""
    kind = ChangeKind.UNKNOWN if problem else ChangeKind.REMOVED
    reason = f"not read: {problem}" if problem else "nothing in the project builds it any more"
    return ColumnChange(dataset=name, column=None, kind=kind, reason=reason, file=before.code.file)


def _compare_versions(
    name: DatasetName, before: DatasetVersion | None, after: DatasetVersion, is_untouched: bool
) -> Iterator[ColumnChange]:
    code = after.code
    if before is None:
        reason = "the project builds it now"
        yield ColumnChange(dataset=name, column=None, kind=ChangeKind.ADDED, reason=reason, file=code.file)
        return
    if (problem := _unread(before, after)) and not is_untouched:
        yield ColumnChange(dataset=name, column=None, kind=ChangeKind.UNKNOWN, reason=problem, file=code.file)
        return
    for change in compare_targets(before.targets, after.targets, is_untouched):
        yield _column_change(name, change, code)


def _unread(before: DatasetVersion, after: DatasetVersion) -> str:
    """Why two versions cannot be compared; empty if they can."""
    kinds = {before.code.kind, after.code.kind}
    if kinds != {"sql"}:
        is_same = len(kinds) == 1 and before.code.content == after.code.content
        nouns = {"seed": "its file has other content", "python": "its code is Python, which is not read"}
        return "" if is_same else nouns.get(after.code.kind, "it is built in another way")
    if before.problem != after.problem or (after.problem and before.code.content != after.code.content):
        return f"not read: {after.problem or before.problem}"
    return ""


def _column_change(name: DatasetName, change: TargetChange, code: Code) -> ColumnChange:
    return ColumnChange(
        dataset=name,
        column=change.column,
        kind=change.kind,
        before=change.before,
        after=change.after,
        reason=_with_schema_rule(change, code),
        file=code.file,
        line=code.line_of(change.line),
    )


def _with_schema_rule(change: TargetChange, code: Code) -> str:
    """dbt's on_schema_change decides whether the table of an incremental model follows its columns."""
    if not code.is_incremental or change.kind not in (ChangeKind.ADDED, ChangeKind.REMOVED, ChangeKind.RENAMED):
        return change.reason
    return f"{change.reason}; the table keeps its columns until on_schema_change ({code.on_schema_change}) or a rebuild"


def _setting_changes(name: DatasetName, before: Code, after: Code) -> Iterator[ColumnChange]:
    for key in sorted(before.settings.keys() | after.settings.keys()):
        old, new = before.settings.get(key, ""), after.settings.get(key, "")
        if old != new:
            yield ColumnChange(
                dataset=name,
                column=None,
                kind=ChangeKind.ROWS,
                before=old[:200],
                after=new[:200],
                reason=f"{key} decides on its rows, and changed",
                file=after.file,
                new_rows_only=after.is_incremental,
            )


def _metadata_changes(name: DatasetName, before: Code, after: Code) -> Iterator[ColumnChange]:
    if before.materialized != after.materialized:
        is_same = {before.materialized, after.materialized} <= _SAME_DATA
        yield ColumnChange(
            dataset=name,
            column=None,
            kind=ChangeKind.METADATA if is_same else ChangeKind.UNKNOWN,
            before=before.materialized,
            after=after.materialized,
            reason="it is materialized in another way",
            file=after.file,
        )
    for key in sorted(before.metadata.keys() | after.metadata.keys()):
        old, new = before.metadata.get(key, ""), after.metadata.get(key, "")
        if old != new:
            yield ColumnChange(
                dataset=name,
                column=None,
                kind=ChangeKind.METADATA,
                before=old[:200],
                after=new[:200],
                reason=f"{key} changed",
                file=after.file,
            )
