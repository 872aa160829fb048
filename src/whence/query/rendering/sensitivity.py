"""Sensitivity labels as JSON and as rows."""

from typing import Literal

from typing_extensions import TypedDict

from whence.model.sensitivity import Grade, GradeWord
from whence.query.rendering.listings import Listing
from whence.query.sensitivity.labels import Label, Sensitivity


class SensitivityLabel(TypedDict):
    """How much of the sensitive columns of a category a node shows at most, and how much for certain (`proven`).

    `source`: a sensitive column that it shows so much of; `path`: a shortest way from it to the node, both included;
    `steps`: for each step of it the expressions that make the value, or else their kind.
    """

    node: str
    category: str
    grade: GradeWord
    assumed: bool
    proven: GradeWord
    source: str
    path: list[str]
    steps: list[str]


class SensitivityLabels(TypedDict):
    """The labels of a node (upstream), or those that its data gives to others (downstream): the highest grade first.

    `counts`: the labels of every grade, also of those below `at_least`. `sources`: how many sensitive columns were
    found. `gaps`: the owners that reported no columns where the search ended.
    """

    node: str
    direction: Literal["upstream", "downstream"]
    at_least: GradeWord
    counts: dict[GradeWord, int]
    sources: int
    gaps: list[str]
    labels: list[SensitivityLabel]


def sensitivity_listing(found: Sensitivity) -> Listing:
    """Labels in order."""
    several = found.labels
    return Listing(
        head={
            "node": str(found.root),
            "direction": found.direction,
            "at_least": found.at_least.word,
            "counts": {one.word: found.counts[one] for one in sorted(found.counts, reverse=True)},
            "sources": len(found.sources),
            "gaps": [str(one) for one in found.gaps],
        },
        get_completeness=lambda: found.completeness,
        name="labels",
        columns=("node", "category", "grade", "assumed", "proven", "source", "path", "steps"),
        keys=[one.order for one in several],
        part=lambda start, end: {"labels": [label_document(one) for one in several[start:end]]},
    )


def grade_of(word: str) -> Grade:
    """The grade that a word names."""
    return Grade[word.upper()]


def label_document(one: Label) -> SensitivityLabel:
    """One label with its path."""
    return {
        "node": str(one.node),
        "category": one.category,
        "grade": one.grade.word,
        "assumed": one.is_assumed,
        "proven": one.proven.word,
        "source": str(one.path[0]),
        "path": [str(node) for node in one.path],
        "steps": list(one.steps),
    }
