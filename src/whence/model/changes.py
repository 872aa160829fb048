"""Changes between two versions of the code that builds datasets (issue 20): what readers of a column would notice."""

from dataclasses import dataclass
from enum import StrEnum

from whence.model.names import DatasetName


class ChangeKind(StrEnum):
    """What a change does to a column, or to a dataset as a whole."""

    REMOVED = "removed"
    RENAMED = "renamed"
    """The same formula under another name. `before` and `after` are the names."""
    TYPE = "type"
    """The same formula, cast to another type."""
    VALUES = "values"
    """Another formula over the base columns."""
    ROWS = "rows"
    """Another set of rows, which concerns all columns of the dataset."""
    NOT_CONFIRMED = "not confirmed"
    """Another formula or set of rows, and executing both versions on generated databases showed no difference."""
    ORDER = "order"
    """The same rows in another order."""
    ADDED = "added"
    METADATA = "metadata"
    """Descriptions, tags, tests, exposures: no value changes."""
    CONTRACT = "contract"
    """The contract of the dataset has another version, or is gone. `before` and `after` are the versions."""
    BROKEN_REFERENCE = "broken reference"
    """The head refers to a table or column that no longer exists, perhaps in a file that nobody changed."""
    POLICY = "policy"
    """A policy no longer holds of it, or may not. `after` is the name of the policy."""
    UNKNOWN = "unknown"
    """The two versions could not be compared. This is never "no change"."""

    @property
    def is_harmless(self) -> bool:
        """Whether no reader can notice the change in a value or a row."""
        return self in (ChangeKind.ADDED, ChangeKind.METADATA, ChangeKind.ORDER)

    @property
    def is_inexact(self) -> bool:
        """Whether `before` and `after` may be those of another change, too: formulas are shortened, rows have none."""
        return self in (ChangeKind.VALUES, ChangeKind.ROWS, ChangeKind.NOT_CONFIRMED, ChangeKind.UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleRows:
    """Rows of a table in a generated database, as SQL literals: none is anybody's data."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def text(self) -> str:
        """The rows in short."""
        shown = [", ".join(map(" ".join, zip(self.columns, row, strict=True))) for row in self.rows]
        return f"{self.table}({'; '.join(shown)})" if shown else f"{self.table} without rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What executing both versions on generated databases showed of a change.

    `databases`: how many; `untried`: why nothing is known from them. `inputs`, `before` and `after`: the smallest
    database found that shows a difference, and the rows that only one of the versions makes of it.
    """

    databases: int = 0
    untried: str = ""
    inputs: tuple[ExampleRows, ...] = ()
    before: ExampleRows | None = None
    after: ExampleRows | None = None

    @property
    def text(self) -> str:
        """It in short."""
        if self.untried:
            return f"not tried: {self.untried}"
        if self.before is None or self.after is None:
            return f"no difference was found on {self.databases:,} generated databases" if self.databases else ""
        given = " and ".join(one.text for one in self.inputs)
        return f"for example: {given} gives {_output(self.after)}, before {_output(self.before)}"


def _output(rows: ExampleRows) -> str:
    shown = [", ".join(map(" ".join, zip(rows.columns, row, strict=True))) for row in rows.rows]
    return "; ".join(shown) or "no such row"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChange:
    """One change of one column, or of a whole dataset if `column` is None.

    `before` and `after` are formulas, names or types, for a person. `file` is relative to the repository; `line` counts
    from 1, and is 0 if the place is not known. `inherited`: the dataset's own code is not the cause, an upstream
    dataset of the same project is. `new_rows_only`: rows that exist already keep their values until somebody backfills
    (incremental models). `content` identifies the two versions of what changes, where `before` and `after` do not;
    empty: they do. `trial`: what executing both versions showed, if that was tried.
    """

    dataset: DatasetName
    column: str | None
    kind: ChangeKind
    before: str = ""
    after: str = ""
    reason: str = ""
    file: str = ""
    line: int = 0
    content: str = ""
    inherited: bool = False
    new_rows_only: bool = False
    trial: Trial | None = None


def shown_trial(change: ColumnChange) -> str:
    """What executing both versions showed, for a reader; why it was not tried is a detail."""
    return change.trial.text if change.trial is not None and not change.trial.untried else ""
