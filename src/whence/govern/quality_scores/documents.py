"""Quality scores as JSON, as one viewer may read them: the score is the same for all, hidden names are counted."""

from typing_extensions import TypedDict

from whence.govern.quality_scores.score import QualityScore
from whence.model.access import Viewer
from whence.model.names import DatasetName
from whence.query.answers.instants import iso

MOST_NAMED = 20


class QualityScoreDocument(TypedDict):
    """The quality of a dataset at a time, from 0 to 1: the weakest part of what is known of it and of all datasets that
    its values are made of. `score`: null if nothing is known. `exact`: false if something that is not known could make
    it lower. `own`: of the dataset alone.

    `limited_by`: the dataset whose `part` (checks, contract or objectives) is the weakest; null if the caller may not
    see it. `unknown`: the nearest of the `unknown_datasets`, of the `datasets`, of which nothing is known.
    """

    at: str
    node: str
    score: float | None
    exact: bool
    own: float | None
    limited_by: str | None
    part: str | None
    unknown: list[str]
    unknown_datasets: int
    datasets: int
    complete: bool


def score_document(found: QualityScore, node: DatasetName, at: int, viewer: Viewer) -> QualityScoreDocument:
    """A score at a time (µs), for one viewer."""
    limit = found.limited_by
    sees = limit is not None and viewer.can_see(limit)
    return {
        "at": iso(at),
        "node": str(node),
        "score": None if found.score is None else round(float(found.score), 4),
        "exact": found.is_exact,
        "own": None if found.own is None else round(float(found.own), 4),
        "limited_by": str(limit) if sees else None,
        "part": found.part if sees else None,
        "unknown": [str(name) for name in found.unknown if viewer.can_see(name)][:MOST_NAMED],
        "unknown_datasets": len(found.unknown),
        "datasets": found.datasets,
        "complete": found.is_whole,
    }
