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
        return self in (ChangeKind.VALUES, ChangeKind.ROWS, ChangeKind.UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChange:
    """One change of one column, or of a whole dataset if `column` is None.

    `before` and `after` are formulas, names or types, for a person. `file` is relative to the repository; `line` counts
    from 1, and is 0 if the place is not known. `inherited`: the dataset's own code is not the cause, an upstream
    dataset of the same project is. `new_rows_only`: rows that exist already keep their values until somebody backfills
    (incremental models). `content` identifies the two versions of what changes, where `before` and `after` do not;
    empty: they do.
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
