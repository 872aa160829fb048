"""Answers about sensitive data."""

from typing import ClassVar

from whence.client.answers.answer import Answer, count_rows, describe_completeness
from whence.client.values.graph import Completeness
from whence.client.values.sensitivity import PlaceOfPersonalData, SensitivityLabel


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
        completeness = describe_completeness(self.completeness)
        return f"{count_rows(self.labels, 'sensitivity label')} {way} {self.node}, {completeness}"


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
        return f"{count_rows(self.places, 'dataset')} with personal data, {describe_completeness(self.completeness)}"
