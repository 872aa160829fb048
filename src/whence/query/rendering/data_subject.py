"""Where the data of a person is, as JSON and as rows."""

from typing_extensions import TypedDict

from whence.model.names import FieldName
from whence.model.sensitivity import GradeWord
from whence.query.answers.instants import iso
from whence.query.rendering.listings import Listing
from whence.query.rendering.sensitivity import SensitivityLabel, label_document
from whence.query.sensitivity.data_subject import PlaceOfData, SubjectData


class PlaceOfPersonalData(TypedDict):
    """A dataset with data of the person: how much of it (`grade`: the most), in which columns, and who has to do
    with it.

    `step`: when to erase it, after all earlier steps. `retention`: as its tag says it. `must_keep_days`: the shortest
    retention of what it holds, if its own is longer or not set. `hidden_readers`: jobs that you may not see.
    """

    step: int
    dataset: str
    grade: GradeWord
    columns: list[str]
    labels: list[SensitivityLabel]
    types: list[str]
    owners: list[str]
    tier: str | None
    retention: str | None
    must_keep_days: int | None
    last_written: str | None
    readers: list[str]
    hidden_readers: int


class PersonalData(TypedDict):
    """Where the data of a person is, in the order in which to erase it: in `datasets` of them.

    `starts`: the columns where it comes in; `more_starts`: how many more tagged datasets there are, from which the
    answer did not start. `gaps`: the owners that reported no columns where the search ended.
    """

    starts: list[str]
    more_starts: int
    at_least: GradeWord
    datasets: int
    gaps: list[str]
    places: list[PlaceOfPersonalData]


def subject_listing(found: SubjectData) -> Listing:
    """Datasets by step and name."""
    several = found.places
    return Listing(
        head={
            "starts": [str(one) for one in found.starts],
            "more_starts": found.more_starts,
            "at_least": found.at_least.word,
            "datasets": len(several),
            "gaps": [str(one) for one in found.gaps],
        },
        get_completeness=lambda: found.completeness,
        name="places",
        columns=tuple(name for name in PlaceOfPersonalData.__annotations__ if name != "labels"),
        keys=[(one.step, str(one.dataset)) for one in several],
        part=lambda start, end: {"places": [_place(one) for one in several[start:end]]},
    )


def _place(one: PlaceOfData) -> PlaceOfPersonalData:
    return {
        "step": one.step,
        "dataset": str(one.dataset),
        "grade": one.grade.word,
        "columns": sorted({label.node.field for label in one.labels if isinstance(label.node, FieldName)}),
        "labels": [label_document(label) for label in one.labels],
        "types": list(one.types),
        "owners": list(one.owners),
        "tier": one.tier or None,
        "retention": one.retention.text if one.retention else None,
        "must_keep_days": one.must_keep_days,
        "last_written": None if one.last_written is None else iso(one.last_written),
        "readers": [str(reader) for reader in one.readers],
        "hidden_readers": one.hidden_readers,
    }
