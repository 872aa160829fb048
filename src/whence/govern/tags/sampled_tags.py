"""Which tags the values of columns ask for: those that nobody has decided on. A pure function; it has no values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whence.govern.tags.known import KnownDataset
from whence.govern.tags.suggestions import categories_of
from whence.govern.tags.value_kinds import FoundKind
from whence.model.names import FieldName
from whence.model.sensitivity import Grade


@dataclass(frozen=True, slots=True)
class SampledTag:
    """A tag for a column: its key is a category, its value the short name of a kind of values."""

    column: FieldName
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class DecidedColumn:
    """A column that gets no tag, and why."""

    column: str
    reason: str


def plan_sampled_tags(found: Iterable[FoundKind], known: KnownDataset) -> tuple[list[SampledTag], list[DecidedColumn]]:
    """The tags for columns of a dataset by what was found in its values, and the columns that get none.

    A tag of the category, also one that denies it, is a decision; a full label says the same. Names of columns are
    compared with those that are known, and in any case if that is unambiguous; an unknown one is never tagged.
    """
    tags, decided = list[SampledTag](), list[DecidedColumn]()
    spellings = _spellings(known.columns)
    for one in found:
        if (column := spellings.get(one.column) or spellings.get(one.column.casefold())) is None:
            decided.append(DecidedColumn(one.column, "is no column that is known of this dataset"))
        elif reason := _decision(known, column, one.category):
            decided.append(DecidedColumn(column, reason))
        else:
            tags.append(SampledTag(FieldName(known.name, column), one.category, one.tag))
    return tags, decided


def _spellings(columns: Iterable[str]) -> Mapping[str, str]:
    """Each column by its name, and by that in lower case if no other has the same."""
    folded: dict[str, list[str]] = {}
    for column in columns:
        folded.setdefault(column.casefold(), []).append(column)
    alone = {folded_name: several[0] for folded_name, several in folded.items() if len(several) == 1}
    return {**alone, **{column: column for several in folded.values() for column in several}}


def _decision(known: KnownDataset, column: str, category: str) -> str:
    for tag in known.tags:
        if tag.field in ("", column) and category in categories_of(tag.key):
            return f"has the tag {tag.key}={tag.value}"
    full = (one.column == column and one.category == category and one.grade is Grade.FULL for one in known.labels)
    return f"has the label {category}, full" if any(full) else ""
