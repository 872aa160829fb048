"""A case: what went wrong, and what is known about each dataset that may be the cause. Times are microseconds UTC."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from whence.model.symptom import Symptom


class Aspect(StrEnum):
    """What a series measures of a dataset. `rows`: how many; `nulls`: the share of missing values of a column;
    `distinct`: the share of distinct values of a column; `values`: any other number about a column; `delay`: the time
    from one write to the next, which is computed from `Candidate.writes`.
    """

    ROWS = "rows"
    NULLS = "nulls"
    DISTINCT = "distinct"
    VALUES = "values"
    DELAY = "delay"


ASPECTS = tuple(Aspect)
SYMPTOM_ASPECTS: Mapping[Symptom, Aspect] = {
    Symptom.NULLS: Aspect.NULLS,
    Symptom.VOLUME: Aspect.ROWS,
    Symptom.LATE: Aspect.DELAY,
    Symptom.VALUES: Aspect.VALUES,
}
"""The aspect in which each symptom is measured."""


class ChangeKind(StrEnum):
    """What happened to a dataset, or to a job that writes it."""

    SCHEMA = "schema change"
    COMMIT = "commit"
    LINEAGE = "lineage change"
    FAILURE = "failed run"
    CHECK = "failed check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that happened in the time of the case. `is_relevant`: to the columns that lead to the wrong one."""

    kind: ChangeKind
    time: int
    text: str
    is_relevant: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Values of one metric, the oldest first, as (time, value). `column` is empty if it is about the dataset."""

    aspect: Aspect
    metric: str
    points: tuple[tuple[int, float], ...]
    column: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A dataset that may be the cause. `distance`: hops to the wrong node, 0 for itself.

    `parents`: the keys of the candidates that it is derived from. `columns`: its columns that lead to the wrong one; no
    columns: only whole datasets are known. `writes`: when runs completed writing it, the oldest first.
    `has_commits`: whether its jobs report the version of their code.
    `value_parents` are those whose values become its values, and `row_parents` those that decide which rows it has.
    `value_columns` lead to the wrong one by values alone; None: as `columns`.
    """

    key: int
    distance: int
    parents: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    series: tuple[Series, ...] = ()
    writes: tuple[int, ...] = ()
    changes: tuple[Change, ...] = ()
    has_commits: bool = False
    value_parents: tuple[int, ...] = ()
    row_parents: tuple[int, ...] = ()
    value_columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question about the cause of a symptom between two times. The first candidate is the wrong node itself.

    `symptom` is None if it is not known: then it is what deviates most at the wrong node. `others` are no candidates:
    they are derived from candidates beside the way to the wrong node, and show what these did not do. Their
    `value_columns` are those that the candidates feed.
    """

    since: int
    until: int
    symptom: Symptom | None
    candidates: tuple[Candidate, ...]
    others: tuple[Candidate, ...] = ()
