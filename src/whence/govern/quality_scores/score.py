"""The quality score of a dataset: a pure function of what is known of it and of its inputs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from whence.model.names import DatasetName

PartText = Literal["checks", "contract", "objectives"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnQuality:
    """What is known of one dataset, by its distance. Each part is a share of what holds, from 0 to 1; None: not known.

    `checks`: of the checks that count, those that held last. `contract`: 1 if it holds, 0 if a rule of it is violated.
    `objectives`: of those that were evaluated, those that hold.
    """

    distance: int
    checks: Fraction | None = None
    contract: Fraction | None = None
    objectives: Fraction | None = None

    def parts(self) -> Iterator[tuple[PartText, Fraction]]:
        """The parts that are known."""
        named: tuple[tuple[PartText, Fraction | None], ...] = (
            ("checks", self.checks),
            ("contract", self.contract),
            ("objectives", self.objectives),
        )
        yield from ((name, share) for name, share in named if share is not None)

    @property
    def weakest(self) -> tuple[Fraction, PartText] | None:
        """The weakest part, the first of equal ones; None if nothing is known."""
        return min(((share, name) for name, share in self.parts()), key=lambda pair: pair[0], default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityScore:
    """The score of a dataset (None: nothing is known of it and its inputs), and which dataset limits it by which part.

    `own`: of the dataset alone. `unknown`: the datasets of which nothing is known, the nearest first: with any, the
    score is at most that much. `datasets`: how many count, itself among them. `is_whole`: all inputs were read.
    """

    score: Fraction | None
    own: Fraction | None
    limited_by: DatasetName | None
    part: PartText | None
    unknown: tuple[DatasetName, ...]
    datasets: int
    is_whole: bool

    @property
    def is_exact(self) -> bool:
        """Whether nothing that is not known could make it lower."""
        return self.score is not None and self.is_whole and not self.unknown


def score_of(dataset: DatasetName, known: Mapping[DatasetName, OwnQuality], *, is_whole: bool) -> QualityScore:
    """The score of a dataset. `known`: of itself, and of all datasets that its values are made of, however far.

    It is the weakest known part of any of them; of equal ones the nearest dataset limits it. So it is from 0 to 1, and
    nothing that gets worse makes it better.
    """
    found = [(*weakest, one.distance, name) for name, one in known.items() if (weakest := one.weakest) is not None]
    least = min(found, key=lambda row: (row[0], row[2], str(row[3])), default=None)
    unknown = sorted((one.distance, str(name), name) for name, one in known.items() if one.weakest is None)
    own = known[dataset].weakest
    return QualityScore(
        score=None if least is None else least[0],
        own=None if own is None else own[0],
        limited_by=None if least is None else least[3],
        part=None if least is None else least[1],
        unknown=tuple(name for _, _, name in unknown),
        datasets=len(known),
        is_whole=is_whole,
    )
