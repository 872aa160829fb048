"""The changes that a fingerprint names, after both versions were executed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.projects.code import ProjectCode
from whence.capture.sql.fingerprint.projects.versions import with_common_facts
from whence.capture.sql.trials.differences import Difference
from whence.capture.sql.trials.trials import DatasetTrial, run_trials
from whence.model.changes import ChangeKind, ColumnChange, Trial
from whence.model.names import DatasetName

_TRIED = frozenset({ChangeKind.VALUES, ChangeKind.ROWS, ChangeKind.TYPE})
_LEAST_SHOWN = 12
"""Databases that show a difference of the dataset, and none of a column: with fewer, the column may differ, too."""
_ONE_VALUE = "the databases show one value of it"


def try_changes(changes: Sequence[ColumnChange], base: ProjectCode, head: ProjectCode) -> tuple[ColumnChange, ...]:
    """The changes, those of values, types and rows as far as executing both versions confirms them.

    Only a change that the fingerprint names is tried: what it calls no change stays none.
    """
    trials = run_trials(*with_common_facts(base, head), _named(changes))
    return tuple(_refine(change, trials) for change in changes)


def _named(changes: Sequence[ColumnChange]) -> Mapping[DatasetName, frozenset[str] | None]:
    """The datasets to try, with the columns that may differ; None: all."""
    found: dict[DatasetName, frozenset[str] | None] = {}
    for one in changes:
        if one.kind in _TRIED:
            known = found.get(one.dataset, frozenset())
            found[one.dataset] = None if one.column is None or known is None else known | {one.column.lower()}
    return found


def _refine(change: ColumnChange, trials: Mapping[DatasetName, DatasetTrial]) -> ColumnChange:
    tried = trials.get(change.dataset)
    if tried is None or change.kind not in _TRIED:
        return change
    found, trial = tried.difference, tried.trial_of(change.column)
    if not _is_same(change, found) or (trial.untried and not found.is_found):
        return replace(change, trial=trial)
    if not _is_shown(change, found):
        return replace(change, trial=Trial(databases=found.compared, untried=_ONE_VALUE))
    return replace(change, kind=ChangeKind.NOT_CONFIRMED, trial=Trial(databases=found.compared))


def _is_same(change: ColumnChange, found: Difference) -> bool:
    """Whether no database shows the change."""
    if change.column is None:
        return not found.is_found
    name = change.column.lower()
    is_of_rows = found.fails or found.counts or (found.rows and not found.columns)
    if found.is_found and found.shown < _LEAST_SHOWN:
        return False
    return not is_of_rows and name not in found.columns and name not in found.types


def _is_shown(change: ColumnChange, found: Difference) -> bool:
    """Whether the databases show more than one value of the column, or of any column."""
    names = found.names if change.column is None else (change.column.lower(),)
    return any(len(found.values.get(name, ())) > 1 for name in names)
